/** What every request begins with: its size, and that it stays the same (C38, C39). */
import type { Mode, ModelEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { prepareResponse } from "../../src/assemble/prepare-response.ts";
import type { RunRequest } from "../../src/assemble/run-request.ts";
import type { ModelRequest } from "@sheaf/models/provider";
import { toDefinitions, toUnknownTool } from "../../src/tools/registry.ts";
import { respond } from "../../src/run/conversations/respond.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { createTemporaryWorkspace } from "../../../base/test/files/temporary-workspace.ts";
import { call, createFakeModel, end, text } from "../run/fake-ports.ts";
import { runOrder } from "./run-order.ts";

const day = Date.UTC(2026, 4, 3, 12);
const dayMs = 24 * 60 * 60 * 1000;

type Turn = readonly ModelEvent[];

/** One conversation in one workspace. */
function createConversation() {
  const store = createSqliteStore(":memory:");
  const { root, write } = createTemporaryWorkspace();
  let responses = 0;
  write("a.txt", "text\n");
  return {
    /** The requests of a response; the clock stands at `now`. */
    play: async (
      turns: readonly Turn[],
      changes: Partial<RunRequest> = {},
      now = day,
    ): Promise<readonly ModelRequest[]> => {
      const model = createFakeModel(turns.map((turn) => [turn]));
      const full = { ...runOrder, workspace: root, responseId: `chat_${(responses += 1)}`, ...changes };
      const { signal } = new AbortController();
      const ports = { store, model, now: () => now, abort: () => undefined };
      const { settings, ports: runPorts } = await prepareResponse(full, ports, signal);
      for await (const _ of respond(settings, runPorts, signal)) continue;
      return model.requests;
    },
  };
}

const answer: Turn = [text("Done."), end()];

const read = (id: number): Turn => [
  text(`Step ${id}.`),
  ...call(`call_${id}`, "read_file", { target_file: "a.txt", offset: id }),
  end("tool_calls"),
];

const planned: Turn = call("call_plan", "create_plan", { title: "t", overview: "o", plan: "p", todos: [] });

/** What a provider reads first: tools, then system, then the messages in order. */
function expectPrefix(requests: readonly ModelRequest[]): void {
  for (const [index, request] of requests.entries()) {
    const before = requests[index - 1];
    if (!before) continue;
    expect(JSON.stringify(request.tools)).toBe(JSON.stringify(before.tools));
    expect(request.system).toBe(before.system);
    expect(JSON.stringify(request.messages.slice(0, before.messages.length))).toBe(JSON.stringify(before.messages));
  }
}

const listNames = ({ tools }: ModelRequest): string[] => tools.map(({ name }) => name);

describe("the prefix of requests", () => {
  test(
    verifies("C38", "stays the same over 20 turns, the last of a budget too, and when the session goes on"),
    async () => {
      const { play } = createConversation();
      const turns = Array.from({ length: 20 }, (_, index) => read(index + 1));
      const first = await play([...turns, answer], { limits: { maxTurns: 21 } });
      expect(first).toHaveLength(21);
      const later = await play([answer], {}, day + dayMs);
      expectPrefix([...first, ...later]);
      const notes = later[0]!.messages.filter((message) => message.role === "user" && message.isNote);
      expect(notes.map((note) => note.role === "user" && note.text)).toEqual([
        expect.stringMatching(/^Environment:\n- Date: 2026-05-03\n/),
        expect.stringMatching(/^This is the last turn/),
        "Changed in the environment:\n- Date: 2026-05-04",
      ]);
    },
  );

  test(verifies(["C38", "C39"], "stays the same from a plan to the work on it"), async () => {
    const { play } = createConversation();
    const plan = await play([read(1), [text("Found."), ...planned, end("tool_calls")]], { mode: "plan" });
    const build = await play([read(2), answer]);
    expect([plan.length, build.length]).toEqual([2, 2]);
    expectPrefix([...plan, ...build]);
    expect(JSON.stringify(plan[0]!.messages)).toContain("Plan mode. Do not change");
    expect(JSON.stringify(build[0]!.messages.slice(plan[1]!.messages.length))).toContain("no longer applies");
  });
});

describe("the tools that a model sees", () => {
  test(verifies("C39", "are those that the mode and the run can use"), async () => {
    const { play } = createConversation();
    const namesOf = async (changes: Partial<RunRequest>) => listNames((await play([answer], changes))[0]!);
    const agent = await namesOf({});
    expect(agent).toContain("run_terminal_cmd");
    for (const name of ["create_plan", "web_fetch"]) expect(agent).not.toContain(name);
    const web = { permissions: { force: false, allow: ["WebFetch(example.org)"], deny: [] } };
    expect(await namesOf(web)).toEqual(expect.arrayContaining(["web_fetch"]));
    expect(await namesOf({ mode: "ask" })).toEqual([
      "read_file",
      "list_dir",
      "glob_search",
      "grep_search",
      "ask_question",
    ]);
    expect(await namesOf({ mode: "plan" })).toEqual([...agent.slice(0, -1), "create_plan", "ask_question"]);
    expect(await namesOf({ mode: "debug" })).toEqual(agent);
    expect(await namesOf({ sandbox: "enabled", environment: { PATH: "/nonexistent" } })).toEqual(agent);
  });

  test.each([
    ["read", "did you mean read_file or read_terminal?"],
    ["grep_serch", "did you mean grep_search or "],
    ["Bash", "did you mean run_terminal_cmd?"],
    ["str_replace_editor", "did you mean edit_file?"],
    ["launch", "use one of read_file"],
  ])(verifies("C40", "an unknown tool, %s, is answered with the tools that there are"), (name, advice) => {
    const offered = toDefinitions({ mode: "agent", hasPlan: false }).map((tool) => tool.name);
    const { status, error } = toUnknownTool(name, offered);
    expect([status, error!.code]).toEqual(["error", "UNKNOWN_TOOL"]);
    expect(error!.message).toContain(`there is no tool "${name}": ${advice}`);
    expect(error!.message).not.toContain("create_plan");
    const { error: short } = toUnknownTool(name, [...offered, "mcp__a__b", "mcp__a__c"]);
    expect(short!.message).toBe(`${error!.message}, mcp__SERVER__TOOL`);
  });

  /** Tokens, roughly: JSON schemas and English have about four characters a token. */
  const limits: readonly (readonly [Mode, number])[] = [
    ["agent", 3000],
    ["plan", 3400],
    ["ask", 1900],
    ["debug", 3700],
  ];

  test.each(limits)(
    verifies("C38", "prompt, tools and environment take few tokens in %s mode"),
    async (mode, limit) => {
      const { play } = createConversation();
      const [request] = await play([answer], { mode });
      const tokens = JSON.stringify([request!.system, request!.tools, request!.messages]).length / 4;
      expect(tokens).toBeLessThan(limit);
    },
  );
});
