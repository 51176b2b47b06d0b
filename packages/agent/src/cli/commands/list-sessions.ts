/** `sheaf ls`: the stored sessions, newest first. */
import type { ConversationRecord } from "../../store/store.ts";
import { createConfig } from "../../config/config.ts";
import { SheafError } from "../../base/errors.ts";
import { toBareId } from "../../output/result-line.ts";
import { toVisibleLine } from "../../output/visible-text.ts";
import { createStore } from "../../assemble/wire.ts";
import type { ParsedArguments } from "../arguments.ts";
import { checkFlags, toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { printText } from "../print-text.ts";
import { checkNoWords } from "../words.ts";

const DEFAULT_LIMIT = 50;

/** Prints a line or an object for each. No session is no failure. @throws SheafError USAGE, STORAGE_…. */
export async function runListSessions(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  checkFlags(parsed);
  checkNoWords(parsed);
  const { flags } = parsed;
  const format = toCommandFormat(parsed);
  const limit = toLimit(flags.limit);
  const { storeFile, workspace } = createConfig({ workspace: flags.workspace?.at(-1) }, io.environment, io.cwd);
  const store = await createStore(storeFile);
  try {
    const sessions = await store.listConversations({ limit, ...(flags.all ? {} : { workspace }) });
    return await printText(format === "json" ? formatJson(sessions) : formatText(sessions, flags.all ?? false));
  } finally {
    await store.close();
  }
}

function toLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new SheafError("USAGE", `--limit "${text}" is no whole number from 1 to 999999`);
}

function formatJson(sessions: readonly ConversationRecord[]): string {
  const rows = sessions.map(({ id, title, workspace, createdAt, updatedAt }) => ({
    session_id: toBareId(id),
    title,
    workspace,
    created: new Date(createdAt).toISOString(),
    updated: new Date(updatedAt).toISOString(),
  }));
  return `${JSON.stringify(rows, undefined, 2)}\n`;
}

/** Titles and folders come from prompts and file systems: one visible line each. */
function formatText(sessions: readonly ConversationRecord[], showsWorkspace: boolean): string {
  if (sessions.length === 0) {
    const where = showsWorkspace ? "" : " of this workspace (sheaf ls --all shows those of others)";
    return `There is no session${where}.\n`;
  }
  const lines = sessions.map(({ id, title, workspace, updatedAt }) => {
    const time = new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ");
    const place = showsWorkspace ? `  ${toVisibleLine(workspace)}` : "";
    return `${toBareId(id)}  ${time}  ${toVisibleLine(title)}${place}\n`;
  });
  return lines.join("");
}
