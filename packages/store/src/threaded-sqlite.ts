/** The embedded store for servers: reads in this thread, writes in another. */
import { basename } from "node:path";
import { startThread } from "@sheaf/base/start-thread";
import { SheafError } from "@sheaf/base/errors";
import { openSqliteConnection } from "./sqlite-connection.ts";
import { encodeEvents } from "./encode-events.ts";
import { createLeases } from "./sqlite-leases.ts";
import { createSqliteLogs, type OwnedAppend } from "./sqlite-log.ts";
import { announceLists, createLocalNotices } from "./announce-lists.ts";
import { announceChanges } from "./sqlite-waiting.ts";
import { createSqliteStore, createSqliteView, type SqliteParts } from "./sqlite.ts";
import type { WaitingMessages } from "./cluster.ts";
import { localOwner, memoryFile, type SharedStore } from "./store.ts";

/** Memory for young objects, which live for one message in the thread. MiB. */
const YOUNG_MB = 3;

/** The thread, as a function. */
interface Writer {
  /** Resolves with the value of the reply, once written. @throws SheafError STORAGE_…, CONVERSATION_BUSY, USAGE. */
  send(request: WorkerAction): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Opens the store, and creates it if it is missing. Returns the local owner's view.
 * @throws SheafError STORAGE_LOCKED, STORAGE_FULL, STORAGE_CORRUPT.
 */
export function createThreadedSqliteStore(file: string): SharedStore {
  // Another thread can't open a database in memory.
  if (file === memoryFile) return createSqliteStore(file);
  // This first connection shows a problem with the file to the operator at once. Later ones go to clients.
  const connection = openSqliteConnection(file, basename(file));
  const leases = createLeases(connection);
  const parts: SqliteParts = { connection, leases, logs: createSqliteLogs(connection, leases) };
  const store = createView(parts, startWriter(file), localOwner);
  return announceLists(announceChanges(store), createLocalNotices());
}

function createView(parts: SqliteParts, writer: Writer, owner: string): SharedStore {
  const reader = createSqliteView(parts, owner);
  const call =
    (part: keyof Writes, method: Writes[keyof Writes][number]) =>
    (...args: readonly unknown[]) =>
      writer.send({ kind: "call", owner, part, method, args });
  const toWriters = (part: keyof Writes): object =>
    Object.fromEntries(writes[part].map((method) => [method, call(part, method)]));
  return {
    ...reader,
    ...(toWriters("store") as Pick<SharedStore, Writes["store"][number]>),
    waiting: { ...reader.waiting, ...(toWriters("waiting") as Pick<WaitingMessages, Writes["waiting"][number]>) },
    gathersWrites: true,
    forOwner: (other) => createView(parts, writer, other),
    async lockConversation(conversationId) {
      const lock = await call("store", "lockConversation")(conversationId);
      if (typeof lock !== "number") return undefined;
      return async () => void (await writer.send({ kind: "unlock", lock }));
    },
    async appendEvents(responseId, events, durability) {
      const encoded = encodeEvents(events);
      if (encoded) await writer.send({ kind: "append", responseId, owner, events: encoded, durability });
    },
    async close() {
      await writer.close();
      await reader.close();
    },
  };
}

function startWriter(file: string): Writer {
  const worker = startThread(import.meta.url, "sqlite-worker", {
    workerData: file,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let requests: WorkerRequest[] = [];
  let lastId = 0;
  /** True if a message is on its way, and its replies haven't arrived. */
  let isWriting = false;
  let failure: SheafError | undefined;

  const fail = (error: SheafError): void => {
    failure ??= error;
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  };
  worker.on("message", (replies: readonly WorkerReply[]) => {
    isWriting = false;
    if (requests.length > 0) setImmediate(flush);
    for (const reply of replies) {
      const request = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (reply.ok) request?.resolve(reply.value);
      else request?.reject(new SheafError(reply.error.code, reply.error.message, reply.error));
    }
  });
  worker.on("error", (error: Error) => fail(createDeathError(error)));
  worker.on("exit", () => fail(createDeathError(undefined)));

  // Requests that arrive while the thread is busy become one message, and one transaction. So messages grow with the
  // load, and the thread never has more than one to do.
  const flush = (): void => {
    isWriting = true;
    worker.postMessage(requests, []);
    requests = [];
  };
  const send = (request: WorkerAction): Promise<unknown> => {
    if (failure) return Promise.reject(failure);
    lastId += 1;
    const outcome = Promise.withResolvers<unknown>();
    waiting.set(lastId, outcome);
    if (requests.length === 0 && !isWriting) setImmediate(flush);
    requests.push({ ...request, id: lastId });
    return outcome.promise;
  };
  return {
    send,
    async close() {
      if (failure) return;
      await send({ kind: "close" });
      await worker.terminate();
    },
  };
}

function createDeathError(cause: Error | undefined): SheafError {
  const message = `the thread that writes the store has ended (${cause ? "its error is in the log" : "closed"}): start the server again`;
  return new SheafError("INTERNAL", message, { source: "storage", cause });
}

/** Writes other than appends, of the store and of the messages that wait. `checkReady` writes too. */
const writes = {
  store: [
    "createResponse",
    "claimResponse",
    "leaveResponse",
    "keepLease",
    "requestCancel",
    "lockConversation",
    "showBranch",
    "changeConversation",
    "addConversation",
    "deleteConversation",
    "deleteOldConversations",
    "addUsage",
    "addAttachment",
    "deleteAttachment",
    "deleteAttachmentsBefore",
    "checkReady",
  ],
  waiting: ["add", "arrange", "take", "remove", "claim", "giveBack", "fail"],
} as const satisfies {
  readonly store: readonly (keyof SharedStore)[];
  readonly waiting: readonly (keyof WaitingMessages)[];
};

type Writes = typeof writes;

/** One request to the thread. */
type WorkerAction =
  | (OwnedAppend & { readonly kind: "append" })
  | {
      readonly kind: "call";
      readonly owner: string;
      readonly part: keyof Writes;
      readonly method: Writes[keyof Writes][number];
      readonly args: readonly unknown[];
    }
  /** Releases a lock; `lock` is the value of the call that took it. */
  | { readonly kind: "unlock"; readonly lock: number }
  | { readonly kind: "close" };

/** An action, with the id for its reply. */
export type WorkerRequest = WorkerAction & { readonly id: number };

/** An error as it crosses threads. */
export type PlainError = Pick<SheafError, "code" | "message" | "source" | "details">;

/** Result of a request. The value of `lockConversation` is the id of its lock, if the conversation exists. */
export type WorkerReply =
  | { readonly id: number; readonly ok: true; readonly value?: unknown }
  | { readonly id: number; readonly ok: false; readonly error: PlainError };
