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
  let bytes = 0;

  const take = (stream: StreamName, text: string): void => {
    if (text === "") return;
    const encoded = Buffer.from(text);
    kept[stream].append(encoded);
    both.append(encoded);
    live.push(stream, text);
  };

  return {
    write(stream, chunk) {
      bytes += chunk.length;
      take(stream, decoders[stream].decode(chunk, { stream: true }));
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

/** Bad bytes become U+FFFD; a byte order mark stays. */
function createDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}
