/** delete_file: deletes one file or link (N33). */
import * as s from "@sheaf/protocol/schema";
import { createFileFault, toFileError } from "@sheaf/base/files/file-error";
import { countLines, decodeText, detectTextFormat } from "@sheaf/base/files/text-format";
import type { FileIdentity } from "@sheaf/base/files/open-file";
import { removeFile, resolveEntry } from "@sheaf/base/files/move-file";
import { hashFile, readWholeFile } from "@sheaf/base/files/read-file";
import type { WorkspacePath } from "@sheaf/base/files/workspace";
import { toCancelledOutcome, toFailedOutcome, toMissingFileError } from "./failure.ts";
import { MAX_CONTENT_BYTES } from "./file-change.ts";
import type { Tool } from "./tool.ts";
import { toArgumentText } from "./tool-traits.ts";

const parameters = s.object({ target_file: s.string() });

/** Refuses a file that has changed since a tool read it (STALE_FILE). */
export const deleteFileTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "delete_file",
  description: "Delete one file, no folder.",
  access: "write",
  paths: { files: ["target_file"] },
  words: ["Deleted file", "Datei gelöscht", "Dosya silindi", "ファイルを削除しました", "已刪除檔案"],
  kind: "delete",
  toCursor: ({ target_file }) => ({ deleteToolCall: { path: toArgumentText(target_file) } }),
  comesWith: "Edit",
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
    const removed = await removeFile(workspace, path, before.identity);
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
    const effect = { kind: "file_edit" as const, changes: [change] };
    return { status: "success", output, effect };
  },
};

interface StateBefore {
  readonly bytes: number;
  /** Lines of a small text file, else 0. */
  readonly lines: number;
  /** Hash of the file; undefined for a link, and for a file that cannot be read. */
  readonly hash: string | undefined;
  readonly identity: FileIdentity | undefined;
}

async function readState(root: string, path: WorkspacePath): Promise<StateBefore> {
  const whole = await readWholeFile(root, path, MAX_CONTENT_BYTES);
  if (!whole.ok) {
    const large = whole.error.code === "FILE_TOO_LARGE" ? await hashFile(root, path) : whole;
    const nothing = { bytes: 0, hash: undefined, identity: undefined };
    return { ...(large.ok ? large.value : nothing), lines: 0 };
  }
  const { bytes, hash, identity } = whole.value;
  const format = detectTextFormat(bytes);
  const text = format && decodeText(bytes, format);
  return { bytes: bytes.length, lines: countLines(text ?? ""), hash, identity };
}
