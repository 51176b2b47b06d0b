/** From the body of a request to a response that runs. */
import { randomUUID } from "node:crypto";
import type { ChatRequest, ClarificationAnswer, ClarificationDocument, RunStart } from "@sheaf/protocol";
import { prepareResponse } from "../assemble/prepare-response.ts";
import { toRunStart, type RunOrder } from "../assemble/run-order.ts";
import { SheafError } from "../base/errors.ts";
import { toUserFiles } from "../base/paths.ts";
import { checkAttachmentTypes } from "../model/attachments.ts";
import type { Model } from "../model/provider.ts";
import type { BudgetLimits } from "../run/budget.ts";
import { readConversationSettings } from "../run/conversations/conversation-settings.ts";
import { addPastTurns, type PastTurn } from "../run/conversations/past-turns.ts";
import { toFiles } from "./data-address.ts";
import { HttpError, createNotFoundError } from "./http-error.ts";
import { readResponse } from "./log-reader.ts";
import type { AcceptedResponse } from "./request-keys.ts";
import type { WireOptions } from "./response-channel.ts";
import type { ServerContext, ServerSettings } from "./server-context.ts";
import type { ServerModels } from "./server-models.ts";
import {
  findNewestResponse,
  type ConversationRecord,
  type ConversationSettings,
  type RequestKey,
  type Store,
} from "../store/store.ts";

interface StartOptions {
  /** The request, where it may come again (X9). */
  readonly request: RequestKey | undefined;
  /** Aborted when nobody waits for the start any more. */
  readonly starting: AbortController;
  /** What a new conversation begins with. */
  readonly past?: readonly PastTurn[] | undefined;
  /** What it is called. */
  readonly newConversationId?: string | undefined;
}

/**
 * Starts the response that a body asks for; resolves once it has begun, or waits among `context.queued`.
 * @throws HttpError NOT_FOUND, USAGE; SheafError CONVERSATION_BUSY, MODEL_NOT_FOUND, STORAGE_…, OVERLOADED.
 */
export async function startResponse(
  body: ChatRequest,
  owner: string,
  context: ServerContext,
  { request, starting, past = [], newConversationId = `conv_${randomUUID()}` }: StartOptions,
): Promise<AcceptedResponse> {
  const { settings, models, runner, approvals, meter, metrics, queued, toolServers, now } = context;
  const store = context.storeOf(owner);
  await context.takeStartTurn();
  const conversation = await findConversation(body, owner, context);
  const kept = conversation ? await readConversationSettings(store, conversation) : {};
  const modelName = chooseModelName(body, kept, models);
  const { model, price, windowTokens } = await models.open(modelName);
  const files = toMessageFiles(body);
  checkAttachmentTypes(files.attachments ?? [], model);
  const workspace = chooseWorkspace(body, conversation, context);
  const checkOwnAnswers = (): Promise<readonly ClarificationAnswer[]> =>
    checkAnswers(body.answers ?? [], body.conversationId, store, settings.wire);
  const answers = await checkOwnAnswers();
  const { maxTurns, maxToolCalls, maxTokens, maxCostUsd, timeout } = body.budget ?? {};
  const asked = toLowerLimits(settings.limits, { maxTurns, maxToolCalls, maxTokens, maxCostUsd });
  const limits = toLowerLimits(asked, await meter.readRest(store));
  if (body.conversationId === undefined) await meter.checkConversations(store);
  const order: RunOrder = {
    ...toRunOrder({ conversationId: newConversationId, ...body, answers: [...answers] }, files, {
      model,
      modelName,
      workspace,
      settings,
      kept,
    }),
    price,
    windowTokens,
    limits,
  };
  const { responseId, conversationId } = order;
  const release = meter.startResponse(owner);
  const waits = Promise.withResolvers<void>();
  const observe = context.telemetry?.startRun();
  const begun = runner.start({
    responseId,
    conversationId,
    whenBusy: body.whenBusy ?? "reject",
    timeoutMs: toLower(settings.timeoutMs, timeout === undefined ? undefined : timeout * 1000),
    startSignal: starting.signal,
    onWait: waits.resolve,
    prepare: async (signal, abort) => {
      // Once more, now that nobody else writes the conversation: somebody else may have been faster.
      await checkOwnAnswers();
      if (!conversation) await checkPlace(order, store);
      if (past.length > 0) await addPastTurns(store, toRunStart({ ...order, message: { prompt: "" } }), past, now());
      const approver = body.approvals === "ask" ? approvals.createApprover(responseId, store) : undefined;
      const prepared = await prepareResponse(order, { store, model, now, abort, approver, toolServers }, signal);
      const ports = { ...prepared.ports, request };
      return { ...prepared, ports };
    },
    onEvents: (events) => {
      observe?.(events);
      for (const event of events) {
        if (event.type === "run_start") {
          metrics.countStart();
          logServers(event, context);
        }
        if (event.type === "turn_end" && event.notice !== undefined) {
          context.log({ level: "warn", event: "model_notice", model: model.name, notice: event.notice });
        }
        if (event.type === "run_end") metrics.countEnd(event.reason);
      }
      void meter.note(store, events, price).catch(context.onDefect);
    },
    onEnd: () => {
      approvals.forget(responseId);
      release();
    },
  });
  if (body.whenBusy !== "queue") {
    await begun;
    return { responseId, conversationId, begun };
  }
  const isWaiting = await Promise.race([begun.then(() => false), waits.promise.then(() => true)]);
  if (isWaiting) {
    const start = { ...toRunStart(order), sandbox: settings.sandbox };
    const cancel = (reason: SheafError): void => starting.abort(reason);
    queued.add({ responseId, conversationId, owner, start, begun, cancel });
  }
  return { responseId, conversationId, begun };
}

