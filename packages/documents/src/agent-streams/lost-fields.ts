import type { ChatResponse } from "@sheaf/protocol";
import { isJsonObject } from "../model-streams/read-json.ts";

/** Names and numbers that each reading of a stream makes again. */
const ownFields: ReadonlySet<string> = new Set(["id", "toolCallId", "sequence"]);

/**
 * Lists fields of an answer that another one lacks or has with another value: paths such as `usage.promptTokens` or
 * `file_edit.metadata.diff`, each once. A type alone is a missing document.
 */
export function findLostFields(before: ChatResponse, after: ChatResponse): string[] {
  const lost = new Set<string>();

  function compare(path: string, known: unknown, found: unknown): void {
    if (isJsonObject(known) && isJsonObject(found)) {
      for (const [field, value] of Object.entries(known))
        if (!ownFields.has(field)) compare(path === "" ? field : `${path}.${field}`, value, found[field]);
    } else if (JSON.stringify(known) !== JSON.stringify(found)) lost.add(path);
  }

  const { documents, ...whole } = before;
  compare("", whole, { ...after });
  let place = 0;
  for (const document of documents) {
    const at = after.documents.findIndex(({ type }, index) => index >= place && type === document.type);
    if (at === -1) lost.add(document.type);
    else compare(document.type, document, after.documents[at]);
    place = Math.max(place, at + 1);
  }
  return [...lost].toSorted();
}
