/** Reads JSON as models write it: with slips whose meaning is clear, but never without its end. */
import { isJsonObject, type JsonObject } from "@sheaf/protocol/check-value";

/** The reason why a text isn't a JSON object. */
export interface Unreadable {
  readonly value?: undefined;
  /** Number of UTF-16 units before the place. */
  readonly at: number;
  /** A clause about the place. */
  readonly reason: string;
  /** True if the text ends before the value does. */
  readonly isCut: boolean;
}

/** Most levels of nesting, more than any tool needs. Writing the log as JSON must not exhaust the stack. */
const maximumDepth = 500;

const constants = { true: true, false: false, null: null, True: true, False: false, None: null } as const;

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** Literal characters of a text, by its quote. */
const plain: Readonly<Record<string, RegExp>> = {
  '"': /[^"\\\p{Cc}]+/uy,
  "'": /[^'\\\p{Cc}]+/uy,
};

/** Reads one value after another from a text. `mended` contains the slips so far. */
export class LiteralReader {
  readonly mended = new Set<string>();
  /** The reason why the first unreadable value cannot be read. */
  problem: Unreadable | undefined;
  at: number;
  readonly #text: string;

  constructor(text: string, at = 0) {
    this.#text = text;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#text.length;
  }

  /** Takes the text that the sticky `pattern` matches here. `slip` is the slip's name, if it is one. */
  take(pattern: RegExp, slip?: string): string | undefined {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.#text) ?? [];
    this.at += found?.length ?? 0;
    if (found !== undefined && slip !== undefined) this.mended.add(slip);
    return found;
  }

  skipBlank(): void {
    do this.take(/\s+/y);
    while (this.take(/\/\/[^\n]*|#[^\n]*|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//y, "a comment") !== undefined);
  }

  /** Returns undefined and sets `problem` if the value cannot be read. */
  readValue(depth = 0): { readonly value: unknown } | undefined {
    this.skipBlank();
    if (depth > maximumDepth) return this.fail(`it is nested deeper than ${maximumDepth}`);
    if (this.take(/\{/y) !== undefined) return this.#readObject(depth);
    if (this.take(/\[/y) !== undefined) return this.#readList(depth);
    const text = this.readText();
    if (text || this.problem) return text;
    const number = this.take(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y);
    if (number !== undefined) return { value: Number(number) };
    const word = this.take(/(?:true|false|null)\b/y) ?? this.take(/(?:True|False|None)\b/y, "a word of Python");
    return word === undefined
      ? this.fail("a value was expected")
      : { value: constants[word as keyof typeof constants] };
  }

  /** Returns undefined without a `problem` if the next character isn't a quote. */
  readText(): { readonly value: string } | undefined {
    const quote = this.take(/"""|'''|"|'/y);
    if (quote === undefined) return undefined;
    if (quote !== '"') this.mended.add(`the quotes ${quote}`);
    let value = "";
    for (;;) {
      value += this.take(plain[quote[0]!]!) ?? "";
      if (this.#text.startsWith(quote, this.at)) {
        this.at += quote.length;
        return { value };
      }
      const sign = this.#text[this.at];
      if (sign === undefined) return this.fail("a text has no end");
      const piece = sign === "\\" ? this.#readEscape(quote) : this.take(/[\s\S]/y);
      if (piece === undefined) return undefined;
      if (sign < " " && quote.length === 1) this.mended.add("a line end or a tab in a text");
      value += piece;
    }
  }

  #readEscape(quote: string): string | undefined {
    const code = this.take(/\\u[0-9a-fA-F]{4}/y);
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code.slice(2), 16));
    // In a shell this is a quote; in other languages, an escaped quote.
    if (quote === '"' && this.#text.slice(this.at - 1, this.at + 3) === String.raw`'\''`)
      return this.fail(String.raw`\' has two meanings`);
    const [, sign] = this.take(/\\[\s\S]/y) ?? [];
    if (sign === undefined) return this.fail("a backslash ends the text");
    const meant = escapes[sign] ?? (/[\\/"]/.test(sign) ? sign : undefined);
    if (meant !== undefined) return meant;
    if (quote === '"' || sign !== "'") this.mended.add("a backslash in a text");
    // The backslash is part of the text: regular expressions have more escapes than JSON.
    return sign === "'" ? sign : `\\${sign}`;
  }

  #readList(depth: number): { readonly value: unknown } | undefined {
    const list: unknown[] = [];
    while (!this.#endsWith(/\]/y, list.length)) {
      const item = this.problem ? undefined : this.readValue(depth + 1);
      if (!item) return undefined;
      list.push(item.value);
    }
    return { value: list };
  }

  #readObject(depth: number): { readonly value: unknown } | undefined {
    const fields: [string, unknown][] = [];
    while (!this.#endsWith(/\}/y, fields.length)) {
      const name = this.problem ? undefined : this.#readName();
      if (name === undefined) return undefined;
      this.skipBlank();
      if (this.take(/:/y) === undefined) return this.fail("a colon was expected");
      const value = this.readValue(depth + 1);
      if (!value) return undefined;
      fields.push([name, value.value]);
    }
    return { value: Object.fromEntries(fields) };
  }

  #readName(): string | undefined {
    const text = this.readText();
    if (text || this.problem) return text?.value;
    const name = this.take(/[A-Za-z_$][\w$-]*/y, "a name without quotes");
    return name ?? this.fail("a name in quotes was expected");
  }

  /** Takes the closing bracket, or the comma before the next item. */
  #endsWith(bracket: RegExp, count: number): boolean {
    this.skipBlank();
    if (this.take(bracket) !== undefined) return true;
    if (count === 0) return false;
    if (this.take(/,/y) === undefined) this.fail("a comma or the end was expected");
    this.skipBlank();
    return this.take(bracket, "a comma before the end") !== undefined;
  }

  /** Sets the problem. A word, a number or a comment at the end of the text may be cut off. */
  fail(reason: string): undefined {
    const isCut = this.take(/(?:[\w.+\\-]*|\/|\/\*[\s\S]*)$/y) !== undefined;
    this.problem ??= { at: this.at, reason, isCut };
  }
}

/** Matches text around the value that has no meaning. */
const tail = /(?:\s|`|\}|<\/?[\w:-]+>|<[|｜][^<>|｜]{1,40}[|｜]>)+/y;

/** A value with the slips in its text. */
export interface Mended<Value> {
  readonly value: Value;
  readonly mended: readonly string[];
}

/** Returns the value of a text of JSON, or the reason why it can't be read. Never throws. */
export function readJson(text: string): Mended<unknown> | Unreadable {
  const reader = new LiteralReader(text);
  reader.take(/\s*```[\w-]*\s*?(?=\n|\{)/y, "a code fence");
  const found = reader.readValue();
  if (!found) return reader.problem!;
  reader.take(/\s+/y);
  if (reader.take(tail) !== undefined && !reader.mended.has("a code fence")) reader.mended.add("signs after the end");
  reader.skipBlank();
  if (!reader.isAtEnd) return reader.fail("more follows the value") ?? reader.problem!;
  return { ...found, mended: [...reader.mended] };
}

/** Reads an object in the same way; some models write it as a text of JSON. */
export function readJsonObject(text: string): Mended<JsonObject> | Unreadable {
  const found = readJson(text);
  if ("isCut" in found) return found;
  const inner = typeof found.value === "string" ? readJson(found.value) : undefined;
  const { value, mended } = inner && "mended" in inner ? inner : found;
  if (!isJsonObject(value))
    return { at: 0, reason: "an object was expected", isCut: inner !== undefined && "isCut" in inner && inner.isCut };
  return { value, mended: [...(inner ? ["JSON in a text of JSON"] : []), ...mended] };
}

/** Formats the reason why arguments are unreadable, with the place, for the model (N30). */
export function formatUnreadable(toolName: string, text: string): string {
  const found = readJsonObject(text);
  const again = "write them again, whole";
  if (!("isCut" in found) || found.isCut)
    return `the arguments of ${toolName} end in the middle, at character ${text.length}: ${again}`;
  const seen = JSON.stringify(text.slice(found.at, found.at + 40));
  return `the arguments of ${toolName} are not a JSON object: ${found.reason} at character ${found.at + 1}, before ${seen}: ${again}`;
}
