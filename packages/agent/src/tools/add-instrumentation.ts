/** add_instrumentation: code that shows whether a hypothesis is true, marked so that it can be removed again. */
import type { InstrumentationBlock } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import { findCommentForm, hasMark, insertBlock } from "./instrumentation-blocks.ts";
import { toBlockId, type ToolState } from "./tool-state.ts";
import { applyEdits } from "./edit-matching.ts";
import { toCancelledOutcome, toFailedOutcome, toFailure, toMissingFileError } from "./failure.ts";
import { toEditChange } from "./file-change.ts";
import { encodeTextFile, loadTextFile, saveTextFile } from "./text-file.ts";
import { toChangedLines } from "./text-region.ts";
import type { Tool, ToolOutcome } from "./tool.ts";

const parameters = s.object({
  hypothesis: s.string({ minLength: 1, description: "Id of the todo that it belongs to" }),
  target_file: s.string({ description: "File, relative to the workspace" }),
  anchor: s.string({
    minLength: 1,
    description: "Line or lines of the file next to which it goes; must match exactly one place",
  }),
  position: s.optional(s.choice(["before", "after"], { description: "Where it goes; default: after" })),
  code: s.string({
    minLength: 1,
    description: "Whole lines with their indentation; they print what confirms or refutes the hypothesis",
  }),
});

/** Debug mode only. Lines are inserted, none is changed: once they are removed, the file is as before. */
export const addInstrumentationTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "add_instrumentation",
  description: "Insert marked lines into a file that show whether a hypothesis is true. They are removed at the end.",
  documentType: "file_edit",
  access: "write",
  parameters,
  async run({ hypothesis, target_file, anchor, position = "after", code }, context) {
    const { workspace, state, callId } = context;
    const refusal = findRefusal(state, hypothesis, code);
    if (refusal) return refusal;
    const resolved = workspace.resolve(target_file);
    if (!resolved.ok) return toFailedOutcome(resolved.error);
    const { path } = resolved;
    const form = findCommentForm(path.relative);
    if (!form) {
      const advice = "instrument a file of code, or look at this one with commands";
      return toFailure(
        "NO_COMMENTS",
        `${path.named} cannot be marked, because its comment syntax is not known: ${advice}`,
      );
    }
    const loaded = await loadTextFile(context, path);
    if (!loaded.ok) return toFailedOutcome(loaded.error);
    const before = loaded.value;
    if (!before) return toFailedOutcome(toMissingFileError(workspace.root, path));
    const place = findPlace(path.named, before.text, anchor, position);
    if (!place.ok) return place.outcome;
    if (context.signal.aborted) return toCancelledOutcome();
    const id = toBlockId(hypothesis, callId);
    const lineEnd = before.lineEnd === "\r\n" ? "\r\n" : "\n";
    const after = encodeTextFile(insertBlock(before.text, place.offset, { id, code, form, lineEnd }), before);
    const saved = await saveTextFile(context, path, after, before);
    if (!saved.ok) return toFailedOutcome(saved.error);
    const block: InstrumentationBlock = { id, hypothesis, filePath: path.named, path: path.absolute };
    state.instrumentation = [...state.instrumentation, block];
    const change = toEditChange(path, before, after, toChangedLines(before.text, after.text));
    const line = change.diff?.startLine ?? 0;
    return {
      status: "success",
      output: `Put ${change.linesAdded} lines of ${id} into ${path.named} at line ${line}. Everything after them moved down.`,
      ...(saved.value.note !== undefined && { note: saved.value.note }),
      effect: { kind: "file_edit", changes: [change], instrumentation: state.instrumentation },
    };
  },
};

function findRefusal({ todos }: ToolState, hypothesis: string, code: string): ToolOutcome | undefined {
  if (!todos.some(({ id }) => id === hypothesis)) {
    const known = todos.length === 0 ? "no todos exist yet" : `known ids are ${todos.map(({ id }) => id).join(", ")}`;
    return toFailure(
      "UNKNOWN_HYPOTHESIS",
      `no todo has the id "${hypothesis}", ${known}: write the hypothesis down with todo_write first`,
    );
  }
  if (!hasMark(code) && code.trim() !== "") return undefined;
  return toFailure(
    "INVALID_ARGUMENTS",
    "code is empty or holds marks of its own: write plain lines, the marks come by themselves",
  );
}

type Place = { readonly ok: true; readonly offset: number } | { readonly ok: false; readonly outcome: ToolOutcome };

/** Found in the same way as the places of edit_file. */
function findPlace(name: string, text: string, anchor: string, position: "before" | "after"): Place {
  const found = applyEdits(name, text, [{ oldString: anchor, newString: `${anchor}\n-` }]);
  if (!found.ok) {
    const message = found.error.message.replaceAll("old_string", "anchor");
    return { ok: false, outcome: toFailedOutcome({ ...found.error, message }) };
  }
  const { start, endBefore } = found.region;
  if (position === "before") return { ok: true, offset: start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1 };
  if (endBefore > start && text[endBefore - 1] === "\n") return { ok: true, offset: endBefore };
  const lineEnd = text.indexOf("\n", endBefore);
  return { ok: true, offset: lineEnd === -1 ? text.length : lineEnd + 1 };
}
