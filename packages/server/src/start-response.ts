/** Plans the response to a message, and starts it or stores it to wait. */
import { randomUUID } from "node:crypto";
import { readNotices, type ChatRequest, type ClarificationAnswer, type RunEvent, type RunStart } from "@sheaf/protocol";
import type { ChooseEnd } from "@sheaf/agent/run/conversations/revert";
import type { PreparedRun } from "@sheaf/agent/run/conversations/response-runner";
import { toRunStart, type RunRequest } from "@sheaf/agent/assemble/run-request";
import { SheafError } from "@sheaf/base/errors";
import { toUserFiles } from "@sheaf/base/paths";
import { checkAttachmentTypes } from "@sheaf/models/attachments";
import type { Model } from "@sheaf/models/provider";
import type { BudgetLimits } from "@sheaf/agent/run/budget";
import { readConversationSettings } from "@sheaf/agent/run/conversations/conversation-settings";
import type { WhenBusy } from "@sheaf/agent/run/conversations/conversation-lanes";
import { noteNewTree, type CutLog } from "@sheaf/agent/run/conversations/cut-log";
import { type RespondPorts, waitForTools } from "@sheaf/agent/run/conversations/respond";
import { addPastTurns, type PastTurn } from "@sheaf/agent/run/conversations/past-turns";
import { showServerBranch, toBranchEnd } from "./branches.ts";
import { checkAnswers } from "./check-answers.ts";
import { askPatiently, isStoreAway } from "./ask-patiently.ts";
import type { StoredRequest } from "./claim-messages.ts";
import { toFiles } from "./data-address.ts";
import { HttpError, createNotFoundError } from "./http-error.ts";
import { checkSteering, toAddedMessage } from "./queued-responses.ts";
import type { AcceptedResponse } from "./request-keys.ts";
import type { ServerContext, ServerSettings } from "./server-context.ts";
import { type ServerModels, toShownModel } from "./server-models.ts";
import { toWholeRequest, type WholeRequest } from "./stored-attachments.ts";
import {
  isBusyError,
  type ConversationRecord,
  type ConversationSettings,
  type RequestKey,
  type ResponseRecord,
  type SharedStore,
  type Store,
} from "@sheaf/store/store";

interface StartOptions {
  /** The id of the request, if the client may send it again (X9). */
  readonly request: RequestKey | undefined;
  /** Aborted when the client stops waiting for the start. */
  readonly starting: AbortController;
  /** The turns that a new conversation starts with. */
  readonly past?: readonly PastTurn[] | undefined;
  readonly newConversationId?: string | undefined;
  /** The id of a response that waited in the store, and that this server claimed. */
  readonly claimed?: string | undefined;
}

/**
 * Starts the response to the message in `body`. Resolves once the response runs, or waits in the store.
 * @throws HttpError NOT_FOUND, USAGE; SheafError CONVERSATION_BUSY, MODEL_NOT_FOUND, STORAGE_…, OVERLOADED.
 */
export async function startResponse(
  body: ChatRequest,
  owner: string,
  context: ServerContext,
  options: StartOptions,
): Promise<AcceptedResponse> {
  const { whenBusy = "reject" } = body;
  if (whenBusy === "steer") checkSteering(body);
  await context.takeStartTurn();
  const whole = await toWholeRequest(body, context.storeOf(owner), context.meter.attachments, context.now());
  const plan = await planResponse(whole, owner, context, options);
  if (whenBusy === "queue" || whenBusy === "steer") return beginOrStore(plan, context, options);
  await runPlan(plan, whenBusy, context, options);
  return toAccepted(plan);
}

function toAccepted({ run: { responseId, conversationId } }: ResponsePlan): AcceptedResponse {
  return { responseId, conversationId, isNew: true };
}

