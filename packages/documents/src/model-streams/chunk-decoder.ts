/** Decodes chunks that are strings or UTF-8 bytes, cut anywhere, even inside a character (N25). */
export interface ChunkDecoder {
  /** Returns the characters that this chunk completes: U+FFFD for malformed bytes, no leading byte order mark. */
  push(chunk: Uint8Array | string): string;
  /** Returns U+FFFD if the last character is unfinished, else "". */
  end(): string;
}

/** The part of the platform's `TextDecoder` in use: this package is compiled without the types of Node and the DOM. */
declare const TextDecoder: new () => {
  decode(bytes?: Uint8Array, options?: { readonly stream: boolean }): string;
};

/** Creates a decoder. It needs `TextDecoder` for bytes only, so an engine without it can still read strings. */
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
