/** The output of a command: decoded, shown live up to a limit, kept in bounded memory (N37, R-14). */

export type StreamName = "stdout" | "stderr";

/** Both streams of one command. */
export interface OutputStreams {
  write(stream: StreamName, chunk: Uint8Array): void;
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
  };
}

/** Bytes kept of each stream, and of both together. */
const maxKeptBytes = 256 * 1024;

/** `onOutput` gets the text as it arrives, and one notice when it exceeds `maxLiveBytes`. */
export function createOutputStreams(
  onOutput: (stream: StreamName, text: string) => void,
  maxLiveBytes?: number,
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
  /** Shows what is still waiting. */
  end(): void;
}

/** Bytes of both streams together. */
const defaultMaxBytes = 1024 * 1024;
/** Milliseconds that text may wait for more. */
const holdPeriod = 20;
const notice = "\n[... more than 1 MiB of output; the rest is not shown live ...]\n";

/** Above the limit there is one notice, and then nothing. */
function createLiveOutput(
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

/** Text of any length in bounded memory: its head and its tail are kept. */
export interface BoundedOutput {
  /** Appends UTF-8 that ends with a whole character. */
  append(bytes: Uint8Array): void;
  /** Whether the middle was cut out. */
  isCut(): boolean;
  /** Head, a notice with the byte counts, tail; or everything, if it fits. */
  toText(): string;
}

/** Room for the notice, so that the whole text stays within the limit. */
const noticeBytes = 128;

/** Keeps at most `limit` bytes, half of them from the end. `limit` is above 128. */
export function createBoundedOutput(limit: number): BoundedOutput {
  const headLimit = Math.floor((limit - noticeBytes) / 2);
  const head = createHead(headLimit);
  // Text that fits is kept whole, so the tail has room for the notice too.
  const tail = createRing(limit - headLimit);
  let total = 0;

  return {
    append(bytes) {
      total += bytes.length;
      const taken = head.append(bytes);
      if (taken < bytes.length) tail.append(bytes.subarray(taken));
    },
    isCut: () => total > limit,
    toText() {
      const start = head.toBytes();
      if (total <= limit) return Buffer.concat([start, tail.toBytes()]).toString();
      const first = dropPartialEnd(start);
      const last = dropPartialStart(tail.toBytes().subarray(noticeBytes));
      return `${first.toString()}${toNotice(total - first.length - last.length, first.length, last.length)}${last.toString()}`;
    },
  };
}

function toNotice(cut: number, first: number, last: number): string {
  return `\n[... ${cut} bytes cut out; the first ${first} and the last ${last} bytes are shown ...]\n`;
}

/** The first `limit` bytes. */
function createHead(limit: number): { append(bytes: Uint8Array): number; toBytes(): Buffer } {
  const parts: Uint8Array[] = [];
  let free = limit;
  return {
    append(bytes) {
      const taken = Math.min(free, bytes.length);
      // A copy: a part would keep the whole buffer alive.
      if (taken > 0) parts.push(Uint8Array.from(bytes.subarray(0, taken)));
      free -= taken;
      return taken;
    },
    toBytes: () => Buffer.concat(parts),
  };
}

/** The last `size` bytes. */
function createRing(size: number): { append(bytes: Uint8Array): void; toBytes(): Buffer } {
  let ring: Buffer | undefined;
  let written = 0;
  return {
    append(bytes) {
      ring ??= Buffer.alloc(size);
      const kept = bytes.subarray(Math.max(0, bytes.length - size));
      written += bytes.length - kept.length;
      const place = written % size;
      const untilEnd = Math.min(kept.length, size - place);
      ring.set(kept.subarray(0, untilEnd), place);
      ring.set(kept.subarray(untilEnd), 0);
      written += kept.length;
    },
    toBytes() {
      if (!ring) return Buffer.alloc(0);
      if (written <= size) return Buffer.from(ring.subarray(0, written));
      const place = written % size;
      return Buffer.concat([ring.subarray(place), ring.subarray(0, place)]);
    },
  };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Without the bytes of an incomplete last character. */
function dropPartialEnd(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > 0 && isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}

function dropPartialStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}
