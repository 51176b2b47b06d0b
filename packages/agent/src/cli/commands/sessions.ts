/** `sheaf ls`: the stored sessions, newest first. */
import { createStore, now } from "../../assemble/wire.ts";
import { SheafError } from "../../base/errors.ts";
import { isUuid, type ParsedArguments } from "../arguments.ts";
import { checkFlags, checkNoWords, toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { printText } from "../standard-output.ts";
import { createConfig } from "../../config/config.ts";
import { toBareId } from "../../output/result-line.ts";
import { toVisibleLine } from "../../output/visible-text.ts";
import { forkConversation } from "../../run/conversations/fork.ts";
import type { ConversationRecord } from "../../store/store.ts";
import { removeCheckpoints } from "../../workspace/checkpoints.ts";

const DEFAULT_LIMIT = 50;

/** Prints a line or an object for each. No session is not a failure. @throws SheafError USAGE, STORAGE_…. */
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
  throw new SheafError("USAGE", `--limit "${text}" is not a whole number from 1 to 999999`);
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

/** All or none. @throws SheafError USAGE for one that is not stored; CONVERSATION_BUSY for one that is written. */
export async function runRemoveSession(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  checkFlags(parsed);
  const { positionals } = parsed;
  const wrong = positionals.find((word) => !isUuid(word));
  if (positionals.length === 0 || wrong !== undefined) {
    throw new SheafError("USAGE", `rm takes session ids, UUIDs; "${wrong ?? ""}" was given`);
  }
  const { storeFile, dataFolder } = createConfig({}, io.environment, io.cwd);
  const store = await createStore(storeFile);
  try {
    const ids = positionals.map((word) => `conv_${word.toLowerCase()}`);
    for (const id of ids) {
      if (await store.getConversation(id)) continue;
      throw new SheafError("USAGE", `the session ${id.replace("conv_", "")} is not stored: see sheaf ls --all`);
    }
    for (const id of ids) {
      await store.deleteConversation(id);
      await removeCheckpoints(dataFolder, id);
    }
    return 0;
  } finally {
    await store.close();
  }
}

/** Prints a UUID. @throws SheafError USAGE. */
export async function runCreateChat(parsed: ParsedArguments): Promise<number> {
  checkFlags(parsed);
  checkNoWords(parsed);
  return printText(`${process.getBuiltinModule("node:crypto").randomUUID()}\n`);
}

/** Prints the id of the new session; files stay as they are. @throws SheafError USAGE for what is not stored. */
export async function runFork(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  checkFlags(parsed);
  const [session = "", word, ...rest] = parsed.positionals;
  const response = word?.replace(/^chat_/, "");
  if (!isUuid(session) || rest.length > 0 || (response !== undefined && !isUuid(response))) {
    const given = parsed.positionals.join(" ");
    throw new SheafError("USAGE", `fork takes a session id, a UUID, and maybe a response id; "${given}" was given`);
  }
  const { storeFile } = createConfig({}, io.environment, io.cwd);
  const store = await createStore(storeFile);
  try {
    const id = `conv_${session.toLowerCase()}`;
    const last = (await store.listResponses(id)).findLast(({ reverted }) => !reverted)?.id;
    const responseId = response === undefined ? last : `chat_${response.toLowerCase()}`;
    const fork = responseId === undefined ? undefined : await forkConversation(store, id, responseId, now);
    if (fork) return await printText(`${toBareId(fork.id)}\n`);
    const what = response === undefined ? `the session ${session}` : `the response ${response} of ${session}`;
    throw new SheafError("USAGE", `${what} is not stored: see sheaf ls --all`);
  } finally {
    await store.close();
  }
}
