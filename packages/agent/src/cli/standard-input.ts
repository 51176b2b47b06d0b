/** Reads stdin without ever waiting for a silent one (C1). */
import { fstatSync } from "node:fs";
import { SheafError } from "../base/errors.ts";
import type { ParsedArguments } from "./arguments.ts";

/** The most that is taken as a prompt. Bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** How long an open pipe may stay silent next to a prompt before it counts as empty. Milliseconds. */
const SILENCE_MS = 200;

/** What stdin is connected to. */
export type InputKind = "terminal" | "pipe" | "file" | "none";

/** Looks at descriptor 0. */
export function toInputKind(isTerminal: boolean): InputKind {
  if (isTerminal) return "terminal";
  try {
    const stat = fstatSync(0);
    if (stat.isFIFO() || stat.isSocket()) return "pipe";
    return stat.isFile() ? "file" : "none";
  } catch {
    return "none";
  }
}

/**
 * Reads stdin to its end as UTF-8, without a byte order mark at its head.
 * An abort ends the reading; what came so far is given.
 * With `waitsForFirstByte: false` a pipe that sends nothing within 200 ms counts as empty; once it sent something, it is read to its end.
 * @throws SheafError USAGE above 16 MiB.
 */
export async function readStandardInput(
  stream: NodeJS.ReadStream,
  options: { readonly waitsForFirstByte: boolean; readonly signal?: AbortSignal },
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = options.waitsForFirstByte ? undefined : setTimeout(resolve, SILENCE_MS);
  stream.on("data", (chunk: Buffer) => {
    clearTimeout(timer);
    bytes += chunk.length;
    if (bytes <= MAX_BYTES) chunks.push(chunk);
    else
      reject(new SheafError("USAGE", `stdin is larger than ${MAX_BYTES} bytes: put it into a file and name the file`));
  });
  options.signal?.addEventListener("abort", () => resolve(), { once: true });
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

/**
 * `-` or no word: stdin to its end; after `--` it is a word like any other. Words and a piped stdin: both, stdin
 * first, as context.
 * @throws SheafError USAGE when there is no prompt.
 */
export async function readPrompt(
  { positionals, textStart = positionals.length }: ParsedArguments,
  input: InputKind,
  signal: AbortSignal,
): Promise<string> {
  const isInput = (word: string, index: number): boolean => word === "-" && index < textStart;
  const text = positionals
    .filter((word, index) => !isInput(word, index))
    .join(" ")
    .trim();
  const readsToEnd = text === "" || positionals.some(isInput);
  if (text === "" && input === "terminal") {
    throw new SheafError("USAGE", 'no prompt was given: write sheaf -p "your prompt", or pipe it to stdin');
  }
  const context =
    input === "none" || (input === "terminal" && !readsToEnd)
      ? ""
      : await readStandardInput(process.stdin, {
          waitsForFirstByte: readsToEnd || input === "file",
          signal,
        });
  const prompt = [context.trimEnd(), text].filter((part) => part !== "").join("\n\n");
  // A run that was cancelled while it read stdin has the log of a cancelled run.
  if (prompt.trim() === "" && !signal.aborted) {
    throw new SheafError("USAGE", 'the prompt is empty: write sheaf -p "your prompt", or pipe it to stdin');
  }
  return prompt;
}
