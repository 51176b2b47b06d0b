import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { createPng } from "../../../test/support/images.ts";
import { createConversation, type ConversationState, type ConversationStore } from "../src/chat.ts";
import { ConnectionError, createClient, SheafApiError } from "../src/index.ts";
import { openConversation, waitForEnd, waitForState } from "./open-conversation.ts";

const hello = { events: [{ text: "Hello." }] };
const endless = { events: [{ text: "Begun." }, { wait_ms: 600_000 }] };
const command = { calls: [{ tool: "run_terminal_cmd", arguments: { command: "echo done > done.txt" } }] };
const write = { calls: [{ tool: "write_file", arguments: { target_file: "a.txt", contents: "written\n" } }] };

const toTexts = ({ getSnapshot }: ConversationStore): (string | null)[] =>
  getSnapshot().turns.flatMap(({ response }) => response.documents.map(({ content }) => content));
const toMessages = ({ getSnapshot }: ConversationStore): string[] => getSnapshot().turns.map(({ message }) => message);

/** Rejects as soon as a request is aborted, as on a network. */
function toAbortable(send: (address: string, init?: RequestInit) => Promise<Response>): typeof fetch {
  return (input, init) =>
    new Promise((resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
      send(input instanceof Request ? input.url : String(input), init).then(resolve, reject);
    });
}

describe("a new conversation", () => {
  test("gets its id, title and answer; its list hears of its beginning and its end", async () => {
    const changed: string[] = [];
    const { conversation } = await openConversation([hello], { onChange: (id) => changed.push(id) });
    expect(conversation.getSnapshot()).toMatchObject({ status: "ready", turns: [], isAnswering: false });
    const sent = conversation.send({ message: "Hi" });
    expect(conversation.getSnapshot()).toMatchObject({ isAnswering: true, connection: "connecting", id: undefined });
    expect(await sent).toBe(true);
    const { id, title } = conversation.getSnapshot();
    expect([id, title]).toEqual([expect.stringMatching(/^conv_/), "Hi"]);
    await waitForEnd(conversation);
    expect(toTexts(conversation)).toEqual(["Hello."]);
    await waitForState(conversation, ({ connection }) => connection === "idle");
    expect(changed).toEqual([id, id]);
  });

  test("is shown where nothing can be fetched, and sends nothing until it is used", () => {
    const fetch = (): never => {
      throw new Error("fetched");
    };
    const client = createClient({ baseUrl: "http://sheaf.test", fetch });
    const { getSnapshot } = createConversation(client, { id: "conv_1" });
    expect(getSnapshot()).toBe(getSnapshot());
    expect(getSnapshot()).toMatchObject({ id: "conv_1", status: "loading", turns: [] });
  });

  test("states are values: what did not change is the same object", async () => {
    const { conversation } = await openConversation([hello]);
    const states: ConversationState[] = [];
    conversation.subscribe(() => states.push(conversation.getSnapshot()));
    await conversation.send({ message: "One" });
    await waitForEnd(conversation);
    const [first] = conversation.getSnapshot().turns;
    await conversation.send({ message: "Two" });
    await waitForEnd(conversation);
    expect(conversation.getSnapshot().turns[0]).toBe(first);
    expect(new Set(states).size).toBe(states.length);
  });

  test(verifies("X19", "files go as bytes, and are shown from where they were chosen"), async () => {
    const { conversation, client } = await openConversation([hello]);
    const blob = new Blob([new Uint8Array(createPng(3, 2))], { type: "image/png" });
    expect(await conversation.send({ message: "", attachments: [{ name: "a.png", blob }] })).toBe(true);
    const { id = "", title, turns } = conversation.getSnapshot();
    expect(title).toBe("a.png");
    expect(turns[0]?.attachments).toEqual([{ name: "a.png", mediaType: "image/png", blob }]);
    const stored = (await client.getConversation(id)).turns[0]?.attachments;
    expect(stored).toMatchObject([{ name: "a.png", mediaType: "image/png", bytes: blob.size }]);
  });

  test(verifies("X47", "files that were sent before are named, and shown as they were"), async () => {
    const { conversation, client } = await openConversation([hello]);
    const { id: fileId, name, mediaType } = await client.addAttachment({ name: "a.csv", blob: new Blob(["a,b"]) });
    expect(await conversation.send({ message: "", attachments: [{ id: fileId, name, mediaType }] })).toBe(true);
    const { id = "", turns } = conversation.getSnapshot();
    expect(turns[0]?.attachments).toEqual([{ name: "a.csv", mediaType: "text/plain" }]);
    expect((await client.getConversation(id)).turns[0]?.attachments).toMatchObject([{ name: "a.csv", bytes: 3 }]);
  });

  test("a file that cannot be read is an error, and the message goes back", async () => {
    const { conversation } = await openConversation([hello]);
    const blob = new Blob(["x"]);
    blob.arrayBuffer = () => Promise.reject(new DOMException("It is gone.", "NotReadableError"));
    expect(await conversation.send({ message: "Look", attachments: [{ name: "a.png", blob }] })).toBe(false);
    expect(conversation.getSnapshot()).toMatchObject({
      turns: [],
      connection: "idle",
      error: { message: "It is gone." },
    });
  });
});

