/** SHA-256 (FIPS 180-4) of the UTF-8 of text, without any platform API (N55). */

export interface Sha256 {
  /** Text may be cut anywhere, also inside a surrogate pair. Lone surrogates count as U+FFFD. */
  update(text: string): void;
  /** Lower-case hex. Ends the hash: call it once. */
  digest(): string;
}

/** The first 64: all constants of the hash come from their roots. */
const primes: number[] = [];
for (let candidate = 2; primes.length < 64; candidate += 1) {
  if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
}

const roundConstants = Int32Array.from(primes, (prime) => toFraction(Math.cbrt(prime)));

/** Creates a hash. Its memory is constant. */
export function createSha256(): Sha256 {
  const state = Int32Array.from(primes.slice(0, 8), (prime) => toFraction(Math.sqrt(prime)));
  /** The first 16 are the block that is being filled. */
  const words = new Int32Array(64);
  let bytes = 0;
  /** The last character of the text, while its other half may follow. */
  let half = "";

  function pushByte(byte: number): void {
    const index = (bytes >> 2) & 15;
    words[index] = (at(words, index) << 8) | byte;
    bytes += 1;
    if ((bytes & 63) === 0) compress(state, words);
  }

  function pushCodePoint(point: number): void {
    if (point < 0x80) return pushByte(point);
    const following = point < 0x800 ? 1 : point < 0x1_0000 ? 2 : 3;
    pushByte(((0xff80 >> following) & 0xff) | (point >> (following * 6)));
    for (let shift = following * 6 - 6; shift >= 0; shift -= 6) pushByte(0x80 | ((point >> shift) & 0x3f));
  }

  function pushText(text: string): void {
    for (let index = 0; index < text.length; index += 1) {
      const point = text.codePointAt(index) ?? 0;
      pushCodePoint((point & -0x800) === 0xd800 ? 0xfffd : point);
      if (point > 0xffff) index += 1;
    }
  }

  return {
    update: (text) => {
      const all = half + text;
      const isWhole = (all.charCodeAt(all.length - 1) & 0xfc00) !== 0xd800;
      half = isWhole ? "" : all.slice(-1);
      pushText(isWhole ? all : all.slice(0, -1));
    },
    digest: () => {
      pushText(half);
      const bits = bytes * 8;
      pushByte(0x80);
      while ((bytes & 63) !== 56) pushByte(0);
      for (let shift = 56; shift >= 0; shift -= 8) pushByte((bits / 2 ** shift) & 0xff);
      return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
    },
  };
}

/** The first 32 bits of the fraction. A double has 18 more bits of these roots, and none is close to rounding. */
function toFraction(root: number): number {
  return ((root % 1) * 2 ** 32) | 0;
}

/** Index access known to be in bounds. */
function at(words: Int32Array, index: number): number {
  return words[index] ?? 0;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function compress(state: Int32Array, words: Int32Array): void {
  for (let index = 16; index < 64; index += 1) {
    const early = at(words, index - 15);
    const late = at(words, index - 2);
    const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words[index] = at(words, index - 16) + first + at(words, index - 7) + second;
  }
  let a = at(state, 0);
  let b = at(state, 1);
  let c = at(state, 2);
  let d = at(state, 3);
  let e = at(state, 4);
  let f = at(state, 5);
  let g = at(state, 6);
  let h = at(state, 7);
  for (let index = 0; index < 64; index += 1) {
    const chosen = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g));
    const first = (h + chosen + at(roundConstants, index) + at(words, index)) | 0;
    const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  const added = [a, b, c, d, e, f, g, h];
  for (let index = 0; index < 8; index += 1) state[index] = at(state, index) + (added[index] ?? 0);
}
