/** Reads JSON while it is written: tool arguments as they come from a model. */

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

/** What comes next. In the second line: the scanner is inside a string, an escape, or a number or literal. */
type MarkPhase = "value" | "first_item" | "first_key" | "key" | "colon" | "after";
type Phase = MarkPhase | "string" | "escape" | "unicode" | "token";

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
  /** Undefined below the depth that is looked at. */
  readonly path: string | undefined;
  /** Of the next item of an array. */
  index: number;
}

class Scanner implements JsonScanner {
  state: "open" | "done" | "broken" = "open";
  readonly #depth: number;
  readonly #frames: Frame[] = [];
  #phase: Phase = "value";
  #chunk = "";
  /** Of the value that is being read; undefined below the depth that is looked at. */
  #path: string | undefined = "";
  #inKey = false;
  /** Decoded text of the string that has not gone out, or the key so far. */
  #text = "";
  /** Hex digits of a unicode escape, or a number or literal so far. */
  #token = "";
  /** The raw value that is being collected; it ends when so many frames are open again. */
  #raw: { readonly path: string; readonly frames: number; readonly pieces: string[]; from: number } | undefined;
  #events: JsonScanEvent[] | undefined;
  /** What may stand in each phase but blanks; false when it may not. */
  readonly #marks: Readonly<Record<MarkPhase, (character: string, at: number) => boolean>> = {
    first_key: (character, at) => (character === "}" ? this.#close(at) : this.#startKey(character)),
    key: (character) => this.#startKey(character),
    colon: (character) => this.#takeColon(character),
    first_item: (character, at) => (character === "]" ? this.#close(at) : this.#startValue(character, at)),
    value: (character, at) => this.#startValue(character, at),
    after: (character, at) => this.#takeSeparator(character, at),
  };

  constructor(depth: number) {
    this.#depth = Math.max(1, depth);
  }

  push(chunk: string): readonly JsonScanEvent[] {
    if (this.state === "broken") return none;
    this.#chunk = chunk;
    let at = 0;
    while (at < chunk.length) {
      if (this.#phase === "string") at = this.#scanString(at);
      else if (this.#phase === "token") at = this.#scanToken(at);
      else if (this.#takeCharacter(at)) at += 1;
      else at = this.#break();
    }
    if (!this.#inKey && this.#text !== "") this.#flushText(true);
    if (this.#raw !== undefined) {
      this.#raw.pieces.push(chunk.slice(this.#raw.from));
      this.#raw.from = 0;
    }
    const events = this.#events;
    this.#events = undefined;
    this.#chunk = "";
    return events ?? none;
  }

  /** Gives up; what was known before stays given. */
  #break(): number {
    this.state = "broken";
    this.#raw = undefined;
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
    if (this.#path !== undefined) this.#emit({ type: "scalar", path: this.#path, value });
    this.#endValue();
    return at;
  }

  /** One character that is in no plain text and no token; false when it cannot stand there. */
  #takeCharacter(at: number): boolean {
    const character = this.#chunk.charAt(at);
    if (this.#phase === "escape") return this.#takeEscape(character);
    if (this.#phase === "unicode") return this.#takeHexDigit(character);
    if (character === " " || character === "\n" || character === "\r" || character === "\t") return true;
    if (this.#phase === "string" || this.#phase === "token") return false;
    return this.#marks[this.#phase](character, at);
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

  #takeColon(character: string): boolean {
    this.#phase = "value";
    return character === ":";
  }

  #takeSeparator(character: string, at: number): boolean {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return false;
    if (character === (frame.isArray ? "]" : "}")) return this.#close(at);
    this.#phase = frame.isArray ? "value" : "key";
    return character === ",";
  }

  #startKey(character: string): boolean {
    this.#phase = "string";
    this.#inKey = true;
    return character === '"';
  }

  #startValue(character: string, at: number): boolean {
    const frame = this.#frames.at(-1);
    if (frame?.isArray === true) {
      this.#path = this.#toPath(frame, String(frame.index));
      frame.index += 1;
    }
    if (character === "{" || character === "[") return this.#open(character === "[", at);
    if (character === '"') {
      this.#phase = "string";
      return true;
    }
    this.#phase = "token";
    this.#token = character;
    return /[-0-9tfn]/.test(character);
  }

  #open(isArray: boolean, at: number): boolean {
    const frames = this.#frames.length;
    if (frames === this.#depth && this.#path !== undefined) {
      this.#raw = { path: this.#path, frames, pieces: [], from: at };
    }
    this.#frames.push({ isArray, path: this.#path, index: 0 });
    this.#phase = isArray ? "first_item" : "first_key";
    return frames < maxNesting;
  }

  #close(at: number): boolean {
    this.#frames.pop();
    const raw = this.#raw;
    if (raw !== undefined && raw.frames === this.#frames.length) {
      raw.pieces.push(this.#chunk.slice(raw.from, at + 1));
      this.#raw = undefined;
      this.#emit({ type: "nested", path: raw.path, raw: raw.pieces.join("") });
    }
    this.#endValue();
    return true;
  }

  #endString(): void {
    if (this.#inKey) {
      const frame = this.#frames.at(-1);
      this.#path = frame && this.#toPath(frame, this.#text.replaceAll("~", "~0").replaceAll("/", "~1"));
      this.#inKey = false;
      this.#text = "";
      this.#phase = "colon";
      return;
    }
    this.#flushText(false);
    if (this.#path !== undefined) this.#emit({ type: "string_end", path: this.#path });
    this.#endValue();
  }

  #endValue(): void {
    this.#phase = "after";
    if (this.#frames.length === 0) this.state = "done";
  }

  #toPath(frame: Frame, name: string): string | undefined {
    if (frame.path === undefined || this.#frames.length > this.#depth) return undefined;
    return `${frame.path}/${name}`;
  }

  /** Gives out the decoded text, but no half of a surrogate pair whose other half may still come. */
  #flushText(more: boolean): void {
    let delta = this.#text;
    this.#text = "";
    if (more && (delta.charCodeAt(delta.length - 1) & 0xfc00) === 0xd800) {
      this.#text = delta.slice(-1);
      delta = delta.slice(0, -1);
    }
    if (delta !== "" && this.#path !== undefined) this.#emit({ type: "string_delta", path: this.#path, delta });
  }

  #emit(event: JsonScanEvent): void {
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
