export { assemble, createAssembler, toResponse } from "./assembler.ts";
export type { Assembler, AssemblerOptions } from "./assembler.ts";
export { createJsonScanner } from "./incremental-json.ts";
export type { JsonScanEvent, JsonScanner } from "./incremental-json.ts";
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
export { createWholeCharacters, toWellFormed, type WholeCharacters } from "./whole-characters.ts";
