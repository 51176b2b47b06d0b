/** The user's commands after an edit, such as a formatter or a type check (S-96). */
import type { FileChange, FileEditEffect } from "@sheaf/protocol";
import { toFullReason } from "@sheaf/permissions/decision";
import { parsePathGlob } from "@sheaf/base/files/glob";
import type { Permissions } from "@sheaf/permissions/permissions";
import type { CommandOutcome } from "@sheaf/sandbox/command";
import { countLineEnds, cutMiddle } from "@sheaf/base/files/text-format";
import { foldControls } from "../workspace/whole-output.ts";
import type { WorkspacePath } from "@sheaf/base/files/workspace";
import { formatExcerpt } from "./edit-matching.ts";
import { toEditChange } from "./file-change.ts";
import { runTerminalCmdTool } from "./run-terminal-cmd.ts";
import { loadTextFile, type TextFile } from "./text-file.ts";
import { toChangedLines } from "./text-region.ts";
import type { ToolContext, ToolOutcome } from "./tool.ts";

/** A command for the files that a glob matches; `{file}` in it is the path of the file. */
export interface AfterEditCommand {
  readonly glob: string;
  readonly command: string;
}

/** Milliseconds of one command. */
const timeoutMs = 60_000;
/** Characters of its output that the model sees, half of them at the end. */
const shownCharacters = 4000;

/**
 * Runs the commands for the file that a call has written, like the model's own commands: in the sandbox, and only if
 * the rules allow them without a question. Their changes to the file belong to the same call, so that a revert restores
 * the state before both.
 */
export async function runAfterEdit(
  edited: ToolOutcome,
  list: readonly AfterEditCommand[],
  context: ToolContext,
  permissions: Permissions,
): Promise<ToolOutcome> {
  const { path, change } = findEdit(edited, context) ?? {};
  const isWritten = change?.operation === "create" || change?.operation === "edit";
  const commands = path && isWritten ? list.filter(({ glob }) => parsePathGlob(glob)?.isCovering(path.relative)) : [];
  if (!path || commands.length === 0) return edited;
  const unrun: string[] = [];
  const followed = await followEdit(edited, context, async () => {
    const reports: string[] = [];
    for (const { command } of commands) {
      if (context.signal.aborted) break;
      const { text, hasRun } = await runCommand(command, path, context, permissions);
      reports.push(`${command}: ${hasRun ? "" : "not run: "}${text}`);
      if (!hasRun) unrun.push(`the afterEdit command ${JSON.stringify(command)} does not run: ${text}`);
    }
    return reports;
  });
  return unrun.length === 0 ? followed : { ...followed, notice: { code: "HOOK_NOT_RUN", message: unrun.join("; ") } };
}

/** Runs something after a call, and adds its reports. Its changes to the file of the call belong to the call. */
export async function followEdit(
  edited: ToolOutcome,
  context: ToolContext,
  run: () => Promise<readonly string[]>,
): Promise<ToolOutcome> {
  const edit = findEdit(edited, context);
  const before = edit && (await loadTextFile(context, edit.path, true));
  const reports = await run();
  const formatted =
    edit && before?.ok && before.value ? await findFormatted(edit.change, before.value, edit.path, context) : undefined;
  return {
    ...edited,
    output: [edited.output, ...reports, formatted?.report ?? ""].filter((part) => part !== "").join("\n"),
    ...(edit && formatted && { effect: { ...edit.effect, changes: [...edit.effect.changes, formatted.change] } }),
  };
}

interface FileEdit {
  readonly effect: FileEditEffect;
  readonly change: FileChange;
  readonly path: WorkspacePath;
}

/** Finds the file that a call has written. */
function findEdit({ effect, status }: ToolOutcome, { workspace }: ToolContext): FileEdit | undefined {
  if (effect?.kind !== "file_edit" || status !== "success") return undefined;
  const [first] = effect.changes;
  const change = effect.changes.at(-1);
  if (!first || !change) return undefined;
  const resolved = workspace.resolve(first.path);
  if (!resolved.ok) return undefined;
  return { effect, change, path: { ...resolved.path, named: first.filePath } };
}

/** The report of a command for the model, or the reason why it did not run. */
interface CommandReport {
  readonly text: string;
  readonly hasRun: boolean;
}

async function runCommand(
  template: string,
  { relative }: WorkspacePath,
  { commands, workspace, state: { answers }, signal }: ToolContext,
  permissions: Permissions,
): Promise<CommandReport> {
  // A name is one word, however it is spelled, and never an option.
  const command = template.replaceAll("{file}", () => `'./${relative.replaceAll("'", String.raw`'\''`)}'`);
  const decision = await permissions.decide({
    tool: runTerminalCmdTool,
    answered: { allow: [...answers.allow], deny: [...answers.deny] },
    arguments: { command },
  });
  if (decision.decision !== "allow") return { text: toFullReason(decision), hasRun: false };
  const request = { command, workingDirectory: workspace.root, timeoutMs, signal, onOutput: () => undefined };
  return toReport(await commands.run(request));
}

function toReport(outcome: CommandOutcome): CommandReport {
  const fault = outcome.refusal || outcome.startError;
  if (fault !== "") return { text: fault, hasRun: false };
  const end = outcome.timedOut ? `ended after ${timeoutMs / 1000} s` : `exit code ${outcome.exitCode}`;
  const text = cutMiddle(foldControls(outcome.output).trim(), shownCharacters);
  const parts = [outcome.exitCode === 0 ? "ok" : end, text, ...outcome.refusals];
  return { text: parts.filter((part) => part !== "").join("\n"), hasRun: true };
}

interface Formatted {
  readonly change: FileChange;
  readonly report: string;
}

/** Returns the commands' change to the file; undefined without a change, or if it may not be theirs alone. */
async function findFormatted(
  edit: FileChange,
  before: TextFile,
  path: WorkspacePath,
  context: ToolContext,
): Promise<Formatted | undefined> {
  const loaded = await loadTextFile(context, path, true);
  const after = loaded.ok ? loaded.value : undefined;
  if (!after || after.hash === before.hash || before.hash !== edit.hashAfter) return undefined;
  const { fileHashes, writtenHashes } = context.state;
  if (fileHashes.get(path.absolute) === before.hash) fileHashes.set(path.absolute, after.hash);
  writtenHashes.set(path.absolute, after.hash);
  const region = toChangedLines(before.text, after.text);
  const change = toEditChange(path, before, after, region);
  const startLine = countLineEnds(after.text.slice(0, region.start)) + 1;
  const lines = after.text.slice(region.start, region.endAfter).replace(/\n$/, "").split("\n");
  const counts = `+${change.linesAdded} -${change.linesRemoved}`;
  const report =
    `These commands changed the file (${counts}); it is now:\n${formatExcerpt(lines, startLine)}`.trimEnd();
  return { change, report };
}
