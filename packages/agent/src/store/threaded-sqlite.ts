/** The embedded store for servers: reads here, writes in a thread of their own. */
import { Worker } from "node:worker_threads";
import { SheafError, type ErrorCode, type ErrorSource } from "../base/errors.ts";
import { openSqliteConnection } from "./sqlite-connection.ts";
import { encodeEvents } from "./sqlite-groups.ts";
import { createLeases } from "./sqlite-leases.ts";
import { createSqliteLogs, type OwnedAppend } from "./sqlite-log.ts";
import { createSqliteStore, createSqliteView, type SqliteParts } from "./sqlite.ts";
import { localOwner, memoryFile, type SharedStore } from "./store.ts";

/** What the thread makes lives for one message. MiB. */
const YOUNG_MB = 3;

/** Omits over each kind of request. */
type RequestBody = WorkerRequest extends infer Request
  ? Request extends WorkerRequest
    ? Omit<Request, "id">
    : never
  : never;

/** The thread, as a function. */
interface Writer {
  /** Resolves once it is written. @throws SheafError STORAGE_…, CONVERSATION_BUSY, USAGE. */
  send(request: RequestBody): Promise<unknown>;
  /** The id of the request that was sent last. */
  readonly lastId: number;
  close(): Promise<void>;
}

/**
 * Opens the store, makes it if it is missing. It is the local owner's view.
 * @throws SheafError STORAGE_LOCKED, STORAGE_FULL, STORAGE_CORRUPT.
 */
export function createThreadedSqliteStore(file: string): SharedStore {
  // A thread could not see a database that has no file.
  if (file === memoryFile) return createSqliteStore(file);
  // Opened here first, so that a problem with the file is reported at once.
  const connection = openSqliteConnection(file);
  const leases = createLeases(connection);
  const parts: SqliteParts = { connection, leases, logs: createSqliteLogs(connection, leases) };
  return createView(parts, startWriter(file), localOwner);
}

function createView(parts: SqliteParts, writer: Writer, owner: string): SharedStore {
  const reader = createSqliteView(parts, owner);
  const call = async <Method extends WriteMethod>(
    method: Method,
    ...args: Parameters<SharedStore[Method]>
  ): Promise<Awaited<ReturnType<SharedStore[Method]>>> =>
    (await writer.send({ kind: "call", owner, method, args })) as Awaited<ReturnType<SharedStore[Method]>>;
  return {
    ...reader,
    gathersWrites: true,
    forOwner: (other) => createView(parts, writer, other),
    createResponse: (response) => call("createResponse", response),
    claimResponse: (responseId) => call("claimResponse", responseId),
    keepLease: (responseId) => call("keepLease", responseId),
    requestCancel: (responseId) => call("requestCancel", responseId),
    async lockConversation(conversationId) {
      const sent = writer.send({ kind: "call", owner, method: "lockConversation", args: [conversationId] });
      const lock = writer.lastId;
      if (!(await sent)) return undefined;
      return async () => void (await writer.send({ kind: "unlock", lock }));
    },
    async appendEvents(responseId, events, durability) {
      const encoded = encodeEvents(events);
      if (encoded) await writer.send({ kind: "append", responseId, owner, events: encoded, durability });
    },
    revertResponses: (conversationId, fromPosition) => call("revertResponses", conversationId, fromPosition),
    addConversation: (conversation) => call("addConversation", conversation),
    deleteConversation: (conversationId) => call("deleteConversation", conversationId),
    addUsage: (day, usage) => call("addUsage", day, usage),
    async close() {
      await writer.close();
      await reader.close();
    },
  };
}

function startWriter(file: string): Writer {
  // The bundle has the thread in the same folder, compiled; the sources have it as TypeScript.
  const isSource = import.meta.url.endsWith(".ts");
  const address = new URL(isSource ? "./sqlite-worker.ts" : "./sqlite-worker.js", import.meta.url);
  const worker = new Worker(address, {
    workerData: file,
    execArgv: isSource ? ["--conditions=sheaf-source"] : [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let requests: WorkerRequest[] = [];
  let lastId = 0;
  /** A message is on its way, and its outcomes are not back yet. */
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
      else request?.reject(toSheafError(reply.error));
    }
  });
  worker.on("error", (error: Error) => fail(createDeathError(file, error)));
  worker.on("exit", () => fail(createDeathError(file, undefined)));

  // What all responses write while the thread is busy is one message: one transaction, and one wake of each side. So
  // messages grow with the load, and there are only as many of them as the thread can take.
  const flush = (): void => {
    isWriting = true;
    worker.postMessage(requests, []);
    requests = [];
  };
  const send = (request: RequestBody): Promise<unknown> => {
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
    get lastId() {
      return lastId;
    },
    async close() {
      if (failure) return;
      await send({ kind: "close" });
      await worker.terminate();
    },
  };
}

function toSheafError({ code, message, source, details }: Extract<WorkerReply, { ok: false }>["error"]): SheafError {
  return new SheafError(code, message, { source, details });
}

function createDeathError(file: string, cause: Error | undefined): SheafError {
  const message = `the thread that writes the store ${file} has ended (${cause?.message ?? "closed"}): start the server again`;
  return new SheafError("INTERNAL", message, { source: "storage", cause });
}

/** Writes other than appends. */
export type WriteMethod =
  | "createResponse"
  | "claimResponse"
  | "keepLease"
  | "requestCancel"
  | "lockConversation"
  | "revertResponses"
  | "addConversation"
  | "deleteConversation"
  | "addUsage";

/** One thing to do. `id` comes back with its outcome. */
export type WorkerRequest =
  | (OwnedAppend & { readonly kind: "append"; readonly id: number })
  | {
      readonly kind: "call";
      readonly id: number;
      readonly owner: string;
      readonly method: WriteMethod;
      readonly args: Parameters<SharedStore[WriteMethod]>;
    }
  /** Gives a lock back; `lock` is the id of the call that took it. */
  | { readonly kind: "unlock"; readonly id: number; readonly lock: number }
  | { readonly kind: "close"; readonly id: number };

/** An error as it crosses threads. */
export interface PlainError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly source: ErrorSource;
  readonly details: string;
}

/** What became of a request. The value of `lockConversation` is whether there is such a conversation. */
export type WorkerReply =
  | { readonly id: number; readonly ok: true; readonly value?: unknown }
  | { readonly id: number; readonly ok: false; readonly error: PlainError };
