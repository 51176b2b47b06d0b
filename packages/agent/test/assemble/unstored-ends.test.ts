/** The store refuses a group of events: the run ends with that, and no format shows what is not stored. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunEvent, ToolCallLine } from "@sheaf/protocol";
import { afterAll, expect, test } from "vitest";
import { createAgent, type AgentRun } from "../../src/index.ts";
import { outputFormats } from "../../src/output/projection.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { allowEvents, refuseEvents } from "../../../../test/support/refusing-store.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const workspace = mkdtempSync(join(tmpdir(), "sheaf-unstored-"));
afterAll(() => rmSync(workspace, { recursive: true }));
const script = join(workspace, "script.json");
const read = { call: { tool: "read_file", arguments: { target_file: "script.json" } } };
const turns = [{ events: [{ text: "I look. " }, read, read] }, { events: [{ text: "Done." }] }];
writeFileSync(script, JSON.stringify({ turns, after: "loop" }));

async function readLines(run: AgentRun): Promise<Record<(typeof outputFormats)[number], string>> {
  const texts: [string, string][] = [];
  for (const format of outputFormats) {
    let text = "";
    for await (const line of run.format(format)) text += line;
    texts.push([format, text]);
  }
  return Object.fromEntries(texts) as Record<(typeof outputFormats)[number], string>;
}

test.each(["run_end", "turn_end", "tool_result", "tool_call_arguments", "turn_start", "run_start"] as const)(
  verifies(["C8", "C22", "R-03", "R-71"], "at %s: one end with the failure of the store, in every format"),
  async (type) => {
    const file = join(workspace, `${type}.db`);
    const store = createSqliteStore(file);
    await using agent = createAgent({ workspace, model: `scripted:${script}`, sandbox: "disabled", store });
    refuseEvents(file, type);
    const run = agent.run("Go");
    const response = await run.result;
    expect(response.status).toBe("error");
    const log: RunEvent[] = [];
    for await (const event of run.events) log.push(event);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(log.at(-1)).toMatchObject({ type: "run_end", reason: "error", error: { code: "STORAGE_LOCKED" } });
    const stored = await store.readEvents(run.responseId);
    // A run that could not even begin names its prompt.
    if (type !== "run_start") expect(log.slice(0, stored.length)).toEqual(stored);
    const told = log.slice(Math.max(stored.length, 1), -1);
    expect(told.filter((event) => event.type !== "tool_result" || event.status !== "cancelled")).toEqual([]);

    const lines = await readLines(run);
    const json = lines["stream-json"]
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as ToolCallLine);
    expect(json.at(-1)).toMatchObject({ type: "result", subtype: "error", error: { code: "STORAGE_LOCKED" } });
    const calls = json.filter((line) => line.type === "tool_call");
    const idsOf = (subtype: string) => calls.filter((call) => call.subtype === subtype).map(({ call_id: id }) => id);
    expect(idsOf("completed").toSorted()).toEqual(idsOf("started").toSorted());
    expect(lines.json).toBe("");
    expect(lines.documents).toContain('"status":"error"');
    for (const text of Object.values(lines))
      expect(text).not.toMatch(/"status":"completed","usage|"subtype":"success"/);

    // The next prompt ends what the store has no end of, and goes on at once.
    allowEvents(file, type);
    const next = await agent.run("Again", { conversation: run.conversation }).result;
    expect(next.status).toBe("completed");
    expect(await store.listOpenResponses()).toEqual([]);
    await store.close();
  },
);
