/** `sheaf import FILE` stores a session that `sheaf export` wrote. */
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { now } from "@sheaf/agent/assemble/wire";
import { SheafError } from "@sheaf/base/errors";
import { readOrdinaryFile } from "@sheaf/base/read-ordinary-file";
import type { ExportedResponse } from "@sheaf/agent/output/exports/conversation-export";
import { decodeExport, toImportedLog } from "@sheaf/agent/output/exports/decode-export";
import { toBareId } from "@sheaf/agent/output/result-line";
import type { Store } from "@sheaf/store/store";
import type { ParsedArguments } from "../arguments.ts";
import type { CommandIo } from "../io.ts";
import { withSessionStore } from "../session-store.ts";
import { printText } from "../standard-output.ts";

/** Size of the largest accepted file, in bytes. */
const MAX_BYTES = 512 * 1024 * 1024;

/**
 * Stores the session under its id, unless the store has it with the same content, and prints the id.
 * @throws SheafError USAGE for a file that isn't an export, or if the store has its ids with other content.
 */
export async function runImport(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [file = ""] = parsed.positionals;
  const { conversation, responses } = decodeExport(readText(file, io), file);
  const session = toBareId(conversation.id);
  return withSessionStore(io, undefined, async (store) => {
    for (const response of responses) await checkResponse(response, conversation.id, store);
    if (!(await store.getConversation(conversation.id))) {
      // A future time would make the session the newest one, for which --continue looks, until then.
      const updatedAt = Math.min(now(), responses.at(-1)!.createdAt);
      const createdAt = Math.min(conversation.createdAt, updatedAt);
      await store.addConversation({ ...conversation, createdAt, updatedAt, settings: {}, responses });
      return printText(io, `${session}\n`);
    }
    // A program expects the id, as after the first import (C15).
    return printText(
      io,
      io.isOutputTerminal ? `${session} is stored already, with the same content\n` : `${session}\n`,
    );
  });
}

/** Accepts a new response of a new session, and a stored response with the same content. */
async function checkResponse(response: ExportedResponse, conversationId: string, store: Store): Promise<void> {
  const [id, session] = [toBareId(response.id), toBareId(conversationId)];
  const stored = await store.getResponse(response.id);
  if (stored && stored.conversationId !== conversationId) {
    const owner = toBareId(stored.conversationId);
    throw new SheafError(
      "USAGE",
      `the response ${id} is stored already, in the session ${owner}: nothing was imported`,
    );
  }
  if (!stored && !(await store.getConversation(conversationId))) return;
  const log = stored && toImportedLog(await store.readEvents(response.id));
  if (isDeepStrictEqual(log, response.events)) return;
  const what = stored ? `another content of the response ${id}` : `no response ${id}`;
  const advice = `go on with --resume ${session}, or remove it with sheaf rm ${session} and import again`;
  throw new SheafError("USAGE", `the session ${session} is stored already, with ${what}: ${advice}`);
}

function readText(file: string, { cwd }: CommandIo): string {
  const read = readOrdinaryFile(resolve(cwd, file), MAX_BYTES);
  if (read.ok) return read.bytes.toString();
  throw new SheafError("USAGE", `${file} ${read.problem}: name a file of sheaf export`, { cause: read.cause });
}
