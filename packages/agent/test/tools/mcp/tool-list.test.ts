import { expect, test } from "vitest";
import type { Tool } from "@modelcontextprotocol/client";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createToolList } from "../../../src/tools/mcp/tool-list.ts";
import type { ToolServer } from "../../../src/tools/mcp/tool-server.ts";
import type { CallableTool } from "../../../src/tools/registry.ts";

const { signal } = new AbortController();

const toTools = (...names: readonly string[]): Tool[] =>
  names.map((name) => ({ name, inputSchema: { type: "object" } }));

/** A server that has these lists, one after another. */
const toServer = (name: string, lists: readonly (Promise<Tool[] | undefined> | undefined)[]) => {
  const left = [...lists];
  return { name, listChangedTools: async () => left.shift() } as unknown as ToolServer;
};

function createList(lists: readonly (Promise<Tool[] | undefined> | undefined)[]) {
  const servers = [
    [toServer("a", lists), toTools("x", "y!", "y?")],
    [toServer("b", []), toTools("x")],
  ] as const;
  const list = createToolList(servers, (name, { name: tool }, { name: server }) => {
    return { name, mcp: { server, tool } } as CallableTool;
  });
  const toNames = (): string[] => list.tools.map(({ name }) => name);
  return { list, toNames };
}

test(verifies("C112", "a tool keeps its name, also when those before it go, and when it comes back"), async () => {
  const { list, toNames } = createList([Promise.resolve(toTools("y?")), Promise.resolve(toTools("y!", "y?"))]);
  expect(toNames()).toEqual(["mcp__a__x", "mcp__a__y_", "mcp__a__y__2", "mcp__b__x"]);
  await list.refresh(signal);
  expect(toNames()).toEqual(["mcp__a__y__2", "mcp__b__x"]);
  const call = { callId: "call_1", toolName: "mcp__a__x", arguments: {} };
  expect(await list.findLost("mcp__a__x")?.prepare(call)).toMatchObject({
    outcome: { error: { message: expect.stringMatching(/^the server a no longer offers the tool x/) as string } },
  });
  await list.refresh(signal);
  expect(toNames()).toEqual(["mcp__a__y_", "mcp__a__y__2", "mcp__b__x"]);
  expect(list.findLost("mcp__a__y_")).toBeUndefined();
  expect(list.findLost("mcp__a__never")).toBeUndefined();
});

test(verifies("C112", "a list that fails, or did not change, leaves the old one as it is"), async () => {
  const { list } = createList([Promise.reject(new Error("late")), undefined]);
  const before = list.tools;
  await list.refresh(signal);
  await list.refresh(signal);
  expect(list.tools).toBe(before);
});
