import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { encodeSse } from "../src/encode.ts";
import { createStreamDecoder, type StreamEvent } from "../src/index.ts";
import { explainStreamEvent } from "../src/validate.ts";
import { stream } from "./event-log.ts";

const foreign: readonly unknown[] = [null, -1, 0, 1.5, "", "_own", "error", true, [], [{}], {}, { version: 1 }];

/** Looked at more closely by the guards than by a reader. */
const loose: ReadonlySet<string> = new Set(["response_start.mode", "snapshot.response"]);

/** The event with one field missing, and with each foreign value in its place. */
function toVariants(event: StreamEvent, field: string): StreamEvent[] {
  const { [field]: _, ...rest } = event.data as unknown as Record<string, unknown>;
  return [rest, ...foreign.map((value) => ({ ...rest, [field]: value }))].map(
    (data) => ({ ...event, data }) as unknown as StreamEvent,
  );
}

test(verifies(["X14", "N43"], "what the guards refuse is unreadable, and nothing else"), () => {
  const verdicts = { read: 0, refused: 0 };
  for (const event of stream) {
    for (const field of [...Object.keys(event.data), "later"]) {
      if (loose.has(`${event.event}.${field}`)) continue;
      for (const variant of toVariants(event, field)) {
        const decoder = createStreamDecoder();
        const isRead = decoder.push(encodeSse(variant)).length === 1;
        expect(decoder.unreadable).toBe(isRead ? 0 : 1);
        const problem = explainStreamEvent(variant);
        expect(isRead, `${problem} in ${JSON.stringify(variant)}`).toBe(problem === undefined);
        verdicts[isRead ? "read" : "refused"] += 1;
      }
    }
  }
  expect(Math.min(verdicts.read, verdicts.refused)).toBeGreaterThan(100);
});
