import { expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createSearchTool } from "../../../src/tools/mcp/search-tool.ts";
import type { CallableTool } from "../../../src/tools/registry.ts";
import type { ToolContext } from "../../../src/tools/tool.ts";

const toTool = (server: string, tool: string): CallableTool =>
  ({
    name: `mcp__${server}__${tool}`,
    description: tool,
    schema: {},
    mcp: { server, tool },
  }) as unknown as CallableTool;

test(verifies("C113", "a named tool is found before those of a server that are called as words are"), async () => {
  const words = "please find and open the new issue for me now".split(" ");
  const tools = [...words.map((word) => toTool("crowd", word)), toTool("tracker", "get_issue")];
  const loaded: string[] = [];
  const search = createSearchTool(tools, (names) => void loaded.push(...names));
  const query = `${words.join(" ")} mcp__tracker__get_issue`;
  const prepared = await search.prepare({ callId: "call_1", toolName: "tool_search", arguments: { query } });
  if (!prepared.ok) throw new Error("not prepared");
  await prepared.run({ signal: new AbortController().signal } as ToolContext);
  expect([loaded[0], loaded.length]).toEqual(["mcp__tracker__get_issue", 8]);
});
