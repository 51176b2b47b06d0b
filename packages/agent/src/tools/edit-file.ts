/** edit_file: replaces parts of a file, all of them or none. */
import type { FileChange } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import type { WorkspacePath } from "../workspace/workspace.ts";
import { applyEdits, describeRule, type EditResult } from "./edit-matching.ts";
import { toCreateChange, toEditChange } from "./file-change.ts";
import { toCancelledOutcome, toFailedOutcome, toMissingFileError } from "./failure.ts";
import { encodeTextFile, loadTextFile, saveTextFile } from "./text-file.ts";
import type { Tool, ToolOutcome } from "./tool.ts";

const parameters = s.object({
  target_file: s.string({ description: "File, relative to the workspace" }),
  edits: s.list(
    s.object({
      old_string: s.string({ description: "Text to replace, exactly as in the file; must match exactly one place" }),
      new_string: s.string({ description: "Text to put there" }),
      replace_all: s.optional(s.boolean({ description: "Replace every exact occurrence of old_string" })),
    }),
    { minItems: 1, maxItems: 200, description: "Applied in order, each to the result of the previous ones" },
  ),
});

/** The result names the rule that found each place, and the hashes before and after. Line ends and encoding are kept. */
export const editFileTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "edit_file",
  description: "Replace parts of a file. All edits are made, or none. An empty old_string writes a new or empty file.",
  documentType: "file_edit",
  access: "write",
  parameters,
  async run({ target_file, edits }, context) {
    const { workspace } = context;
    const resolved = workspace.resolve(target_file);
    if (!resolved.ok) return toFailedOutcome(resolved.error);
    const { path } = resolved;
    const loaded = await loadTextFile(context, path);
    if (!loaded.ok) return toFailedOutcome(loaded.error);
    const before = loaded.value;
    if (!before && edits[0]?.old_string !== "") return toFailedOutcome(toMissingFileError(workspace.root, path));
    const wanted = edits.map((edit) => ({
      oldString: edit.old_string,
      newString: edit.new_string,
      replaceAll: edit.replace_all,
    }));
    const edited = applyEdits(path.named, before?.text ?? "", wanted);
    if (!edited.ok) return toFailedOutcome(edited.error);
    if (context.signal.aborted) return toCancelledOutcome();
    const after = encodeTextFile(edited.text, before);
    const saving = saveTextFile(context, path, after, before);
    const change = before ? toEditChange(path, before, after, edited.region) : toCreateChange(path, after);
    const saved = await saving;
    if (!saved.ok) return toFailedOutcome(saved.error);
    return toOutcome(path, change, edited, saved.value.note);
  },
};

function toOutcome(
  path: WorkspacePath,
  change: FileChange,
  edited: Extract<EditResult, { ok: true }>,
  note: string | undefined,
): ToolOutcome {
  const { linesAdded, linesRemoved, hashBefore, hashAfter } = change;
  const rules = edited.matched.map((rule, index) => `edit ${index + 1}: ${describeRule(rule)}`);
  const output = [
    `${hashBefore === undefined ? "Created" : "Edited"} ${path.named}: ${linesAdded} lines added, ${linesRemoved} removed.`,
    `Matched by ${rules.join("; ")}.`,
    `SHA-256 before: ${hashBefore ?? "none"}, after: ${hashAfter}.`,
  ];
  const effect = { kind: "file_edit" as const, changes: [change], matched: edited.matched };
  return { status: "success", output: output.join("\n"), ...(note !== undefined && { note }), effect };
}
