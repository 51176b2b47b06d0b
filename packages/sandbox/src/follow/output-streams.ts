/** The output of a command: decoded, shown live up to a limit, kept in bounded memory (N37, R-14). */
import { type BoundedOutput, createBoundedOutput } from "@sheaf/base/files/bounded-output";
import type { CommandOutcome } from "../command.ts";

export type StreamName = "stdout" | "stderr";

/** Both streams of one command. */
export interface OutputStreams {
  write(stream: StreamName, chunk: Uint8Array): void;
  /** Shows text that is still held back. */
  flush(): void;
  /** Ends the live output: from then on, both streams reach `onBackgroundOutput` as bytes. */
  moveToBackground(): void;
  /** Ends the streams after the last chunk: the rest of a cut character becomes U+FFFD. */
  end(): void;
  toResult(): Pick<CommandOutcome, "stdout" | "stderr" | "output" | "truncated" | "bytes">;
}

/** Bytes kept of each stream, and of both together. */
const maxKeptBytes = 256 * 1024;

interface OutputOptions {
  /** Receives the text as it arrives, and one notice when there is too much of it. */
  readonly onOutput: (stream: StreamName, text: string) => void;
  /**
   * Receives the output in the background: UTF-8 that ends with a whole character. It is valid during the call only.
   */
  readonly onBackgroundOutput?: ((bytes: Uint8Array, stream: StreamName) => void) | undefined;
  /** Receives the whole output, in the same form. */
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined;
}

export function createOutputStreams({ onOutput, onBackgroundOutput, onBytes }: OutputOptions): OutputStreams {
  const decoders = { stdout: createDecoder(), stderr: createDecoder() };
  const kept = { stdout: createBoundedOutput(maxKeptBytes), stderr: createBoundedOutput(maxKeptBytes) };
  const both: BoundedOutput = createBoundedOutput(maxKeptBytes);
  const live = createLiveOutput(onOutput);
  let follow: OutputOptions["onBackgroundOutput"];
  // An import would load all exports of the module at every start.
  const { isUtf8 } = process.getBuiltinModule("node:buffer");
  let bytes = 0;

  /** Streams whose last character may be incomplete. */
  const open = new Set<StreamName>();

  const keep = (stream: StreamName, encoded: Uint8Array): void => {
    kept[stream].append(encoded);
    both.append(encoded);
    onBytes?.(encoded);
    follow?.(encoded, stream);
  };
  const take = (stream: StreamName, text: string): void => {
    if (text === "") return;
    keep(stream, Buffer.from(text));
    if (!follow) live.push(stream, text);
  };

  return {
    write(stream, chunk) {
      bytes += chunk.length;
      const isWhole = !open.has(stream) && isUtf8(chunk);
      // Text without live output needs no string: endless output would create garbage faster than it is collected.
      if (isWhole && (follow || live.isFull())) return keep(stream, chunk);
      take(stream, decoders[stream].decode(chunk, { stream: true }));
      if (isWhole) return;
      if (endsInCharacter(chunk)) open.add(stream);
      else open.delete(stream);
    },
    flush: () => live.end(),
    moveToBackground() {
      follow = onBackgroundOutput;
    },
    end() {
      take("stdout", decoders.stdout.decode());
      take("stderr", decoders.stderr.decode());
      live.end();
    },
    toResult: () => ({
      stdout: kept.stdout.toText(),
      stderr: kept.stderr.toText(),
      output: both.toText(),
      truncated: both.isCut(),
      bytes,
    }),
  };
}

/** True if the decoder may keep bytes back after this chunk: its last byte is not ASCII. */
function endsInCharacter(chunk: Uint8Array): boolean {
  return (chunk.at(-1) ?? 0x80) >= 0x80;
}

/** Creates a decoder that turns bad bytes into U+FFFD, and leaves a byte order mark. */
function createDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}

/**
 * Shows text soon, in order, up to a limit, and in few pieces: a command that writes letter by letter must not make an
 * event of each.
 */
interface LiveOutput {
  push(stream: StreamName, text: string): void;
  /** True once the live output has ended at its limit. */
  isFull(): boolean;
  /** Shows the text that is still held back. */
  end(): void;
}

/** Bytes of both streams together. */
const maxLiveBytes = 1024 * 1024;
/** Milliseconds that text may wait for more. */
const holdPeriod = 20;
const notice = "\n[... more than 1 MiB of output; the rest is not shown live ...]\n";

/** Creates the live output. Above its limit it shows one notice, and then stays silent. */
function createLiveOutput(onOutput: OutputOptions["onOutput"]): LiveOutput {
  let held: { readonly stream: StreamName; text: string }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let bytes = 0;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const parts = held;
    held = [];
    for (const { stream, text } of parts) onOutput(stream, text);
  };
  return {
    push(stream, text) {
      if (bytes > maxLiveBytes) return;
      bytes += Buffer.byteLength(text);
      const shown = bytes > maxLiveBytes ? notice : text;
      const last = held.at(-1);
      if (last?.stream === stream) last.text += shown;
      else held.push({ stream, text: shown });
      timer ??= setTimeout(flush, holdPeriod);
    },
    isFull: () => bytes > maxLiveBytes,
    end: flush,
  };
}
