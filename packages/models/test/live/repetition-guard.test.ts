import { describe, expect, test } from "vitest";
import { createModelServer } from "../../../../test/support/model-server.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createRepetitionGuard } from "../../src/live/repetition-guard.ts";
import { createLiveSetup, formatEvent, readOutcome } from "./live-setup.ts";

/** Characters until the guard notices; undefined: it does not. Pieces are as long as tokens. */
function findNotice(value: string): number | undefined {
  const guard = createRepetitionGuard();
  for (let at = 0; at < value.length; at += 7) if (guard.push(value.slice(at, at + 7))) return at;
  return undefined;
}

const count = (lines: number, write: (index: number) => string): string =>
  Array.from({ length: lines }, (_, index) => write(index)).join("\n");

const paragraph = `${count(12, (index) => `Wait, let me look at the file number ${index} again.`)}\n`;

describe("text that repeats itself", () => {
  test.each([
    ["a paragraph", paragraph],
    ["a word", "the "],
    ["a line end", "\n"],
    ["a piece of 2,000 characters", `${"a".repeat(1000)}${"b".repeat(1000)}`],
  ])(verifies("C49", "%s is noticed within 24,000 characters, whatever was before"), (_, piece) => {
    const before = count(400, (index) => `Line ${index} of an answer.`);
    const noticed = findNotice(before + piece.repeat(60_000 / piece.length))!;
    expect(noticed - before.length).toBeLessThan(24_100);
  });

  test.each([
    ["a table", count(2000, (index) => `| ${index} | 0 | 0 | 0 | ok |`)],
    ["a log", count(2000, (index) => `2026-11-23T10:00:${index % 60}.${index} GET /health 200`)],
    ["numbers in code", count(2000, (index) => `  0x00, 0x00, 0x00, 0x00, 0x${index.toString(16)},`)],
    ["a rule and zeros that end", `${"-".repeat(12_000)}\n${"0, ".repeat(6000)}done\n${"0, ".repeat(6000)}`],
    ["prose that comes back with a difference", count(300, (index) => `${paragraph}(${index})`)],
  ])(verifies("C49", "%s is none"), (_, value) => {
    expect(value.length).toBeGreaterThan(30_000);
    expect(findNotice(value)).toBeUndefined();
  });
});

const part = (delta: object) => formatEvent({ id: "c", choices: [{ index: 0, delta }] });
const stop = `${formatEvent({ id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}data: [DONE]\n\n`;

test.each([["content"], ["reasoning_content"]])(
  verifies(["C20", "C49"], "%s: the run ends with LOOP_DETECTED, and waits for no end"),
  async (field) => {
    const chunks = [part({ content: "I begin." }), ...Array.from({ length: 60 }, () => part({ [field]: paragraph }))];
    const server = await createModelServer({ chunks, after: "hang" });
    const { model } = createLiveSetup("openai-chat", server.url);
    const { error, text } = await readOutcome(model);
    expect(error).toMatchObject({ code: "LOOP_DETECTED", message: expect.stringContaining("Test model") as string });
    expect([text.startsWith("I begin."), server.requests.length]).toEqual([true, 1]);
    await server.close();
  },
);

test(verifies("C49", "a whole answer is an answer"), async () => {
  const server = await createModelServer({ chunks: [part({ content: paragraph.repeat(60) }) + stop] });
  const { model } = createLiveSetup("openai-chat", server.url);
  expect((await readOutcome(model)).error).toBeUndefined();
  await server.close();
});
