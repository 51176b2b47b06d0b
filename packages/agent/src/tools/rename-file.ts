/** rename_file: moves one file to a name that is free (N32). */
import * as s from "@sheaf/protocol/schema";
import { moveFile, resolveEntry } from "@sheaf/base/files/move-file";
import { hashFile } from "@sheaf/base/files/read-file";
import { toCancelledOutcome, toFailedOutcome, toMissingFileError } from "./failure.ts";
import type { Tool } from "./tool.ts";

/** Moving a file is instant; reading a larger one is not. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

const parameters = s.object({
  source_file: s.string(),
  destination_file: s.string(),
});

/** Never replaces a file: it refuses a destination that exists (FILE_EXISTS). */
export const renameFileTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "rename_file",
  description: "Rename or move one file. The destination must not exist; missing folders are created.",
  access: "write",
  paths: { files: ["source_file", "destination_file"] },
  words: [
    "Renamed file",
    "Datei umbenannt",
    "Dosya yeniden adlandırıldı",
    "ファイル名を変更しました",
    "已重新命名檔案",
  ],
  kind: "move",
  comesWith: "Edit",
  parameters,
  async run({ source_file, destination_file }, { workspace, state, signal }) {
    const source = resolveEntry(workspace, source_file);
    if (!source.ok) return toFailedOutcome(source.error);
    const destination = resolveEntry(workspace, destination_file);
    if (!destination.ok) return toFailedOutcome(destination.error);
    const [from, to] = [source.path, destination.path];
    if (signal.aborted) return toCancelledOutcome();
    const moved = await moveFile(workspace, from, to);
    if (!moved.ok) {
      const isMissing = moved.error.code === "FILE_NOT_FOUND";
      return toFailedOutcome(isMissing ? toMissingFileError(workspace.root, from) : moved.error);
    }
    const known = state.fileHashes.get(from.absolute);
    state.fileHashes.delete(from.absolute);
    if (known !== undefined) state.fileHashes.set(to.absolute, known);
    const content = await hashFile(workspace.root, to, { maxBytes: MAX_HASHED_BYTES });
    const { bytes, hash } = content.ok ? content.value : { bytes: 0, hash: undefined };
    const change = {
      operation: "rename" as const,
      filePath: from.named,
      path: from.absolute,
      newFilePath: to.named,
      content: null,
      linesAdded: 0,
      linesRemoved: 0,
      bytes,
      ...(hash !== undefined && { hashBefore: hash, hashAfter: hash }),
    };
    const output = `Moved ${from.named} to ${to.named}.`;
    return { status: "success", output, effect: { kind: "file_edit", changes: [change] } };
  },
};
