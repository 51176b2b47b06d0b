/** Error documents (R12, N39, N52). */
import type { ErrorMetadata } from "@sheaf/protocol";
import { startContentDocument } from "./content-document.ts";
import type { StreamWriter } from "./stream-writer.ts";

/** What failed: the message is the content. */
export interface ErrorReport extends ErrorMetadata {
  /** One line: what failed, with which value, what to do. */
  readonly message: string;
}

/** Writes a whole error document. */
export function writeErrorDocument(writer: StreamWriter, report: ErrorReport): void {
  const { message, ...metadata } = report;
  const document = startContentDocument(writer, "error", { ...metadata });
  document.write(message);
  document.end({ ...metadata });
}
