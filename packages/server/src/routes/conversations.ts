/** `/v1/conversations`: earlier conversations, their forks and reverts. */
import type { AttachmentSummary, ChatResponse, ClarificationAnswer, ConversationPage } from "@sheaf/protocol";
import {
  changeRevert,
  conversationChange,
  forkRequest,
  publishRequest,
  revertRequest,
  waitingOrder,
} from "@sheaf/protocol/schemas";
import type { Context, Hono, MiddlewareHandler } from "hono";
import { SheafError } from "@sheaf/base/errors";
import { readConversationSettings } from "@sheaf/agent/run/conversations/conversation-settings";
import { listChanges, revertChange } from "@sheaf/agent/run/conversations/changes";
import { forkConversation } from "@sheaf/agent/run/conversations/fork";
import type { ChooseEnd } from "@sheaf/agent/run/conversations/revert";
import { waitForEnd } from "../await-start.ts";
import { recordTree, showServerBranch, type StoredConversation, toBranchEnd, toFileAccess } from "../branches.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { toDisposition } from "../disposition.ts";
import { HttpError, createNotFoundError } from "../http-error.ts";
import { cancelRunning } from "./responses.ts";
import { readJsonBody } from "../json-body.ts";
import { decodePlace, readPage, readSummary } from "../conversation-summary.ts";
import { readBlame } from "../read-blame.ts";
import { readWholeNumber } from "../read-query.ts";
import { readCurrentResponse } from "../log-reader.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";
import { createBranches } from "@sheaf/store/branches";
import {
  type ConversationRecord,
  createBusyError,
  isBusyError,
  type ResponseRecord,
  type SharedStore,
} from "@sheaf/store/store";
import { toAttachmentSummary } from "@sheaf/base/files/attachment";
import { compareStored } from "@sheaf/agent/output/session-tests/compare-stored";
import { listTreeChanges } from "@sheaf/agent/workspace/trees/list-tree-changes";
import { removeConversationFiles } from "@sheaf/agent/workspace/conversation-folders";
import { maskLog, maskValue } from "@sheaf/agent/output/event-mask";
import { formatMarkdownExport } from "@sheaf/agent/output/exports/markdown-export";
import type { StoredRequest } from "../claim-messages.ts";
import { checkSteering, listWaiting } from "../queued-responses.ts";

/** Time that a deletion waits for the end of a response. Milliseconds. */
const STOP_MS = 10_000;

/** Longest search text. UTF-16 units. */
const MAX_SEARCH = 1000;

/** One message and its response. */
interface Turn {
  readonly message: string;
  readonly answers?: readonly ClarificationAnswer[];
  readonly attachments?: readonly AttachmentSummary[];
  readonly response: ChatResponse;
  readonly versions?: readonly string[];
}

