import type { TokenLine } from "../code/highlighter.ts";

/** A run of a line's text that is drawn alike. */
export interface LineSegment {
  readonly text: string;
  /** Kind of token, or "". */
  readonly kind: string;
  /** True if the segment differs from the partner line. */
  readonly isChanged: boolean;
}

/** Divides a line where its colour changes and at both ends of its changed part, without tokens of another text. */
export function toSegments(
  text: string,
  tokens: TokenLine | undefined,
  [from, to]: readonly [from: number, to: number] = [0, 0],
): readonly LineSegment[] {
  const isUsable = tokens !== undefined && tokens.map((token) => token.text).join("") === text;
  const segments: LineSegment[] = [];
  let position = 0;
  for (const token of isUsable ? tokens : [{ text, kind: "" }]) {
    const end = position + token.text.length;
    const cuts = [from, to].filter((cut) => cut > position && cut < end);
    for (const cut of [...cuts, end]) {
      if (cut <= position) continue;
      const isChanged = position >= from && cut <= to;
      segments.push({ text: text.slice(position, cut), kind: token.kind, isChanged });
      position = cut;
    }
  }
  return segments;
}
