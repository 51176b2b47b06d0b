/** Text of chunks that are strings or UTF-8 bytes, cut anywhere, inside a character too (N25). */
export interface ChunkDecoder {
  /** The characters that are complete with this chunk. Malformed bytes become U+FFFD; a leading byte order mark is dropped. */
  push(chunk: Uint8Array | string): string;
  /** U+FFFD if the last character is unfinished, else "". */
  end(): string;
}

/** The part of the platform's `TextDecoder` in use: this package is compiled without the types of Node and the DOM. */
declare const TextDecoder: new () => {
  decode(bytes?: Uint8Array, options?: { readonly stream: boolean }): string;
};

/** Strings alone need no `TextDecoder`, so they are read in an engine that has none, too. */
export function createChunkDecoder(): ChunkDecoder {
  let utf8: InstanceType<typeof TextDecoder> | undefined;
  const end = (): string => utf8?.decode() ?? "";
  return {
    push(chunk) {
      if (typeof chunk === "string") return end() + chunk;
      utf8 ??= new TextDecoder();
      return utf8.decode(chunk, { stream: true });
    },
    end,
  };
}