/** Tells the operator which MCP servers a response goes without (S-87). */
function logServers({ mcpServers = [], workspace }: RunStart, { log }: ServerContext): void {
  for (const { name, status, problem } of mcpServers) {
    if (status !== "ready") log({ level: "warn", event: "mcp_server_unused", workspace, name, status, problem });
  }
}

/** Undefined: a new one begins. @throws HttpError NOT_FOUND. */
async function findConversation(
  { conversationId }: ChatRequest,
  owner: string,
  context: ServerContext,
): Promise<ConversationRecord | undefined> {
  if (conversationId === undefined) return undefined;
  const conversation = await context.storeOf(owner).getConversation(conversationId);
  if (!conversation) throw createNotFoundError("conversation", conversationId);
  return conversation;
}

/** @throws SheafError MODEL_NOT_FOUND when the model of the conversation is no longer offered: no other one takes its place. */
function chooseModelName(body: ChatRequest, kept: ConversationSettings, { names }: ServerModels): string {
  const name = body.model ?? kept.model ?? names[0] ?? "";
  if (body.model !== undefined || names.includes(name)) return name;
  const message = `this conversation goes on with the model ${JSON.stringify(name)}, which is not offered here: send "model" with one of ${names.join(", ")}`;
  throw new SheafError("MODEL_NOT_FOUND", message, { source: "server" });
}

/** A client that names a new conversation (X22) may begin it twice at the same moment. @throws SheafError CONVERSATION_BUSY. */
async function checkPlace({ conversationId, workspace }: RunOrder, store: Store): Promise<void> {
  const other = await store.getConversation(conversationId);
  if (!other || other.workspace === workspace) return;
  const message = "another message began this conversation in another workspace: send the message again";
  throw new SheafError("CONVERSATION_BUSY", message, { source: "server" });
}

/** A conversation stays where it began. */
function chooseWorkspace(
  { workspace: name }: ChatRequest,
  conversation: ConversationRecord | undefined,
  context: ServerContext,
): string {
  const { workspaces } = context.settings;
  if (conversation) {
    if ([...workspaces.values()].includes(conversation.workspace)) return conversation.workspace;
    throw new HttpError("FORBIDDEN", "the workspace of this conversation is not served here: start a new conversation");
  }
  const root = name === undefined ? [...workspaces.values()][0] : workspaces.get(name);
  if (root !== undefined) return root;
  const names = [...workspaces.keys()].join(", ");
  throw new HttpError("USAGE", `the workspace ${JSON.stringify(name)} is not served here: use one of ${names}`);
}

/** @throws SheafError USAGE that names the file. */
function toMessageFiles({ attachments }: ChatRequest): Pick<RunStart, "attachments"> {
  if (!attachments || attachments.length === 0) return {};
  return { attachments: toFiles(attachments) };
}

