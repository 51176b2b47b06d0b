/** Ends a response whose process died, with a reason and a result for every call without one. */
import type { AgentEvent, OwnEventBody, RunEvent, RunEventBody, RunStart } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { sheafVersion } from "@sheaf/base/version";
import { toRunFailure } from "../run-failure.ts";
import { createBusyError, type ResponseRecord, type Store } from "@sheaf/store/store";
import { toCancelledOutcome } from "../../tools/failure.ts";

/** The responses of a conversation, after closing those of dead processes. The open ones still have a writer. */
export async function listEndedResponses(
  store: Store,
  conversationId: string,
  now: () => number,
): Promise<readonly ResponseRecord[]> {
  const responses = await store.listResponses(conversationId);
  if (responses.every(({ ended }) => ended)) return responses;
  for (const { id, ended } of responses) if (!ended) await endCutResponse(store, id, now);
  return store.listResponses(conversationId);
}

export interface LoggedResponse extends Pick<ResponseRecord, "id" | "createdAt"> {
  readonly events: readonly RunEvent[];
}

/** Reads the responses that the user didn't revert, oldest first. Ends first the responses of dead processes. */
export async function* readLogs(
  store: Store,
  conversationId: string,
  now: () => number,
): AsyncGenerator<LoggedResponse> {
  yield* readTogether(
    store,
    (await listEndedResponses(store, conversationId, now)).filter(({ reverted }) => !reverted),
  );
}

/** Works like `readLogs`. @throws SheafError CONVERSATION_BUSY while another process writes a response. */
export async function* readEndedLogs(
  store: Store,
  conversationId: string,
  now: () => number,
): AsyncGenerator<LoggedResponse> {
  for await (const log of readLogs(store, conversationId, now)) {
    if (log.events.at(-1)?.type !== "run_end") throw createBusyError(conversationId);
    yield log;
  }
}

/** Logs that are read at the same time: a database has one statement for them, and memory holds them all. */
const MAX_TOGETHER = 16;

/** The logs of these responses, in their order. */
export async function* readTogether(
  store: Store,
  responses: readonly ResponseRecord[],
): AsyncGenerator<LoggedResponse> {
  for (let index = 0; index < responses.length; index += MAX_TOGETHER) {
    const reading = responses
      .slice(index, index + MAX_TOGETHER)
      .map(async ({ id, createdAt }) => ({ id, createdAt, events: await store.readEvents(id) }));
    yield* await Promise.all(reading);
  }
}

/**
 * Ends a response that has no end and no writer. Repeats no call, because its effects are unknown.
 * Returns false if the response has a writer or has ended.
 */
export async function endCutResponse(store: Store, responseId: string, now: () => number): Promise<boolean> {
  if (!(await store.claimResponse(responseId))) return false;
  await endClaimedResponse(store, responseId, now);
  return true;
}

/** Ends a response whose lease this process has. `start`: its first event, if it is known. */
export async function endClaimedResponse(
  store: Store,
  responseId: string,
  now: () => number,
  start?: Omit<RunStart, "type">,
): Promise<void> {
  try {
    const events = await store.readEvents(responseId);
    const last = events.at(-1);
    const time = Math.max(last?.time ?? 0, now());
    // Its process died before it stored the message.
    const begin = last ? [] : [{ type: "run_start" as const, ...(start ?? (await toLostStart(store, responseId))) }];
    const closing = [...begin, ...toClosingEvents(events)].map((event, index) => ({
      ...event,
      seq: (last?.seq ?? 0) + index + 1,
      time,
    }));
    await store.appendEvents(responseId, closing, "synced");
  } finally {
    await store.leaveResponse(responseId).catch(() => undefined);
  }
}

/** The first event of a response that lost its message, as far as the store knows it. */
async function toLostStart(store: Store, responseId: string): Promise<Omit<RunStart, "type">> {
  const { conversationId = "" } = (await store.getResponse(responseId)) ?? {};
  const { workspace = "" } = (await store.getConversation(conversationId)) ?? {};
  return {
    responseId,
    conversationId,
    workspace,
    mode: "agent",
    model: "",
    modelName: "",
    apiKeySource: "none",
    permissionMode: "default",
    sandbox: "untried",
    trusted: false,
    sheafVersion,
    prompt: "",
  };
}

