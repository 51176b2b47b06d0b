/** The draft of a conversation: kept over reloads, its files sent to the server as they are chosen (X46). */
import { SheafApiError, type SheafClient } from "@sheaf/client";
import { createStore, type ReadableStore } from "@sheaf/client/chat";
import type { AttachedFile } from "./attached-file.ts";
import { type Draft, type DraftFile, emptyDraft } from "./draft.ts";
import { readDraft, writeDraft } from "./kept-draft.ts";

export interface DraftPorts {
  readonly client: Pick<SheafClient, "addAttachment" | "getAttachment" | "deleteAttachment">;
  readonly storage: Storage | undefined;
  /** Of the conversation, which gets its own with its first message. */
  readonly findName: () => string;
  /** Who is signed in. */
  readonly findWriter: () => string;
}

export interface DraftStore extends ReadableStore<Draft> {
  readonly write: (text: string) => void;
  readonly addFile: (file: AttachedFile) => void;
  readonly removeFile: (key: number) => void;
  /** Sends a file again. */
  readonly retryFile: (key: number) => void;
  /** Takes the draft out of the field once its files were sent; undefined: one was not, and the draft stays. */
  readonly take: () => Promise<Draft | undefined>;
  /** The message was not accepted: its draft comes before what was written since. */
  readonly giveBack: (draft: Draft) => void;
  /** The server has the message: its draft and its files are not needed any more. */
  readonly forget: (draft: Draft) => void;
  /** Asks for the files, and sends those again that the server has no more. Resolves to whether there were any. */
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
    // Whoever wrote it has signed out.
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
  /** What cannot be deleted is deleted by the server after a while. */
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
      // A reload before the server has the message brings it back.
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
