/** What lets a response be undone (S-270): its folders are recorded before and after what may change them. */
import { findProgram } from "@sheaf/sandbox/programs";
import type { CommandRunner } from "@sheaf/sandbox/command";
import { createRunUndo, type RunUndo } from "../workspace/undo/run-undo.ts";
import type { RunRequest } from "./run-request.ts";

/** Files that are gone without a word. */
const MAX_LOST = 20;

export const missingGitNotice = "git is not installed, so nothing of this run can be undone: install git";

/** Undefined: nothing is kept, or others keep the states of the folders. */
export function prepareUndo(
  { conversationId, responseId, environment, hasStates = false }: RunRequest,
  folders: readonly string[],
  dataFolder: string | undefined,
): { readonly undo?: RunUndo; readonly notice?: string } {
  if (dataFolder === undefined || hasStates) return {};
  const program = findProgram("git", environment);
  if (program === undefined) return { notice: missingGitNotice };
  const git = { program, environment };
  return { undo: createRunUndo({ folders, dataFolder, git, conversationId, responseId, now: Date.now }) };
}

/** Commands whose changes can be undone. A result shows what may be lost, and how to get it back. */
export function recordCommands(
  commands: CommandRunner,
  undo: RunUndo | undefined,
  conversationId: string,
): CommandRunner {
  if (!undo) return commands;
  return {
    permissions: commands.permissions,
    end: () => commands.end(),
    async run(request) {
      const outcome = await undo.around(() => commands.run(request));
      const lost = undo.countLost();
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
