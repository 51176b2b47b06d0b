/** Decodes model streams: the body of a provider's answer to run events. */
export {
  findAnswerFailure,
  findEndFailure,
  findWaitMs,
  formatTime,
  isMoneyQuota,
  longestWaitMs,
  toErrorFailure,
  toRefusalCode,
  toWaitUntil,
  type AnswerFailure,
} from "./model-streams/answer-failure.ts";
export { fromModelStream, type ModelStreamChunks } from "./model-streams/from-model-stream.ts";
export {
  createModelStreamDecoder,
  modelStreamFormats,
  type ModelStreamDecoder,
  type ModelStreamFormat,
  type ModelStreamOptions,
} from "./model-streams/model-stream-decoder.ts";
export type {
  ModelSignature,
  ModelStreamReport,
  ProviderError,
  ServerItem,
} from "./model-streams/model-stream-report.ts";
export { createTextCallReader, type TextCallOptions, type TextCallReader } from "./text-calls/text-call-reader.ts";
export { formatUnreadable } from "./read-literal.ts";
export { parseToolArguments, type ToolCallWriter } from "./model-streams/tool-call-writer.ts";
export { createTurnWriter, type TurnWriter } from "./model-streams/turn-writer.ts";
export { toRunEvents, type RunEventOptions, type TurnEvents } from "./model-streams/to-run-events.ts";