export function addConversationRoutes(app: Hono<ServerEnvironment>, context: ServerContext): void {
  app.get("/v1/conversations", async (request) => {
    const limit = readWholeNumber(request, "limit", { byDefault: 50, most: 200 });
    const before = request.req.query("before");
    const search = request.req.query("search")?.slice(0, MAX_SEARCH) || undefined;
    const pinned = request.req.query("pinned");
    if (pinned !== undefined && pinned !== "first") {
      throw new HttpError("USAGE", `pinned is ${JSON.stringify(pinned.slice(0, 100))}: send "first", or leave it out`);
    }
    const after = before === undefined ? undefined : decodePlace(before);
    const query = { limit, after, pinnedFirst: pinned === "first", search };
    const owner = request.get("owner");
    const read = (): Promise<ConversationPage> => readPage(context.storeOf(owner), query, context);
    return request.json(await (search === undefined ? read() : context.meter.search(owner, read)));
  });

  const readsWhole = createWholeLimit(context);

  app.get("/v1/conversations/:id", readsWhole, async (request) => {
    const { store, record } = await findConversation(request, context);
    return request.json(await readWhole(store, record, context, true));
  });

  app.get("/v1/conversations/:id/export", readsWhole, async (request) => {
    const format = parseExportFormat(request.req.query("format"));
    const { store, record } = await findConversation(request, context);
    request.header("Content-Disposition", toDisposition(record.title, extensions[format], "conversation"));
    if (format === "json") {
      const whole = await readWhole(store, record, context, false);
      // The file leaves out fields that are true only now; JSON drops undefined fields.
      return request.json({ ...whole, runningResponseId: undefined, approvals: undefined });
    }
    const text = await readMarkdownExport(store, record, context);
    return request.body(text, 200, { "Content-Type": "text/markdown; charset=UTF-8" });
  });

  app.patch("/v1/conversations/:id", async (request) => {
    const { store, record } = await findConversation(request, context);
    const { title, model, mode, effort, pinned } = await readJsonBody(request.req, conversationChange);
    const { names } = context.models;
    if (model !== undefined && !names.includes(model)) {
      const message = `the model ${JSON.stringify(model)} is not offered here: use one of ${names.join(", ")}`;
      throw new SheafError("MODEL_NOT_FOUND", message, { source: "server" });
    }
    const { effort: keptEffort, ...kept } = await readConversationSettings(store, record);
    const newEffort = effort === undefined ? keptEffort : (effort ?? undefined);
    const settings = { ...kept, ...(mode && { mode }), ...(model && { model }), effort: newEffort };
    const isChanged = await store.changeConversation(record.id, { title: title?.trim(), settings, pinned });
    if (!isChanged) throw createNotFoundError("conversation", record.id);
    return request.json(await readSummary(store, (await findConversation(request, context)).record, context));
  });

  app.delete("/v1/conversations/:id", async (request) => {
    const { store, record } = await findConversation(request, context);
    await deleteWithRunning(record.id, store, context);
    void context.preparer.end(record.id);
    void context.trees.forget(record.id).catch(context.onDefect);
    const { dataFolder } = context.settings;
    if (dataFolder !== undefined) await removeConversationFiles(dataFolder, record.id);
    return request.body(null, 204);
  });

  app.put("/v1/conversations/:id/waiting", readsWhole, async (request) => {
    const { store, record } = await findConversation(request, context);
    const { waiting } = await readJsonBody(request.req, waitingOrder);
    const order = waiting.map(({ responseId, whenBusy }) => ({
      responseId,
      ...(whenBusy && { steers: whenBusy === "steer" }),
    }));
    const steering = new Set(order.filter(({ steers }) => steers).map(({ responseId }) => responseId));
    for (const { responseId, text } of steering.size > 0 ? await store.waiting.list(record.id) : [])
      if (steering.has(responseId)) checkSteering((JSON.parse(text) as StoredRequest).body);
    await store.waiting.arrange(record.id, order);
    return request.json({ waiting: await listWaiting(store, record.id, context.settings.wire.mask) });
  });

  app.post("/v1/conversations/:id/fork", async (request) => {
    const { store, record } = await findConversation(request, context);
    const { responseId } = await readJsonBody(request.req, forkRequest);
    const fork = await forkConversation(store, record.id, responseId, context.now);
    if (!fork) throw createNotFoundError("response", responseId);
    await context.trees.copyState(record, fork, store);
    return request.json(await readSummary(store, fork, context), 201, { Location: `/v1/conversations/${fork.id}` });
  });

  app.get("/v1/conversations/:id/changes", async (request) => {
    const { store, record } = await findConversation(request, context);
    const { asked, ports } = await toFileAccess(store, record, context);
    return request.json({ files: await listChanges(asked, ports) });
  });

  app.get("/v1/conversations/:id/blame", readsWhole, async (request) => {
    const { store, record } = await findConversation(request, context);
    const asked = { path: request.req.query("path") ?? "", signal: request.req.raw.signal };
    return request.json(await readBlame(asked, record, store, context));
  });

  app.get("/v1/conversations/:id/diff", readsWhole, async (request) => {
    const { store, record } = await findConversation(request, context);
    const other = request.req.query("with") ?? "";
    if (!(await store.getConversation(other))) throw createNotFoundError("conversation", other);
    const { settings, now, trees } = context;
    const { dataFolder, environment, wire } = settings;
    const readTree = async (place: ConversationRecord) => {
      const states = await trees.readStates(place, store, []);
      const changes = states && (await listTreeChanges(states.tree.mirror, states.from, states.to));
      return changes && new Map(changes.map(({ path, after }) => [path, after?.id ?? null]));
    };
    const ports = { store, dataFolder, environment, mask: wire.mask, now, readTree };
    return request.json(await compareStored([record.id, other], ports));
  });

  app.post("/v1/conversations/:id/changes/revert", async (request) => {
    const { store, record } = await findConversation(request, context);
    const change = await readJsonBody(request.req, changeRevert);
    const { asked, ports } = await toFileAccess(store, record, context);
    const outcome = await revertChange({ ...asked, ...change }, ports);
    if (!outcome) throw createNotFoundError("change", change.filePath);
    if (outcome.conflict !== undefined) {
      throw new HttpError("FILES_CHANGED", `${change.filePath} was not reverted: ${outcome.conflict}`);
    }
    await recordTree(store, record, context);
    return request.json({ files: await listChanges(asked, (await toFileAccess(store, record, context)).ports) });
  });

  app.post("/v1/conversations/:id/publish", async (request) => {
    const { store, record } = await findConversation(request, context);
    const { branch, message } = await readJsonBody(request.req, publishRequest);
    const release = await store.lockConversation(record.id);
    try {
      const { commit } = await context.trees.publish(record, { branch, message }, store);
      return request.json({ branch, commit }, 201);
    } finally {
      await release?.();
    }
  });

  app.post("/v1/conversations/:id/revert", async (request) => {
    const conversation = await findConversation(request, context);
    const { responseId, ...asked } = await readJsonBody(request.req, revertRequest);
    const chooseEnd: ChooseEnd = (all) => {
      const shown = all.filter(({ reverted }) => !reverted);
      const first = shown.findIndex(({ id }) => id === responseId);
      if (first < 0) throw createNotFoundError("response", responseId);
      return shown[first - 1];
    };
    return request.json(await showServerBranch(asked, chooseEnd, conversation, context));
  });

  app.post("/v1/conversations/:id/branches", async (request) => {
    const conversation = await findConversation(request, context);
    const { responseId, ...asked } = await readJsonBody(request.req, revertRequest);
    const chooseEnd: ChooseEnd = (all) => createBranches(all).findEnd(toBranchEnd(responseId)(all)!);
    return request.json(await showServerBranch(asked, chooseEnd, conversation, context));
  });
}

