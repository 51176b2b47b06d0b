import type { ModelEvent } from "@sheaf/protocol";
import { createModelStreamDecoder, type ModelStreamFormat, type ModelStreamOptions } from "./model-stream-decoder.ts";

/** The body of an answer in pieces, for instance `response.body`. */
export type ModelStreamChunks = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

/**
 * Yields the events of one turn, as its body arrives. The last one is `turn_end`.
 * @throws the error of `chunks`; the turn then has no end.
 */
export async function* fromModelStream(
  format: ModelStreamFormat,
  chunks: ModelStreamChunks,
  options: Partial<ModelStreamOptions> = {},
): AsyncGenerator<ModelEvent, void, undefined> {
  const decoder = createModelStreamDecoder(format, options);
  for await (const chunk of chunks) yield* decoder.push(chunk);
  yield* decoder.end();
}
