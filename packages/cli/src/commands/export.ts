/** `sheaf export SESSION`: a stored session as JSON or Markdown. */
import { resolve } from "node:path";
import { createKnownMask } from "@sheaf/agent/config/known-secrets";
import { maskLog } from "@sheaf/agent/output/event-mask";
import { now } from "@sheaf/agent/assemble/wire";
import {
  exportVersion,
  formatJsonExport,
  type ConversationExport,
} from "@sheaf/agent/output/exports/conversation-export";
import { formatMarkdownExport } from "@sheaf/agent/output/exports/markdown-export";
import { toVisibleJson } from "@sheaf/agent/output/visible-text";
import { readEndedLogs } from "@sheaf/agent/run/conversations/end-cut-response";
import type { TextMask } from "@sheaf/base/text-mask";
import type { Store } from "@sheaf/store/store";
import type { ParsedArguments } from "../arguments.ts";
import { chooseWord } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { writeOutputFile } from "../output-file.ts";
import { withSessionStore } from "../session-store.ts";
import { findConversation } from "../session-words.ts";
import { printText } from "../standard-output.ts";

const formats = { json: formatJsonExport, markdown: formatMarkdownExport } as const;

/** Writes the session. @throws SheafError USAGE for an unknown session or an unwritable file; CONVERSATION_BUSY. */
export async function runExport(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [word = ""] = parsed.positionals;
  const { output } = parsed.flags;
  const format = chooseWord("--format", parsed.flags.format ?? "json", ["json", "markdown"]);
  const mask = parsed.flags.unmasked ? undefined : createKnownMask(io.environment);
  const text = await withSessionStore(io, undefined, async (store) =>
    formats[format](await readConversation(store, await findConversation(store, word), mask)),
  );
  if (output === undefined) return printText(io, text, format === "json" ? toVisibleJson : undefined);
  writeOutputFile(resolve(io.cwd, output), text);
  return 0;
}

async function readConversation(store: Store, id: string, mask: TextMask | undefined): Promise<ConversationExport> {
  const { workspace, title, createdAt } = (await store.getConversation(id))!;
  const responses = [];
  for await (const log of readEndedLogs(store, id, now)) {
    responses.push(mask ? { ...log, events: maskLog(log.events, { mask }) } : log);
  }
  return { sheafExport: exportVersion, conversation: { id, workspace, title, createdAt }, responses };
}