/** Limits requests for whole conversations, which are large: one owner loads one at a time, and few wait (S-55). */
function createWholeLimit({ meter }: ServerContext): MiddlewareHandler<ServerEnvironment> {
  return async (request, next) => {
    const owner = request.get("owner");
    const { outgoing } = request.env;
    outgoing.once("close", meter.openWhole(owner));
    return meter.loadWhole(owner, async () => (outgoing.destroyed ? request.body(null) : next()));
  };
}

/** Ends running responses first; a waiting message may start meanwhile. @throws SheafError CONVERSATION_BUSY. */
async function deleteWithRunning(id: string, store: SharedStore, context: ServerContext): Promise<void> {
  const isLate = AbortSignal.timeout(STOP_MS);
  for (;;) {
    const running = (await store.listResponses(id)).find(({ ended }) => !ended);
    try {
      if (running) {
        await cancelRunning(running.id, store, context);
        await waitForEnd(running.id, store, context, isLate);
      }
      await store.deleteConversation(id);
      return;
    } catch (error) {
      if (isLate.aborted) throw createBusyError(id);
      if (!isBusyError(error)) throw error;
      await sleep(50);
    }
  }
}

async function findConversation(
  request: Context<ServerEnvironment>,
  context: ServerContext,
): Promise<StoredConversation> {
  const store = context.storeOf(request.get("owner"));
  const id = request.req.param("id") ?? "";
  const record = await store.getConversation(id);
  if (!record) throw createNotFoundError("conversation", id);
  return { store, record };
}

/** A conversation with its turns. `isLive`: also the response that runs, and other versions (C251). */
async function readWhole(store: SharedStore, record: ConversationRecord, context: ServerContext, isLive: boolean) {
  const all = await store.listResponses(record.id);
  const branches = createBranches(all);
  const toVersions = (parent: number) => branches.listVersions(parent).map(({ id }) => id);
  const turns: Turn[] = [];
  let last = 0;
  for (const { id, position } of all.filter(({ ended, reverted }) => !reverted && (ended || isLive))) {
    const turn = await readTurn(store, id, context);
    if (!turn) continue;
    const versions = toVersions(last);
    turns.push({ ...turn, ...(isLive && versions.length > 1 && { versions }) });
    last = position;
  }
  const settings = await readConversationSettings(store, record);
  const summary = await readSummary(store, { ...record, settings }, context);
  const nextVersions = toVersions(last);
  const waiting = isLive ? await listWaiting(store, record.id, context.settings.wire.mask) : [];
  const live = { ...(nextVersions.length > 0 && { nextVersions }), ...(waiting.length > 0 && { waiting }) };
  return { ...summary, turns, ...(isLive && live) };
}

async function readTurn(store: SharedStore, responseId: string, context: ServerContext): Promise<Turn | undefined> {
  const [start] = await store.readEvents(responseId, 0, 1);
  const response = await readCurrentResponse(store, responseId, context);
  if (start?.type !== "run_start" || !response) return undefined;
  const { prompt: message, answers, attachments: files } = maskValue(start, context.settings.wire.mask);
  const attachments = files?.map(toAttachmentSummary);
  return { message, ...(answers && { answers }), ...(attachments && { attachments }), response };
}

/** Values of `?format=` and the extensions of their files. */
const extensions = { markdown: "md", json: "json" } as const;

type ExportFormat = keyof typeof extensions;

/** @throws HttpError USAGE. */
function parseExportFormat(text: string | undefined): ExportFormat {
  if (text === "markdown" || text === "json") return text;
  const problem = text === undefined ? "is missing" : `is ${JSON.stringify(text.slice(0, 100))}`;
  throw new HttpError("USAGE", `format ${problem}: send one of ${Object.keys(extensions).join(", ")}`);
}

/** Lists the responses in a file, oldest first: ended and not reverted, so that the file never becomes wrong. */
async function listExported(store: SharedStore, conversationId: string): Promise<readonly ResponseRecord[]> {
  return (await store.listResponses(conversationId)).filter(({ ended, reverted }) => ended && !reverted);
}

async function readMarkdownExport(
  store: SharedStore,
  { id, title }: ConversationRecord,
  { settings }: ServerContext,
): Promise<string> {
  const responses = [];
  for (const response of await listExported(store, id)) {
    responses.push({ events: maskLog(await store.readEvents(response.id), settings.wire) });
  }
  return formatMarkdownExport({ conversation: { title }, responses });
}
