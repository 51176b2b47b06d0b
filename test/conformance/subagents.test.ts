/** A run with three subagents at once, killed in the middle: its log, every format of it, and how the session goes on. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent, RunEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { createSqliteStore } from "../../packages/store/src/sqlite.ts";
import { createTestFolder, parseStream, runProgram, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const use = (tool: string, args: object) => ({ call: { tool, arguments: args } });
const ask = (kind: string) => use("run_agent", { kind, task: `the task of ${kind}` });
const read = use("read_file", { target_file: "a.txt" });

/** `search` reports at once; the two others work until somebody ends them. */
const script = {
  turns: [
    { events: [{ text: "I split it." }, ask("search"), ask("plan"), ask("review")] },
    { events: [{ text: "Two are missing." }, ask("plan"), ask("review")] },
    { events: [{ text: "All reported." }] },
  ],
  agents: {
    search: [{ events: [read] }, { events: [{ text: "a.txt:1" }] }],
    plan: [{ events: [{ text: "Reading." }, read] }, { events: [{ wait_ms: 3000 }, { text: "One step." }] }],
    review: [{ events: [read] }, { events: [{ wait_ms: 3000 }, { text: "No faults." }] }],
  },
};

const wrapped = (events: readonly RunEvent[]): AgentEvent[] => events.filter((event) => event.type === "agent_event");
const count = (events: readonly { readonly type: string }[], type: string): number =>
  events.filter((event) => event.type === type).length;

async function readLogs(home: string): Promise<RunEvent[][]> {
  const store = createSqliteStore(join(home, "sheaf.db"));
  const [conversation] = await store.listConversations({ limit: 9 });
  const responses = await store.listResponses(conversation!.id);
  const logs = await Promise.all(responses.map(({ id }) => store.readEvents(id)));
  await store.close();
  return logs.map((events) => [...events]);
}

/** Each started call, of the run and of its subagents, has one result, and each subagent one end. */
function checkWhole(events: readonly RunEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(count(events, "run_end")).toBe(1);
  const own = wrapped(events).map(({ event }) => event);
  for (const list of [events, own]) expect(count(list, "tool_result")).toBe(count(list, "tool_call_start"));
  expect(count(own, "run_end")).toBe(count(own, "run_start"));
}

test(
  verifies(["C99", "C97"], "three at once, killed with SIGKILL: nothing is lost or doubled, in any format"),
  async () => {
    const home = join(folders.newFolder(), "home");
    const cwd = folders.newFolder({ "a.txt": "a needle\n" });
    const model = `scripted:${join(folders.path, "three.json")}`;
    writeFileSync(join(folders.path, "three.json"), JSON.stringify(script));
    const isReported = (output: string): boolean =>
      output.split("\n").some((line) => line.includes('"completed"') && line.includes('"taskToolCall"')) &&
      output.split("\n").filter((line) => line.includes('"agent"') && line.includes('"completed"')).length === 3;
    const run = (more: readonly string[], onOutput?: Parameters<typeof runProgram>[1]["onOutput"]) =>
      runProgram(["-p", "--agents", "--model", model, ...more], { cwd, home, ...(onOutput && { onOutput }) });

    const { stdout, signal } = await run(["look"], (output, child) => {
      if (isReported(output)) child.kill("SIGKILL");
    });
    expect(signal).toBe("SIGKILL");
    const [cut] = await readLogs(home);
    expect(count(cut!, "tool_result")).toBe(1);
    const session = String(parseStream(stdout.slice(0, stdout.lastIndexOf("\n") + 1))[0]!.session_id);

    const shown = async (format: string): Promise<string> =>
      (await runSheaf(["show", session, "--output-format", format], { cwd, home })).stdout;
    const lines = parseStream(await shown("stream-json"));
    expect(lines.at(-1)).toMatchObject({ type: "result", is_error: true, error: { code: "INTERRUPTED" } });
    const kinds = lines.filter(({ type }) => type === "tool_call").map(({ subtype }) => subtype);
    expect(kinds.filter((kind) => kind === "completed")).toHaveLength(6);
    expect(kinds.filter((kind) => kind === "started")).toHaveLength(6);
    expect(await shown("text")).toContain("  plan: Read file\n");
    expect(JSON.parse(await shown("documents"))).toMatchObject({ status: "error", metadata: { toolCallCount: 6 } });
    expect((await shown("documents-stream")).trimEnd().split("\n").at(-1)).toContain('"done"');
    const [ended] = await readLogs(home);
    checkWhole(ended!);
    expect(ended!.slice(0, cut!.length)).toEqual(cut);
    expect(
      ended!.filter((event) => event.type === "tool_result").map(({ status, output }) => [status, output]),
    ).toEqual([
      ["success", "a.txt:1"],
      ["cancelled", ""],
      ["cancelled", ""],
    ]);

    // The session goes on: the report that was complete is in the conversation, the others are made.
    const next = await run(["--resume", session, "--output-format", "json", "go on"]);
    expect(JSON.parse(next.stdout)).toMatchObject({ is_error: false, result: "Two are missing.\n\nAll reported." });
    const [, second] = await readLogs(home);
    checkWhole(second!);
    expect(
      second!
        .filter((event) => event.type === "tool_result")
        .map(({ output }) => output)
        .toSorted(),
    ).toEqual(["No faults.", "One step."]);
  },
);
