/** HTML as tokens, in linear time: any text is some sequence of tokens. */

export type HtmlToken =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "open"; readonly name: string; readonly attributes: ReadonlyMap<string, string> }
  | { readonly type: "close"; readonly name: string };

/** Their content is text up to their own end tag. */
const rawTextElements: ReadonlySet<string> = new Set([
  "script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript", "template", "svg",
]); // prettier-ignore

/** Common entities; all others stay as written. */
const entities: Readonly<Record<string, string>> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", copy: "©", reg: "®", trade: "™", hellip: "…", mdash: "—",
  ndash: "–", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«", raquo: "»", bull: "•", middot: "·", times: "×",
  divide: "÷", deg: "°", plusmn: "±", para: "¶", sect: "§", euro: "€", pound: "£", yen: "¥", cent: "¢", larr: "←",
  rarr: "→", uarr: "↑", darr: "↓", harr: "↔", auml: "ä", ouml: "ö", uuml: "ü", Auml: "Ä", Ouml: "Ö", Uuml: "Ü", szlig: "ß",
  eacute: "é", egrave: "è", ecirc: "ê", agrave: "à", aacute: "á", acirc: "â", ccedil: "ç", iacute: "í", oacute: "ó",
  uacute: "ú", ntilde: "ñ", aring: "å", aelig: "æ", oslash: "ø", shy: "", ensp: " ", emsp: " ", thinsp: " ", zwnj: "",
  zwj: "", lang: "⟨", rang: "⟩", le: "≤", ge: "≥", ne: "≠", asymp: "≈", infin: "∞", check: "✓", star: "☆", hearts: "♥",
}; // prettier-ignore

/** The tokens of a page. Comments, declarations and processing instructions yield none. */
export function* toHtmlTokens(html: string): Generator<HtmlToken> {
  for (let place = 0; place < html.length;) {
    const open = findMarkup(html, place);
    if (open > place) yield toText(html.slice(place, open));
    if (open === html.length) return;
    const next = html.charAt(open + 1);
    if (html.startsWith("<!--", open)) {
      place = skipPast(html, "-->", open + 4);
    } else if (next === "!" || next === "?") {
      place = skipPast(html, ">", open + 2);
    } else if (next === "/") {
      const end = skipPast(html, ">", open + 2);
      yield { type: "close", name: readName(html, open + 2) };
      place = end;
    } else {
      const tag = readTag(html, open + 1);
      yield { type: "open", name: tag.name, attributes: tag.attributes };
      place = tag.end;
      if (rawTextElements.has(tag.name) && !tag.isClosed) place = yield* readRawText(html, tag.name, place);
    }
  }
}

/** The next "<" that begins something; all others are text. */
function findMarkup(html: string, from: number): number {
  const markup = /<(?=[A-Za-z!?]|\/[A-Za-z])/g;
  markup.lastIndex = from;
  return markup.exec(html)?.index ?? html.length;
}

/** Text with its entities replaced. */
function toText(text: string): HtmlToken {
  return { type: "text", text: decodeEntities(text) };
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,8}));?/g, (match, decimal, hex, name) => {
    if (typeof name === "string") return Object.hasOwn(entities, name) ? entities[name]! : match;
    const code = typeof decimal === "string" ? Number(decimal) : Number.parseInt(hex as string, 16);
    const isScalar = code > 0 && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff);
    return isScalar ? String.fromCodePoint(code) : "\uFFFD";
  });
}

/** Yields the text of a title; the contents of the others are for browsers. */
function* readRawText(html: string, name: string, from: number): Generator<HtmlToken, number> {
  const end = findEndTag(html, name, from);
  if (name === "title") yield toText(html.slice(from, end));
  yield { type: "close", name };
  return skipPast(html, ">", end);
}

function findEndTag(html: string, name: string, from: number): number {
  for (let place = html.indexOf("</", from); place !== -1; place = html.indexOf("</", place + 2)) {
    if (readName(html, place + 2) === name) return place;
  }
  return html.length;
}

interface Tag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Where the text after it begins. */
  readonly end: number;
  /** Written as `<name/>`. */
  readonly isClosed: boolean;
}

function readTag(html: string, start: number): Tag {
  const name = readName(html, start);
  const attributes = new Map<string, string>();
  let place = start + name.length;
  while (place < html.length && html.charAt(place) !== ">") {
    const attribute = readAttribute(html, place);
    if (attribute.name !== "" && !attributes.has(attribute.name)) attributes.set(attribute.name, attribute.value);
    place = attribute.end;
  }
  return { name, attributes, end: place + 1, isClosed: html.charAt(place - 1) === "/" };
}

/** Reads at least one character, so that a tag ends. */
function readAttribute(html: string, start: number): { name: string; value: string; end: number } {
  let place = start;
  while (place < html.length && !/[\s=>/]/.test(html.charAt(place))) place += 1;
  const name = html.slice(start, place).toLowerCase();
  while (isBlank(html.charAt(place))) place += 1;
  if (name === "" || html.charAt(place) !== "=") return { name, value: "", end: place > start ? place : start + 1 };
  place += 1;
  while (isBlank(html.charAt(place))) place += 1;
  const quote = html.charAt(place);
  if (quote === '"' || quote === "'") {
    const close = html.indexOf(quote, place + 1);
    const end = close === -1 ? html.length : close;
    return { name, value: decodeEntities(html.slice(place + 1, end)), end: end + 1 };
  }
  const from = place;
  while (place < html.length && !/[\s>]/.test(html.charAt(place))) place += 1;
  return { name, value: decodeEntities(html.slice(from, place)), end: place };
}

function readName(html: string, start: number): string {
  let end = start;
  while (end < html.length && /[A-Za-z0-9:-]/.test(html.charAt(end))) end += 1;
  return html.slice(start, end).toLowerCase();
}

function skipPast(html: string, text: string, from: number): number {
  const found = html.indexOf(text, from);
  return found === -1 ? html.length : found + text.length;
}

function isBlank(character: string): boolean {
  return character !== "" && /\s/.test(character);
}
