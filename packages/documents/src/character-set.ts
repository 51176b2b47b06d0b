/** A table by character code: 1 for each of these characters, which are ASCII. */
export function toCharacterSet(characters: string): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (characters.includes(String.fromCharCode(code)) ? 1 : 0));
}
