import { describe, expect, test } from "vitest";
import { type Compaction, type ModelEvent, readNotices, type RunEvent } from "@sheaf/protocol";
import { toResponse } from "@sheaf/documents";
import { verifies } from "../../../../test/support/verifies.ts";
import { openConversation } from "../../src/run/conversations/open-conversation.ts";
import { SheafError } from "@sheaf/base/errors";
import type { Model, ModelMessage, ModelRequest } from "@sheaf/models/provider";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { endedEffect } from "../tools/ended-command.ts";
import { call, createFakeModel, createFakeTools, end, ok, runModel, start, text } from "./fake-ports.ts";

const usageOf = (promptTokens: number): ModelEvent => {
  const usage = { promptTokens, completionTokens: 10, totalTokens: promptTokens + 10 };
  return { ...(end("tool_calls") as Extract<ModelEvent, { type: "turn_end" }>), usage };
};

/** A model with a window: it refuses what is longer, counts characters as tokens, and writes summaries when asked. */
function createWindowModel(window: number, turns: number, summary = "what was learned") {
  const requests: ModelRequest[] = [];
  const summaries: ModelRequest[] = [];
  let turn = 0;
  const model: Model = {
    ...createFakeModel([]),
    async *stream(request) {
      const isSummary = request.tools.length === 0 && request.system.startsWith("You write down");
      const tokens = Math.ceil(JSON.stringify(request.messages).length / 3.5);
      (isSummary ? summaries : requests).push(
        structuredClone({ ...request, newCallId: undefined, tap: undefined }) as never,
      );
      if (tokens > window) throw new SheafError("CONTEXT_LENGTH", `${tokens} tokens`, { source: "provider" });
      if (isSummary) {
        yield [text(summary), end()];
        return;
      }
      turn += 1;
      if (turn <= turns) yield [text(`turn ${turn}. `), ...call(`call_${turn}`, "read", { turn }), usageOf(tokens)];
      else yield [text("Done."), end()];
    },
  };
  return { model, requests, summaries };
}

const readTool = createFakeTools({ read: async () => ok("content ".repeat(100)) });

// The fake tools tell nothing of themselves; a request for a summary has none either and is told by its system prompt.

const withContext = (windowTokens: number | undefined, prompt = "the task, word for word") => ({
  start: { ...start, prompt, ...(windowTokens !== undefined && { context: { windowTokens, usedTokens: 0 } }) },
  system: "the system prompt",
});

const fail = (): never => {
  throw new SheafError("OVERLOADED", "too many requests", { source: "provider" });
};

const compactionsOf = (events: readonly RunEvent[]): Compaction[] =>
  events.flatMap((event) => (event.type === "compaction" ? [event] : []));

function checkPairs(messages: readonly ModelMessage[]): void {
  const called = messages.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) => (part.type === "tool_call" ? [part.callId] : []))
      : [],
  );
  const answered = messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
  expect(answered).toEqual(called);
}

