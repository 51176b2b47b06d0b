import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { encodeNdjson, toJsonLine } from "../src/encode.ts";
import { createNdjsonDecoder, type NdjsonRecord } from "../src/ndjson.ts";
import { isStreamEvent } from "../src/validate.ts";
import { stream } from "./event-log.ts";

function decode(text: string, size: number, maxLineLength?: number): NdjsonRecord[] {
  const decoder = createNdjsonDecoder(maxLineLength === undefined ? {} : { maxLineLength });
  const records: NdjsonRecord[] = [];
  for (let at = 0; at < text.length; at += size) records.push(...decoder.push(text.slice(at, at + size)));
  return [...records, ...decoder.end()];
}

test(verifies(["X15", "N43", "X1"], "an event is the envelope id, event, data on one line"), () => {
  expect(encodeNdjson({ id: 17, event: "content_delta", data: { documentId: "doc_001", delta: "a\u2028b" } })).toBe(
    '{"id":17,"event":"content_delta","data":{"documentId":"doc_001","delta":"a\\u2028b"}}\n',
  );
  for (const event of stream)
    expect(Object.keys(JSON.parse(encodeNdjson(event)) as object)).toEqual(["id", "event", "data"]);
});

test(verifies("X15", "a stream is read back, whatever the chunks"), () => {
  const text = stream.map(encodeNdjson).join("");
  for (let size = 1; size < 40; size += 1) {
    const values = decode(text, size).map((record) => record.ok && record.value);
    expect(values).toEqual(stream);
    expect(values.every(isStreamEvent)).toBe(true);
  }
});

test(verifies("S-54", "any value is one line and comes back"), () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 8 }), (value, size) => {
      const line = encodeNdjson(value);
      expect(line.match(/[\r\n\u2028\u2029]/g)).toEqual(["\n"]);
      expect(decode(line, size)).toEqual([{ ok: true, value: JSON.parse(JSON.stringify(value)) }]);
    }),
    { numRuns: chooseRuns(2000) },
  );
  expect(toJsonLine(undefined)).toBe("null");
  expect(toJsonLine("\u2028\u2029")).toBe(String.raw`"\u2028\u2029"`);
});

test("a bad line is a value, and the next one is read", () => {
  for (let size = 1; size < 12; size += 1) {
    const records = decode('{"a":1}\r\n\n  \nno\n{"b":2}', size);
    expect(records).toEqual([
      { ok: true, value: { a: 1 } },
      { ok: false, line: "no", error: expect.stringContaining("JSON") },
      { ok: true, value: { b: 2 } },
    ]);
  }
});

test("a line that is too long is a bad one, of which only so much is held", () => {
  for (let size = 1; size < 30; size += 1) {
    expect(decode(`"${"x".repeat(40)}"\n"${"y".repeat(8)}"\n"${"z".repeat(9)}"`, size, 10)).toEqual([
      { ok: false, line: '"xxxxxxxxx', error: "the line is longer than 10 characters" },
      { ok: true, value: "yyyyyyyy" },
      { ok: false, line: '"zzzzzzzzz', error: "the line is longer than 10 characters" },
    ]);
  }
});
