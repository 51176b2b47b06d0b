/** `sheaf revert SESSION [--to RESPONSE]`: reverts a response and all after it, files and history. */
import { createConfig } from "../../config/config.ts";
import { revertConversation, type RevertOrder, type RevertResult } from "../../run/conversations/revert.ts";
import { SheafError } from "../../base/errors.ts";
import { toVisibleLine } from "../../output/visible-text.ts";
import { createCheckpoints } from "../../workspace/checkpoints.ts";
import { createStore } from "../../assemble/wire.ts";
import { isUuid, type ParsedArguments } from "../arguments.ts";
import { checkFlags, toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { printText } from "../standard-output.ts";

/**
 * Prints what was put back and what was left.
 * @throws SheafError USAGE; PERMISSION_REQUIRED when files have changed since and nothing said what to do then.
 */
export async function runRevert(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  checkFlags(parsed);
  const format = toCommandFormat(parsed);
  const order = toOrder(parsed);
  const { storeFile, dataFolder } = createConfig({}, io.environment, io.cwd);
  const store = await createStore(storeFile);
  try {
    const checkpoints = createCheckpoints(dataFolder, order.conversationId);
    const result = await revertConversation(order, { store, checkpoints });
    if (!result.reverted) throw createConflictError(result);
    return await printText(format === "json" ? `${JSON.stringify(result, undefined, 2)}\n` : formatResult(result));
  } finally {
    await store.close();
  }
}

function toOrder({ flags, positionals }: ParsedArguments): RevertOrder {
  const [session = "", response = flags.to, ...rest] = positionals;
  const isNamedTwice = positionals.length > 1 && flags.to !== undefined;
  if (!isUuid(session) || rest.length > 0 || isNamedTwice) {
    const given = positionals.join(" ");
    throw new SheafError("USAGE", `revert takes a session id, a UUID, and maybe a response id; "${given}" was given`);
  }
  const id = response?.replace(/^chat_/, "");
  if (id !== undefined && !isUuid(id)) {
    throw new SheafError("USAGE", `"${id}" is not a response id: use the request_id of its result line`);
  }
  return {
    conversationId: `conv_${session.toLowerCase()}`,
    responseId: id && `chat_${id.toLowerCase()}`,
    onConflict: toOnConflict(flags),
  };
}

function toOnConflict({ overwrite, "on-conflict": given }: ParsedArguments["flags"]): RevertOrder["onConflict"] {
  if (given === undefined) return overwrite ? "overwrite" : "refuse";
  if (given === "refuse" || given === "leave" || given === "overwrite") return given;
  throw new SheafError("USAGE", `--on-conflict "${given}" is unknown: use refuse, leave or overwrite`);
}

function createConflictError({ conflicts }: RevertResult): SheafError {
  const list = conflicts.map(({ filePath, reason }) => `${filePath}: ${reason}`);
  const shown = list.slice(0, 5).map(toVisibleLine).join("; ");
  const more = list.length > 5 ? `; and ${list.length - 5} more` : "";
  const advice = "write --on-conflict leave to revert the rest, or overwrite";
  return new SheafError("PERMISSION_REQUIRED", `nothing was reverted, ${shown}${more}: ${advice}`, {
    source: "user",
    details: list.join("\n"),
  });
}

function formatResult({ responseIds, files, conflicts }: RevertResult): string {
  const width = "unchanged".length;
  const lines = [
    `Taken back: ${responseIds.length} ${responseIds.length === 1 ? "response" : "responses"}.`,
    ...files.map(({ filePath, action }) => `  ${action.padEnd(width)}  ${toVisibleLine(filePath)}`),
    ...(conflicts.length > 0 ? ["Left as they are:"] : []),
    ...conflicts.map(({ filePath, reason }) => `  ${toVisibleLine(filePath)}: ${toVisibleLine(reason)}`),
    "What commands did is not reverted.",
  ];
  return `${lines.join("\n")}\n`;
}