describe("a message that is not sent", () => {
  test("the server refused it: the error is in the state, until the next request", async () => {
    const { conversation } = await openConversation([hello]);
    await conversation.configure({ model: "nobody/nothing" });
    expect(await conversation.send({ message: "Hi" })).toBe(false);
    const { error, turns, isAnswering } = conversation.getSnapshot();
    expect([error instanceof SheafApiError, turns, isAnswering]).toEqual([true, [], false]);
    await conversation.configure({ model: undefined });
    expect(await conversation.send({ message: "Hi" })).toBe(true);
    expect(conversation.getSnapshot().error).toBeUndefined();
  });

  test("no server: an error of its own kind", async () => {
    const fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    const client = createClient({ baseUrl: "http://sheaf.test", fetch, reconnect: { delayMs: 0, maxDelayMs: 0 } });
    const conversation = createConversation(client);
    expect(await conversation.send({ message: "Hi" })).toBe(false);
    expect(conversation.getSnapshot().error).toBeInstanceOf(ConnectionError);
  });
});

describe("a message during an answer", () => {
  test("goes back to its writer if the conversation it belongs to did not begin", async () => {
    const { app } = await openConversation([hello]);
    const bodies: unknown[] = [];
    const send = toAbortable(async (address, init) => {
      bodies.push(init?.body);
      await new Promise((resolve) => void setTimeout(resolve, 50));
      return bodies.length === 1 ? new Response("{}", { status: 403 }) : app.request(address, init);
    });
    const conversation = createConversation(createClient({ baseUrl: app.address, token: app.token, fetch: send }));
    const sent = [conversation.send({ message: "first" }), conversation.send({ message: "second" })];
    expect(await Promise.all(sent)).toEqual([false, false]);
    expect([bodies.length, conversation.getSnapshot().error]).toEqual([1, expect.any(SheafApiError)]);
  });

  const readCall = { call: { tool: "read_file", arguments: { target_file: "a.txt" } } };
  const listWaiting = ({ getSnapshot }: ConversationStore) => getSnapshot().waiting.map(({ message }) => message);

  test(verifies("C241", "waits at the server, where other views see, move and remove it"), async () => {
    const { conversation, open } = await openConversation([endless, hello]);
    await conversation.send({ message: "first" });
    for (const message of ["second", "third", "fourth"]) expect(await conversation.send({ message })).toBe(true);
    expect(listWaiting(conversation)).toEqual(["second", "third", "fourth"]);
    conversation.close();
    const other = open({ id: conversation.getSnapshot().id });
    await other.load();
    expect(listWaiting(other)).toEqual(["second", "third", "fourth"]);
    const [second, third, fourth] = other.getSnapshot().waiting;
    expect(await other.arrange([fourth!])).toBe(true);
    expect(listWaiting(other)).toEqual(["fourth", "second", "third"]);
    expect([await other.unqueue(second!.responseId), await other.unqueue(second!.responseId)]).toEqual([true, false]);
    expect(listWaiting(other)).toEqual(["fourth", "third"]);
    await other.cancel();
    await waitForState(other, ({ turns, isAnswering }) => turns.length === 3 && !isAnswering);
    expect(toMessages(other)).toEqual(["first", "fourth", "third"]);
    expect([listWaiting(other), other.getSnapshot().turns.at(-1)?.response.id]).toEqual([[], third!.responseId]);
  });

  test(verifies("C242", "is in the answer if it is sent now"), async () => {
    const step = { events: [{ text: "One." }, { wait_ms: 500 }, readCall] };
    const { conversation } = await openConversation([step, { events: [{ text: "Two." }] }]);
    await conversation.send({ message: "first" });
    await conversation.send({ message: "second" });
    const [{ responseId } = { responseId: "" }] = conversation.getSnapshot().waiting;
    expect(await conversation.arrange([{ responseId, whenBusy: "steer" }])).toBe(true);
    expect(conversation.getSnapshot().waiting).toMatchObject([{ whenBusy: "steer" }]);
    await waitForState(conversation, ({ waiting }) => waiting.length === 0);
    await waitForEnd(conversation);
    expect(conversation.getSnapshot().turns).toMatchObject([
      { message: "first", response: { status: "completed", messages: [{ message: "second", messageId: responseId }] } },
    ]);
  });

  test("goes back to its writer if the server refuses it", async () => {
    const { conversation } = await openConversation([endless]);
    await conversation.send({ message: "first" });
    await conversation.configure({ model: "nobody/nothing" });
    expect(await conversation.send({ message: "second" })).toBe(false);
    expect(conversation.getSnapshot()).toMatchObject({ waiting: [], error: { status: 404 } });
  });
});

