import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { encodeHeartbeat, encodeRetry, encodeSse, toJsonLine } from "../src/encode.ts";
import { createSseDecoder, createStreamDecoder, type StreamEvent } from "../src/index.ts";

test(
  verifies(["N43", "X1", "R14"], "id, name and one data line of the flat payload, without a type of its own"),
  () => {
    expect(encodeSse({ id: 17, event: "content_delta", data: { documentId: "doc_001", delta: "a\nb" } })).toBe(
      'id: 17\nevent: content_delta\ndata: {"documentId":"doc_001","delta":"a\\nb"}\n\n',
    );
  },
);

test(verifies("X5", "a heartbeat is a comment"), () => {
  expect(encodeHeartbeat()).toBe(": hb\n\n");
  expect(createSseDecoder().push(encodeHeartbeat())).toEqual([]);
});

test(verifies("X2", "retry tells how long to wait"), () => {
  const decoder = createSseDecoder();
  decoder.push(encodeRetry(1500.4));
  expect(decoder.retry).toBe(1500);
  decoder.push(encodeRetry(-3));
  expect(decoder.retry).toBe(0);
});

test(
  verifies(["S-54", "N43"], "whatever the strings hold: what is read is what was sent, and each payload is one line"),
  () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom("\n", "\r", "\u2028", "\u2029", "data: x", ":", "\0", " "),
        fc.string({ unit: "binary", maxLength: 2 }),
      ),
    });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9e15 }), (delta, id) => {
        const event: StreamEvent = { id, event: "content_delta", data: { documentId: delta, delta } };
        const sent = encodeSse(event);
        expect(sent.match(/[\r\n\u2028\u2029]/g)).toEqual(["\n", "\n", "\n", "\n"]);
        expect(sent).toBe(`id: ${id}\nevent: content_delta\ndata: ${toJsonLine(event.data)}\n\n`);
        const decoder = createStreamDecoder();
        expect(decoder.push(sent)).toEqual([event]);
      }),
      { numRuns: chooseRuns(20_000) },
    );
    const hostile = { id: 1, event: "x\ndata: y", data: {} } as unknown as StreamEvent;
    expect(encodeSse(hostile)).toBe("id: 1\nevent: xdata: y\ndata: {}\n\n");
  },
);

test(verifies("X14", "a delta with fields of a later version is sent with them"), () => {
  const data = { documentId: "doc_001", delta: "x", later: 1 };
  expect(encodeSse({ id: 1, event: "content_delta", data })).toContain(`data: ${JSON.stringify(data)}\n`);
});
