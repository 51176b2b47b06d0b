/** Writes error documents (R12, N39, N52). */
import type { PartialMetadata } from "@sheaf/protocol";
import { startContentDocument } from "./content-document.ts";
import type { StreamWriter } from "./stream-writer.ts";

/** Writes a complete error document. The message is one line: the failure, its value, and the remedy. */
export function writeErrorDocument(writer: StreamWriter, message: string, metadata: PartialMetadata): void {
  const document = startContentDocument(writer, "error", metadata);
  document.write(message);
  document.end(metadata);
}