/** Starts the response here. If the conversation is busy, stores the message until a server starts it. */
async function beginOrStore(
  plan: ResponsePlan,
  context: ServerContext,
  { request, claimed, starting, ...options }: StartOptions,
): Promise<AcceptedResponse> {
  const { responseId, conversationId } = plan.run;
  const { waiting } = plan.store;
  if (claimed !== undefined || !(await waiting.hasWaiting(conversationId))) {
    try {
      await runPlan(plan, "reject", context, { request, claimed, starting, ...options });
      return toAccepted(plan);
    } catch (error) {
      if (claimed !== undefined || !isBusyError(error)) throw error;
    }
  }
  starting.signal.throwIfAborted();
  const leave = (): void => void askPatiently(() => waiting.remove(responseId)).catch(context.onDefect);
  const text = toMessageText(plan, context, request);
  const steers = plan.body.whenBusy === "steer";
  await waiting
    .add({ responseId, conversationId, text, request, steers }, context.meter.maxWaiting)
    .catch((error: unknown) => {
      // The store may have the message, but the client gets an error.
      if (isStoreAway(error)) leave();
      throw context.meter.toLimitError(error);
    });
  if (starting.signal.aborted) leave();
  else starting.signal.addEventListener("abort", leave, { once: true });
  return { ...toAccepted(plan), queued: { responseId, conversationId, start: toPlannedStart(plan, context) } };
}

function toMessageText(plan: ResponsePlan, context: ServerContext, request: RequestKey | undefined): string {
  const { body, run } = plan;
  const start = toPlannedStart(plan, context);
  return JSON.stringify({ body, newConversationId: run.conversationId, request, start } satisfies StoredRequest);
}

function toPlannedStart({ run }: ResponsePlan, { settings }: ServerContext): Omit<RunStart, "type"> {
  return { ...toRunStart(run), sandbox: settings.sandbox };
}

/** A response that is fully described but not started. */
interface ResponsePlan {
  readonly body: WholeRequest;
  readonly owner: string;
  readonly store: SharedStore;
  readonly run: RunRequest;
  readonly model: Model;
  /** The conversation of the message; undefined: a new one. */
  readonly conversation: ConversationRecord | undefined;
  /** Chooses the end of the branch that the message continues. Undefined: the message continues the shown branch. */
  readonly chooseEnd: ChooseEnd | undefined;
  readonly checkOwnAnswers: () => Promise<unknown>;
}

/** @throws HttpError, SheafError if the response can't start here. */
export async function planResponse(
  body: WholeRequest,
  owner: string,
  context: ServerContext,
  { newConversationId = `conv_${randomUUID()}`, claimed }: Pick<StartOptions, "newConversationId" | "claimed">,
): Promise<ResponsePlan> {
  const { settings, models, meter } = context;
  const store = context.storeOf(owner);
  const conversation = await findConversation(body, owner, context);
  const kept = conversation ? await readConversationSettings(store, conversation) : {};
  const modelName = chooseModelName(body, kept, models);
  const { model, price, windowTokens } = await models.open(modelName);
  const files = toMessageFiles(body);
  checkAttachmentTypes(files.attachments ?? [], model);
  const root = chooseWorkspace(body, conversation, context);
  const workspace = context.trees.toFolder(root, conversation?.id ?? newConversationId);
  const { parentResponseId } = body;
  const chooseEnd = parentResponseId === undefined ? undefined : toBranchEnd(parentResponseId);
  const findLast = async (): Promise<ResponseRecord | undefined> => {
    const all = conversation ? await store.listResponses(conversation.id) : [];
    return chooseEnd ? chooseEnd(all) : all.findLast(({ reverted }) => !reverted);
  };
  const checkOwnAnswers = async (): Promise<readonly ClarificationAnswer[]> => {
    const given = body.answers ?? [];
    return given.length === 0 && !chooseEnd ? given : checkAnswers(given, await findLast(), store, settings.wire);
  };
  const answers = await checkOwnAnswers();
  const { maxTurns, maxToolCalls, maxTokens, maxCostUsd } = body.budget ?? {};
  const asked = toLowerLimits(settings.limits, { maxTurns, maxToolCalls, maxTokens, maxCostUsd });
  const limits = toLowerLimits(asked, await meter.readRest(store));
  if (body.conversationId === undefined) await meter.checkConversations(store);
  await context.preparer.look(root);
  const parts = { model, modelName, workspace, trusted: settings.isTrusted(root), settings, kept };
  const run: RunRequest = {
    ...toRunRequest({ conversationId: newConversationId, ...body, answers: [...answers] }, files, parts),
    ...(claimed !== undefined && { responseId: claimed }),
    price,
    windowTokens,
    limits,
  };
  return { body, owner, store, run, model, conversation, chooseEnd, checkOwnAnswers };
}

