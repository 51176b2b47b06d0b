import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEventBody } from "@sheaf/protocol";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCursorStreamProjection } from "../../src/output/cursor-stream.ts";
import { describeWithFixtures } from "../../../../test/support/fixtures.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { project, runStart, toCall, toLog, toTexts, turnEnd } from "./log.ts";

type Line = Readonly<Record<string, unknown>>;

const runEnd: RunEventBody = { type: "run_end", reason: "end_turn" };
const turnStart = (turn: number): RunEventBody => ({ type: "turn_start", turn });
const failure: RunEventBody = {
  type: "run_end",
  reason: "error",
  error: { code: "NETWORK", message: "away", source: "provider", details: "", retryable: true },
};

const readCall = toCall("call_1", "read_file", { target_file: "a" }, { status: "error" });

function print(
  bodies: readonly RunEventBody[],
  options: { partial?: "deltas" | "both"; includeThinking?: boolean } = {},
): Line[] {
  const lines = project(createCursorStreamProjection(options), toLog(runStart, ...bodies));
  return lines.map((line) => JSON.parse(line) as Line);
}

const toText = (line: Line): string => (line.message as { content: [{ text: string }] }).content[0].text;
const isSegment = (line: Line): boolean =>
  line.type === "assistant" && (line.timestamp_ms === undefined || line.model_call_id !== undefined);
const isDelta = (line: Line): boolean => line.type === "assistant" && !isSegment(line);

const twoTurns = [
  turnStart(1),
  ...toTexts("I will ", "read."),
  ...readCall,
  turnEnd,
  turnStart(2),
  ...toTexts("It ", "is ", "empty."),
  turnEnd,
  runEnd,
];

describe("assistant lines", () => {
  test(verifies("C30", "one a segment: before a tool call with its request and time, the last with neither"), () => {
    const segments = print(twoTurns).filter((line) => line.type === "assistant");
    expect(segments.map(toText)).toEqual(["I will read.", "It is empty."]);
    expect(Object.keys(segments[0]!)).toEqual(["type", "message", "session_id", "model_call_id", "timestamp_ms"]);
    expect(Object.keys(segments[1]!)).toEqual(["type", "message", "session_id"]);
  });

  test(verifies(["C30", "C44"], "with --stream-partial-output the deltas of C7 come instead of the segments"), () => {
    const lines = print(twoTurns, { partial: "deltas" }).filter((line) => line.type === "assistant");
    expect(lines.map(toText)).toEqual(["I will ", "read.", "It ", "is ", "empty."]);
    for (const line of lines) expect(Object.keys(line)).toEqual(["type", "message", "session_id", "timestamp_ms"]);
  });

  test(verifies("C44", "a program that asks for both gets both, told apart by their time"), () => {
    const lines = print(twoTurns, { partial: "both" });
    expect(lines.filter(isDelta).map(toText)).toEqual(["I will ", "read.", "It ", "is ", "empty."]);
    expect(lines.filter(isSegment).map(toText)).toEqual(["I will read.", "It is empty."]);
  });

  test(verifies("C30", "deltas and segments both join to the result, for any text"), () => {
    const chunk = fc.array(fc.constantFrom("a", " ", "\n", "word ", "ü", "\u{1F600}"), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(chunk, { minLength: 1, maxLength: 4 }), (turns) => {
        const bodies = turns.flatMap((texts, index) => [
          turnStart(index + 1),
          ...toTexts(...texts),
          ...(index < turns.length - 1 ? toCall(`call_${index}`, "list_dir", {}, { status: "error" }) : []),
          turnEnd,
        ]);
        const lines = print([...bodies, runEnd], { partial: "both" });
        const { result } = lines.at(-1)!;
        expect(lines.filter(isSegment).map(toText).join("")).toBe(result);
        expect(lines.filter(isDelta).map(toText).join("")).toBe(result);
        const deltas = print([...bodies, runEnd], { partial: "deltas" }).filter((line) => line.type === "assistant");
        expect(deltas.map(toText).join("")).toBe(result);
        // A reader that compares with the text before loses none; a single character cannot be cut in two.
        const texts = deltas.map(toText);
        expect(texts.some((text, index) => Array.from(text).length > 1 && text === texts[index - 1])).toBe(false);
      }),
    );
  });

  test(verifies(["C12", "C30"], "thinking is printed only when it is asked for"), () => {
    const bodies: RunEventBody[] = [
      turnStart(1),
      { type: "reasoning_delta", text: "hm" },
      ...toTexts("x"),
      turnEnd,
      runEnd,
    ];
    expect(print(bodies).some((line) => line.type === "thinking")).toBe(false);
    const kinds = print(bodies, { includeThinking: true }).map(
      ({ type, subtype }) => `${String(type)} ${String(subtype)}`,
    );
    expect(kinds.slice(2, 4)).toEqual(["thinking delta", "thinking completed"]);
  });
});

describe("the end", () => {
  test(verifies("C30", "a run that fails has no result line"), () => {
    const lines = print([turnStart(1), ...toTexts("half"), turnEnd, failure]);
    expect(lines.map(({ type }) => type)).toEqual(["system", "user", "assistant"]);
  });
});

/** Which fields the captured lines have, by kind of line, in their order. */
function readCapturedFields(folder: string): Map<string, string[][]> {
  const table = new Map<string, string[][]>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".ndjson"))) {
    for (const text of readFileSync(join(folder, file), "utf8").trimEnd().split("\n")) {
      const line = JSON.parse(text) as Line;
      table.set(toKind(line), [...(table.get(toKind(line)) ?? []), Object.keys(line)]);
    }
  }
  return table;
}

function toKind(line: Line): string {
  if (line.type !== "assistant") return `${String(line.type)}/${String(line.subtype)}`;
  return isDelta(line)
    ? "assistant delta"
    : "model_call_id" in line
      ? "assistant before a call"
      : "assistant at the end";
}

describeWithFixtures("cursor-streams", (folder) => {
  test(verifies("C30", "every line has the fields of a captured line of its kind, in their order"), () => {
    const table = readCapturedFields(folder);
    const bodies: RunEventBody[] = [turnStart(1), { type: "reasoning_delta", text: "hm" }, ...twoTurns.slice(1)];
    const lines = print(bodies, { partial: "both", includeThinking: true });
    const kinds = new Set(lines.map(toKind));
    for (const line of lines) {
      const kind = toKind(line);
      expect(table.get(kind) ?? [], kind).toContainEqual(Object.keys(line));
    }
    expect([...kinds].toSorted()).toEqual([
      "assistant at the end",
      "assistant before a call",
      "assistant delta",
      "result/success",
      "system/init",
      "thinking/completed",
      "thinking/delta",
      "tool_call/completed",
      "tool_call/started",
      "user/undefined",
    ]);
  });
});
