/** A conversation as a file to save (X37). */
import { formatMarkdownExport } from "../output/exports/markdown-export.ts";
import type { ConversationRecord, ResponseRecord, SharedStore } from "../store/store.ts";
import { HttpError } from "./http-error.ts";

/** Values of `?format=` and the extensions of their files. */
export const extensions = { markdown: "md", json: "json" } as const;

export type ExportFormat = keyof typeof extensions;

/** @throws HttpError USAGE. */
export function parseExportFormat(text: string | undefined): ExportFormat {
  if (text === "markdown" || text === "json") return text;
  const problem = text === undefined ? "is missing" : `is ${JSON.stringify(text.slice(0, 100))}`;
  throw new HttpError("USAGE", `format ${problem}: send one of ${Object.keys(extensions).join(", ")}`);
}

/** What a file shows does not change later: what has ended, and was not reverted. Oldest first. */
export async function listExported(store: SharedStore, conversationId: string): Promise<readonly ResponseRecord[]> {
  return (await store.listResponses(conversationId)).filter(({ ended, reverted }) => ended && !reverted);
}

export async function readMarkdownExport(store: SharedStore, { id, title }: ConversationRecord): Promise<string> {
  const responses = [];
  for (const response of await listExported(store, id)) {
    responses.push({ events: await store.readEvents(response.id) });
  }
  return formatMarkdownExport({ conversation: { title }, responses });
}
