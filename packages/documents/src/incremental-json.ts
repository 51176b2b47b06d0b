/** Reads JSON while it is written: tool arguments as they come from a model. */
import { isHighSurrogate } from "./surrogate.ts";

/**
 * What became known. `path` is a JSON pointer (RFC 6901), for instance `/content` or `/edits/0/new_string`.
 * The deltas of a string, joined, are its value; half a surrogate pair waits for its other half.
 */
export type JsonScanEvent =
  | { readonly type: "string_delta"; readonly path: string; readonly delta: string }
  | { readonly type: "string_end"; readonly path: string }
  | { readonly type: "scalar"; readonly path: string; readonly value: number | boolean | null }
  /** A complete object or array that was not looked into, as it was written. */
  | { readonly type: "nested"; readonly path: string; readonly raw: string };

export interface JsonScannerOptions {
  /** How deep to look, default 1: the members of the outermost object. Objects and arrays at that depth come raw. */
  readonly depth?: number;
}

export interface JsonScanner {
  /** Takes the next piece of the text, cut anywhere. Never throws. */
  push(chunk: string): readonly JsonScanEvent[];
  /** `broken`: the text is no JSON, and nothing more will come; `done`: the outermost value is complete. */
  readonly state: "open" | "done" | "broken";
}

/**
 * Starts a scanner. Each character is looked at once, so the cost is linear however small the pieces are.
 * It is for showing what is being written; the value that counts is one `JSON.parse` of the whole text.
 */
export function createJsonScanner(options: JsonScannerOptions = {}): JsonScanner {
  return new Scanner(options.depth ?? 1);
}

/** What comes next, or what the scanner is inside of. */
type Phase = "value" | "key" | "colon" | "after" | "string" | "escape" | "unicode" | "token";

const none: readonly JsonScanEvent[] = [];

/** Deeper nesting is taken for an attack. */
const maxNesting = 512;

const quote = 0x22;
const backslash = 0x5c;

/** The characters that may follow a backslash, and in the same order what they stand for. */
const escapes = '"\\/bfnrt';
const escaped = '"\\/\b\f\n\r\t';

/** An open object or array. */
interface Frame {
  readonly isArray: boolean;
  /** Means nothing below the depth that is looked at. */
  readonly path: string;
  /** Of the next item of an array. */
  index: number;
}

class Scanner implements JsonScanner {
  state: "open" | "done" | "broken" = "open";
  readonly #depth: number;
  readonly #frames: Frame[] = [];
  #phase: Phase = "value";
  /** The object or array may end here: it is empty so far, or a value is complete. */
  #mayClose = false;
  #chunk = "";
  /** Of the value that is being read. */
  #path = "";
  #inKey = false;
  /** Decoded text of the string that has not gone out, or the key so far. */
  #text = "";
  /** Hex digits of a unicode escape, or a number or literal so far. */
  #token = "";
  /** What came in earlier chunks of the raw value that is being collected, and where it goes on in this one. */
  #raw = "";
  #rawFrom = -1;
  #events: JsonScanEvent[] | undefined;

  constructor(depth: number) {
    this.#depth = Math.max(1, depth);
  }