describe("a conversation that fills the window", () => {
  test(
    verifies("R-25", "gets a summary in the place of its older part; the user's words and the newest calls stay"),
    async () => {
      const { model, requests, summaries } = createWindowModel(3000, 40);
      const events = (await runModel(model, { tools: readTool, settings: withContext(3000) })).flat();
      expect(events.at(-1)).toMatchObject({ type: "run_end", reason: "end_turn" });
      const compactions = compactionsOf(events);
      expect(compactions.length).toBeGreaterThan(2);
      expect(summaries).toHaveLength(compactions.length);
      expect(compactions[0]).toMatchObject({
        reason: "window",
        summary: "what was learned",
        usage: { totalTokens: 12 },
      });
      for (const { messages } of requests) {
        expect(messages[0]).toEqual({ role: "user", text: "the task, word for word" });
        checkPairs(messages);
        // One summary at most: an older one is part of the newer.
        expect(
          messages.filter((message) => message.role === "user" && message.text.includes("what was learned")).length,
        ).toBeLessThan(2);
      }
      expect(requests.at(-1)!.messages[1]).toMatchObject({
        role: "user",
        text: expect.stringContaining("what was learned") as string,
      });
      // The summary is made from the calls, their results and the words.
      const [first] = summaries[0]!.messages;
      expect(first).toMatchObject({
        role: "user",
        text: expect.stringMatching(/User:\nthe task[^]*Call of read[^]*Result of read:\ncontent/) as string,
      });
    },
  );

  test(verifies(["N5", "N6"], "costs counted tokens and requests; the answer holds nothing of it"), async () => {
    const { model, requests, summaries } = createWindowModel(3000, 20);
    const events = (await runModel(model, { tools: readTool, settings: withContext(3000) })).flat();
    const response = toResponse(events);
    expect(response.metadata.turnCount).toBe(requests.length + summaries.length);
    const spent = events.flatMap((event) =>
      event.type === "turn_end" || event.type === "compaction" ? [event.usage.totalTokens] : [],
    );
    expect(response.usage.totalTokens).toBe(spent.reduce((sum, count) => sum + count, 0));
    expect(JSON.stringify(response.documents)).not.toContain("what was learned");
  });

  test(
    verifies("R-26", "of an unknown window is made shorter once the provider refuses it, then in time"),
    async () => {
      const { model, requests } = createWindowModel(3000, 40);
      const events = (await runModel(model, { tools: readTool, settings: withContext(undefined) })).flat();
      const [first, ...later] = compactionsOf(events).map(({ reason }) => reason);
      expect(first).toBe("refused");
      expect(later.length).toBeGreaterThan(1);
      expect(new Set(later)).toEqual(new Set(["window"]));
      expect(events.at(-1)).toMatchObject({ type: "run_end", reason: "end_turn" });
      expect(toResponse(events).status).toBe("completed");
      checkPairs(requests.at(-1)!.messages);
    },
  );

  test(verifies(["C20", "R-26"], "that is nothing but the user's words fails as too long"), async () => {
    const long = "all of this matters. ".repeat(1000);
    for (const window of [undefined, 3000]) {
      const { model, summaries } = createWindowModel(3000, 3);
      const events = (await runModel(model, { tools: readTool, settings: withContext(window, long) })).flat();
      expect(events.at(-1)).toMatchObject({ type: "run_end", reason: "error", error: { code: "CONTEXT_LENGTH" } });
      expect(summaries).toEqual([]);
    }
  });

  /** A player that knows its last request alone, in characters of a window that it must not exceed: its next step is the first one that it doesn't see. */
  function createForgetfulModel(window: number, summarise: () => ModelEvent[]) {
    const steps: number[] = [];
    let last: readonly ModelMessage[] = [];
    const model: Model = {
      ...createFakeModel([]),
      async *stream({ system, messages }) {
        const tokens = Math.ceil(JSON.stringify(messages).length / 3.5);
        if (tokens > window) throw new SheafError("CONTEXT_LENGTH", `${tokens} tokens`, { source: "provider" });
        if (system.startsWith("You write down")) return yield [...summarise(), end()];
        last = messages;
        const seen = [...JSON.stringify(messages).matchAll(/step (\d+) is done/g)].map(([, step]) => Number(step));
        const step = Math.max(0, ...seen) + 1;
        if (step > 120) return yield [text("Done."), end()];
        steps.push(step);
        yield [text(`step ${step} is done`), ...call(`call_${steps.length}`, "read", { step }), usageOf(tokens)];
      },
    };
    return { model, steps, last: () => last };
  }

  test.each([
    ["is empty", 16_000, () => [text(" ")]],
    ["is empty", 32_000, () => [text("")]],
    ["fails", 16_000, () => fail()],
    ["fails", 32_000, () => fail()],
    ["forgets everything", 16_000, () => [text("Work went on.")]],
  ] as const)(
    verifies("R-25", "is shortened if the summary %s, in a window of %i tokens: no step is lost or made again"),
    async (kind, window, summarise) => {
      const { model, steps, last } = createForgetfulModel(window, () => [...summarise()]);
      const tools = createFakeTools({ read: async () => ok("content ".repeat(700)) });
      const events = (await runModel(model, { tools, settings: withContext(window) })).flat();
      expect(events.at(-1)).toMatchObject({ reason: "end_turn" });
      expect(steps).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
      expect(compactionsOf(events).length).toBeGreaterThan(5);
      expect(last()[0]).toEqual({ role: "user", text: "the task, word for word" });
      if (kind !== "forgets everything") expect(JSON.stringify(last())).toContain("step 1 is done");
      checkPairs(last());
    },
  );

  test.each([
    ["reads 4,000 tokens at most", 4000, undefined, 1],
    ["reads 4,000 tokens at most, and has a larger window in its list", 4000, 100_000, 1],
    ["reads everything", Infinity, undefined, 0],
    ["reads everything, in tokens twice as long", 2, undefined, 0],
  ] as const)(
    verifies(["R-26", "C165"], "is shortened, with one notice, if the server %s"),
    async (_, most, windowTokens, notices) => {
      const cut = (tokens: number): number => (most === 2 ? Math.ceil(tokens / 2) : Math.min(tokens, most));
      const sizes: number[] = [];
      let turn = 0;
      const model: Model = {
        ...createFakeModel([]),
        async *stream({ system, messages }) {
          if (system.startsWith("You write down")) return yield [text("Work went on."), end()];
          const tokens = Math.ceil(JSON.stringify(messages).length / 3.5);
          sizes.push(tokens);
          turn += 1;
          if (turn > 60) return yield [text("Done."), end()];
          yield [text(`turn ${turn}`), ...call(`call_${turn}`, "read", { turn }), usageOf(cut(tokens))];
        },
      };
      const tools = createFakeTools({ read: async () => ok("content ".repeat(400)) });
      const events = (await runModel(model, { tools, settings: withContext(windowTokens) })).flat();
      const told = events.flatMap((event) => readNotices(event));
      expect(told).toHaveLength(notices);
      if (notices === 0) return expect(compactionsOf(events)).toEqual([]);
      expect(told[0]).toMatchObject({
        code: "CONTEXT_CUT",
        message: expect.stringMatching(/read 4000 of about 1\d{4} tokens.*OLLAMA_CONTEXT_LENGTH=32768/) as string,
      });
      // From then on each request fits.
      expect(sizes.filter((size) => size > 4000 * 1.5).length).toBeLessThan(12);
      expect(Math.max(...sizes.slice(20))).toBeLessThan(4000);
    },
  );

  test("of a cancelled run gets no summary", async () => {
    const { model, summaries } = createWindowModel(3000, 40);
    const cancelled = await runModel(model, {
      tools: readTool,
      settings: withContext(3000),
      onEvent: (event, abort) => void (event.type === "turn_end" && event.usage.totalTokens > 2000 && abort()),
    });
    expect(cancelled.flat().at(-1)).toMatchObject({ reason: "cancelled" });
    expect(summaries).toEqual([]);
  });
});

