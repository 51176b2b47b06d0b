/** Reads stdin; next to a prompt, one that stays silent is skipped, never waited for without end (C1). */
import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import type { Notice, RunStart } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { ParsedArguments } from "./arguments.ts";
import type { CommandIo } from "./io.ts";

/** The most that is taken as a prompt. Bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Time that the writer of an open pipe may take for its first byte next to a prompt (C1). Milliseconds. */
const SILENCE_MS = 3000;

/** The notice about a stdin that was skipped. */
export const skippedInputNotice: Notice = {
  code: "STDIN_SKIPPED",
  message:
    "stdin stayed open and sent nothing for 3 s, so the prompt goes without it: " +
    "close stdin (</dev/null), or write - before the prompt to wait for it",
};

/** What stdin is connected to. */
export type InputKind = "terminal" | "pipe" | "socket" | "file" | "none";

/** Looks at descriptor 0. */
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
 * Reads stdin to its end as UTF-8, without a byte order mark at its head.
 * An abort ends the reading; what came so far is given.
 * With `onSilence` it waits 3 s for the first byte: then it calls that, and gives "".
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

/** A prompt, and what of it was written on the command line. */
export interface ReadPrompt {
  readonly message: Pick<RunStart, "prompt" | "stdin">;
  readonly typed: string;
}

/**
 * `-` or no word: stdin to its end; after `--` it is a word like any other. Words and a piped stdin: both, stdin
 * first, as context.
 * @throws SheafError USAGE when there is no prompt.
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
    throw new SheafError("USAGE", 'no prompt was given: write sheaf -p "your prompt", or pipe it to stdin');
  }
  let skipped: Pick<RunStart, "stdin"> = {};
  const skip = (): void => {
    skipped = { stdin: "skipped" };
  };
  const onSilence = readsToEnd || input === "file" ? undefined : skip;
  const isUnread = input === "none" || (input === "terminal" && !readsToEnd);
  const context = isUnread ? "" : await readStandardInput(openInput(), { signal, onSilence });
  const prompt = [context.trimEnd(), text].filter((part) => part !== "").join("\n\n");
  // A run that was cancelled while it read stdin has the log of a cancelled run.
  if (prompt.trim() === "" && !signal.aborted) {
    throw new SheafError("USAGE", 'the prompt is empty: write sheaf -p "your prompt", or pipe it to stdin');
  }
  return { message: { prompt, ...skipped }, typed: text };
}
