/** The kinds of HTML blocks, numbered as in CommonMark 0.31, section 4.6. */
export type HtmlBlockKind = 1 | 2 | 3 | 4 | 5 | 6 | 7;

const blockNames =
  "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|" +
  "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|" +
  "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|" +
  "track|ul";
const attributeValue = `(?:[^ \\t"'=<>\`]+|'[^']*'|"[^"]*")`;
const attribute = `[ \\t]+[a-z_:][a-z0-9:._-]*(?:[ \\t]*=[ \\t]*${attributeValue})?`;

const starts: readonly (readonly [HtmlBlockKind, RegExp])[] = [
  [1, /^<(?:pre|script|style|textarea)(?:[ \t>]|$)/i],
  [2, /^<!--/],
  [3, /^<\?/],
  [4, /^<![a-z]/i],
  [5, /^<!\[CDATA\[/],
  [6, new RegExp(`^</?(?:${blockNames})(?:[ \\t]|/?>|$)`, "i")],
  [7, new RegExp(`^<(?:[a-z][a-z0-9-]*(?:${attribute})*[ \\t]*/?|/[a-z][a-z0-9-]*[ \\t]*)>[ \\t]*$`, "i")],
];

const ends: Readonly<Record<HtmlBlockKind, RegExp | undefined>> = {
  1: /<\/(?:pre|script|style|textarea)>/i,
  2: /-->/,
  3: /\?>/,
  4: />/,
  5: /\]\]>/,
  6: undefined,
  7: undefined,
};

/** The kind of HTML block that `text`, the rest of a line from a `<` on, can start; undefined if none. */
export function parseHtmlBlockStart(text: string): HtmlBlockKind | undefined {
  return starts.find(([, start]) => start.test(text))?.[0];
}

/** Does the block end with this line? Kinds 6 and 7 never do: see `isEndedByBlankLine`. */
export function isHtmlBlockEnd(kind: HtmlBlockKind, line: string): boolean {
  return ends[kind]?.test(line) ?? false;
}

/** Does a blank line end the block? */
export function isEndedByBlankLine(kind: HtmlBlockKind): boolean {
  return ends[kind] === undefined;
}
