/** read_file on images and PDF files: the model sees them as they are (N68). */
import type { ToolError } from "@sheaf/protocol";
import { formatAttachment, MAX_ATTACHED_BYTES, toAttachment } from "@sheaf/base/files/attachment";
import { detectMediaType } from "@sheaf/base/files/image-header";
import { readWholeFile } from "@sheaf/base/files/read-file";
import type { WorkspacePath } from "@sheaf/base/files/workspace";
import { toFailedOutcome } from "./failure.ts";
import type { ToolContext, ToolOutcome } from "./tool.ts";

/** Attaches a file that isn't text. `error`: the failure of a file that isn't an image or a PDF either. */
export async function readAttachment(
  path: WorkspacePath,
  error: ToolError,
  { workspace, state }: Pick<ToolContext, "workspace" | "state">,
): Promise<ToolOutcome> {
  const read = await readWholeFile(workspace.root, path, MAX_ATTACHED_BYTES);
  if (!read.ok) {
    const limit = `an image or a PDF may have at most ${MAX_ATTACHED_BYTES} bytes`;
    const isTooLarge = read.error.code === "FILE_TOO_LARGE";
    return toFailedOutcome(isTooLarge ? { ...error, message: `${error.message} (${limit})` } : read.error);
  }
  const { bytes, hash } = read.value;
  if (!detectMediaType(bytes)) return toFailedOutcome(error);
  const made = toAttachment(bytes, path.relative);
  if (!made.ok) return toFailedOutcome({ ...error, message: `${path.named} ${made.problem}` });
  state.fileHashes.set(path.absolute, hash);
  const output = formatAttachment(made.value);
  return {
    status: "success",
    output,
    // It has no lines to number.
    shown: output,
    attachments: [made.value],
    effect: {
      kind: "read",
      path: path.absolute,
      hash,
      isEmpty: false,
      exceededLimit: false,
      totalLines: 1,
      totalChars: output.length,
      fileSize: bytes.length,
      startLine: 1,
      endLine: 1,
    },
  };
}