interface RunOptions extends StartOptions {
  /** Takes over a response that another server started. Undefined: this server starts the response. */
  readonly takeOver?: () => Promise<CutLog>;
}

/** Resolves once the response has started or continues. */
export async function runPlan(
  plan: ResponsePlan,
  whenBusy: WhenBusy,
  context: ServerContext,
  { request, starting, past = [], claimed, takeOver }: RunOptions,
): Promise<unknown> {
  const { body, owner, store, run, model, conversation, chooseEnd, checkOwnAnswers } = plan;
  const { runner, approvals, meter, preparer, trees, settings, now } = context;
  const { responseId, conversationId } = run;
  const release = meter.startResponse(owner);
  const observe = observeEvents(plan, context);
  const { timeout } = body.budget ?? {};
  try {
    return await runner.start({
      responseId,
      conversationId,
      whenBusy,
      timeoutMs: toLower(settings.timeoutMs, timeout === undefined ? undefined : timeout * 1000),
      startSignal: starting.signal,
      prepare: async (signal, abort) => {
        // The check runs again, now that this response alone writes: another message may have answered first.
        await checkOwnAnswers();
        if (!conversation) await checkPlace(run, store);
        else if (chooseEnd && !takeOver)
          await showServerBranch(body, chooseEnd, { store, record: conversation }, context);
        if (past.length > 0) await addPastTurns(store, toRunStart({ ...run, message: { prompt: "" } }), past, now());
        const approver = body.approvals === "ask" ? approvals.createApprover(responseId, store) : undefined;
        const taken = await takeOver?.();
        const tree = { id: conversationId, workspace: run.workspace };
        const { isNew: isNewTree } = await trees.prepare(tree, store, { responseId, takesOver: taken !== undefined });
        const cut = taken && isNewTree ? noteNewTree(taken, run.workspace) : taken;
        const takeMessage = async () => {
          try {
            const [first] = await askPatiently(() => store.waiting.take(responseId), signal);
            return first && toAddedMessage(first);
          } catch (error) {
            // The messages keep waiting, and start their own responses.
            if (!signal.aborted) context.onDefect(error);
            return undefined;
          }
        };
        const parts = { store, model, now, abort, approver, takeMessage, cut };
        const setup = isNewTree ? trees.findSetup(run.workspace) : undefined;
        const caches = trees.findRoot(run.workspace);
        const inTree = {
          ...run,
          setup,
          ...(caches !== undefined && { cacheOwner: `${caches} ${owner}`, hasStates: true }),
        };
        const prepared = await preparer.prepare(inTree, parts, caches ?? run.workspace, signal);
        // Another server gets changes in a tree of git only as far as this server has pushed them.
        const isContinuable =
          settings.onNodeLoss === "resume" && (caches === undefined || trees.isShared(run.workspace));
        const keepState =
          caches === undefined ? prepared.ports.keepState : createStateKeeper(prepared, isContinuable, plan, context);
        const continuation = isContinuable ? toMessageText(plan, context, request) : undefined;
        const continues = conversation !== undefined;
        const cluster = { hasWaited: claimed !== undefined, continues, maxRunning: meter.maxRunning, continuation };
        const ports = { ...prepared.ports, request, cluster, keepState };
        return { ...prepared, ports };
      },
      cancelOther: async () => {
        const { openResponseId } = (await store.getConversation(conversationId)) ?? {};
        if (openResponseId !== undefined) await store.requestCancel(openResponseId);
      },
      onEvents: observe,
      onEnd: () => {
        approvals.forget(responseId);
        release();
      },
    });
  } catch (error) {
    if (conversation && !(await store.getConversation(conversationId).catch(() => conversation))) {
      await trees.forget(conversationId).catch(context.onDefect);
      throw createNotFoundError("conversation", conversationId);
    }
    throw meter.toLimitError(error);
  }
}

