/**
 * The whole of a long text that a model will see shortened: head and tail in memory, all of it in a file (N57). It
 * folds control sequences on the way, because a model pays for each and gains no information (N58).
 */
import { createBoundedOutput } from "@sheaf/base/files/bounded-output";
import type { KeptFile, KeptResults } from "./kept-results.ts";

/** Characters of a line; in the file longer ones are wrapped. */
export const maxLineLength = 2000;

/** Kept in memory: more than a model ever sees of one result. Bytes. */
const maxMemoryBytes = 64 * 1024;

/**
 * Limit for folding and wrapping, which takes strings: binary output would create them faster than they are collected
 * . Plain lines are free, and text above the limit stays as it is. Bytes.
 */
const maxFoldedBytes = 1024 * 1024;

/** A line that has no end yet is written in parts from this length on. UTF-16 units. */
const maxOpenLength = 16 * 1024;

export interface WholeOutput {
  /** UTF-8, folded. */
  readonly bytes: number;
  /** The number of lines in the file, where long lines are wrapped. */
  readonly lines: number;
  /** Everything, if `tail` is "". */
  readonly head: string;
  readonly tail: string;
  /** The file that has it; undefined if none can be made. One is made when the text is long, or with the first call. */
  keep(): WholeFile | undefined;
}

interface WholeFile {
  readonly name: string;
  /** The lines that are in it: fewer than there are if the text is larger than a file may be. */
  readonly lines: number;
}

/** Takes the text piece by piece. */
export interface OutputSink {
  /** UTF-8 that ends with a whole character; valid during the call only. */
  append(bytes: Uint8Array): void;
  end(): WholeOutput;
}

interface SinkOptions {
  /** Undefined: Sheaf keeps no file. */
  readonly results?: KeptResults | undefined;
  /** Default: true. */
  readonly folds?: boolean;
}

export function createOutputSink({ results, folds = true }: SinkOptions = {}): OutputSink {
  const memory = createBoundedOutput(maxMemoryBytes);
  const record = createRecord(results);
  let bytes = 0;
  let foldedBytes = 0;
  /** The last line, as long as it has no end: what follows may still erase it. */
  let open = "";

  /** `kept`: as it is in the file. */
  const take = (encoded: Uint8Array, kept = encoded): void => {
    bytes += encoded.length;
    memory.append(encoded);
    record.append(kept);
  };
  const takeLines = (text: string): void => {
    if (text === "") return;
    const lines = folds ? foldControls(text) : text;
    take(Buffer.from(lines), Buffer.from(wrapLines(lines)));
  };
  const takeText = (text: string): void => {
    const end = text.lastIndexOf("\n") + 1;
    takeLines(text.slice(0, end));
    open = text.slice(end);
    if (open.length < maxOpenLength) return;
    // Progress that continues on one line: only its last state matters.
    if (folds) open = foldControls(open) + (open.endsWith("\r") ? "\r" : "");
    // A character stays, so that the line does not end in an empty one.
    const [part = ""] = /^(?:.{2000})+(?=.)/su.exec(open) ?? [];
    if (part !== "") take(Buffer.from(part), Buffer.from(`${wrapLines(part)}\n`));
    open = open.slice(part.length);
  };
  const endLine = (): void => {
    takeLines(open);
    open = "";
  };

  return {
    append(chunk) {
      const [first, end] = [chunk.indexOf(lineEnd) + 1, chunk.lastIndexOf(lineEnd) + 1];
      if (!record.isFull() && isPlain(chunk)) {
        takeText(open + Buffer.from(chunk.subarray(0, first)).toString());
        if (end > first) take(chunk.subarray(first, end));
        open += Buffer.from(chunk.subarray(end)).toString();
        return;
      }
      foldedBytes += chunk.length;
      if (!record.isFull() && foldedBytes <= maxFoldedBytes) return takeText(open + Buffer.from(chunk).toString());
      endLine();
      take(chunk);
    },
    end() {
      endLine();
      const { head, tail } = memory.toParts();
      // A tail of controls alone is still a tail.
      const last = folds && tail !== "" ? foldControls(tail) || "\n" : tail;
      return { bytes, lines: record.lines(), head, tail: last, keep: () => record.keep() };
    },
  };
}

/** No line is long, and no character is folded; of C1 controls the first byte is enough, since few letters share it. */
function isPlain(bytes: Uint8Array): boolean {
  let length = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]!;
    length = byte === lineEnd ? 0 : length + 1;
    if (length > maxLineLength || byte === 0x7f || byte === 0xc2) return false;
    if (byte < 0x20 && byte !== lineEnd && byte !== 0x09) return false;
  }
  return true;
}

/** The text as it is in the file, which is made once there is more than memory shows. */
function createRecord(results: KeptResults | undefined) {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let file: KeptFile | undefined;
  let lines = 0;
  let linesInFile = 0;
  let isLineOpen = false;
  let isFull = false;
  const write = (bytes: Uint8Array): void => {
    file ??= results?.create();
    if (file?.append(bytes)) linesInFile = lines;
    else isFull = true;
  };
  const flush = (): void => {
    if (waitingBytes > 0) write(Buffer.concat(waiting));
    waiting = [];
    waitingBytes = 0;
  };
  return {
    /** True once the record only counts further text. */
    isFull: () => isFull,
    lines: () => lines + (isLineOpen ? 1 : 0),
    append(bytes: Uint8Array): void {
      if (bytes.length === 0) return;
      lines += countLineEnds(bytes);
      isLineOpen = bytes.at(-1) !== lineEnd;
      if (isFull) return;
      if (file) return write(bytes);
      // A copy: the bytes are valid during the call only.
      waiting.push(Uint8Array.from(bytes));
      waitingBytes += bytes.length;
      if (waitingBytes > maxMemoryBytes) flush();
    },
    keep(): WholeFile | undefined {
      flush();
      file?.end();
      return file && { name: file.name, lines: linesInFile + (isLineOpen && !isFull ? 1 : 0) };
    },
  };
}

const lineEnd = 10;

function countLineEnds(bytes: Uint8Array): number {
  let count = 0;
  // Six times as fast as an iterator: every byte of endless output passes here.
  for (let index = 0; index < bytes.length; index += 1) if (bytes[index] === lineEnd) count += 1;
  return count;
}

/** Breaks long lines. */
function wrapLines(text: string): string {
  return text.length <= maxLineLength ? text : text.replaceAll(/[^\n]{2000}(?=[^\n])/gu, "$&\n");
}

/** Sequences by which a program returns to the start of its line: npm and others use one for each step of a spinner. */
// oxlint-disable-next-line no-control-regex -- these are terminal control sequences
const lineStarts = /(?:\u001b\[|\u009b)(?:[01]?G|2K)/g;

/** Other sequences of terminals: CSI, strings such as titles, and those of two or three characters (ECMA-48). */
const sequences =
  // oxlint-disable-next-line no-control-regex -- as above
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;

/** All control characters but tab and line end. */
// oxlint-disable-next-line no-control-regex -- these are the characters that must not pass
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** The final text of a terminal: without colours, and with the last text of a line that was written over. */
export function foldControls(text: string): string {
  if (text.search(controls) === -1) return text;
  const lines = text.replaceAll(lineStarts, "\r").replaceAll(sequences, "").split("\n");
  return lines.map(foldLine).join("\n");
}

/** The letter before a backspace goes. */
function foldLine(line: string): string {
  const whole = line.replace(/\r+$/, "");
  return whole
    .slice(whole.lastIndexOf("\r") + 1)
    .replaceAll(/.[\b]/gu, "")
    .replaceAll(controls, "");
}
