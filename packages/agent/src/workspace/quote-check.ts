/** Whether lines of a file are as they were quoted (N22). */
import { readLines } from "./read-file.ts";
import type { Workspace } from "./workspace.ts";

/** Longer quotes are not looked up. Bytes. */
const MAX_BYTES = 256 * 1024;

/** Lines of a file, as somebody quotes them. */
export interface QuotedLines {
  readonly filePath: string;
  /** 1-based, included. */
  readonly startLine: number;
  readonly endLine: number;
  /** The lines without the last line end. */
  readonly content: string;
}

/** False also for a path out of the workspace, and for a file that cannot be read. */
export async function isQuotedExactly(workspace: Workspace, quote: QuotedLines, signal: AbortSignal): Promise<boolean> {
  const resolved = workspace.resolve(quote.filePath);
  if (!resolved.ok) return false;
  const { startLine, endLine, content } = quote;
  const range = { startLine, maxLines: endLine - startLine + 1, maxBytes: MAX_BYTES };
  const lines = await readLines(workspace.root, resolved.path, range, signal);
  if (!lines.ok || lines.value.endLine !== endLine) return false;
  return toPlainLineEnds(lines.value.text) === toPlainLineEnds(content);
}

/** Line ends are the model's own; the last one is not part of a quote. */
function toPlainLineEnds(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/\n$/, "");
}
