export { toBaseEvents, toBaseResponse } from "./base-form.ts";
export type * from "./chat.ts";
export type * from "./cli-events.ts";
export { toCostUsd, type TokenPrice } from "./cost.ts";
export { cliSchemaVersion } from "./cli-events.ts";
export type * from "./documents.ts";
export { toJsonLine } from "./json-line.ts";
export { createNdjsonDecoder, encodeNdjson } from "./ndjson.ts";
export type { NdjsonDecoder, NdjsonDecoderOptions, NdjsonRecord } from "./ndjson.ts";
export { createReducer, reduce, toSnapshot } from "./reduce.ts";
export type { Reducer } from "./reduce.ts";
export type * from "./run-events.ts";
export { createSha256 } from "./sha256.ts";
export type { Sha256 } from "./sha256.ts";
export { createSseDecoder, encodeHeartbeat, encodeRetry, encodeSse } from "./sse.ts";
export type { SseDecoder, SseDecoderOptions, SseMessage } from "./sse.ts";
export { createStreamDecoder } from "./stream-decoder.ts";
export type { StreamDecoder } from "./stream-decoder.ts";
export type * from "./stream-events.ts";
export { baseEventNames, protocolVersion } from "./stream-events.ts";
export {
  explainChatResponse,
  explainDocument,
  explainStreamEvent,
  isChatResponse,
  isDocument,
  isStreamEvent,
} from "./validate.ts";
export { createVerifier, verify } from "./verify.ts";
export type { Verifier, VerifierOptions, Violation } from "./verify.ts";
