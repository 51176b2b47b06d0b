/** Limits of one event (N55). Sizes are bytes of UTF-8; half a surrogate pair has half of its 4. */

import { isHighSurrogate } from "./characters.ts";

/** Most bytes of content for `document_end`. */
export const maxFinalContent = 1024 * 1024;

/** Most UTF-16 units of content that never exceed this limit. */
export const alwaysFinalLength = Math.floor(maxFinalContent / 3);

/** Bytes for one string of a payload, as JSON: 256 KiB less the fields around it. */
const maxPayloadText = 256 * 1024 - 1024;

/** Most units of a string that fit with any content. */
const alwaysFits = Math.floor(maxPayloadText / 6);

export function toUtf8Length(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) bytes += toUnitBytes(text.charCodeAt(index));
  return bytes;
}

/** Returns the longest prefix of `text` with at most `maxBytes`; it never ends inside a surrogate pair. */
export function cutToUtf8(text: string, maxBytes: number): string {
  return cut(text, maxBytes, toUnitBytes);
}

/** Returns the longest prefix of `text` that fits into one payload; it never ends inside a surrogate pair. */
export function cutToPayload(text: string): string {
  return isShortPayload(text) ? text : cut(text, maxPayloadText, toJsonBytes);
}

/** True if `text` is short enough for one payload with any content. */
function isShortPayload(text: string): boolean {
  return text.length <= alwaysFits;
}

/** Splits `text` into pieces that fit into one payload each. */
export function toPayloadPieces(text: string): readonly string[] {
  if (isShortPayload(text)) return text === "" ? [] : [text];
  const pieces: string[] = [];
  for (let rest = text; rest !== "";) {
    const piece = cutToPayload(rest);
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return pieces;
}

function cut(text: string, maxBytes: number, toBytes: (unit: number) => number): string {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    bytes += toBytes(text.charCodeAt(index));
    if (bytes > maxBytes) return text.slice(0, isInsidePair(text, index) ? index - 1 : index);
  }
  return text;
}

function isInsidePair(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00 && isHighSurrogate(text.charCodeAt(index - 1));
}

function isSurrogate(unit: number): boolean {
  return (unit & 0xf800) === 0xd800;
}

function toUnitBytes(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 || isSurrogate(unit) ? 2 : 3;
}

/** Returns an upper bound: lone surrogates and control characters become six characters. */
function toJsonBytes(unit: number): number {
  if (unit < 0x20 || isSurrogate(unit)) return 6;
  return unit === 0x22 || unit === 0x5c ? 2 : toUnitBytes(unit);
}