test("a message under way reaches the server after its view was closed", async () => {
  const { app } = await openConversation([hello]);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const fetch: typeof globalThis.fetch = async (input, init) => {
    await held;
    init?.signal?.throwIfAborted();
    return app.fetch(input instanceof Request ? input.url : String(input), init);
  };
  const changed: string[] = [];
  const client = createClient({ baseUrl: app.address, fetch });
  const conversation = createConversation(client, { onChange: (id) => changed.push(id) });
  const sent = conversation.send({ message: "Hi" });
  conversation.close();
  release();
  expect(await sent).toBe(true);
  expect(changed).toHaveLength(1);
});

test(verifies("X7", "cancel ends the answer, also before the server has accepted the message"), async () => {
  const { conversation } = await openConversation([endless]);
  const sent = conversation.send({ message: "Go on" });
  const cancelled = conversation.cancel();
  expect(conversation.getSnapshot().isCancelling).toBe(true);
  expect(await Promise.all([sent, cancelled])).toEqual([true, true]);
  await waitForState(conversation, ({ connection }) => connection === "idle");
  const { turns, isCancelling } = conversation.getSnapshot();
  expect([turns[0]?.response.metadata.finishReason, isCancelling]).toEqual(["cancelled", false]);
  expect(await conversation.cancel()).toBe(false);
});

test(verifies("X8", "calls that wait for a decision are in the state, after a reload too"), async () => {
  const { conversation, open, cwd } = await openConversation([{ events: [command] }, hello]);
  await conversation.send({ message: "Run it" });
  await waitForState(conversation, ({ approvals }) => approvals.length === 1);
  const other = open({ id: conversation.getSnapshot().id });
  await other.load();
  await waitForState(other, ({ approvals }) => approvals.length === 1);
  const [{ approvalId, options } = { approvalId: "", options: [] }] = other.getSnapshot().approvals;
  const allow = options.find(({ kind }) => kind === "allow_once")?.id ?? "";
  expect(await other.decide("approval_none", { optionId: allow })).toBe(false);
  expect(other.getSnapshot().error).toBeInstanceOf(SheafApiError);
  const twice = [other, conversation].map((view) => view.decide(approvalId, { optionId: allow }));
  expect((await Promise.all(twice)).filter(Boolean)).toHaveLength(1);
  expect(conversation.getSnapshot().error).toBeUndefined();
  await Promise.all([waitForEnd(other), waitForEnd(conversation)]);
  expect(existsSync(join(cwd, "done.txt"))).toBe(true);
  expect(other.getSnapshot()).toMatchObject({ approvals: [], error: undefined });
  expect(toTexts(other)).toEqual(toTexts(conversation));
});

