import { describe, expect, test } from "vitest";
import { describeWithFixtures } from "../../../../test/support/fixtures.ts";
import { splitThought } from "../../../../test/support/split-thought.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { cutAtLineEnds, cutAtRandom, cutEverywhere } from "./cut-body.ts";
import { toExpectedUsage } from "./expected-usage.ts";
import { formatTurn, readChunks, type ReadToolCall } from "./read-turn.ts";
import { loadRecordedBodies, type RecordedToolCall } from "./recorded-bodies.ts";

describeWithFixtures("providers", (folder) => {
  const { bodies, others } = loadRecordedBodies(folder);

  describe(`${bodies.length} of ${bodies.length + others.length} recorded bodies`, () => {
    describe.each(bodies)("$row.file", ({ row, format, body }) => {
      const whole = readChunks(format, [body]);

      test(verifies(["N25", "N29", "N30", "N6"], "adds up to what is known of it"), () => {
        const { thought, text } = splitThought(row.text);
        expect(whole.text).toBe(text);
        expect(whole.reasoning).toBe(row.reasoning + thought);
        expect(whole.report).toMatchObject({
          refusal: row.refusal,
          finish: row.finish,
          ended: row.ended,
          payloads: row.events,
          unparsable: row.unparsable,
          serverItems: row.serverItems,
        });
        expect(whole.report.errors.map((error) => error.raw)).toMatchObject(row.errors);
        expect(whole.end.rawFinishReason).toBe(row.finish ?? "");
        expect(whole.end.usage).toEqual(toExpectedUsage(format, row.file, row.usage));
      });

      test(verifies(["N29", "N30"], "has the known tool calls"), () => {
        // The index lists calls under names of the protocol with the server items.
        const named = whole.toolCalls.filter(({ toolName }) => toolName !== "local_shell");
        expect(named.map(toKnownFields)).toEqual(row.toolCalls.map(toExpectedCall));
        expect(new Set(named.map((toolCall) => toolCall.callId)).size).toBe(row.toolCalls.length);
        for (const { callId } of whole.toolCalls) expect(callId).toMatch(/^call_[A-Za-z0-9_-]{1,235}$/);
      });

      test(verifies("N25", "gives the same events for every cut"), () => {
        const expected = formatTurn(whole);
        const text = new TextDecoder().decode(body);
        expect(formatTurn(readChunks(format, cutEverywhere(body))) === expected, "cut at every byte").toBe(true);
        expect(formatTurn(readChunks(format, text)) === expected, "cut at every character").toBe(true);
        expect(formatTurn(readChunks(format, cutAtLineEnds(body))) === expected, "cut at line ends").toBe(true);
        for (let seed = 1; seed <= 20; seed += 1) {
          expect(formatTurn(readChunks(format, cutAtRandom(body, seed))) === expected, `random cut ${seed}`).toBe(true);
        }
      });
    });
  });

  test(`NOT COVERED, ${others.length} of another interface: ${others.join(", ")}`, () => {
    expect(others).toHaveLength(3);
    for (const file of others) expect(file).toContain("google-interactions");
  });
});

function toKnownFields({ providerCallId, toolName, text, arguments: parsed, rawArguments }: ReadToolCall): unknown {
  return { id: providerCallId ?? null, name: toolName, text, arguments: parsed, rawArguments };
}

/** What the row's raw arguments must become (N30). */
function toExpectedCall({ id, name, arguments: raw, partial }: RecordedToolCall): unknown {
  const text = raw ?? JSON.stringify(joinPartial(partial ?? []));
  if (text === "") return { id, name, text, arguments: {}, rawArguments: undefined };
  try {
    return { id, name, text, arguments: JSON.parse(text) as unknown, rawArguments: undefined };
  } catch {
    return { id, name, text, arguments: {}, rawArguments: text };
  }
}

/** Gemini's parts of arguments, put together without any care. */
function joinPartial(parts: NonNullable<RecordedToolCall["partial"]>): unknown {
  return parts.reduce<unknown>((whole, { jsonPath, stringValue, numberValue }) => {
    const keys = jsonPath.split(/[.[\]]+/).filter((key) => key !== "$" && key !== "");
    return withValue(whole, keys, stringValue ?? numberValue ?? "");
  }, {});
}

function withValue(place: unknown, [key, ...keys]: readonly string[], value: string | number): unknown {
  if (key === undefined) return typeof place === "string" && typeof value === "string" ? place + value : value;
  const inner = withValue(Reflect.get(Object(place), key), keys, value);
  if (!/^\d+$/.test(key)) return { ...Object(place), [key]: inner };
  const list: readonly unknown[] = Array.isArray(place) ? place : [];
  return [...list.slice(0, Number(key)), inner, ...list.slice(Number(key) + 1)];
}