/** Records the tree of a response: at its end, and if another server could continue the response, after each turn. */
function createStateKeeper(
  { tools }: Pick<PreparedRun, "tools">,
  isContinuable: boolean,
  { store, run: { responseId, conversationId, workspace } }: ResponsePlan,
  { trees, onDefect }: ServerContext,
): NonNullable<RespondPorts["keepState"]> {
  const tree = { id: conversationId, workspace };
  let isPushed = true;
  return async (moment) => {
    if (moment === "turn" && !isContinuable) return [];
    // Tools in the background could change files while Sheaf reads them.
    const notices = moment === "turn" ? [] : await waitForTools(tools);
    const wasPushed = isPushed;
    isPushed = await trees.record(tree, responseId, moment !== "end");
    if (isContinuable && moment !== "end" && isPushed !== wasPushed)
      await store.cluster?.setContinuable(responseId, isPushed).catch(onDefect);
    return notices;
  };
}

/** Reports a response to the operator: metrics, log and telemetry. */
function observeEvents(
  { store, model, run: { price } }: ResponsePlan,
  context: ServerContext,
): (events: readonly RunEvent[]) => void {
  const { metrics, meter } = context;
  const observe = context.telemetry?.startRun();
  return (events) => {
    observe?.(events);
    for (const event of events) {
      if (event.type === "run_start") {
        metrics.countStart();
        logServers(event, context);
      }
      if (event.type === "turn_end") {
        for (const notice of readNotices(event))
          context.log({ level: "warn", event: "model_notice", model: model.name, ...notice });
      }
      if (event.type !== "run_end") continue;
      metrics.countEnd(event.reason);
      for (const loss of context.telemetry?.takeLosses() ?? [])
        context.log({ level: "warn", event: "telemetry_lost", ...loss });
    }
    void meter.note(store, events, price).catch(context.onDefect);
  };
}

/** Logs the MCP servers that a response can't use (S-87). */
function logServers({ mcpServers = [], workspace }: RunStart, { log }: ServerContext): void {
  for (const { name, status, problem } of mcpServers) {
    if (status !== "ready") log({ level: "warn", event: "mcp_server_unused", workspace, name, status, problem });
  }
}

/** Returns undefined if the message starts a new conversation. @throws HttpError NOT_FOUND. */
async function findConversation(
  { conversationId }: WholeRequest,
  owner: string,
  context: ServerContext,
): Promise<ConversationRecord | undefined> {
  if (conversationId === undefined) return undefined;
  const conversation = await context.storeOf(owner).getConversation(conversationId);
  if (!conversation) throw createNotFoundError("conversation", conversationId);
  return conversation;
}

/** @throws SheafError MODEL_NOT_FOUND if the conversation's model isn't offered here: Sheaf never replaces it. */
function chooseModelName(body: WholeRequest, kept: ConversationSettings, { names }: ServerModels): string {
  const name = body.model ?? (kept.model === undefined ? (names[0] ?? "") : toShownModel(kept.model));
  if (body.model !== undefined || names.includes(name)) return name;
  const message = `this conversation continues with the model ${JSON.stringify(name)}, which is not offered here: send "model" with one of ${names.join(", ")}`;
  throw new SheafError("MODEL_NOT_FOUND", message, { source: "server" });
}

