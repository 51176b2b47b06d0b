/** write_file: creates a file, or replaces its content. */
import type { FileChange } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import { toLineEnd } from "@sheaf/base/files/text-format";
import type { WorkspacePath } from "@sheaf/base/files/workspace";
import { toCancelledOutcome, toFailedOutcome } from "./failure.ts";
import { encodeTextFile, loadTextFile, saveChange, type TextFile } from "./text-file.ts";
import type { Tool, ToolOutcome } from "./tool.ts";
import { toArgumentText } from "./tool-traits.ts";

const parameters = s.object({
  target_file: s.string(),
  content: s.string(),
});

/** Refuses a file that has changed since a tool read it (STALE_FILE). Keeps line ends and encoding. */
export const writeFileTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "write_file",
  description:
    "Create a file, or replace its whole content. Missing folders are created. To change parts of a file, use edit_file.",
  access: "write",
  paths: { files: ["target_file"] },
  words: [
    "Created new file",
    "Neue Datei erstellt",
    "Yeni dosya oluşturuldu",
    "新しいファイルを作成しました",
    "已建立新檔案",
  ],
  kind: "edit",
  toCursor: ({ target_file, content }, toolCallId) => ({
    writeToolCall: { path: toArgumentText(target_file), fileText: toArgumentText(content), toolCallId },
  }),
  claude: { name: "Write", fields: { target_file: "file_path" } },
  aliases: ["createfile", "writetofile"],
  parameters,
  async run({ target_file, content }, context) {
    const resolved = context.workspace.resolve(target_file);
    if (!resolved.ok) return toFailedOutcome(resolved.error);
    const { path } = resolved;
    const wasRead = context.state.fileHashes.has(path.absolute);
    const before = await loadTextFile(context, path);
    if (!before.ok) return toFailedOutcome(before.error);
    if (context.signal.aborted) return toCancelledOutcome();
    const text = toWrittenText(content.toWellFormed(), before.value);
    const after = encodeTextFile(text, before.value);
    const saved = await saveChange(context, path, { before: before.value, after });
    if (!saved.ok) return toFailedOutcome(saved.error);
    const { change, notes } = saved.value;
    const isSame = before.value?.hash === after.hash;
    const replaced = before.value ? toReplaceNotes(before.value, isSame, wasRead, content) : [];
    return toOutcome(path, change, before.value !== undefined, [...replaced, ...notes]);
  },
};

/** Returns the content with the line ends that the file has. */
function toWrittenText(content: string, before: TextFile | undefined): string {
  const lineEnd = before?.lineEnd;
  return lineEnd === "\r\n" ? toLineEnd(content, lineEnd) : content;
}

function toOutcome(
  path: WorkspacePath,
  change: FileChange,
  isReplaced: boolean,
  notes: readonly string[],
): ToolOutcome {
  const { linesAdded, linesRemoved, bytes } = change;
  const output = isReplaced
    ? `Replaced ${path.named}: ${linesAdded} lines added, ${linesRemoved} removed, ${bytes} bytes.`
    : `Created ${path.named}: ${linesAdded} lines, ${bytes} bytes.`;
  return {
    status: "success",
    output,
    ...(notes.length > 0 && { note: notes.join(" ") }),
    effect: { kind: "file_edit", changes: [change] },
  };
}

function toReplaceNotes(before: TextFile, isSame: boolean, wasRead: boolean, content: string): string[] {
  const notes: string[] = [];
  if (isSame) notes.push("The file already had this content.");
  else if (!wasRead) notes.push("The file existed and had not been read here; its old content was replaced.");
  if (before.lineEnd === "\r\n" && /(^|[^\r])\n/.test(content)) notes.push("It keeps its line ends (CRLF).");
  if (before.format.hasMark) notes.push(`It keeps its byte order mark (${before.format.encoding}).`);
  return notes;
}
