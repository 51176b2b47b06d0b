/** The output of a command: decoded, shown live up to a limit, kept in bounded memory (N37, R-14). */
import { type BoundedOutput, createBoundedOutput } from "../../../workspace/bounded-output.ts";
import { createOutputSink, type OutputSink, type WholeOutput } from "../../../workspace/whole-output.ts";

export type StreamName = "stdout" | "stderr";

/** Both streams of one command. */
export interface OutputStreams {
  write(stream: StreamName, chunk: Uint8Array): void;
  /** From now on everything is shown live: somebody waits for it. */
  showAll(): void;
  /** After the last chunk: the rest of a cut character becomes U+FFFD. */
  end(): void;
  toResult(): {
    readonly stdout: string;
    readonly stderr: string;
    /** Both in order of arrival. */
    readonly output: string;
    readonly truncated: boolean;
    /** Total number received. */
    readonly bytes: number;
    /** Both, as the model sees it (N57). */
    readonly whole: WholeOutput;
  };
}

/** Bytes kept of each stream, and of both together. */
const maxKeptBytes = 256 * 1024;

/** `onOutput` gets the text as it arrives, and one notice when it exceeds `maxLiveBytes`. */
export function createOutputStreams(
  onOutput: (stream: StreamName, text: string) => void,
  maxLiveBytes?: number,
  sink: OutputSink = createOutputSink(),
): OutputStreams {
  const decoders = { stdout: createDecoder(), stderr: createDecoder() };
  const kept = { stdout: createBoundedOutput(maxKeptBytes), stderr: createBoundedOutput(maxKeptBytes) };
  const both: BoundedOutput = createBoundedOutput(maxKeptBytes);
  const live = createLiveOutput(onOutput, maxLiveBytes);
  // An import would load all exports of the module at every start.
  const { isUtf8 } = process.getBuiltinModule("node:buffer");
  let bytes = 0;

  /** Streams whose last character may be incomplete. */
  const open = new Set<StreamName>();

  const keep = (stream: StreamName, encoded: Uint8Array): void => {
    kept[stream].append(encoded);
    both.append(encoded);
    sink.append(encoded);
  };
  const take = (stream: StreamName, text: string): void => {
    if (text === "") return;
    keep(stream, Buffer.from(text));
    live.push(stream, text);
  };

  return {
    write(stream, chunk) {
      bytes += chunk.length;
      const isWhole = !open.has(stream) && isUtf8(chunk);
      // Text that is not shown live needs no string: endless output would create garbage faster than it is collected.
      if (isWhole && live.isFull()) return keep(stream, chunk);
      take(stream, decoders[stream].decode(chunk, { stream: true }));
      if (isWhole) return;
      if (endsInCharacter(chunk)) open.add(stream);
      else open.delete(stream);
    },
    showAll: () => live.liftLimit(),
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
      whole: sink.end(),
    }),
  };
}

/** Whether the decoder may keep bytes back after this chunk: its last byte is not ASCII. */
function endsInCharacter(chunk: Uint8Array): boolean {
  return (chunk.at(-1) ?? 0x80) >= 0x80;
}

/** Bad bytes become U+FFFD; a byte order mark stays. */
function createDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}

/**
 * Shows text soon, in order, up to a limit, and in few pieces: a command that writes letter by letter must not make an
 * event of each.
 */
interface LiveOutput {
  push(stream: StreamName, text: string): void;
  /** Whether the limit is reached: nothing more is shown. */
  isFull(): boolean;
  /** Shows what is waiting, and from now on everything. */
  liftLimit(): void;
  /** Shows what is still waiting. */
  end(): void;
}

/** Bytes of both streams together. */
const defaultMaxBytes = 1024 * 1024;
/** Milliseconds that text may wait for more. */
const holdPeriod = 20;
/** UTF-16 units. */
const maxHeldLength = 64 * 1024;
const notice = "\n[... more than 1 MiB of output; the rest is not shown live ...]\n";

/** Above the limit there is one notice, and then nothing. */
function createLiveOutput(
  onOutput: (stream: StreamName, text: string) => void,
  maxBytes: number = defaultMaxBytes,
): LiveOutput {
  let limit = maxBytes;
  let held: { readonly stream: StreamName; text: string }[] = [];
  let heldLength = 0;
  let timer: NodeJS.Timeout | undefined;
  let bytes = 0;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const parts = held;
    held = [];
    heldLength = 0;
    for (const { stream, text } of parts) onOutput(stream, text);
  };
  return {
    push(stream, text) {
      if (bytes > limit) return;
      bytes += Buffer.byteLength(text);
      const shown = bytes > limit ? notice : text;
      const last = held.at(-1);
      if (last?.stream === stream) last.text += shown;
      else held.push({ stream, text: shown });
      heldLength += shown.length;
      // Without a limit, endless output would fill the memory in one period.
      if (heldLength >= maxHeldLength) flush();
      else timer ??= setTimeout(flush, holdPeriod);
    },
    isFull: () => bytes > limit,
    liftLimit() {
      flush();
      limit = Number.POSITIVE_INFINITY;
    },
    end: flush,
  };
}
