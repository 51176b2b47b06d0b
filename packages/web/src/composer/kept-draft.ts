/** Drafts that outlive a reload of their tab: the texts, and the names and ids of their files. */
import { type Draft, type DraftFile, emptyDraft } from "./draft.ts";

const prefix = "sheaf-draft-";

/** Reads the draft of the conversation `name`, without any part that this page didn't write. */
export function readDraft(storage: Storage | undefined, name: string): Draft {
  try {
    const { text, files } = JSON.parse(storage?.getItem(prefix + name) ?? "{}") as Readonly<Record<string, unknown>>;
    const kept = Array.isArray(files) ? files.flatMap(toFile) : [];
    return { ...emptyDraft, text: typeof text === "string" ? text : "", files: kept };
  } catch {
    return emptyDraft;
  }
}

function toFile(value: unknown, key: number): readonly DraftFile[] {
  const { name, mediaType, size, id } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || typeof mediaType !== "string" || typeof size !== "number") return [];
  // A reload loses the bytes of a file whose upload hadn't ended; the page shows it as gone.
  if (typeof id !== "string") return [{ key, name, mediaType, size, state: "gone" }];
  return [{ key, name, mediaType, size, id, state: "sent" }];
}

export function writeDraft(storage: Storage | undefined, name: string, { text, files }: Draft): void {
  try {
    if (text === "" && files.length === 0) return storage?.removeItem(prefix + name);
    const kept = files.map(({ name: file, mediaType, size, id }) => ({ name: file, mediaType, size, id }));
    storage?.setItem(prefix + name, JSON.stringify({ text, files: kept }));
  } catch {
    // Storage is full or forbidden: the draft lasts for this visit.
  }
}

/** Deletes the drafts of all conversations, after the user signed out. */
export function forgetDrafts(storage: Storage | undefined): void {
  if (!storage) return;
  for (const key of Object.keys(storage)) if (key.startsWith(prefix)) storage.removeItem(key);
}
