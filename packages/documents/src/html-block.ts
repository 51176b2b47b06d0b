/** The kinds of HTML blocks, numbered as in CommonMark 0.31, section 4.6. */
export type HtmlBlockKind = 1 | 2 | 3 | 4 | 5 | 6 | 7;

const blockNames =
  "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|" +
  "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|" +
  "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|" +
  "track|ul";
const attributeValue = `(?:[^ \\t"'=<>\`]+|'[^']*'|"[^"]*")`;
const attribute = `[ \\t]+[a-z_:][a-z0-9:._-]*(?:[ \\t]*=[ \\t]*${attributeValue})?`;

/** Patterns for the start of each kind, and for the line that ends it. The last two end before a blank line. */
const kinds: readonly (readonly [RegExp, RegExp?])[] = [
  [/^<(?:pre|script|style|textarea)(?:[ \t>]|$)/i, /<\/(?:pre|script|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![a-z]/i, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [new RegExp(`^</?(?:${blockNames})(?:[ \\t]|/?>|$)`, "i")],
  [new RegExp(`^<(?:[a-z][a-z0-9-]*(?:${attribute})*[ \\t]*/?|/[a-z][a-z0-9-]*[ \\t]*)>[ \\t]*$`, "i")],
];

/** Returns the kind of HTML block that can start with `text`, the rest of a line after a `<`; 0 if none can. */
export function parseHtmlBlockStart(text: string): HtmlBlockKind | 0 {
  return (kinds.findIndex(([start]) => start.test(text)) + 1) as HtmlBlockKind | 0;
}

/** True if the block ends with this line. Kinds 6 and 7 never do: see `isEndedByBlankLine`. */
export function isHtmlBlockEnd(kind: HtmlBlockKind, line: string): boolean {
  return kinds[kind - 1]?.[1]?.test(line) ?? false;
}

export function isEndedByBlankLine(kind: HtmlBlockKind): boolean {
  return kind > 5;
}