/** Calls without a result, and questions without an answer with the calls that they are about. */
export function listOpen(events: readonly RunEvent[]): {
  readonly calls: ReadonlySet<string>;
  readonly approvals: ReadonlyMap<string, string>;
  /** Calls that wait for permission, and have not started. A call whose server asks something has started. */
  readonly unapproved: ReadonlySet<string>;
} {
  const calls = new Set<string>();
  const approvals = new Map<string, string>();
  const questions = new Set<string>();
  for (const event of events) {
    if (event.type === "tool_call_start") calls.add(event.callId);
    if (event.type === "tool_result") calls.delete(event.callId);
    if (event.type === "approval_request") approvals.set(event.approvalId, event.callId);
    if (event.type === "approval_request" && event.subject.type === "server_question") questions.add(event.approvalId);
    if (event.type === "approval_resolved") approvals.delete(event.approvalId);
  }
  const waiting = [...approvals].filter(([approvalId]) => !questions.has(approvalId));
  return { calls, approvals, unapproved: new Set(waiting.map(([, callId]) => callId)) };
}

/**
 * Events that end the subagents of open calls, before the results of these calls: no subagent continues (C99).
 * A subagent cannot have subagents.
 */
export function closeAgents(events: readonly RunEvent[], cut = createProcessCut()): AgentEvent[] {
  const { calls } = listOpen(events);
  return [...calls].flatMap((callId) => {
    const own = listAgentEvents(events, callId);
    if (own.length === 0 || own.at(-1)!.type === "run_end") return [];
    return toClosingEvents(own, cut).map((event) => ({ type: "agent_event", callId, event: event as OwnEventBody }));
  });
}

export function listAgentEvents(events: readonly RunEvent[], callId: string): RunEvent[] {
  return events.flatMap((logged) =>
    logged.type === "agent_event" && logged.callId === callId
      ? [{ ...logged.event, seq: logged.seq, time: logged.time }]
      : [],
  );
}

/** The reason why a log lacks its end. */
interface Cut {
  /** The reason in the results of calls, as in "the process ended before this call had a result". */
  readonly cause: string;
  readonly error: SheafError;
}

function createProcessCut(): Cut {
  const message = "the process that wrote this response ended before it was complete: send the message again";
  return { cause: "the process ended", error: new SheafError("INTERRUPTED", message, { source: "server" }) };
}

/** The end of a log, with a result for each open call and `run_end` with the error. Default: its process died. */
export function toClosingEvents(events: readonly RunEvent[], cut = createProcessCut()): RunEventBody[] {
  const { calls, approvals, unapproved } = listOpen(events);
  const { cause, error } = cut;
  return [
    ...closeAgents(events, cut),
    ...[...approvals.keys()].map((approvalId) => toRejected(events, approvalId)),
    ...[...calls].map((callId): RunEventBody => ({
      type: "tool_result",
      callId,
      ...toCancelledOutcome(
        unapproved.has(callId)
          ? `${cause} while this call waited for an answer; it did not run`
          : listAgentEvents(events, callId).length > 0
            ? `${cause} while this subagent worked, so it made no report: make the call again if you need it`
            : `${cause} before this call had a result, so its effects are not known`,
      ),
      durationMs: 0,
    })),
    toRunFailure(error),
  ];
}

/** Refuses a question that has no answer. */
export function toRejected(events: readonly RunEvent[], approvalId: string): RunEventBody {
  const request = events.find((event) => event.type === "approval_request" && event.approvalId === approvalId);
  const options = request?.type === "approval_request" ? request.options : [];
  const optionId = options.find(({ kind }) => kind === "reject_once")?.id ?? "";
  return { type: "approval_resolved", approvalId, optionId, by: "cancelled" };
}
