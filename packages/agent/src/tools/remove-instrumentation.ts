/** remove_instrumentation: removes what add_instrumentation inserted. Sheaf calls it itself for what is left at the end. */
import type { FileChange, InstrumentationBlock } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import type { FileResult } from "../workspace/file-error.ts";
import type { WorkspacePath } from "../workspace/workspace.ts";
import { toCancelledOutcome, toFailedOutcome, toFailure } from "./failure.ts";
import { toEditChange } from "./file-change.ts";
import { removeBlocks, type RemovedBlocks } from "./instrumentation-blocks.ts";
import { encodeTextFile, loadTextFile, saveTextFile } from "./text-file.ts";
import { toChangedLines } from "./text-region.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";

const parameters = s.object({
  target_file: s.optional(s.string({ description: "Only in this file; default: everywhere" })),
  hypothesis: s.optional(s.string({ description: "Only that of this todo; default: all" })),
});

/** Debug mode only. A block that lost one of its marks is left and reported. */
export const removeInstrumentationTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "remove_instrumentation",
  description: "Remove the lines of add_instrumentation.",
  documentType: "file_edit",
  access: "write",
  parameters,
  async run({ target_file, hypothesis }, context) {
    const { workspace, state } = context;
    const resolved = target_file === undefined ? undefined : workspace.resolve(target_file);
    if (resolved && !resolved.ok) return toFailedOutcome(resolved.error);
    const wanted = state.instrumentation.filter(
      (block) =>
        (!resolved || block.path === resolved.path.absolute) &&
        (hypothesis === undefined || block.hypothesis === hypothesis),
    );
    if (wanted.length === 0)
      return toFailure("NO_INSTRUMENTATION", "no such instrumentation exists: nothing is left to remove");
    return takeOutBlocks(wanted, context);
  },
};

/** What removing blocks needs. */
export type BlockContext = Pick<ToolContext, "workspace" | "state" | "checkpoints" | "signal">;

/** Removes blocks of the state from their files and from the state. */
export async function takeOutBlocks(
  wanted: readonly InstrumentationBlock[],
  context: BlockContext,
): Promise<ToolOutcome> {
  const { state, signal } = context;
  const changes: FileChange[] = [];
  const lines: string[] = [];
  let hasFailed = false;
  for (const path of new Set(wanted.map((block) => block.path))) {
    if (signal.aborted) return toCancelledOutcome();
    const blocks = wanted.filter((block) => block.path === path);
    const cleaned = await cleanFile(blocks, context);
    hasFailed ||= !cleaned.ok || cleaned.value.damaged.length > 0;
    lines.push(describe(blocks[0]!.filePath, cleaned));
    if (!cleaned.ok) continue;
    if (cleaned.value.change) changes.push(cleaned.value.change);
    const gone = new Set([...cleaned.value.removed, ...cleaned.value.missing]);
    state.instrumentation = state.instrumentation.filter((block) => !gone.has(block.id));
  }
  const effect = { kind: "file_edit" as const, changes, instrumentation: state.instrumentation };
  const output = lines.join("\n");
  if (!hasFailed) return { status: "success", output, effect };
  const message = `not all instrumentation could be removed, ${lines.join("; ")}: remove it with edit_file`;
  return { status: "error", output, effect, error: { code: "INSTRUMENTATION_LEFT", message, details: output } };
}

type CleanedFile = RemovedBlocks & { readonly change?: FileChange };

async function cleanFile(
  blocks: readonly InstrumentationBlock[],
  context: BlockContext,
): Promise<FileResult<CleanedFile>> {
  const ids = blocks.map(({ id }) => id);
  const resolved = context.workspace.resolve(blocks[0]!.path);
  if (!resolved.ok) return resolved;
  const path: WorkspacePath = { ...resolved.path, named: blocks[0]!.filePath };
  // What else changed in the file does not matter here: only marked lines go.
  context.state.fileHashes.delete(path.absolute);
  const loaded = await loadTextFile(context, path);
  if (!loaded.ok) return loaded;
  const before = loaded.value;
  if (!before) return { ok: true, value: { text: "", removed: [], missing: ids, damaged: [] } };
  const cleaned = removeBlocks(before.text, ids);
  if (cleaned.removed.length === 0) return { ok: true, value: cleaned };
  const after = encodeTextFile(cleaned.text, before);
  const saved = await saveTextFile(context, path, after, before);
  if (!saved.ok) return saved;
  const change = toEditChange(path, before, after, toChangedLines(before.text, cleaned.text));
  return { ok: true, value: { ...cleaned, change } };
}

function describe(filePath: string, cleaned: FileResult<CleanedFile>): string {
  if (!cleaned.ok) return `${filePath}: ${cleaned.error.message}`;
  const { removed, missing, damaged } = cleaned.value;
  const parts = [
    removed.length > 0 ? `removed: ${removed.join(", ")}` : "",
    missing.length > 0 ? `already gone: ${missing.join(", ")}` : "",
    damaged.length > 0 ? `left, a mark is missing: ${damaged.join(", ")}` : "",
  ];
  return `${filePath}: ${parts.filter((part) => part !== "").join("; ")}`;
}
