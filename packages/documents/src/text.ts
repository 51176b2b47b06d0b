/** Reads text without making documents of it, so that less code is loaded. */
export { createTextParser, parseText } from "./text-parser.ts";
export type { TextParser, TextSegmentCodeReference } from "./text-parser.ts";
export { toLanguage } from "./language.ts";
export { createWholeCharacters, toWellFormed, type WholeCharacters } from "./whole-characters.ts";