describe("a stored conversation", () => {
  test("is loaded before a message is sent, and goes on as it was", async () => {
    const { conversation, open, client } = await openConversation([hello], { settings: { mode: "ask" } });
    await conversation.send({ message: "One" });
    await waitForEnd(conversation);
    const { id } = conversation.getSnapshot();
    const other = open({ id });
    expect(await other.send({ message: "Two" })).toBe(true);
    await waitForEnd(other);
    expect(other.getSnapshot()).toMatchObject({ id, title: "One", status: "ready", settings: { mode: "ask" } });
    expect((await client.getConversation(id ?? "")).turns.map(({ response }) => response.mode)).toEqual(["ask", "ask"]);
  });

  test("messages sent while it loads are all sent, in their order", async () => {
    const { conversation, app } = await openConversation([hello]);
    await conversation.send({ message: "One" });
    await waitForEnd(conversation);
    const client = createClient({ baseUrl: app.address, fetch: toAbortable(app.fetch) });
    const other = createConversation(client, { id: conversation.getSnapshot().id });
    onTestFinished(other.close);
    expect(await Promise.all([other.send({ message: "Two" }), other.send({ message: "Three" })])).toEqual([true, true]);
    await waitForEnd(other);
    expect(toMessages(other)).toEqual(["One", "Two", "Three"]);
  });

  test("one that is not there is missing; one that cannot be loaded has failed, until it can", async () => {
    const { open, app, conversation } = await openConversation([hello]);
    const missing = open({ id: "conv_none" });
    expect(await missing.send({ message: "Hi" })).toBe(false);
    expect(missing.getSnapshot().status).toBe("missing");
    await conversation.send({ message: "Hi" });
    let isDown = true;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (isDown) throw new TypeError("Failed to fetch");
      return app.fetch(input instanceof Request ? input.url : String(input), init);
    };
    const other = createConversation(createClient({ baseUrl: app.address, fetch }), {
      id: conversation.getSnapshot().id,
    });
    await other.load();
    expect(other.getSnapshot()).toMatchObject({ status: "failed", error: { name: "ConnectionError" } });
    isDown = false;
    other.reconnect();
    await waitForState(other, ({ status }) => status === "ready");
    expect(other.getSnapshot().error).toBeUndefined();
  });

  test("opens again after it was closed", async () => {
    const { conversation } = await openConversation([endless]);
    await conversation.send({ message: "Go on" });
    conversation.close();
    await conversation.load();
    expect(conversation.getSnapshot()).toMatchObject({ isAnswering: true, status: "ready" });
    await waitForState(conversation, ({ connection }) => connection === "open");
    await conversation.cancel();
    await waitForEnd(conversation);
  });

  test("a load that another one replaces ends with that one", async () => {
    const { conversation, app } = await openConversation([hello]);
    await conversation.send({ message: "One" });
    await waitForEnd(conversation);
    const client = createClient({ baseUrl: app.address, fetch: toAbortable(app.fetch) });
    const other = createConversation(client, { id: conversation.getSnapshot().id });
    onTestFinished(other.close);
    const replaced = other.load();
    const newer = other.load();
    await replaced;
    expect(other.getSnapshot().status).toBe("ready");
    await newer;
    const closed = other.load();
    other.close();
    await closed;
    expect(other.getSnapshot().error).toBeUndefined();
  });

  test(verifies("X26", "its settings and its title are kept by the server"), async () => {
    const { conversation, client } = await openConversation([hello]);
    await conversation.configure({ mode: "plan", effort: "high" });
    await conversation.send({ message: "One" });
    await waitForEnd(conversation);
    const { id = "" } = conversation.getSnapshot();
    expect(await conversation.configure({ mode: "agent", effort: undefined })).toBe(true);
    expect(await conversation.rename("Another title")).toBe(true);
    const stored = await client.getConversation(id);
    expect([stored.title, stored.mode, stored.effort]).toEqual(["Another title", "agent", undefined]);
    expect(conversation.getSnapshot().title).toBe("Another title");
    expect(await conversation.rename("")).toBe(false);
    expect(conversation.getSnapshot().error).toBeInstanceOf(SheafApiError);
  });
});

