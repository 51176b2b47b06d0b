export type * from "./api.ts";
export type * from "./chat.ts";
export type * from "./cli-events.ts";
export type { TokenPrice } from "./cost.ts";
export type * from "./documents.ts";
export type * from "./run-events.ts";
export type * from "./stream-events.ts";
// In the order in which an event meets them: bundlers keep it, and gzip finds what is repeated within 32 KiB only.
export { createSha256 } from "./sha256.ts";
export type { Sha256 } from "./sha256.ts";
export { createSseDecoder } from "./sse.ts";
export type { SseDecoder, SseDecoderOptions, SseMessage } from "./sse.ts";
export { createStreamDecoder } from "./stream-decoder.ts";
export type { StreamDecoder } from "./stream-decoder.ts";
export { createReducer, reduce, toSnapshot } from "./reduce.ts";
export type { Reducer } from "./reduce.ts";
export { cliSchemaVersion } from "./cli-events.ts";
export { protocolVersion } from "./stream-events.ts";
