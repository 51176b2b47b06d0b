/** read_file: some lines of a text file, unchanged. Notebooks become cells, and images and PDF files attachments. */
import type { ToolError } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import { type LineRange, LineWindow } from "@sheaf/base/files/line-window";
import { readLines, type ReadLines, readWholeFile } from "@sheaf/base/files/read-file";
import type { WorkspacePath } from "@sheaf/base/files/workspace";
import { toCancelledOutcome, toFailedOutcome, toMissingFileError } from "./failure.ts";
import { formatNotebook } from "./format-notebook.ts";
import { readAttachment } from "./read-attachment.ts";
import { loadTextFile } from "./text-file.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";
import { foldName, type GivenArguments, toOptional, toArgumentText } from "./tool-traits.ts";

const DEFAULT_LINES = 2000;
const MAX_BYTES = 256 * 1024;

const parameters = s.object({
  target_file: s.string(),
  offset: s.optional(s.integer({ minimum: 1, description: "From 1" })),
  column: s.optional(s.integer({ minimum: 1, description: "For a long line" })),
  limit: s.optional(s.integer({ minimum: 1 })),
});

type Arguments = s.ValueOf<typeof parameters>;

/** Reads a file of any size in bounded memory. `totalLines` includes the empty tail: 1 in an empty file (C9). */
export const readFileTool: Tool<Arguments> = {
  name: "read_file",
  description: `Read a text file, an image or a PDF, or list a folder. The first line and every fifth of a text start with their number and a tab. Returns ${DEFAULT_LINES} lines at most, and a note about the rest: continue with offset.`,
  access: "read",
  paths: { files: ["target_file"] },
  opensResults: true,
  words: ["Read file", "Datei gelesen", "Dosya okundu", "ファイルを読み取りました", "已讀取檔案"],
  kind: "read",
  toCursor: ({ target_file, offset, limit }) => ({
    readToolCall: { path: toArgumentText(target_file), ...toOptional("integer", { offset, limit }) },
  }),
  claude: { name: "Read", fields: { target_file: "file_path" } },
  aliases: ["view", "viewfile", "openfile", "cat"],
  mend: toLineRange,
  parameters,
  async run({ target_file, offset, column, limit }, context) {
    const { workspace, state, signal } = context;
    const resolved = workspace.resolve(target_file);
    if (!resolved.ok) return toFailedOutcome(resolved.error);
    const { path } = resolved;
    const range = {
      startLine: offset ?? 1,
      startColumn: column,
      maxLines: limit ?? DEFAULT_LINES,
      maxBytes: MAX_BYTES,
    };
    const cells = path.relative.endsWith(".ipynb") ? await readNotebook(workspace.root, path, range) : undefined;
    const unsaved = cells ? undefined : await readUnsaved(context, path, range);
    const lines = cells ?? unsaved ?? (await readLines(workspace.root, path, range, signal));
    if (signal.aborted) return toCancelledOutcome();
    if (!lines.ok && lines.error.code === "BINARY_FILE") return readAttachment(path, lines.error, context);
    if (!lines.ok) return toFailedOutcome(toReadError(lines.error, path, workspace.root));
    state.fileHashes.set(path.absolute, lines.value.hash);
    if (range.startLine > lines.value.totalLines)
      return toFailedOutcome(toOffsetError(path, range.startLine, lines.value));
    const outcome = toOutcome(path, lines.value, limit !== undefined);
    const note = [outcome.note, cells && NOTEBOOK_NOTE, unsaved && UNSAVED_NOTE].filter(Boolean).join(" ");
    return note === "" ? outcome : { ...outcome, note };
  },
};

/** Converts lines of other agents, which use the last line, or start from 0. */
function toLineRange(args: GivenArguments): GivenArguments {
  const isRange = (name: string): boolean => ["endline", "lineend", "viewrange"].includes(foldName(name));
  const key = Object.keys(args).find(isRange) ?? "";
  const { [key]: range, ...rest } = args;
  const [first, last] = Array.isArray(range) ? range.map(Number) : [Number(args.offset ?? 1), Number(range)];
  const offset = first || 1;
  const limit = last! - offset + 1;
  if (args.limit === undefined && limit > 0) return { ...rest, offset, limit };
  return args.offset === 0 ? { ...args, offset } : args;
}

