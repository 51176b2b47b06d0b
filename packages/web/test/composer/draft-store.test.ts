import { SheafApiError } from "@sheaf/client";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { emptyDraft, isSendable, toSentFiles } from "../../src/composer/draft.ts";
import { createDraftStore, type DraftPorts } from "../../src/composer/draft-store.ts";
import { forgetDrafts } from "../../src/composer/kept-draft.ts";

/** What a tab keeps. */
function createStorage(): Storage {
  const values = new Map<string, string>();
  const methods = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
  return new Proxy(methods as Storage, { ownKeys: () => [...values.keys()], getOwnPropertyDescriptor: describeKey });
}

const describeKey = (): PropertyDescriptor => ({ enumerable: true, configurable: true });

/** A server that keeps the ids of files; `fail`: what it answers to the next one. */
function createServer() {
  const kept = new Set<string>();
  let count = 0;
  let failure: Error | undefined;
  const client: DraftPorts["client"] = {
    async addAttachment({ name, blob }) {
      const error = failure;
      failure = undefined;
      if (error) throw error;
      const id = `att_${(count += 1)}`;
      kept.add(id);
      return { id, name, mediaType: "text/plain", size: blob.size, created: "2026-01-01T00:00:00Z" };
    },
    async getAttachment(id) {
      if (!kept.has(id)) throw missing;
      return { id, name: "", mediaType: "text/plain", size: 0, created: "2026-01-01T00:00:00Z" };
    },
    deleteAttachment: async (id) => void kept.delete(id),
  };
  return { client, kept, fail: (error: Error) => void (failure = error) };
}

const missing = new SheafApiError({
  status: 404,
  errorCode: "NOT_FOUND",
  message: "",
  source: "server",
  details: "",
  retryAfter: undefined,
});
const notes = { name: "notes.md", mediaType: "text/plain", blob: new Blob(["# Notes"], { type: "text/plain" }) };

function open(conversation = "new") {
  const server = createServer();
  const storage = createStorage();
  let name = conversation;
  let writer = "";
  const create = () =>
    createDraftStore({ client: server.client, storage, findName: () => name, findWriter: () => writer });
  const signIn = (as: string): void => void (writer = as);
  return { ...server, storage, create, signIn, drafts: create(), rename: (to: string) => void (name = to) };
}

describe("a draft", () => {
  test(verifies("X46", "sends its files when they are chosen, and waits for them"), async () => {
    const { drafts, kept } = open();
    drafts.write("Look");
    drafts.addFile(notes);
    expect(drafts.getSnapshot().files).toMatchObject([{ name: "notes.md", state: "sending" }]);
    const taken = drafts.take();
    expect([drafts.getSnapshot().isWaiting, isSendable(drafts.getSnapshot())]).toEqual([true, false]);
    const draft = (await taken)!;
    expect(toSentFiles(draft.files)).toMatchObject([{ id: "att_1", name: "notes.md", blob: notes.blob }]);
    expect(drafts.getSnapshot()).toEqual(emptyDraft);
    drafts.forget(draft);
    expect([...kept]).toEqual([]);
  });

  test(verifies("S-201", "is there after a reload, until the server has the message"), async () => {
    const { create, drafts, kept, rename } = open();
    drafts.write("Look");
    drafts.addFile(notes);
    const draft = (await drafts.take())!;
    const again = create();
    expect(again.getSnapshot()).toMatchObject({ text: "Look", files: [{ id: "att_1", state: "sent" }] });
    expect(await again.renew()).toBe(false);
    rename("conv_1");
    drafts.forget(draft);
    expect(create().getSnapshot()).toEqual(emptyDraft);
    rename("new");
    expect([create().getSnapshot(), kept.size]).toEqual([emptyDraft, 0]);
  });

  test("sends files again that the server has no more, as long as the page has them", async () => {
    const { create, drafts, kept } = open();
    drafts.addFile(notes);
    const draft = (await drafts.take())!;
    kept.clear();
    drafts.write("And more");
    drafts.giveBack({ ...draft, text: "Look" });
    expect(await drafts.renew()).toBe(true);
    expect(await drafts.take()).toMatchObject({ text: "Look\n\nAnd more", files: [{ id: "att_2" }] });
    kept.clear();
    const again = create();
    expect(await again.renew()).toBe(true);
    expect(again.getSnapshot().files).toMatchObject([{ name: "notes.md", state: "gone" }]);
    expect([isSendable(again.getSnapshot()), await again.take()]).toEqual([false, undefined]);
    again.removeFile(again.getSnapshot().files[0]!.key);
    expect(create().getSnapshot().files).toEqual([]);
  });

  test("keeps a file that was refused, with a way out", async () => {
    const { drafts, kept, fail, create } = open();
    fail(new Error("too many"));
    drafts.addFile(notes);
    expect(await drafts.take()).toBeUndefined();
    const [file] = drafts.getSnapshot().files;
    expect(file).toMatchObject({ state: "failed", error: { message: "too many" } });
    expect(create().getSnapshot().files).toMatchObject([{ name: "notes.md", state: "gone" }]);
    drafts.retryFile(file!.key);
    drafts.addFile(notes);
    drafts.removeFile(file!.key);
    const taken = await drafts.take();
    expect([taken?.files.map(({ id }) => id), [...kept]]).toEqual([["att_2"], ["att_2"]]);
  });

  test(verifies("S-222", "is not shown to another writer, and not kept once its own has signed out"), async () => {
    const { storage, create, signIn } = open();
    signIn("ann");
    const drafts = create();
    drafts.write("Look");
    signIn("bob");
    expect(create().getSnapshot()).toEqual(emptyDraft);
    signIn("ann");
    expect(create().getSnapshot().text).toBe("Look");
    drafts.addFile(notes);
    forgetDrafts(storage);
    signIn("");
    await drafts.take();
    expect(Object.keys(storage)).toEqual([]);
  });

  test(verifies("S-201", "is forgotten when the user signs out, and what else is stored is no draft"), () => {
    const { drafts, storage, create } = open();
    drafts.write("Look");
    storage.setItem("other", "1");
    forgetDrafts(storage);
    expect([create().getSnapshot(), storage.getItem("other")]).toEqual([emptyDraft, "1"]);
    for (const text of ["[", "null", '{"text":1,"files":[null,{"name":1}]}', '{"files":{}}']) {
      storage.setItem("sheaf-draft-new", text);
      expect(create().getSnapshot()).toEqual(emptyDraft);
    }
  });
});