/** Two messages can start one conversation if the client chose its id (X22). @throws SheafError CONVERSATION_BUSY. */
async function checkPlace({ conversationId, workspace }: RunRequest, store: Store): Promise<void> {
  const other = await store.getConversation(conversationId);
  if (!other || other.workspace === workspace) return;
  const message = "another message began this conversation in another workspace: send the message again";
  throw new SheafError("CONVERSATION_BUSY", message, { source: "server" });
}

/** Returns the root of the conversation's workspace, which never changes, or of the one in the message. */
function chooseWorkspace(
  { workspace: name }: WholeRequest,
  conversation: ConversationRecord | undefined,
  context: ServerContext,
): string {
  const { workspaces } = context.settings;
  if (conversation) {
    const served = context.trees.findRoot(conversation.workspace) ?? conversation.workspace;
    if ([...workspaces.values()].includes(served)) return served;
    throw new HttpError("FORBIDDEN", "the workspace of this conversation is not served here: start a new conversation");
  }
  const root = name === undefined ? [...workspaces.values()][0] : workspaces.get(name);
  if (root !== undefined) return root;
  const names = [...workspaces.keys()].join(", ");
  throw new HttpError("USAGE", `the workspace ${JSON.stringify(name)} is not served here: use one of ${names}`);
}

/** @throws SheafError USAGE; its message contains the name of the file. */
function toMessageFiles({ attachments }: WholeRequest): Pick<RunStart, "attachments"> {
  if (!attachments || attachments.length === 0) return {};
  return { attachments: toFiles(attachments) };
}

interface RequestParts {
  readonly model: Model;
  readonly modelName: string;
  readonly workspace: string;
  readonly trusted: boolean;
  readonly settings: ServerSettings;
  /** The settings of the conversation (X25). */
  readonly kept: ConversationSettings;
}

function toRunRequest(
  body: WholeRequest & { readonly conversationId: string },
  files: Pick<RunStart, "attachments">,
  { model, modelName, workspace, trusted, settings, kept }: RequestParts,
): RunRequest {
  const { message, answers, conversationId } = body;
  const { mode = kept.mode ?? settings.defaultMode, effort = kept.effort ?? settings.effort } = body;
  return {
    ...settings,
    flagUser: 'the user sends "approvals": "ask" to /v1/chat, or starts sheaf serve with',
    responseId: `chat_${randomUUID()}`,
    conversationId,
    message: { prompt: message, ...files, ...(answers && answers.length > 0 && { answers }) },
    model,
    modelName,
    mode,
    effort,
    includesReasoning: body.accept?.reasoning,
    webSearch: toWebSearch(body, settings),
    basePrompt: body.systemPrompt ?? settings.basePrompt,
    systemPrompt: body.appendSystemPrompt ?? settings.systemPrompt,
    workspace,
    trusted,
    userFiles: toUserFiles(settings.environment),
  };
}

/** The operator allows search, which costs money; a request can turn it off (N70). @throws HttpError FORBIDDEN. */
function toWebSearch({ webSearch }: WholeRequest, settings: ServerSettings): RunRequest["webSearch"] {
  if (!webSearch || settings.webSearch) return webSearch ?? (settings.webSearch && "if_possible");
  throw new HttpError("FORBIDDEN", "webSearch is off here: leave it out, or start the server with --web-search");
}

type Limits = { readonly [Name in keyof BudgetLimits]?: BudgetLimits[Name] | undefined };

/** Takes the lower limit of each pair. */
function toLowerLimits(own: BudgetLimits, asked: Limits): BudgetLimits {
  const names = ["maxTurns", "maxToolCalls", "maxTokens", "maxCostUsd"] as const;
  const entries = names.map((name) => [name, toLower(own[name], asked[name])] as const);
  return Object.fromEntries(entries.filter(([, limit]) => limit !== undefined));
}

function toLower(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
