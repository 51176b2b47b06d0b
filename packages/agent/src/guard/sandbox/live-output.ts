/** Live output in few pieces: a command that writes letter by letter must not make an event of each. */
import type { StreamName } from "./output-streams.ts";

/** Shows text soon, in order, up to a limit. */
export interface LiveOutput {
  push(stream: StreamName, text: string): void;
  /** Whether the limit is reached: nothing more will be shown. */
  isFull(): boolean;
  /** Shows what is still held back. */
  end(): void;
}

/** Bytes of both streams together. */
const defaultMaxBytes = 1024 * 1024;
/** Milliseconds that text may wait for more. */
const holdPeriod = 20;
const notice = "\n[... more than 1 MiB of output; the rest is not shown live ...]\n";

/** Above the limit there is one notice, and then nothing. */
export function createLiveOutput(
  onOutput: (stream: StreamName, text: string) => void,
  maxBytes: number = defaultMaxBytes,
): LiveOutput {
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
      if (bytes > maxBytes) return;
      bytes += Buffer.byteLength(text);
      const shown = bytes > maxBytes ? notice : text;
      const last = held.at(-1);
      if (last?.stream === stream) last.text += shown;
      else held.push({ stream, text: shown });
      timer ??= setTimeout(flush, holdPeriod);
    },
    isFull: () => bytes > maxBytes,
    end: flush,
  };
}
