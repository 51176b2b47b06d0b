/** Lines of files are blamed on the calls, people and commits that made them. */
import { setTimeout as wait } from "node:timers/promises";
import type { RunEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { chooseRows, isDeep } from "../../../../../test/support/depth.ts";
import { forkConversation } from "../../../src/run/conversations/fork.ts";
import { listBlamedCalls } from "../../../src/run/conversations/blamed-calls.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { start } from "../fake-ports.ts";
import { replace } from "./tool-session.ts";
import { changeFiles, chooseAct, createDice, createStory, type Story } from "./blame-story.ts";

interface Tally {
  right: number;
  all: number;
}

/** A conversation of some responses, with people at work between them, a revert, a fork and commits. */
async function play(story: Story, seed: number): Promise<void> {
  const dice = createDice(seed);
  story.files.set(
    "src/start.txt",
    Array.from({ length: 12 }, (_, at) => ({ text: `start ${at}`, by: "person" })),
  );
  story.settle();
  const hasGit = seed % 2 === 0;
  if (hasGit) story.git("init", "-q");
  let conversationId = `conv_${seed}`;
  for (let response = 0; response < 3; response += 1) {
    const turns = Array.from({ length: 2 + dice(3) }, () =>
      Array.from({ length: dice(3) === 0 ? 2 : 1 }, () => chooseAct(story, dice)),
    );
    const id = await story.respond(conversationId, turns);
    const fate = dice(5);
    if (fate === 0) await story.revert(conversationId);
    else if (fate === 1) {
      conversationId = (await forkConversation(story.store, conversationId, id, Date.now))!.id;
    }
    if (hasGit && dice(3) === 0) {
      story.git("add", "-A");
      story.git("commit", "-q", "--allow-empty", "-m", "all");
    }
    for (let edit = dice(3); edit > 0; edit -= 1) changeFiles(story.files, "person", dice);
    story.settle(dice(8) === 0 ? "\r\n" : "\n");
    await wait(2);
  }
}

const seeds = Array.from({ length: 200 }, (_, at) => at + 1);

test(
  verifies("C195", "the lines of seeded conversations belong to their calls, and a person's to nobody"),
  { timeout: 900_000 },
  async () => {
    const tallies: Record<string, Tally> = {};
    for (const seed of chooseRows(seeds, 4)) {
      const story = createStory();
      await play(story, seed);
      for (const [path, lines] of story.files) {
        const blamed = (await story.blame(path))!;
        expect(blamed.map(({ text }) => text)).toEqual(lines.map(({ text }) => text));
        for (const [at, { by }] of lines.entries()) {
          const kind = by === "person" ? by : story.commands.has(by) ? "command" : "tool";
          const tally = (tallies[kind] ??= { right: 0, all: 0 });
          tally.all += 1;
          if ((blamed[at]!.origin?.call.callId ?? "person") === by) tally.right += 1;
        }
      }
    }
    const toRate = (kind: string): number => tallies[kind]!.right / tallies[kind]!.all;
    expect.soft(toRate("tool"), JSON.stringify(tallies)).toBeGreaterThanOrEqual(0.99);
    expect.soft(toRate("command"), JSON.stringify(tallies)).toBeGreaterThanOrEqual(isDeep ? 0.9 : 0.8);
    expect.soft(toRate("person"), JSON.stringify(tallies)).toBeGreaterThanOrEqual(0.99);
  },
);

test(
  verifies("C195", "without states, edits are known, and a command that may have made a line isn't certain"),
  async () => {
    const story = createStory(undefined, false);
    const lines = ["one", "two", "three"].map((text) => ({ text, by: "person" }));
    story.files.set("a.txt", lines);
    story.settle();
    const toEdit = (from: string, to: string) => (by: string) => {
      lines[lines.findIndex(({ text }) => text === from)] = { text: to, by };
      const [tool, args] = replace("a.txt", from, to);
      return { tool, arguments: args };
    };
    const command = () => {
      lines.push({ text: "four", by: "command" });
      story.settle();
    };
    const run = () => ({ tool: "run_terminal_cmd", arguments: { command: "sed -i $a a.txt" }, command });
    await story.respond("conv_1", [[toEdit("one", "ONE")], [run], [toEdit("two", "TWO")]]);
    lines.push({ text: "mine", by: "person" });
    story.settle();
    const blamed = (await story.blame("a.txt"))!;
    expect(blamed.map(({ origin }) => [origin?.call.callId, origin?.isCertain])).toEqual([
      ["call_1_1", true],
      ["call_1_3", true],
      [undefined, undefined],
      ["call_1_2", false],
      [undefined, undefined],
    ]);
  },
);

test(verifies("C195", "an abort ends the reading of the logs"), async () => {
  const story = createStory(undefined, false);
  story.files.set("a.txt", [{ text: "one", by: "person" }]);
  story.settle();
  await story.respond("conv_1", [[() => ({ tool: "list_dir", arguments: {} })]]);
  await expect(story.blame("a.txt", AbortSignal.abort(new Error("the client left")))).rejects.toThrow(
    "the client left",
  );
});

test(verifies("C195", "a result names the state that has the changes of its call"), async () => {
  const story = createStory();
  story.files.set("a.txt", [{ text: "one", by: "person" }]);
  story.settle();
  const run = (by: string) => ({
    tool: "run_terminal_cmd",
    arguments: { command: "sed -i $a a.txt" },
    command() {
      story.files.get("a.txt")!.push({ text: by, by });
      story.settle();
    },
  });
  const list = () => ({ tool: "list_dir", arguments: {} });
  const id = await story.respond("conv_1", [
    [run, run],
    [run, list],
  ]);
  const results = (await story.store.readEvents(id)).filter((event) => event.type === "tool_result");
  const [first, second, third, fourth] = results.map(({ state }) => state);
  expect([first, fourth]).toEqual([second, undefined]);
  expect(third).toBeGreaterThan(second!);
});

test(verifies("C195", "a subagent's call has its own model; an imported log has no calls"), () => {
  const runStart = { type: "run_start", ...start, prompt: "Ask" };
  const change = { operation: "create", filePath: "a.txt", path: "/w/a.txt", content: "one\n" };
  const inner = [
    { type: "run_start", ...start, model: "small" },
    { type: "tool_call_start", callId: "call_2", toolName: "write_file", documentType: "file_edit" },
    { type: "tool_result", callId: "call_2", status: "success", effect: { kind: "file_edit", changes: [change] } },
  ].map((event) => ({ type: "agent_event", callId: "call_1", event }));
  const list = (first: object) =>
    listBlamedCalls("conv_1", { id: "chat_1", createdAt: 1, events: [first, ...inner] as unknown as RunEvent[] });
  expect(list(runStart)).toEqual([
    expect.objectContaining({ callId: "call_2", tool: "write_file", model: "small", isOfAgent: true }),
  ]);
  expect(list(runStart)[0]!.response.prompt).toBe("Ask");
  expect(list({ ...runStart, imported: true })).toEqual([]);
});
