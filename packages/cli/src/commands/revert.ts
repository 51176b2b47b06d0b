/** `sheaf revert SESSION [--to RESPONSE]`: reverts a response and all after it, files and history. */
import { revertConversation, type RevertRequest, type RevertResult } from "@sheaf/agent/run/conversations/revert";
import { SheafError } from "@sheaf/base/errors";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import { createUndoPorts } from "@sheaf/agent/run/conversations/undo-ports";
import type { ParsedArguments } from "../arguments.ts";
import { chooseWord, toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { withSessionStore } from "../session-store.ts";
import { findConversation, findResponse } from "../session-words.ts";
import { printJson, printText } from "../standard-output.ts";

/**
 * Reverts, and prints the restored files and the unchanged ones.
 * @throws SheafError USAGE; PERMISSION_REQUIRED if files have changed since and the flags don't choose what to do then.
 */
export async function runRevert(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const format = toCommandFormat(parsed);
  const { flags, positionals } = parsed;
  const [session = "", response = flags.to] = positionals;
  if (flags.to !== undefined && positionals.length > 1) {
    throw new SheafError("USAGE", `"${response}" and --to "${flags.to}" both name a response: give one of them`);
  }
  const order = { session, response, onConflict: toOnConflict(flags), workspace: flags.workspace?.at(-1) };
  const result = await revertSession(order, io);
  return format === "json" ? printJson(io, result) : printText(io, formatRevert(result));
}

/** A response of a session, in the user's words; undefined: the last one. */
interface SessionRevert extends Pick<RevertRequest, "onConflict"> {
  readonly session: string;
  readonly response?: string | undefined;
  /** Folder of the workspace; undefined: the current folder. */
  readonly workspace: string | undefined;
}

/** Reverts. @throws SheafError USAGE; PERMISSION_REQUIRED if files have changed since and `onConflict` is `refuse`. */
export async function revertSession(
  { session, response, onConflict, workspace: folder }: SessionRevert,
  io: CommandIo,
): Promise<RevertResult> {
  return withSessionStore(io, folder, async (store, { dataFolder }) => {
    const conversationId = await findConversation(store, session);
    const responseId = response === undefined ? undefined : (await findResponse(store, conversationId, response)).id;
    const result = await revertConversation(
      { conversationId, responseId, onConflict },
      createUndoPorts({ store, conversationId, dataFolder, environment: io.environment }),
    );
    if (!result.reverted) throw createConflictError(result, onConflict);
    return result;
  });
}

function toOnConflict({ overwrite, "on-conflict": given }: ParsedArguments["flags"]): RevertRequest["onConflict"] {
  if (given === undefined) return overwrite ? "overwrite" : "refuse";
  return chooseWord("--on-conflict", given, ["refuse", "leave", "overwrite"], "refuse, leave or overwrite");
}

function createConflictError({ files, conflicts }: RevertResult, onConflict: RevertRequest["onConflict"]): SheafError {
  const list = conflicts.map(({ filePath, reason }) => `${filePath}: ${reason}`);
  const shown = list.slice(0, 5).map(toVisibleLine).join("; ");
  const more = list.length > 5 ? `; and ${list.length - 5} more` : "";
  const leave = "write --on-conflict leave to revert the rest";
  const advice = onConflict === "overwrite" ? `mend that and revert again, or ${leave}` : `${leave}, or overwrite`;
  const done = files.length === 0 ? "nothing was reverted" : "the revert is not complete";
  return new SheafError("PERMISSION_REQUIRED", `${done}, ${shown}${more}: ${advice}`, {
    source: "user",
    details: list.join("\n"),
  });
}

/** Number of unrecorded places to list; the rest is a number. */
const MAX_LEFT_OUT = 10;

/** Formats the restored files and the unchanged ones. */
export function formatRevert({ responseIds, files, conflicts, leftOut = [] }: RevertResult): string {
  const width = "unchanged".length;
  const lines = [
    `Reverted: ${responseIds.length} ${responseIds.length === 1 ? "response" : "responses"}.`,
    ...files.map(({ filePath, action }) => `  ${action.padEnd(width)}  ${toVisibleLine(filePath)}`),
    ...(conflicts.length > 0 ? ["Left unchanged:"] : []),
    ...conflicts.map(({ filePath, reason }) => `  ${toVisibleLine(filePath)}: ${toVisibleLine(reason)}`),
    ...(leftOut.length > 0 ? ["Not recorded, so not restored:"] : []),
    ...leftOut.slice(0, MAX_LEFT_OUT).map((line) => `  ${toVisibleLine(line)}`),
    ...(leftOut.length > MAX_LEFT_OUT ? [`  and ${leftOut.length - MAX_LEFT_OUT} more`] : []),
  ];
  return `${lines.join("\n")}\n`;
}