interface OrderParts {
  readonly model: Model;
  readonly modelName: string;
  readonly workspace: string;
  readonly settings: ServerSettings;
  /** Of the conversation (X25). */
  readonly kept: ConversationSettings;
}

function toRunOrder(
  body: ChatRequest & { readonly conversationId: string },
  files: Pick<RunStart, "attachments">,
  { model, modelName, workspace, settings, kept }: OrderParts,
): RunOrder {
  const { message, answers, conversationId } = body;
  const { mode = kept.mode ?? settings.defaultMode, effort = kept.effort ?? settings.effort } = body;
  return {
    ...settings,
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
    trusted: settings.isTrusted(workspace),
    userFiles: toUserFiles(settings.environment),
  };
}

/** The operator says yes for all, and pays; a request can do without (N70). @throws HttpError FORBIDDEN. */
function toWebSearch({ webSearch }: ChatRequest, settings: ServerSettings): RunOrder["webSearch"] {
  if (!webSearch || settings.webSearch) return webSearch ?? (settings.webSearch && "if_possible");
  throw new HttpError("FORBIDDEN", "webSearch is off here: leave it out, or start the server with --web-search");
}

type Limits = { readonly [Name in keyof BudgetLimits]?: BudgetLimits[Name] | undefined };

/** The lower one of each pair of limits. */
function toLowerLimits(own: BudgetLimits, asked: Limits): BudgetLimits {
  const names = ["maxTurns", "maxToolCalls", "maxTokens", "maxCostUsd"] as const;
  const entries = names.map((name) => [name, toLower(own[name], asked[name])] as const);
  return Object.fromEntries(entries.filter(([, limit]) => limit !== undefined));
}

function toLower(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** @returns the answer to every question. @throws SheafError USAGE that names the field. */
async function checkAnswers(
  answers: readonly ClarificationAnswer[],
  conversationId: string | undefined,
  store: Store,
  wire: WireOptions,
): Promise<readonly ClarificationAnswer[]> {
  if (answers.length === 0) return answers;
  const asked = conversationId === undefined ? [] : await readQuestions(conversationId, store, wire);
  for (const [index, answer] of answers.entries()) {
    const problem = findProblem(answer, asked);
    if (problem === undefined) continue;
    const [field, message] = problem;
    const told = `the body is not valid at answers.${index}.${field}: ${message}`;
    throw new SheafError("USAGE", told, { source: "server" });
  }
  return asked.flatMap((document) => addSkipped(document, answers));
}

/** The answers to the questions of a document; those that were skipped are empty (N73). A document may be left alone. */
function addSkipped(
  { id: documentId, metadata: { questions } }: ClarificationDocument,
  answers: readonly ClarificationAnswer[],
): readonly ClarificationAnswer[] {
  const given = answers.filter((answer) => answer.documentId === documentId);
  if (given.length === 0) return [];
  const isSkipped = (id: string): boolean => !given.some(({ questionId }) => questionId === id);
  return questions.flatMap(({ id }) =>
    isSkipped(id)
      ? [{ documentId, questionId: id, optionIds: [], text: "" }]
      : given.filter(({ questionId }) => questionId === id),
  );
}

async function readQuestions(
  conversationId: string,
  store: Store,
  wire: WireOptions,
): Promise<ClarificationDocument[]> {
  const last = await findNewestResponse(store, conversationId);
  const response = last && (await readResponse(store, last.id, wire));
  return response?.documents.filter((document) => document.type === "clarification") ?? [];
}

type Problem = readonly [field: keyof ClarificationAnswer, message: string];

function findProblem(answer: ClarificationAnswer, asked: readonly ClarificationDocument[]): Problem | undefined {
  const { documentId, questionId, optionIds } = answer;
  const document = asked.find(({ id }) => id === documentId);
  if (!document) return ["documentId", `the last response has no clarification ${quote(documentId)}`];
  const question = document.metadata.questions.find(({ id }) => id === questionId);
  if (!question) return ["questionId", `${quote(questionId)} was not asked`];
  const unknown = optionIds.find((optionId) => !question.options.some(({ id }) => id === optionId));
  if (unknown !== undefined) return ["optionIds", `${quote(unknown)} is not an option of ${quote(questionId)}`];
  if (optionIds.length > 1 && question.allowMultiple !== true) {
    return ["optionIds", `${quote(questionId)} takes one option`];
  }
  return undefined;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
