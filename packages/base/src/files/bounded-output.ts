/** Text of any length in bounded memory: its head and its tail. */

export interface BoundedOutput {
  /** Appends UTF-8 that ends with a whole character. */
  append(bytes: Uint8Array): void;
  /** True if the middle is missing. */
  isCut(): boolean;
  /** Returns head, a notice with the numbers of bytes, and tail; or the whole text, if it fits. */
  toText(): string;
  /** Returns head and tail without the notice. If the text fits, the tail is "". */
  toParts(): { readonly head: string; readonly tail: string };
}

/** Bytes for the notice, so that the whole text stays within the limit. */
const noticeBytes = 128;

/** Creates an empty text of at most `limit` bytes, half of them from the end. `limit` is above 128. */
export function createBoundedOutput(limit: number): BoundedOutput {
  const headLimit = Math.floor((limit - noticeBytes) / 2);
  const head = createHead(headLimit);
  // Text that fits needs no notice, so the tail may use the notice's room.
  const tail = createRing(limit - headLimit);
  let total = 0;

  const cut = (): { readonly first: Buffer; readonly last: Buffer } => {
    const start = head.toBytes();
    if (total <= limit) return { first: Buffer.concat([start, tail.toBytes()]), last: Buffer.alloc(0) };
    return { first: dropPartialEnd(start), last: dropPartialStart(tail.toBytes().subarray(noticeBytes)) };
  };

  return {
    append(bytes) {
      total += bytes.length;
      const taken = head.append(bytes);
      if (taken < bytes.length) tail.append(bytes.subarray(taken));
    },
    isCut: () => total > limit,
    toText() {
      const { first, last } = cut();
      const notice = total <= limit ? "" : toNotice(total - first.length - last.length, first.length, last.length);
      return `${first.toString()}${notice}${last.toString()}`;
    },
    toParts() {
      const { first, last } = cut();
      return { head: first.toString(), tail: last.toString() };
    },
  };
}

function toNotice(cut: number, first: number, last: number): string {
  return `\n[... ${cut} bytes cut out; the first ${first} and the last ${last} bytes are shown ...]\n`;
}

/** Collects the first `limit` bytes. */
function createHead(limit: number): { append(bytes: Uint8Array): number; toBytes(): Buffer } {
  const parts: Uint8Array[] = [];
  let free = limit;
  return {
    append(bytes) {
      const taken = Math.min(free, bytes.length);
      // The part is copied, because it would otherwise keep the whole buffer alive.
      if (taken > 0) parts.push(Uint8Array.from(bytes.subarray(0, taken)));
      free -= taken;
      return taken;
    },
    toBytes: () => Buffer.concat(parts),
  };
}

/** Collects the last `size` bytes. */
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

/** Removes the bytes of an incomplete last character. */
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
