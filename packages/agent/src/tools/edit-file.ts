/** edit_file: replaces parts of a file, all of them or none. */
import type { FileChange } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import type { WorkspacePath } from "@sheaf/base/files/workspace";
import { countLineEnds } from "@sheaf/base/files/text-format";
import { applyEdits, describeRule, type EditResult, formatExcerpt } from "./edit-matching.ts";
import { toCancelledOutcome, toFailedOutcome, toMissingFileError } from "./failure.ts";
import { encodeTextFile, loadTextFile, saveChange, toStaleError } from "./text-file.ts";
import type { Tool, ToolOutcome } from "./tool.ts";
import { toObjects, toOptional, toArgumentText, type GivenArguments } from "./tool-traits.ts";

const parameters = s.object({
  target_file: s.string(),
  edits: s.list(
    s.object({
      old_string: s.string({ description: "Exactly as in the file, in one place only" }),
      new_string: s.string(),
      replace_all: s.optional(s.boolean({ description: "Every place of old_string" })),
    }),
    { minItems: 1, maxItems: 200, description: "In order, each on the result of the one before" },
  ),
});

/** The words for a changed file, whichever tool changed it. */
export const editedWords = [
  "Edited file",
  "Datei bearbeitet",
  "Dosya düzenlendi",
  "ファイルを編集しました",
  "已編輯檔案",
] as const;

/**
 * The result has the numbers of the changed lines, and their text if it differs from the model's. Line ends and
 * encoding stay. If another program has changed the file, the edit needs only the texts that it replaces.
 */
export const editFileTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "edit_file",
  description:
    'Replace parts of a file. All edits are made, or none. Copy old_string from what read_file showed, without the line numbers, with as many lines around it as make it unique. An empty old_string writes a new or empty file. Example of edits: [{"old_string": "x = 1;", "new_string": "x = 2;"}]',
  access: "write",
  paths: { files: ["target_file"] },
  words: editedWords,
  kind: "edit",
  toCursor: (args) => ({ editToolCall: toShownEdits(args) }),
  claude: { name: "Edit", also: "MultiEdit", fields: { target_file: "file_path" } },
  aliases: ["str", "patch", "strreplace", "searchreplace", "replace"],
  parameters,
  async run({ target_file, edits }, context) {
    const { workspace } = context;
    const resolved = workspace.resolve(target_file);
    if (!resolved.ok) return toFailedOutcome(resolved.error);
    const { path } = resolved;
    const loaded = await loadTextFile(context, path, true);
    if (!loaded.ok) return toFailedOutcome(loaded.error);
    const before = loaded.value;
    if (!before && edits[0]?.old_string !== "") return toFailedOutcome(toMissingFileError(workspace.root, path));
    const wanted = edits.map((edit) => ({
      oldString: edit.old_string,
      newString: edit.new_string,
      replaceAll: edit.replace_all,
    }));
    const edited = applyEdits(path.named, before?.text ?? "", wanted);
    if (before?.isStale && !(edited.ok && edited.matched.every(keepsText))) return toFailedOutcome(toStaleError(path));
    if (!edited.ok) return toFailedOutcome(edited.error);
    if (context.signal.aborted) return toCancelledOutcome();
    const after = encodeTextFile(edited.text, before);
    const saved = await saveChange(context, path, { before, after, region: edited.region });
    if (!saved.ok) return toFailedOutcome(saved.error);
    const { change, notes } = saved.value;
    return toOutcome(path, change, edited, [...(before?.isStale ? [staleNote] : []), ...notes]);
  },
};

type AppliedEdits = Extract<EditResult, { ok: true }>;

const staleNote = "Other parts of this file have changed since you read it: read it again before you rely on them.";

/** Returns true if a place is the text that the model quoted, blanks at line ends aside. */
function keepsText(rule: AppliedEdits["matched"][number]): boolean {
  return rule === "exact" || rule === "trailing_blanks";
}

function toOutcome(
  path: WorkspacePath,
  change: FileChange,
  edited: AppliedEdits,
  notes: readonly string[],
): ToolOutcome {
  return {
    status: "success",
    output: formatOutput(path, change, edited),
    ...(notes.length > 0 && { note: notes.join(" ") }),
    effect: { kind: "file_edit", changes: [change], matched: edited.matched },
  };
}

function formatOutput(path: WorkspacePath, change: FileChange, edited: AppliedEdits): string {
  const { linesAdded, linesRemoved } = change;
  if (change.operation === "create") return `Created ${path.named}: ${linesAdded} lines.`;
  const { text, region, matched, places, hadNumbers } = edited;
  const start = countLineEnds(text.slice(0, region.start)) + 1;
  const end = start + countLineEnds(text.slice(region.start, Math.max(region.start, region.endAfter - 1)));
  const where = start === end ? `line ${start}` : `lines ${start}-${end}`;
  const count = places > 1 ? `${places} places, ` : "";
  const head = `Edited ${path.named}: ${count}${where}, +${linesAdded} -${linesRemoved}.`;
  const found = [...new Set(matched)].filter((rule) => rule !== "exact").map(describeRule);
  const how = [...found, ...(hadNumbers ? ["line numbers left out"] : [])];
  if (how.length === 0) return head;
  const first = Math.max(1, start - 1);
  const lines = text.split("\n").slice(first - 1, end + 1);
  return `${head} Matched with ${how.join("; ")}; it is now:\n${formatExcerpt(lines, first)}`.trimEnd();
}

function toShownEdits({ target_file, edits }: GivenArguments): Record<string, unknown> {
  const path = toArgumentText(target_file);
  const shown = toObjects(edits).map((edit) => ({
    oldText: toArgumentText(edit.old_string),
    newText: toArgumentText(edit.new_string),
    ...toOptional("boolean", { replaceAll: edit.replace_all }),
  }));
  return shown.length === 1 ? { path, strReplace: shown[0] } : { path, multiStrReplace: { edits: shown } };
}