describe("reverting", () => {
  test("a response goes with what it did; what was changed since is asked about", async () => {
    const { conversation, cwd } = await openConversation([{ events: [write] }, hello], {
      request: { approvals: "deny" },
    });
    await conversation.send({ message: "Write it" });
    await waitForEnd(conversation);
    const file = join(cwd, "a.txt");
    const responseId = conversation.getSnapshot().turns[0]?.response.id ?? "";
    expect(readFileSync(file, "utf8")).toBe("written\n");
    writeFileSync(file, "mine\n");
    expect(await conversation.revert(responseId)).toEqual({
      kind: "conflict",
      files: [expect.stringContaining("a.txt")],
    });
    expect(await conversation.revert(responseId, { onConflict: "overwrite" })).toEqual({ kind: "done" });
    expect([existsSync(file), conversation.getSnapshot().turns]).toEqual([false, []]);
    expect(await conversation.revert(responseId)).toEqual({ kind: "failed" });
    expect(conversation.getSnapshot().error).toBeInstanceOf(SheafApiError);
  });

  test("a message is sent again, as it was or edited, with its files", async () => {
    const { conversation, client } = await openConversation([hello]);
    const blob = new Blob([new Uint8Array(createPng(1, 1))], { type: "image/png" });
    await conversation.send({ message: "Wat is this?", attachments: [{ name: "a.png", blob }] });
    await waitForEnd(conversation);
    const toResponseId = (): string => conversation.getSnapshot().turns[0]?.response.id ?? "";
    const first = toResponseId();
    expect(await conversation.regenerate()).toEqual({ kind: "done" });
    await waitForEnd(conversation);
    const second = toResponseId();
    expect(conversation.getSnapshot().turns[0]?.versions).toEqual([first, second]);
    expect(await conversation.edit(second, "What is this?")).toEqual({ kind: "done" });
    await waitForEnd(conversation);
    const { turns } = await client.getConversation(conversation.getSnapshot().id ?? "");
    expect(turns.map(({ message }) => message)).toEqual(["What is this?"]);
    expect(conversation.getSnapshot().turns[0]?.attachments).toMatchObject([{ name: "a.png", blob }]);
    expect(await conversation.regenerate("chat_none")).toEqual({ kind: "failed" });

    // Another tab reads the files from the server.
    const other = createConversation(client, { id: conversation.getSnapshot().id });
    await other.load();
    expect(other.getSnapshot().turns[0]?.attachments).toMatchObject([{ name: "a.png", mediaType: "image/png" }]);
    const twice = [other.regenerate(toResponseId()), other.regenerate(toResponseId())];
    expect(await Promise.all(twice)).toEqual([{ kind: "done" }, { kind: "failed" }]);
    await waitForEnd(other);
    const again = (await client.getConversation(conversation.getSnapshot().id ?? "")).turns;
    expect(again.map(({ attachments }) => attachments)).toEqual(turns.map(({ attachments }) => attachments));
  });

  test(
    verifies(["C251", "C252"], "each version comes back with what followed it, and a refused edit loses none"),
    async () => {
      const { conversation, cwd } = await openConversation([{ events: [write] }, hello], {
        request: { approvals: "deny" },
      });
      const file = join(cwd, "a.txt");
      const say = async (sent: Promise<unknown>): Promise<void> => {
        await sent;
        await waitForEnd(conversation);
      };
      await say(conversation.send({ message: "One" }));
      await say(conversation.send({ message: "Two" }));
      const [one, two] = conversation.getSnapshot().turns.map(({ response }) => response.id) as [string, string];
      writeFileSync(file, "mine\n");
      expect(await conversation.edit(one, "Uno")).toMatchObject({
        kind: "conflict",
        files: [expect.stringContaining("a.txt")],
      });
      expect([toMessages(conversation), conversation.getSnapshot().error]).toEqual([["One", "Two"], undefined]);
      await say(conversation.edit(one, "Uno", { onConflict: "overwrite" }));
      const versions = conversation.getSnapshot().turns[0]?.versions ?? [];
      expect([toMessages(conversation), versions[0], versions.length]).toEqual([["Uno"], one, 2]);
      expect(await conversation.show(one)).toEqual({ kind: "done" });
      expect(toMessages(conversation)).toEqual(["One", "Two"]);
      await conversation.revert(two);
      expect(conversation.getSnapshot().nextVersions).toEqual([two]);
      await say(conversation.send({ message: "Three" }));
      const { turns, nextVersions } = conversation.getSnapshot();
      expect([turns[1]?.versions, nextVersions]).toEqual([[two, turns[1]?.response.id], []]);
      await conversation.load();
      expect(conversation.getSnapshot().turns.map((turn) => turn.versions)).toEqual(turns.map((turn) => turn.versions));
    },
  );
});