describe("a summary that the user asks for", () => {
  const asked = (prompt = "") => {
    const settings = withContext(100_000, prompt);
    return { ...settings, start: { ...settings.start, responseId: "chat_2", shortens: true as const } };
  };

  test(verifies("C35", "shortens a conversation that is far from full; the next answer begins with it"), async () => {
    const store = createSqliteStore(":memory:");
    const { model, requests, summaries } = createWindowModel(100_000, 12);
    await runModel(model, { tools: readTool, settings: withContext(100_000), store });
    const { messages } = await openConversation(store, "conv_1", () => 1);
    const count = requests.length;
    const events = (await runModel(model, { settings: { ...asked(), history: messages }, store })).flat();
    expect(events.map(({ type }) => type)).toEqual(["run_start", "compaction", "run_end"]);
    expect(events.at(-1)).toMatchObject({ reason: "end_turn" });
    expect(compactionsOf(events)).toMatchObject([{ reason: "asked", summary: "what was learned" }]);
    expect([requests.length, summaries.length]).toEqual([count, 1]);
    const { messages: left } = await openConversation(store, "conv_1", () => 1);
    expect(left.length).toBeLessThan(messages.length / 2);
    expect(left.slice(0, 2)).toMatchObject([
      { text: "the task, word for word" },
      { text: expect.stringContaining("what was learned") as string },
    ]);
    checkPairs(left);
  });

  test(verifies("C35", "of nothing is none; a model that fails says why"), async () => {
    const { model, summaries } = createWindowModel(100_000, 0);
    const events = (await runModel(model, { settings: asked() })).flat();
    expect(events.map(({ type }) => type)).toEqual(["run_start", "run_end"]);
    expect(summaries).toEqual([]);
    const answer = (content: string): ModelMessage => ({
      role: "assistant",
      content: [{ type: "text", text: content }],
    });
    const history = [answer("a ".repeat(1000)), answer("b ".repeat(1000))];
    const failing = createWindowModel(10, 0);
    const failed = (await runModel(failing.model, { settings: { ...asked(), history } })).flat();
    expect(failed.at(-1)).toMatchObject({ reason: "error", error: { code: "CONTEXT_LENGTH" } });
  });
});

