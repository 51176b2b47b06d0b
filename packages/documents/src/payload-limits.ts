/** How much fits into one event (N55). Sizes are bytes of UTF-8; half a surrogate pair counts as half of its 4. */

import { isHighSurrogate } from "./characters.ts";

/** Content up to this size is sent whole in `document_end`. */
export const maxFinalContent = 1024 * 1024;

/** Content of at most this many UTF-16 units never exceeds it. */
export const alwaysFinalLength = Math.floor(maxFinalContent / 3);

/** Room for one string of a payload, as JSON: 256 KiB less the fields around it. */
const maxPayloadText = 256 * 1024 - 1024;

/** A string of this many units fits, whatever is in it. */
const alwaysFits = Math.floor(maxPayloadText / 6);

/** Bytes of the UTF-8 of `text`. */
export function toUtf8Length(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) bytes += toUnitBytes(text.charCodeAt(index));
  return bytes;
}

/** The longest beginning of `text` with at most `maxBytes`; never ends inside a surrogate pair. */
export function cutToUtf8(text: string, maxBytes: number): string {
  return cut(text, maxBytes, toUnitBytes);
}

/** The longest beginning of `text` that fits into one payload; never ends inside a surrogate pair. */
export function cutToPayload(text: string): string {
  return isShortPayload(text) ? text : cut(text, maxPayloadText, toJsonBytes);
}

/** True if `text` is short enough to fit into one payload, whatever is in it. */
function isShortPayload(text: string): boolean {
  return text.length <= alwaysFits;
}

/** `text` in pieces that fit into one payload each. */
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

/** An upper bound: lone surrogates and control characters become six characters. */
function toJsonBytes(unit: number): number {
  if (unit < 0x20 || isSurrogate(unit)) return 6;
  return unit === 0x22 || unit === 0x5c ? 2 : toUnitBytes(unit);
}
