/** Files as the Chat API takes them (X19). */

/** Bytes of one step: a multiple of three, and few enough for one call. */
const step = 3 * 8192;

export async function encodeBase64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += step) text += btoa(String.fromCharCode(...bytes.subarray(at, at + step)));
  return text;
}
