/** Sets up the states that let a revert undo a response. */
import type { Notice } from "@sheaf/protocol";
import { findProgram } from "@sheaf/sandbox/programs";
import type { CommandRunner } from "@sheaf/sandbox/command";
import type { Permissions } from "@sheaf/permissions/permissions";
import { createRunUndo, type RunUndo } from "../workspace/undo/run-undo.ts";
import type { RunRequest } from "./run-request.ts";

/** Uncommitted files that a command may remove without a note. */
const MAX_LOST = 20;

export const missingGitNotice: Notice = {
  code: "REVERT_UNAVAILABLE",
  message: "git is not installed, so sheaf revert cannot undo this run: install git",
};

/** No `undo`: the run keeps no files, or its server records the states. */
export function prepareUndo(
  { conversationId, responseId, environment, hasStates = false }: RunRequest,
  folders: readonly string[],
  dataFolder: string | undefined,
): { readonly undo?: RunUndo; readonly notice?: Notice } {
  if (dataFolder === undefined || hasStates) return {};
  const program = findProgram("git", environment);
  if (program === undefined) return { notice: missingGitNotice };
  const git = { program, environment };
  return { undo: createRunUndo({ folders, dataFolder, git, conversationId, responseId, now: Date.now }) };
}

/** Records around each command that may write. Its result shows lost files, and how to restore them. */
export function recordCommands(
  commands: CommandRunner,
  undo: RunUndo | undefined,
  { conversationId, permissions }: { readonly conversationId: string; readonly permissions: Permissions },
): CommandRunner {
  return {
    permissions: commands.permissions,
    end: () => commands.end(),
    async run(given) {
      const request = { ...given, isReadOnly: permissions.isReading(given) };
      if (!undo || request.isReadOnly) return commands.run(request);
      const outcome = await undo.around(() => commands.run(request));
      const lost = await undo.countLost();
      const command = `sheaf revert ${conversationId.replace(/^conv_/, "")}`;
      const note =
        lost > MAX_LOST
          ? `This command removed ${lost} files that no commit has: after this run, "${command}" brings them back.`
          : "";
      const notes = [note, undo.takeProblem() ?? ""].filter((sentence) => sentence !== "");
      return notes.length === 0 ? outcome : { ...outcome, refusals: [...outcome.refusals, ...notes] };
    },
  };
}
