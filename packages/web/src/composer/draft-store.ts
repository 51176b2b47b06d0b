/** The draft of a conversation. It survives reloads; its files are uploaded as soon as the user chooses them (X46). */
import { SheafApiError, type SheafClient } from "@sheaf/client";
import { createStore, type ReadableStore } from "@sheaf/client/chat";
import type { AttachedFile } from "./attached-file.ts";
import { type Draft, type DraftFile, emptyDraft } from "./draft.ts";
import { readDraft, writeDraft } from "./kept-draft.ts";

export interface DraftPorts {
  readonly client: Pick<SheafClient, "addAttachment" | "getAttachment" | "deleteAttachment">;
  readonly storage: Storage | undefined;
  /** Returns the name of the conversation's draft: a new conversation has its own name after its first message. */
  readonly findName: () => string;
  /** Returns the signed-in user. */
  readonly findWriter: () => string;
}

export interface DraftStore extends ReadableStore<Draft> {
  readonly write: (text: string) => void;
  readonly addFile: (file: AttachedFile) => void;
  readonly removeFile: (key: number) => void;
  readonly retryFile: (key: number) => void;
  /** Takes the draft out of the field after all uploads; if one failed, returns undefined and leaves the draft. */
  readonly take: () => Promise<Draft | undefined>;
  /** Puts the draft of a refused message back, above any text written since. */
  readonly giveBack: (draft: Draft) => void;
  /** Deletes the draft and its files, because the server has the message. */
  readonly forget: (draft: Draft) => void;
  /** Looks for the uploaded files, and uploads the missing ones again. Resolves to true if any were missing. */
  readonly renew: () => Promise<boolean>;
}

export function createDraftStore({ client, storage, findName, findWriter }: DraftPorts): DraftStore {
  const writer = findWriter();
  const toName = (): string => (writer === "" ? findName() : `${writer}-${findName()}`);
  const store = createStore(readDraft(storage, toName()));
  const uploads = new Map<number, Promise<void>>();
  let lastKey = store.getSnapshot().files.length;
  let savedAs = toName();

  const save = (): void => {
    // The author of the draft has signed out.
    if (findWriter() !== writer) return;
    const name = toName();
    if (name !== savedAs) writeDraft(storage, savedAs, emptyDraft);
    savedAs = name;
    writeDraft(storage, name, store.getSnapshot());
  };
  const change = (part: Partial<Draft>): void => {
    store.set({ ...store.getSnapshot(), ...part });
    save();
  };
  const find = (key: number): DraftFile | undefined => store.getSnapshot().files.find((file) => file.key === key);
  const changeFile = (key: number, part: Partial<DraftFile>): void =>
    change({ files: store.getSnapshot().files.map((file) => (file.key === key ? { ...file, ...part } : file)) });
  /** Deletes an uploaded file. If that fails, the server deletes it after a while. */
  const deleteFile = ({ id }: Pick<DraftFile, "id">): void => {
    if (id !== undefined) void client.deleteAttachment(id).catch(() => undefined);
  };

  const upload = async (key: number, name: string, blob: Blob): Promise<void> => {
    try {
      const sent = await client.addAttachment({ name, blob });
      if (find(key)) changeFile(key, { state: "sent", id: sent.id, mediaType: sent.mediaType });
      else deleteFile(sent);
    } catch (error) {
      changeFile(key, { state: "failed", error });
    } finally {
      uploads.delete(key);
    }
  };
  const send = ({ key, name, blob }: Pick<DraftFile, "key" | "name" | "blob">): void => {
    if (!blob) return changeFile(key, { state: "gone", id: undefined });
    changeFile(key, { state: "sending", id: undefined, error: undefined });
    uploads.set(key, upload(key, name, blob));
  };

  return {
    subscribe: store.subscribe,
    getSnapshot: store.getSnapshot,
    write: (text) => change({ text }),
    addFile({ name, mediaType, blob }) {
      const file: DraftFile = { key: (lastKey += 1), name, mediaType, size: blob.size, blob, state: "sending" };
      change({ files: [...store.getSnapshot().files, file] });
      send(file);
    },
    removeFile(key) {
      deleteFile(find(key) ?? {});
      change({ files: store.getSnapshot().files.filter((file) => file.key !== key) });
    },
    retryFile(key) {
      const file = find(key);
      if (file) send(file);
    },
    async take() {
      change({ isWaiting: true });
      while (uploads.size > 0) await Promise.all(uploads.values());
      const draft = { ...store.getSnapshot(), isWaiting: false };
      if (draft.files.some(({ state }) => state !== "sent")) return change({ isWaiting: false }) as undefined;
      // The stored draft stays until the server has the message, so a reload restores it.
      store.set(emptyDraft);
      return draft;
    },
    giveBack(draft) {
      const { text, files } = store.getSnapshot();
      change({
        text: [draft.text, text].filter((part) => part !== "").join("\n\n"),
        files: [...draft.files, ...files],
      });
    },
    forget(draft) {
      save();
      draft.files.forEach(deleteFile);
    },
    async renew() {
      let isRenewed = false;
      for (const file of store.getSnapshot().files) {
        if (file.id === undefined) continue;
        try {
          await client.getAttachment(file.id);
        } catch (error) {
          if (!(error instanceof SheafApiError && error.status === 404)) continue;
          isRenewed = true;
          send(file);
        }
      }
      return isRenewed;
    },
  };
}
