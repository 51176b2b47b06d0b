/** The lines of stdin as JSON. */
import { createNdjsonDecoder } from "@sheaf/protocol/ndjson";
import { SheafError } from "@sheaf/base/errors";

/** Yields each line with its number. @throws SheafError USAGE with the number of the first line that isn't JSON. */
export async function* readInputLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly value: unknown; readonly number: number }> {
  const decoder = createNdjsonDecoder();
  const characters = new TextDecoder("utf-8", { fatal: true });
  let number = 1;
  const toText = (chunk?: Uint8Array): string => {
    try {
      return chunk ? characters.decode(chunk, { stream: true }) : characters.decode();
    } catch (error) {
      throw createLineError(number, "or the one after it is not UTF-8", error);
    }
  };
  const decode = (records: ReturnType<typeof decoder.push>) =>
    records.map((record) => {
      if (record.ok) return { value: record.value, number };
      const [, length] = /longer than (\d+) characters/.exec(record.error) ?? [];
      throw createLineError(number, length ? `is longer than ${length} characters` : "is not JSON");
    });
  for await (const chunk of chunks) {
    for (const [index, piece] of toText(chunk).split("\n").entries()) {
      if (index > 0) {
        yield* decode(decoder.push("\n"));
        number += 1;
      }
      decoder.push(piece);
    }
  }
  decoder.push(toText());
  yield* decode(decoder.end());
}

const expected = '{"type":"user","message":{"role":"user","content":"…"}}, or a control_request or control_response';

/** Makes the error for a line of stdin without a meaning. */
export function createLineError(number: number, problem: string, cause?: unknown): SheafError {
  return new SheafError("USAGE", `line ${number} of stdin ${problem}: write ${expected}`, { cause });
}
