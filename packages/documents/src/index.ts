export { assemble, createAssembler, toResponse } from "./assembler.ts";
export type { Assembler, AssemblerOptions } from "./assembler.ts";
export { createJsonScanner } from "./incremental-json.ts";
export type { JsonScanEvent, JsonScanner, JsonScannerOptions } from "./incremental-json.ts";
export { toLanguage } from "./language.ts";
export { createTextParser, parseText } from "./text-parser.ts";
export type {
  CodePurpose,
  NestedCodeBlock,
  ParsedSegment,
  TextParser,
  TextParserEvent,
  TextSegment,
  TextSegmentCodeBlock,
  TextSegmentCodeReference,
  TextSegmentText,
} from "./text-parser.ts";
export { toDocumentType } from "./tool-names.ts";
export { createUtf8Decoder } from "./utf8-decoder.ts";
export type { Utf8Decoder } from "./utf8-decoder.ts";
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
export { toRunEvents, type RunEventOptions, type TurnEvents } from "./model-streams/to-run-events.ts";
