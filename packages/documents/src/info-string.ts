import type { CodePurpose } from "@sheaf/protocol";
import { toLanguage } from "./language.ts";
import type { TextSegmentCodeBlock, TextSegmentCodeReference } from "./text-segment.ts";

const reference = /^(\d+):(\d+):(.+)$/s;
const attribute = /[^ \t=]+(?:="[^"]*"|='[^']*'|=[^ \t]*)?/g;
const purposeAttribute = /^purpose=(["']?)(new_code|example|suggestion)\1$/;

/**
 * Returns the segment that a fence with this info string opens (N19, N20, N23). `info` is raw: it loses blanks at both
 * ends, but backslashes and entities are not decoded. Line numbers too large for an exact JSON number do not make a
 * reference.
 */
export function parseInfoString(info: string): TextSegmentCodeBlock | TextSegmentCodeReference {
  return parseReference(info) ?? parseCodeBlock(info);
}

function parseReference(info: string): TextSegmentCodeReference | undefined {
  const match = reference.exec(info);
  if (match === null) return undefined;
  const [, start = "", end = "", filePath = ""] = match;
  const startLine = Number(start);
  const endLine = Number(end);
  if (startLine < 1 || endLine < startLine || !Number.isSafeInteger(endLine)) return undefined;
  return { type: "code_reference", filePath, startLine, endLine, language: toLanguage(filePath) };
}

function parseCodeBlock(info: string): TextSegmentCodeBlock {
  const end = info.search(/[ \t]/);
  if (end < 0) return { type: "code_block", language: info };
  const language = info.slice(0, end);
  const purpose = parsePurpose(info.slice(end));
  return { type: "code_block", language, info, ...(purpose && { purpose }) };
}

function parsePurpose(attributes: string): CodePurpose | undefined {
  for (const [text] of attributes.matchAll(attribute)) {
    const purpose = purposeAttribute.exec(text)?.[2];
    if (purpose !== undefined) return purpose as CodePurpose;
  }
  return undefined;
}