describe("three summaries in a row", () => {
  const todos = [
    { id: "one", content: "find the cause", status: "completed", dependencies: [] },
    { id: "two", content: "write the test", status: "in_progress", dependencies: [] },
  ] as const;
  const change = {
    operation: "edit",
    filePath: "src/range.ts",
    path: "/w/src/range.ts",
    content: "new",
    linesAdded: 3,
    linesRemoved: 1,
    bytes: 10,
  } as const;
  const ranCommand = (command: string, exitCode: number, output: string) => ({
    ...ok(output),
    effect: { ...endedEffect, command, exitCode, stdout: output },
  });
  const tools = createFakeTools({
    read: async () => ok("content ".repeat(100)),
    todo_write: async () => ({ ...ok(), effect: { kind: "todo", changes: [], todos } }),
    write: async () => ({ ...ok(), effect: { kind: "file_edit", changes: [change] } }),
    run: async () => ranCommand("npm test", 1, "expected 3, got 4"),
  });
  const firstWords = "The parser must accept 1.x; never touch package.json.";

  /** Works in turn one, then reads; each summary repeats what it is given of earlier ones, and adds a number. */
  function createWorkingModel(turns: number) {
    const requests: ModelMessage[][] = [];
    const transcripts: string[] = [];
    const model: Model = {
      ...createFakeModel([]),
      async *stream({ system, messages }) {
        const tokens = Math.ceil(JSON.stringify(messages).length / 3.5);
        if (system.startsWith("You write down")) {
          const transcript = messages[0]?.role === "user" ? messages[0].text : "";
          transcripts.push(transcript);
          const earlier = [...transcript.matchAll(/fact \d+ \(.*?\)/g)].map(([fact]) => fact);
          const fact = `fact ${transcripts.length} (${"x".repeat(3000)}, the cause is in src/range.ts)`;
          yield [text([...new Set([...earlier, fact])].join("\n")), end()];
          return;
        }
        requests.push(structuredClone(messages) as ModelMessage[]);
        const turn = requests.length;
        if (turn > turns) yield [text("Done."), end()];
        else if (turn > 1) yield [...call(`call_${turn}`, "read", { turn }), usageOf(tokens)];
        else {
          const work = [
            ...call("call_todo", "todo_write"),
            ...call("call_edit", "write", { target_file: "src/range.ts" }),
            ...call("call_test", "run", { command: "npm test" }),
          ];
          yield [text("I begin."), ...work, usageOf(tokens)];
        }
      },
    };
    return { model, requests, transcripts };
  }

  const textsOf = (messages: readonly ModelMessage[]): string =>
    messages.map((message) => (message.role === "user" ? message.text : "")).join("\n");

  const run = async (turns: number, store = createSqliteStore(":memory:")) => {
    const played = createWorkingModel(turns);
    const events = (await runModel(played.model, { tools, settings: withContext(8000, firstWords), store })).flat();
    return { ...played, events, store };
  };

  test(verifies("R-25", "the last request has the words, facts, tasks, files and failures of turn one"), async () => {
    const { events, requests, transcripts } = await run(120);
    expect(compactionsOf(events).length).toBeGreaterThanOrEqual(3);
    const last = requests.at(-1)!;
    const shown = textsOf(last);
    expect(last[0]).toEqual({ role: "user", text: firstWords });
    expect(shown).toContain("fact 1 (");
    expect(shown).toContain("- [in_progress] two: write the test");
    expect(shown).toContain("- src/range.ts (edited, +3 -1 lines)");
    expect(shown).toContain("- run npm test: exit code 1\n  expected 3, got 4");
    // Each summary is whole in the text of the next, longer than any other text there may be.
    for (const [index, transcript] of transcripts.entries()) {
      for (let number = 1; number <= index; number += 1) {
        expect(transcript).toContain(`fact ${number} (${"x".repeat(3000)}, the cause`);
      }
    }
    checkPairs(last);
  });

  test(verifies("R-25", "later requests repeat it byte for byte, and so does a resumed conversation"), async () => {
    const { events, requests, store } = await run(60);
    const count = compactionsOf(events).length;
    const changes = requests.slice(1).filter((messages, index) => {
      const before = requests[index]!;
      return JSON.stringify(messages.slice(0, before.length)) !== JSON.stringify(before);
    });
    expect(changes).toHaveLength(count);
    const opened = await openConversation(store, "conv_1", () => 1);
    const last = requests.at(-1)!;
    expect(opened.messages.slice(0, last.length)).toEqual(last);
    const next = createWorkingModel(60);
    const settings = {
      ...withContext(8000, "And now?"),
      history: opened.messages,
      start: {
        ...withContext(8000, "And now?").start,
        responseId: "chat_2",
        progress: opened.progress,
        context: { windowTokens: 8000, usedTokens: opened.tokens },
      },
    };
    await runModel(next.model, { tools, settings, store });
    expect(next.requests[0]!.slice(0, last.length)).toEqual(last);
    // What the first response did is still known to the summaries of the second.
    expect(textsOf(next.requests.at(-1)!)).toContain("- src/range.ts (edited, +6 -2 lines)");
    const whole = await openConversation(store, "conv_1", () => 1);
    expect(whole.messages.slice(0, next.requests.at(-1)!.length)).toEqual(next.requests.at(-1));
  });

  test(
    verifies("R-25", "words over a fifth of the window lose their middle, the longest first, and say so"),
    async () => {
      const long = `BEGIN ${"of a pasted log. ".repeat(2000)} END`;
      const { model, requests } = createWorkingModel(60);
      const history: ModelMessage[] = [
        { role: "user", text: long },
        { role: "assistant", content: [{ type: "text", text: "I see." }] },
      ];
      const settings = { ...withContext(12_000, firstWords), history };
      const events = (await runModel(model, { tools, settings })).flat();
      expect(compactionsOf(events)[0]).toMatchObject({ userTokens: 2400 });
      const [first, second] = requests.at(-1)!;
      expect(first).toMatchObject({
        text: expect.stringMatching(/^BEGIN of[^]*\(\d+ characters were left out here\.\)[^]* END$/) as string,
      });
      expect(JSON.stringify(first).length).toBeLessThan(2400 * 3.6);
      expect(second).toEqual({ role: "user", text: firstWords });
    },
  );
});
