/** Reads stdin. Next to a prompt, it skips a silent stdin instead of waiting without end (C1). */
import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import type { Notice, RunStart } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { ParsedArguments } from "./arguments.ts";
import type { CommandIo } from "./io.ts";

/** Limit of a prompt from stdin, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Milliseconds for the first byte from an open pipe next to a prompt (C1). */
const SILENCE_MS = 3000;

export const skippedInputNotice: Notice = {
  code: "STDIN_SKIPPED",
  message:
    "stdin stayed open and sent nothing for 3 s, so the prompt goes without it: " +
    "close stdin (</dev/null), or write - before the prompt to wait for it",
};

/** Kinds of connections that stdin can have. */
export type InputKind = "terminal" | "pipe" | "socket" | "file" | "none";

/** Returns the kind of descriptor 0. */
export function toInputKind(isTerminal: boolean): InputKind {
  if (isTerminal) return "terminal";
  try {
    const stat = fstatSync(0);
    if (stat.isFIFO()) return "pipe";
    if (stat.isSocket()) return "socket";
    return stat.isFile() ? "file" : "none";
  } catch {
    return "none";
  }
}

/**
 * Reads stdin to its end as UTF-8, without a byte order mark. An abort ends it with the input up to then.
 * With `onSilence`, it waits 3 s for the first byte; after that it calls `onSilence` and returns "".
 * @throws SheafError USAGE above 16 MiB.
 */
export async function readStandardInput(
  stream: Readable,
  { signal, onSilence }: { readonly signal?: AbortSignal; readonly onSilence?: (() => void) | undefined } = {},
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = (): void => {
    onSilence?.();
    resolve();
  };
  const timer = onSilence && setTimeout(giveUp, SILENCE_MS);
  stream.on("data", (chunk: Buffer) => {
    clearTimeout(timer);
    bytes += chunk.length;
    if (bytes <= MAX_BYTES) chunks.push(chunk);
    else
      reject(new SheafError("USAGE", `stdin is larger than ${MAX_BYTES} bytes: put it into a file and name the file`));
  });
  signal?.addEventListener("abort", () => resolve(), { once: true });
  stream.on("end", () => resolve());
  stream.on("error", () => resolve());
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    stream.pause();
    stream.destroy();
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/^\uFEFF/, "");
}

/** A prompt, with the part from the command line. */
export interface ReadPrompt {
  readonly message: Pick<RunStart, "prompt" | "stdin">;
  readonly typed: string;
}

/**
 * Reads the prompt. `-` (not after `--`) or no word stands in for stdin to its end. With words and a piped stdin, stdin
 * is first, as context. @throws SheafError USAGE without a prompt.
 */
export async function readPrompt(
  { positionals, textStart = positionals.length }: ParsedArguments,
  { findInputKind, openInput }: Pick<CommandIo, "findInputKind" | "openInput">,
  signal: AbortSignal,
): Promise<ReadPrompt> {
  const input = findInputKind();
  const isInput = (word: string, index: number): boolean => word === "-" && index < textStart;
  const text = positionals
    .filter((word, index) => !isInput(word, index))
    .join(" ")
    .trim();
  const readsToEnd = text === "" || positionals.some(isInput);
  if (text === "" && input === "terminal") {
    throw new SheafError("USAGE", 'the prompt is missing: write sheaf -p "your prompt", or pipe it to stdin');
  }
  let skipped: Pick<RunStart, "stdin"> = {};
  const skip = (): void => {
    skipped = { stdin: "skipped" };
  };
  const onSilence = readsToEnd || input === "file" ? undefined : skip;
  const isUnread = input === "none" || (input === "terminal" && !readsToEnd);
  const context = isUnread ? "" : await readStandardInput(openInput(), { signal, onSilence });
  const prompt = [context.trimEnd(), text].filter((part) => part !== "").join("\n\n");
  // A run cancelled during this has the log of a cancelled run.
  if (prompt.trim() === "" && !signal.aborted) {
    throw new SheafError("USAGE", 'the prompt is empty: write sheaf -p "your prompt", or pipe it to stdin');
  }
  return { message: { prompt, ...skipped }, typed: text };
}
