/** Decodes UTF-8 that comes in pieces. */
export interface Utf8Decoder {
  /** The characters that are complete with these bytes. An unfinished sequence is kept for the next call. */
  push(bytes: Uint8Array): string;
  /** What is left: U+FFFD for an unfinished sequence, else "". The decoder is then as new. */
  end(): string;
}

const replacement = 0xfffd;
const byteOrderMark = 0xfeff;
/** Characters made into a string at once; more would not fit the arguments of a call on every engine. */
const blockSize = 4096;

/**
 * A decoder that gives for every way of cutting the bytes (N25) what the WHATWG decoder gives for all of them:
 * one U+FFFD for each maximal part of a malformed sequence, and one leading byte order mark taken off.
 */
export function createUtf8Decoder(): Utf8Decoder {
  return new StreamingUtf8Decoder();
}

class StreamingUtf8Decoder implements Utf8Decoder {
  /** The bits of the unfinished character, and how many bytes it still needs. */
  #point = 0;
  #needed = 0;
  /** The range of the next continuation byte; narrower behind some first bytes. */
  #lower = 0x80;
  #upper = 0xbf;
  /** Nothing has been decoded yet, so a byte order mark would be the leading one. */
  #atStart = true;
  readonly #block = new Uint16Array(blockSize + 2);
  #filled = 0;
  #text = "";

  push(bytes: Uint8Array): string {
    let at = 0;
    while (at < bytes.length) {
      if (this.#needed === 0) at = this.#copyAscii(bytes, at);
      if (at >= bytes.length) break;
      const byte = bytes[at] ?? 0;
      if (this.#needed === 0) {
        this.#startSequence(byte);
        at += 1;
      } else if (byte < this.#lower || byte > this.#upper) {
        // The sequence ends here; this byte is looked at again as the start of the next one.
        this.#dropSequence();
      } else {
        this.#continueSequence(byte);
        at += 1;
      }
    }
    return this.#takeText();
  }

  end(): string {
    if (this.#needed > 0) this.#dropSequence();
    const text = this.#takeText();
    this.#atStart = true;
    return text;
  }

  /** Takes the ASCII characters from here on, as most bytes are. */
  #copyAscii(bytes: Uint8Array, from: number): number {
    const block = this.#block;
    let filled = this.#filled;
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte >= 0x80) break;
      if (filled >= blockSize) {
        this.#filled = filled;
        this.#flushBlock();
        filled = 0;
      }
      block[filled] = byte;
      filled += 1;
    }
    this.#filled = filled;
    if (at > from) this.#atStart = false;
    return at;
  }

  #startSequence(byte: number): void {
    this.#lower = 0x80;
    this.#upper = 0xbf;
    if (byte >= 0xc2 && byte <= 0xdf) {
      this.#needed = 1;
      this.#point = byte & 0x1f;
    } else if (byte >= 0xe0 && byte <= 0xef) {
      if (byte === 0xe0) this.#lower = 0xa0;
      if (byte === 0xed) this.#upper = 0x9f;
      this.#needed = 2;
      this.#point = byte & 0x0f;
    } else if (byte >= 0xf0 && byte <= 0xf4) {
      if (byte === 0xf0) this.#lower = 0x90;
      if (byte === 0xf4) this.#upper = 0x8f;
      this.#needed = 3;
      this.#point = byte & 0x07;
    } else {
      this.#append(replacement);
    }
  }

  #continueSequence(byte: number): void {
    this.#lower = 0x80;
    this.#upper = 0xbf;
    this.#point = (this.#point << 6) | (byte & 0x3f);
    this.#needed -= 1;
    if (this.#needed === 0) this.#append(this.#point);
  }

  #dropSequence(): void {
    this.#needed = 0;
    this.#append(replacement);
  }

  #append(point: number): void {
    const leading = this.#atStart;
    this.#atStart = false;
    if (leading && point === byteOrderMark) return;
    if (this.#filled >= blockSize) this.#flushBlock();
    if (point > 0xffff) {
      this.#block[this.#filled] = 0xd7c0 + (point >> 10);
      this.#block[this.#filled + 1] = 0xdc00 | (point & 0x3ff);
      this.#filled += 2;
    } else {
      this.#block[this.#filled] = point;
      this.#filled += 1;
    }
  }

  #flushBlock(): void {
    // Spread would take each unit out by an iterator, ten times as slow.
    this.#text += Reflect.apply(String.fromCharCode, null, this.#block.subarray(0, this.#filled)) as string;
    this.#filled = 0;
  }

  #takeText(): string {
    if (this.#filled > 0) this.#flushBlock();
    const text = this.#text;
    this.#text = "";
    return text;
  }
}
