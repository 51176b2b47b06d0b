/** What a command prints: decoded, shown live up to a limit, kept in bounded memory (N37, R-14). */
import { type BoundedOutput, createBoundedOutput } from "./bounded-output.ts";
import { createLiveOutput } from "./live-output.ts";

export type StreamName = "stdout" | "stderr";

/** Both streams of one command. */
export interface OutputStreams {
  write(stream: StreamName, chunk: Uint8Array): void;
  /** No more comes: what is left of a cut character becomes U+FFFD. */
  end(): void;
  toResult(): {
    readonly stdout: string;
    readonly stderr: string;
    /** Both in order of arrival. */
    readonly output: string;
    readonly truncated: boolean;
    /** That came. */
    readonly bytes: number;
  };
}

/** Bytes kept of each stream, and of both together. */
const maxKeptBytes = 256 * 1024;

/** Text reaches `onOutput` as it comes, and one notice when it becomes more than `maxLiveBytes`. */
export function createOutputStreams(
  onOutput: (stream: StreamName, text: string) => void,
  maxLiveBytes?: number,
): OutputStreams {
  const decoders = { stdout: createDecoder(), stderr: createDecoder() };
  const kept = { stdout: createBoundedOutput(maxKeptBytes), stderr: createBoundedOutput(maxKeptBytes) };
  const both: BoundedOutput = createBoundedOutput(maxKeptBytes);
  const live = createLiveOutput(onOutput, maxLiveBytes);
  // An import would read all exports of the module, at every start.
  const { isUtf8 } = process.getBuiltinModule("node:buffer");
  let bytes = 0;

  /** Streams whose last character is not all there. */
  const open = new Set<StreamName>();

  const keep = (stream: StreamName, encoded: Uint8Array): void => {
    kept[stream].append(encoded);
    both.append(encoded);
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
      // What nobody sees live needs no string: output without end would make garbage faster than it is collected.
      if (isWhole && live.isFull()) return keep(stream, chunk);
      take(stream, decoders[stream].decode(chunk, { stream: true }));
      if (isWhole) return;
      if (endsInCharacter(chunk)) open.add(stream);
      else open.delete(stream);
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

/** Whether the decoder may hold bytes back after this chunk: its last byte is not ASCII. */
function endsInCharacter(chunk: Uint8Array): boolean {
  return (chunk.at(-1) ?? 0x80) >= 0x80;
}

/** Bad bytes become U+FFFD; a byte order mark stays. */
function createDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}
