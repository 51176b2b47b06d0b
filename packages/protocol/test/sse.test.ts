import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeWithFixtures } from "../../../test/support/fixtures.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { encodeHeartbeat, encodeSse } from "../src/encode.ts";
import {
  createSseDecoder,
  createStreamDecoder,
  type SseDecoderOptions,
  type SseMessage,
  type StreamEvent,
} from "../src/index.ts";
import { stream } from "./event-log.ts";

function decode(chunks: readonly string[], options?: SseDecoderOptions) {
  const decoder = createSseDecoder(options);
  const messages: SseMessage[] = chunks.flatMap((chunk) => decoder.push(chunk));
  return { messages: [...messages, ...decoder.end()], decoder };
}

/** The text in two pieces at every place, and one character at a time. */
function toCuts(text: string): string[][] {
  const pairs = Array.from({ length: text.length + 1 }, (_, at) => [text.slice(0, at), text.slice(at)]);
  return [...pairs, [...text].flatMap((character) => [character, ""]), text.split("")];
}

interface DecoderCase {
  readonly name: string;
  readonly base64: string;
  readonly events: readonly { readonly type: string; readonly data: string; readonly id: string }[];
  readonly lastEventId?: string;
  readonly retry?: number;
}

describeWithFixtures("providers", (folder) => {
  const { cases } = JSON.parse(readFileSync(join(folder, "sse-decoder-cases.json"), "utf8")) as {
    cases: DecoderCase[];
  };

  test.each(cases)(
    verifies("N43", "$name: as the HTML standard says, in every cut"),
    ({ base64, events, lastEventId, retry }) => {
      const text = Buffer.from(base64, "base64").toString("utf8");
      for (const chunks of toCuts(text)) {
        const { messages, decoder } = decode(chunks);
        expect(messages.map(({ event, data, id }) => ({ type: event, data, id }))).toEqual(events);
        if (lastEventId !== undefined) expect(decoder.lastEventId).toBe(lastEventId);
        if (retry !== undefined) expect(decoder.retry).toBe(retry);
      }
    },
  );
});

describe("decoding", () => {
  test.each([
    [
      "a byte order mark at the start is dropped, a second is not",
      "\uFEFFdata: a\n\n\uFEFFdata: b\n\n",
      [["message", "a", ""]],
    ],
    [
      "an id with NUL is ignored",
      "id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n",
      [
        ["message", "a", "1"],
        ["message", "b", "1"],
      ],
    ],
    [
      "data without a blank, and empty data",
      "data:a\n\ndata\n\ndata:\n\n",
      [
        ["message", "a", ""],
        ["message", "", ""],
        ["message", "", ""],
      ],
    ],
    ["only the first blank is taken off", "data:  a\n\n", [["message", " a", ""]]],
    [
      "an event name counts for one event",
      "event: x\ndata: 1\n\ndata: 2\n\nevent: y\n\ndata: 3\n\n",
      [
        ["x", "1", ""],
        ["message", "2", ""],
        ["message", "3", ""],
      ],
    ],
    ["data before the event name", "data: 1\nevent: x\n\n", [["x", "1", ""]]],
    ["U+2028 ends no line", "data: a\u2028b\n\n", [["message", "a\u2028b", ""]]],
    ["an unfinished event is dropped", "data: a\n\ndata: b\n", [["message", "a", ""]]],
    ["a retry that is no number is ignored", "retry: 1s\ndata: a\n\n", [["message", "a", ""]]],
  ] as const)(verifies("N43", "%s"), (_, text, expected) => {
    for (const chunks of toCuts(text)) {
      const { messages, decoder } = decode(chunks);
      expect(messages.map(({ event, data, id }) => [event, data, id])).toEqual(expected);
      expect(decoder.retry).toBeUndefined();
    }
  });

  test("an unfinished id does not count", () => {
    const { decoder } = decode(["id: 5\ndata: a\n\nid: 6\ndata: b\n"]);
    expect(decoder.lastEventId).toBe("5");
  });

  test(verifies("X5", "comments are counted and nothing else"), () => {
    const { messages, decoder } = decode([encodeHeartbeat(), ":\n", "data: a\n", encodeHeartbeat()]);
    expect(messages).toEqual([{ event: "message", data: "a", id: "" }]);
    expect(decoder.comments).toBe(3);
  });

  test.each([
    ['data: {"a":1}', [["message", '{"a":1}']]],
    ['event: x\ndata: {"a":\ndata: 1}\n', [["x", '{"a":\n1}']]],
    ['data: {"a":1', []],
    ["data: 1\n\ndata", [["message", "1"]]],
    ["event: x\n", []],
    ["", []],
  ] as const)("a lenient reader takes the tail %j if it is JSON", (text, expected) => {
    for (const chunks of toCuts(text)) {
      const { messages } = decode(chunks, { lenientTail: true });
      expect(messages.map(({ event, data }) => [event, data])).toEqual(expected);
    }
  });

  test("an event that is too long is dropped, and what follows is read", () => {
    const long = "x".repeat(50);
    const text = `data: ${long}\n\ndata: ${long.slice(0, 20)}\ndata: ${long.slice(0, 20)}\n\nid: 3\ndata: ok\n\n`;
    for (const chunks of toCuts(text)) {
      const { messages, decoder } = decode(chunks, { maxEventLength: 40 });
      expect(messages).toEqual([{ event: "message", data: "ok", id: "3" }]);
      expect(decoder.dropped).toBe(2);
    }
  });

  test("a line of a megabyte in small pieces takes linear time", () => {
    const { messages } = decode(["data: ", ...Array.from({ length: 500_000 }, () => "abcd"), "\n\n"]);
    expect(messages[0]?.data).toHaveLength(2_000_000);
  });
});

describe("a stream of events", () => {
  test(verifies(["N43", "X1", "X15"], "is read back from its wire form, whatever the chunks"), () => {
    const text = stream.map(encodeSse).join(encodeHeartbeat());
    for (let size = 1; size < 40; size += 1) {
      const decoder = createStreamDecoder();
      const events: StreamEvent[] = [];
      for (let at = 0; at < text.length; at += size) events.push(...decoder.push(text.slice(at, at + size)));
      events.push(...decoder.end());
      expect(events).toEqual(stream);
      expect(decoder.comments).toBe(stream.length - 1);
    }
  });

  test(verifies(["R14", "N54"], "without ids is numbered from 1"), () => {
    const decoder = createStreamDecoder();
    const payload = '{"documentId":"d","delta":"x"}';
    const events = decoder.push(`event: content_delta\ndata: ${payload}\n\nevent: content_delta\ndata: ${payload}\n\n`);
    expect(events.map(({ id }) => id)).toEqual([1, 2]);
  });

  test(verifies("X14", "unknown events are given as they are; what is no event is counted"), () => {
    const decoder = createStreamDecoder();
    const text = `retry: 5\n\nevent: new_thing\ndata: {"a":1}\n\nevent: done\ndata: [DONE]\n\nevent: content_delta\ndata: {"delta":1}\n\ndata: 7\n\n`;
    expect(decoder.push(text)).toEqual([{ id: 1, event: "new_thing", data: { a: 1 } }]);
    expect([decoder.unreadable, decoder.retry]).toEqual([3, 5]);
  });
});
