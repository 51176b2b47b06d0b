/** Bytes of a provider as records, and back. */
import type { BodyRecord } from "./cassette.ts";

type BytesRecord = Extract<BodyRecord, { type: "provider_bytes" }>;

/** As text where that gives the same bytes again: so a cassette can be read and searched. */
export function toBytesRecord(bytes: Uint8Array): BytesRecord {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString();
  if (Buffer.from(text).equals(buffer)) return { type: "provider_bytes", text };
  return { type: "provider_bytes", text: buffer.toString("base64"), encoding: "base64" };
}

export function toBytes({ text, encoding }: BytesRecord): Uint8Array {
  return Buffer.from(text, encoding ?? "utf8");
}
