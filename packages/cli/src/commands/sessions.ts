/** `sheaf ls`: the stored sessions, newest first. */
import { now } from "@sheaf/agent/assemble/wire";
import { SheafError } from "@sheaf/base/errors";
import type { ParsedArguments } from "../arguments.ts";
import { readNumberFlag, toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { withSessionStore } from "../session-store.ts";
import { findConversation, findResponse } from "../session-words.ts";
import { printJson, printText } from "../standard-output.ts";
import { toBareId } from "@sheaf/agent/output/result-line";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import { listEndedResponses } from "@sheaf/agent/run/conversations/end-cut-response";
import { forkConversation } from "@sheaf/agent/run/conversations/fork";
import type { ConversationRecord } from "@sheaf/store/store";
import { removeConversationFiles } from "@sheaf/agent/workspace/conversation-folders";

/** Number of lines for a user: a screen or two. A program gets all, since it wouldn't notice that some are missing. */
const TEXT_LIMIT = 50;
const MAX_LIMIT = 999_999;

/** Prints a line or an object for each; an empty list is a success. @throws SheafError USAGE, STORAGE_…. */
export async function runListSessions(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags } = parsed;
  const format = toCommandFormat(parsed);
  const limit = readNumberFlag("limit", flags.limit, [1, MAX_LIMIT]) ?? (format === "json" ? MAX_LIMIT : TEXT_LIMIT);
  return withSessionStore(io, flags.workspace?.at(-1), async (store, { workspace }) => {
    const found = await store.listConversations({ limit: limit + 1, ...(flags.all ? {} : { workspace }) });
    const sessions = found.slice(0, limit);
    if (format === "json") return printJson(io, toRows(sessions));
    const isCut = found.length > limit && flags.limit === undefined;
    const rest = isCut ? `There are more: sheaf ls${flags.all ? " --all" : ""} --limit ${MAX_LIMIT} lists them.\n` : "";
    return printText(io, formatText(sessions, flags.all ?? false) + rest);
  });
}

function toRows(sessions: readonly ConversationRecord[]) {
  return sessions.map(({ id, title, workspace, createdAt, updatedAt }) => ({
    session_id: toBareId(id),
    title,
    workspace,
    created: new Date(createdAt).toISOString(),
    updated: new Date(updatedAt).toISOString(),
  }));
}

/** Formats one visible line for each session: titles and folders contain text of prompts and file systems. */
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

/** Removes all sessions or none. @throws SheafError USAGE for an unknown one; CONVERSATION_BUSY for a running one. */
export async function runRemoveSession({ positionals }: ParsedArguments, io: CommandIo): Promise<number> {
  const left = new Set<string>();
  return withSessionStore(io, undefined, async (store, { dataFolder }) => {
    if (left.size === 0) for (const word of positionals) left.add(await findConversation(store, word));
    for (const id of left) {
      await store.deleteConversation(id);
      await removeConversationFiles(dataFolder, id);
      left.delete(id);
    }
    return 0;
  });
}

/** Prints a UUID. @throws SheafError USAGE. */
export async function runCreateChat(_parsed: ParsedArguments, io: CommandIo): Promise<number> {
  return printText(io, `${process.getBuiltinModule("node:crypto").randomUUID()}\n`);
}

/** Forks, and prints the new session's id; files stay unchanged. @throws SheafError USAGE for unknown ids. */
export async function runFork(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [session = "", response] = parsed.positionals;
  return withSessionStore(io, undefined, async (store) => {
    const conversationId = await findConversation(store, session);
    const responses = await listEndedResponses(store, conversationId, now);
    const after =
      response === undefined
        ? responses.findLast(({ reverted }) => !reverted)
        : await findResponse(store, conversationId, response);
    const fork = after && (await forkConversation(store, conversationId, after.id, now));
    if (fork) return printText(io, `${toBareId(fork.id)}\n`);
    const what = after ? `the response ${toBareId(after.id)}` : "every response";
    throw new SheafError("USAGE", `${what} of ${toBareId(conversationId)} was reverted: there is nothing to fork from`);
  });
}
