/** A conversation as a file to save (X37). */
import { formatMarkdownExport } from "../output/exports/markdown-export.ts";
import type { ConversationRecord, ResponseRecord, SharedStore } from "../store/store.ts";
import { HttpError } from "./http-error.ts";

/** Values of `?format=` and the extensions of their files. */
const extensions = { markdown: "md", json: "json" } as const;

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

/** The header `Content-Disposition`, with a name for old clients and one by RFC 8187. */
export function toDisposition(title: string, format: ExportFormat): string {
  const extension = extensions[format];
  const name = toBaseName(title, /[^\p{L}\p{M}\p{N}]+/gu);
  const plain = toBaseName(title, /[^A-Za-z0-9]+/g);
  return `attachment; filename="${plain}.${extension}"; filename*=UTF-8''${encodeURIComponent(`${name}.${extension}`)}`;
}

/** At most 60 characters that every file system accepts; Windows keeps the names of its devices for itself. */
function toBaseName(title: string, others: RegExp): string {
  const words = title.toWellFormed().normalize("NFC").replaceAll(others, "-").replaceAll(/^-+/g, "");
  const name = [...words].slice(0, 60).join("").replaceAll(/-+$/g, "");
  return name === "" || /^(con|prn|aux|nul|com\d|lpt\d)$/i.test(name) ? "conversation" : name;
}
