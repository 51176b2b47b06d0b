/** Ways of cutting a body, for the chunk law (N25). */

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Cuts at these offsets, which rise. */
export function cutAt(body: Uint8Array, offsets: readonly number[]): Uint8Array[] {
  return [0, ...offsets].map((offset, index) => body.subarray(offset, offsets[index]));
}

/** One byte at a time. */
export function cutEverywhere(body: Uint8Array): Uint8Array[] {
  return Array.from(body, (_, index) => body.subarray(index, index + 1));
}

/** Before and after each CR and LF. */
export function cutAtLineEnds(body: Uint8Array): Uint8Array[] {
  const offsets = Array.from(body).flatMap((byte, index) =>
    byte === lineFeed || byte === carriageReturn ? [index, index + 1] : [],
  );
  return cutAt(body, offsets);
}

/** At random places, the same for the same seed; chunks from empty to some hundred bytes. */
export function cutAtRandom(body: Uint8Array, seed: number): Uint8Array[] {
  const random = createRandom(seed);
  const longest = 1 + Math.floor(random() * 400);
  const offsets: number[] = [];
  for (let offset = Math.floor(random() * longest); offset < body.length; offset += Math.floor(random() * longest)) {
    offsets.push(offset);
  }
  return cutAt(body, offsets);
}

/** Mulberry32: numbers from 0 up to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