/** Bytes; Sheaf reads a larger notebook as text. */
const MAX_NOTEBOOK_BYTES = 32 * 1024 * 1024;

const NOTEBOOK_NOTE =
  "These are the cells of a notebook. edit_file works on its JSON text: see it with grep_search before an edit.";

const UNSAVED_NOTE = "The user has this text in an editor and has not saved it; commands see the older file on disk.";

/** Reads unsaved text; undefined if no editor has other text than the disk. */
async function readUnsaved(
  context: ToolContext,
  path: WorkspacePath,
  range: LineRange,
): Promise<{ readonly ok: true; readonly value: ReadLines } | undefined> {
  const file = context.editor ? await loadTextFile(context, path, true) : undefined;
  if (!file?.ok || !file.value?.isUnsaved) return undefined;
  const lines = new LineWindow(range);
  lines.push(file.value.text);
  return { ok: true, value: { ...lines.end(), fileSize: file.value.bytes, hash: file.value.hash } };
}

/** Reads a notebook; undefined if the file is not one, or cannot be read. */
async function readNotebook(
  root: string,
  path: WorkspacePath,
  range: LineRange,
): Promise<{ readonly ok: true; readonly value: ReadLines } | undefined> {
  const file = await readWholeFile(root, path, MAX_NOTEBOOK_BYTES);
  const text = file.ok ? formatNotebook(file.value.bytes.toString()) : undefined;
  if (!file.ok || text === undefined) return undefined;
  const lines = new LineWindow(range);
  lines.push(text);
  return { ok: true, value: { ...lines.end(), fileSize: file.value.bytes.length, hash: file.value.hash } };
}

function toReadError(error: ToolError, path: WorkspacePath, root: string): ToolError {
  return error.code === "FILE_NOT_FOUND" ? toMissingFileError(root, path) : error;
}

function toOffsetError(path: WorkspacePath, offset: number, { totalLines }: ReadLines): ToolError {
  const message = `offset ${offset} is past the end of ${path.named}, which has ${totalLines} lines: use a smaller one`;
  return { code: "OFFSET_OUT_OF_RANGE", message, details: "" };
}

function toOutcome(path: WorkspacePath, lines: ReadLines, isLimitGiven: boolean): ToolOutcome {
  const { text, startLine, endLine, totalLines, totalChars, fileSize, hash } = lines;
  const isEmpty = totalChars === 0;
  const exceededLimit = text.length < totalChars;
  // A range that the model asked for is complete; a text that our limit cuts is truncated (N36).
  const isCut = lines.isFull || (exceededLimit && !isLimitGiven && endLine < totalLines);
  const note = toNote(lines, isEmpty, exceededLimit);
  return {
    status: "success",
    output: text,
    ...(note !== undefined && { note }),
    ...(isCut && { truncated: true, bytes: fileSize }),
    effect: {
      kind: "read",
      path: path.absolute,
      isEmpty,
      exceededLimit,
      totalLines,
      totalChars,
      fileSize,
      startLine: isEmpty ? 0 : startLine,
      endLine: isEmpty ? 0 : endLine,
      hash,
    },
  };
}

/** Describes the omitted part, and the way to continue. */
function toNote(lines: ReadLines, isEmpty: boolean, exceededLimit: boolean): string | undefined {
  const { startLine, endLine, totalLines, fileSize } = lines;
  if (isEmpty) return "The file is empty.";
  if (!exceededLimit) return undefined;
  if (lines.isLineCut) {
    const rest = endLine < totalLines ? ` The next line is offset ${endLine + 1}.` : "";
    return `Line ${endLine} of ${totalLines} is longer than ${MAX_BYTES} bytes. Continue in it with column.${rest}`;
  }
  const shown = `Lines ${startLine} to ${endLine} of ${totalLines} (the file has ${fileSize} bytes).`;
  return endLine < totalLines ? `${shown} Continue with offset ${endLine + 1}.` : shown;
}
