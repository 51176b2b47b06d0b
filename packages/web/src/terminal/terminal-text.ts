/**
 * Output of a command as lines of styled text. A library reads the colours; of the other control sequences,
 * only carriage return, backspace and "erase line" have an effect here. Links and titles are dropped.
 */
import Anser from "anser";
import { toNearestColour } from "./colours.ts";

interface StyledText {
  readonly text: string;
  /** Names of classes, joined by blanks; "" without any. */
  readonly style: string;
}

export type TerminalLine = readonly StyledText[];

export interface TerminalText {
  /** Reads the output up to now, except the part that the previous call has read. */
  update(output: string): void;
  /** Lines of the output. A complete line stays the same object. */
  readonly lines: readonly TerminalLine[];
}

// Control sequences (CSI), strings up to their end (OSC, DCS, PM, APC, SOS), other escapes, single controls.
const controls =
  // oxlint-disable-next-line no-control-regex -- these are terminal control sequences
  /\u001B\[([0-?]*)[ -/]*([@-~])|\u001B[\]PX^_][^\u0007\u001B]*(?:\u0007|\u001B\\)?|\u001B[ -/]*[0-~]?|[\u0000-\u0008\u000A-\u001F\u007F-\u009F]/g;

/** Matches an escape that may continue in the next piece. */
// oxlint-disable-next-line no-control-regex -- as above
const unfinished = /\u001B(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001B]*\u001B?|[ -/]*)?$/;
/** Number of UTF-16 units kept while waiting for the end of an escape. */
const waitLimit = 4096;

export function createTerminalText(): TerminalText {
  return new TerminalReader();
}

class TerminalReader implements TerminalText {
  lines: readonly TerminalLine[] = [];
  #taken = "";
  #complete: TerminalLine[] = [];
  #line: StyledText[] = [];
  #column = 0;
  #anser = new Anser();
  #style = "";

  update(output: string): void {
    if (!output.startsWith(this.#taken)) this.#reset();
    const more = output.slice(this.#taken.length);
    if (more === "") return;
    const open = unfinished.exec(more);
    const isWaiting = open !== null && open[0] !== "" && open[0].length < waitLimit;
    const ready = isWaiting ? more.slice(0, open.index) : more;
    this.#take(ready);
    this.#taken += ready;
    this.lines = this.#line.length > 0 ? [...this.#complete, this.#line] : [...this.#complete];
  }

  #reset(): void {
    this.#taken = "";
    this.#complete = [];
    this.#line = [];
    this.#column = 0;
    this.#anser = new Anser();
    this.#style = "";
  }

  #take(text: string): void {
    let end = 0;
    for (const match of text.matchAll(controls)) {
      this.#write(text.slice(end, match.index));
      end = match.index + match[0].length;
      this.#control(match[0], match[1] ?? "", match[2] ?? "");
    }
    this.#write(text.slice(end));
  }

  #control(sequence: string, parameters: string, final: string): void {
    if (sequence === "\n") {
      this.#complete.push(this.#line);
      this.#line = [];
      this.#column = 0;
    } else if (sequence === "\r") this.#column = 0;
    else if (sequence === "\b") this.#column = Math.max(0, this.#column - 1);
    else if (final === "m") this.#style = this.#readStyle(parameters);
    else if (final === "K") this.#erase(parameters);
  }

  /** Reads "select graphic rendition" with the library, which has the state. */
  #readStyle(parameters: string): string {
    if (!/^[\d;]*$/.test(parameters)) return this.#style;
    const entries = this.#anser.ansiToJson(`\u001B[${parameters}m.`, { json: true, use_classes: true });
    const entry = entries.at(-1);
    if (entry === undefined) return "";
    // The library has already swapped reversed colours.
    const front = toNearestColour(entry.fg, entry.fg_truecolor);
    const back = toNearestColour(entry.bg, entry.bg_truecolor);
    return [
      // A background makes all texts on it the same colour.
      ...(back === undefined ? (front === undefined ? [] : [`front-${front}`]) : [`back-${back}`]),
      ...entry.decorations.filter((name) => name !== "reverse" && name !== "blink").map((name) => `text-${name}`),
    ].join(" ");
  }

  #erase(parameters: string): void {
    if (parameters === "1") return;
    this.#line = parameters === "2" ? [] : cutLine(this.#line, 0, this.#column);
  }

  #write(text: string): void {
    if (text === "") return;
    const before = padLine(cutLine(this.#line, 0, this.#column), this.#column);
    const after = cutLine(this.#line, this.#column + text.length, Number.POSITIVE_INFINITY);
    const last = before.at(-1);
    const isSame = last !== undefined && last.style === this.#style;
    this.#line = isSame
      ? [...before.slice(0, -1), { text: last.text + text, style: this.#style }, ...after]
      : [...before, { text, style: this.#style }, ...after];
    this.#column += text.length;
  }
}

/** Returns the part of a line between two columns, in UTF-16 units. */
function cutLine(line: TerminalLine, from: number, to: number): StyledText[] {
  const parts: StyledText[] = [];
  let column = 0;
  for (const { text, style } of line) {
    const part = text.slice(Math.max(0, from - column), Math.max(0, to - column));
    if (part !== "") parts.push({ text: part, style });
    column += text.length;
  }
  return parts;
}

function padLine(line: StyledText[], width: number): StyledText[] {
  const length = line.reduce((sum, { text }) => sum + text.length, 0);
  return length < width ? [...line, { text: " ".repeat(width - length), style: "" }] : line;
}
