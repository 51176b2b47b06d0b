/** delete_file: deletes one file or link (N33). */
import type * as z from "zod/mini";
import { createFileFault, toFileError } from "../workspace/file-error.ts";
import { countLines } from "../workspace/line-ends.ts";
import { removeFile, resolveEntry } from "../workspace/move-file.ts";
import { hashFile, readWholeFile } from "../workspace/read-file.ts";
import { decodeText, detectTextFormat } from "../workspace/text-format.ts";
import type { WorkspacePath } from "../workspace/workspace.ts";
import { toCancelledOutcome, toFailedOutcome } from "./failure.ts";
import { MAX_CONTENT_BYTES } from "./file-change.ts";
import { toMissingFileError } from "./missing-file.ts";
import { object, string } from "./parameters.ts";
import type { Tool } from "./tool.ts";

const parameters = object({ target_file: string("File, relative to the workspace") });

/** A file that was read here and has changed since is not deleted (STALE_FILE). */
export const deleteFileTool: Tool<z.infer<typeof parameters>> = {
  name: "delete_file",
  description: "Delete one file. Folders are not deleted.",
  documentType: "file_edit",
  access: "write",
  parameters,
  async run({ target_file }, { workspace, state, signal }) {
    const resolved = resolveEntry(workspace, target_file);
    if (!resolved.ok) return toFailedOutcome(resolved.error);
    const { path } = resolved;
    const before = await readState(workspace.root, path);
    const known = state.fileHashes.get(path.absolute);
    if (known !== undefined && before.hash !== undefined && known !== before.hash) {
      return toFailedOutcome(toFileError(createFileFault("STALE_FILE"), path.named));
    }
    if (signal.aborted) return toCancelledOutcome();
    const removed = await removeFile(workspace.root, path);
    if (!removed.ok) {
      const isMissing = removed.error.code === "FILE_NOT_FOUND";
      return toFailedOutcome(isMissing ? toMissingFileError(workspace.root, path) : removed.error);
    }
    state.fileHashes.delete(path.absolute);
    const change = {
      operation: "delete" as const,
      filePath: path.named,
      path: path.absolute,
      content: null,
      linesAdded: 0,
      linesRemoved: before.lines,
      bytes: before.bytes,
      ...(before.hash !== undefined && { hashBefore: before.hash }),
    };
    const output = `Deleted ${path.named} (${before.bytes} bytes).`;
    return { status: "success", output, effect: { kind: "file_edit", changes: [change] } };
  },
};

interface StateBefore {
  readonly bytes: number;
  /** Of a small text file, else 0. */
  readonly lines: number;
  /** Undefined for a link, and for a file that cannot be read. */
  readonly hash: string | undefined;
}

async function readState(root: string, path: WorkspacePath): Promise<StateBefore> {
  const whole = await readWholeFile(root, path, MAX_CONTENT_BYTES);
  if (!whole.ok) {
    const large = whole.error.code === "FILE_TOO_LARGE" ? await hashFile(root, path) : whole;
    return large.ok ? { ...large.value, lines: 0 } : { bytes: 0, lines: 0, hash: undefined };
  }
  const { bytes, hash } = whole.value;
  const format = detectTextFormat(bytes);
  const text = format && decodeText(bytes, format);
  return { bytes: bytes.length, lines: countLines(text ?? ""), hash };
}
