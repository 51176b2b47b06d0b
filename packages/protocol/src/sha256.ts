/** SHA-256 (FIPS 180-4) of the UTF-8 of text, without any platform interface (N55). */

const roundConstants = new Uint32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);

export interface Sha256 {
  /** Text may be cut anywhere, also inside a surrogate pair. Lone surrogates count as U+FFFD. */
  update(text: string): void;
  /** Lower-case hex. Ends the hash: call it once. */
  digest(): string;
}

/** Starts a hash. Memory is constant. */
export function createSha256(): Sha256 {
  return new Hash();
}

class Hash implements Sha256 {
  readonly #state = new Uint32Array([
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  ]);
  readonly #block = new Uint8Array(64);
  readonly #words = new Uint32Array(64);
  #used = 0;
  #bytes = 0;
  #highSurrogate = 0;

  update(text: string): void {
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit < 0x80 && this.#highSurrogate === 0) this.#pushByte(unit);
      else this.#pushUnit(unit);
    }
  }

  digest(): string {
    if (this.#highSurrogate !== 0) this.#pushCodePoint(0xfffd);
    const bits = this.#bytes * 8;
    this.#pushByte(0x80);
    while (this.#used !== 56) this.#pushByte(0);
    for (let shift = 56; shift >= 0; shift -= 8) this.#pushByte(Math.floor(bits / 2 ** shift) % 256);
    return Array.from(this.#state, (word) => word.toString(16).padStart(8, "0")).join("");
  }

  #pushUnit(unit: number): void {
    const high = this.#highSurrogate;
    this.#highSurrogate = 0;
    if (high !== 0) {
      if (isLowSurrogate(unit)) return this.#pushCodePoint(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
      this.#pushCodePoint(0xfffd);
    }
    if (unit >= 0xd800 && unit < 0xdc00) this.#highSurrogate = unit;
    else this.#pushCodePoint(isLowSurrogate(unit) ? 0xfffd : unit);
  }

  #pushCodePoint(point: number): void {
    if (point < 0x80) return this.#pushByte(point);
    if (point < 0x800) {
      this.#pushByte(0xc0 | (point >> 6));
    } else {
      if (point < 0x10000) {
        this.#pushByte(0xe0 | (point >> 12));
      } else {
        this.#pushByte(0xf0 | (point >> 18));
        this.#pushByte(0x80 | ((point >> 12) & 63));
      }
      this.#pushByte(0x80 | ((point >> 6) & 63));
    }
    this.#pushByte(0x80 | (point & 63));
  }

  #pushByte(byte: number): void {
    this.#block[this.#used] = byte;
    this.#used += 1;
    this.#bytes += 1;
    if (this.#used === 64) {
      this.#used = 0;
      compress(this.#state, this.#words, this.#block);
    }
  }
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** Index access that is known to be inside. */
function at(array: Uint32Array | Uint8Array, index: number): number {
  return array[index] ?? 0;
}

function compress(state: Uint32Array, words: Uint32Array, block: Uint8Array): void {
  for (let index = 0; index < 16; index += 1) {
    const from = index * 4;
    words[index] =
      (at(block, from) << 24) | (at(block, from + 1) << 16) | (at(block, from + 2) << 8) | at(block, from + 3);
  }
  for (let index = 16; index < 64; index += 1) {
    const early = at(words, index - 15);
    const late = at(words, index - 2);
    const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words[index] = at(words, index - 16) + first + at(words, index - 7) + second;
  }
  mix(state, words);
}

function mix(state: Uint32Array, words: Uint32Array): void {
  let a = at(state, 0);
  let b = at(state, 1);
  let c = at(state, 2);
  let d = at(state, 3);
  let e = at(state, 4);
  let f = at(state, 5);
  let g = at(state, 6);
  let h = at(state, 7);
  for (let index = 0; index < 64; index += 1) {
    const choice = (e & f) ^ (~e & g);
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + sum1 + choice + at(roundConstants, index) + at(words, index)) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + sum0 + majority) | 0;
  }
  const added = new Uint32Array([a, b, c, d, e, f, g, h]);
  for (let index = 0; index < 8; index += 1) state[index] = at(state, index) + at(added, index);
}
