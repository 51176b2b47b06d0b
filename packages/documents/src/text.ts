/** Reading text without making documents of it, which is less to load. */
export { createTextParser, parseText } from "./text-parser.ts";
export type { TextParser, TextSegmentCodeReference } from "./text-parser.ts";
export { toLanguage } from "./language.ts";
export { createWholeCharacters, toWellFormed, type WholeCharacters } from "./whole-characters.ts";