  push(chunk: string): readonly JsonScanEvent[] {
    this.#chunk = chunk;
    let at = this.state === "broken" ? chunk.length : 0;
    while (at < chunk.length) {
      if (this.#phase === "string") at = this.#scanString(at);
      else if (this.#phase === "token") at = this.#scanToken(at);
      else if (this.#takeCharacter(chunk.charAt(at), at)) at += 1;
      else at = this.#break();
    }
    if (!this.#inKey && this.#text !== "") this.#flushText(true);
    if (this.#rawFrom >= 0) {
      this.#raw += chunk.slice(this.#rawFrom);
      this.#rawFrom = 0;
    }
    const events = this.#events;
    this.#events = undefined;
    this.#chunk = "";
    return events ?? none;
  }

  /** Gives up; what was known before stays given. */
  #break(): number {
    this.state = "broken";
    this.#rawFrom = -1;
    return this.#chunk.length;
  }

  /** Reads text up to its end, an escape or the end of the chunk. */
  #scanString(start: number): number {
    const chunk = this.#chunk;
    for (let at = start; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (code === quote || code === backslash) {
        this.#text += chunk.slice(start, at);
        if (code === quote) this.#endString();
        else this.#phase = "escape";
        return at + 1;
      }
      if (code < 0x20) return this.#break();
    }
    this.#text += start === 0 ? chunk : chunk.slice(start);
    return chunk.length;
  }

  /** Reads a number or a literal; the character behind it ends it. */
  #scanToken(start: number): number {
    const chunk = this.#chunk;
    let at = start;
    while (at < chunk.length && /[-+.0-9A-Za-z]/.test(chunk.charAt(at))) at += 1;
    this.#token += chunk.slice(start, at);
    if (at === chunk.length) return at;
    const value = parseToken(this.#token);
    if (value === undefined) return this.#break();
    this.#emit({ type: "scalar", path: this.#path, value });
    this.#endValue();
    return at;
  }

  /** One character that is in no plain text and no token; false when it cannot stand there. */
  #takeCharacter(character: string, at: number): boolean {
    if (this.#phase === "escape") return this.#takeEscape(character);
    if (this.#phase === "unicode") return this.#takeHexDigit(character);
    return /[ \n\r\t]/.test(character) || this.#takeMark(character, at);
  }

  #takeEscape(character: string): boolean {
    if (character === "u") {
      this.#phase = "unicode";
      this.#token = "";
      return true;
    }
    this.#phase = "string";
    const index = escapes.indexOf(character);
    this.#text += escaped.charAt(index);
    return index >= 0;
  }

  #takeHexDigit(character: string): boolean {
    this.#token += character;
    if (this.#token.length === 4) {
      this.#text += String.fromCharCode(Number.parseInt(this.#token, 16));
      this.#phase = "string";
    }
    return /[0-9A-Fa-f]/.test(character);
  }

  /** A character between keys and values, or the first of one. */
  #takeMark(character: string, at: number): boolean {
    const frame = this.#frames.at(-1);
    if (this.#mayClose && character === (frame?.isArray === true ? "]" : "}")) return this.#close(at);
    this.#mayClose = false;
    switch (this.#phase) {
      case "key":
        this.#phase = "string";
        this.#inKey = true;
        return character === '"';
      case "colon":
        this.#phase = "value";
        return character === ":";
      case "after":
        this.#phase = frame?.isArray === true ? "value" : "key";
        return frame !== undefined && character === ",";
      default:
        if (frame?.isArray === true) {
          this.#setPath(frame.index);
          frame.index += 1;
        }
        return this.#startValue(character, at);
    }
  }

  #startValue(character: string, at: number): boolean {
    if (character === "{" || character === "[") return this.#open(character === "[", at);
    this.#phase = character === '"' ? "string" : "token";
    this.#token = character;
    return /["\-0-9tfn]/.test(character);
  }

  #open(isArray: boolean, at: number): boolean {
    if (this.#frames.length === this.#depth) {
      this.#raw = "";
      this.#rawFrom = at;
    }
    this.#phase = isArray ? "value" : "key";
    this.#mayClose = true;
    return this.#frames.push({ isArray, path: this.#path, index: 0 }) <= maxNesting;
  }

  #close(at: number): boolean {
    this.#path = this.#frames.pop()?.path ?? "";
    if (this.#frames.length === this.#depth) {
      this.#emit({ type: "nested", path: this.#path, raw: this.#raw + this.#chunk.slice(this.#rawFrom, at + 1) });
      this.#rawFrom = -1;
    }
    this.#endValue();
    return true;
  }

  #endString(): void {
    if (this.#inKey) {
      this.#setPath(this.#text.replaceAll("~", "~0").replaceAll("/", "~1"));
      this.#inKey = false;
      this.#text = "";
      this.#phase = "colon";
      return;
    }
    this.#flushText(false);
    this.#emit({ type: "string_end", path: this.#path });
    this.#endValue();
  }

  #endValue(): void {
    this.#phase = "after";
    this.#mayClose = this.#frames.length > 0;
    if (!this.#mayClose) this.state = "done";
  }

  /** The path of the next value, a member of the innermost frame. */
  #setPath(name: string | number): void {
    if (this.#frames.length <= this.#depth) this.#path = `${this.#frames.at(-1)?.path}/${name}`;
  }

  /** Gives out the decoded text, but no half of a surrogate pair whose other half may still come. */
  #flushText(more: boolean): void {
    const text = this.#text;
    const end = more && isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;
    this.#text = text.slice(end);
    if (end > 0) this.#emit({ type: "string_delta", path: this.#path, delta: text.slice(0, end) });
  }

  /** Tells what is known of a value, unless it lies below the depth that is looked at. */
  #emit(event: JsonScanEvent): void {
    if (this.#frames.length > this.#depth) return;
    if (this.#events === undefined) this.#events = [event];
    else this.#events.push(event);
  }
}

/** The value of a number or literal; undefined if it is none. */
function parseToken(token: string): number | boolean | null | undefined {
  try {
    return JSON.parse(token) as number | boolean | null;
  } catch {
    return undefined;
  }
}
