/** One response of a conversation: opened in the store, run, and delivered event by event. */
import type { Notice, RunEnd, RunEvent } from "@sheaf/protocol";
import { waitAtMost } from "@sheaf/base/wait-at-most";
import { createTextMask } from "@sheaf/base/text-mask";
import { SheafError } from "@sheaf/base/errors";
import { createRunLog, type EventGroup, readAhead } from "../run-log.ts";
import { mayChangeFiles } from "./cut-log.ts";
import { toRunFailure } from "../run-failure.ts";
import { runResponse, type RunPorts, type RunSettings } from "../run.ts";
import type { ClusterTerms } from "@sheaf/store/cluster";
import {
  createLostError,
  isBusyError,
  isHandOver,
  type ConversationSettings,
  type RequestKey,
  type Store,
} from "@sheaf/store/store";
import type { ToolBox } from "../../tools/tool.ts";

/** Interval at which a writer renews its lease. Milliseconds; a lease lasts five times as long. */
const KEEP_MS = 2000;

/** Time that the processes of cancelled tools may take to end (C23). Milliseconds. */
const SETTLE_MS = 5000;

/** A process that may have been stopped this long checks its lease before it continues. Milliseconds. */
const STALE_MS = 5000;

/** Longest title of a conversation, in UTF-16 units. */
const MAX_TITLE = 80;

export interface RespondPorts extends RunPorts {
  readonly store: Store;
  /** Aborts the run; called when the store fails. */
  readonly abort: (reason: SheafError) => void;
  /** The request for the response, if it may come again (X9). */
  readonly request?: RequestKey | undefined;
  readonly cluster?: ClusterTerms | undefined;
  /**
   * Keeps the state of the files after calls that may have changed some, and returns the notices of the
   * end (C71). Never rejects.
   */
  readonly keepState?: KeepState | undefined;
  /**
   * Called if the store refuses events: the caller ends or continues the response after this run. Without it,
   * the run itself ends with the failure of the store.
   */
  readonly onUnstored?: ((error: SheafError) => void) | undefined;
  /** Settings that the conversation keeps (X25). */
  readonly choices?: ConversationSettings | undefined;
}

/** Keeps the state before the next turn is stored, before the end is, or before another process continues. */
type KeepState = (moment: "turn" | "end" | "hand-over") => Promise<readonly EndNotice[] | void>;

/** `failure`: it is the end of a run that would have succeeded. */
export interface EndNotice extends Notice {
  readonly failure?: SheafError;
}

/**
 * Yields the events of a response in the groups in which they were stored.
 * @throws SheafError STORAGE_… when the response cannot be opened; later failures are in the last `run_end`.
 */
export async function* respond(
  settings: RunSettings,
  ports: RespondPorts,
  signal: AbortSignal,
): AsyncGenerator<readonly RunEvent[]> {
  const { store, abort, now, request, choices, cluster, onUnstored } = ports;
  const { responseId, conversationId, workspace, prompt, attachments = [] } = settings.start;
  const last = settings.cut?.events.at(-1);
  // A response that continues is stored, and this process has its lease.
  if (!last)
    await store.createResponse({
      id: responseId,
      conversationId,
      workspace,
      title: toTitle(prompt || (attachments[0]?.name ?? "")),
      createdAt: now(),
      settings: choices,
      request,
      cluster,
    });
  const lease = keepLease(store, responseId, abort);
  let hasFailed = false;
  let hasEnded = false;
  try {
    const onStoreFailure = (error: SheafError): void => {
      hasFailed = true;
      abort(error);
      onUnstored?.(error);
    };
    const log = createRunLog({ store, responseId, last, now, onStoreFailure, endsElsewhere: onUnstored !== undefined });
    const groups = runResponse(settings, ports, signal);
    let mayDiffer = false;
    for await (const made of store.gathersWrites ? readAhead(groups) : groups) {
      const moment = toMoment(made, mayDiffer);
      let group = made;
      if (ports.keepState && moment) {
        await lease.keep();
        if (isHandOver(signal.reason)) await ports.keepState("hand-over");
        // Otherwise another process may have the response, and its files.
        else if (!isBusyError(signal.reason)) group = withNotices(made, (await ports.keepState(moment)) ?? []);
        mayDiffer = false;
      }
      mayDiffer ||= group.events.some(mayChangeFiles);
      const writtenAt = performance.now();
      const events = await log.append(group);
      hasEnded = !hasFailed && group.events.some(({ type }) => type === "run_end");
      if (events.length > 0) yield events;
      // The next events may have effects.
      if (performance.now() - writtenAt > STALE_MS) await lease.keep();
    }
  } finally {
    lease.end();
    // A response without an end must not stay open until this process ends. With its end, the conversation is free at
    // once: a reader may send the next message as soon as it sees that end.
    if (!hasEnded) await store.leaveResponse(responseId).catch(() => undefined);
  }
}

/** The moment for which to keep the state of the files; undefined: not yet. */
function toMoment({ events }: EventGroup, mayDiffer: boolean): "turn" | "end" | undefined {
  if (events.some(({ type }) => type === "run_end")) return "end";
  return mayDiffer && events.some(({ type }) => type === "turn_start") ? "turn" : undefined;
}

/** Adds the notices to the end of the run, which is in the group, and the first failure among them to a success. */
function withNotices(group: EventGroup, ended: readonly EndNotice[]): EventGroup {
  if (ended.length === 0) return group;
  const notices = ended.map(({ code, message }) => ({ code, message }));
  const failure = ended.find((notice) => notice.failure)?.failure;
  const toEnd = (end: RunEnd): RunEnd => {
    const isFailed = failure && end.reason === "end_turn";
    return { ...end, ...(isFailed && toRunFailure(failure)), notices };
  };
  return { ...group, events: group.events.map((event) => (event.type === "run_end" ? toEnd(event) : event)) };
}

/** Waits until the processes of a run's tools have ended, for 5 s at most. Never rejects. */
export async function waitForTools({ settle }: Pick<ToolBox, "settle">): Promise<readonly Notice[]> {
  let notices: readonly Notice[] | void = [];
  const settled = settle().then(
    (found) => (notices = found),
    () => undefined,
  );
  await waitAtMost(settled, SETTLE_MS);
  return notices ?? [];
}

/** Renews this writer's lease, and learns whether it should stop, until its end. */
function keepLease(
  store: Store,
  responseId: string,
  abort: (reason: SheafError) => void,
): { readonly keep: () => Promise<void>; readonly end: () => void } {
  const keep = async (): Promise<void> => {
    // A failing store reports it when events are written.
    const state = await store.keepLease(responseId).catch(() => "kept" as const);
    if (state === "cancel") abort(new SheafError("CANCELLED", "cancelled by the user", { source: "user" }));
    if (state === "lost") abort(createLostError(responseId));
  };
  // All runs of a process ask at the same moments, so that a database answers them with one statement.
  const wait = (): NodeJS.Timeout => setTimeout(keepAgain, KEEP_MS - (performance.now() % KEEP_MS)).unref();
  const keepAgain = (): void => {
    timer = wait();
    void keep();
  };
  let timer = wait();
  const endWatch = store.watchResponse(responseId, () => void keep());
  const end = (): void => {
    clearTimeout(timer);
    endWatch();
  };
  return { keep, end };
}

/** The first line of a prompt, shortened. */
export function toTitle(prompt: string): string {
  const [first = ""] = prompt.trim().split("\n", 1);
  // Lists show titles; half a key is a secret too (S-256).
  const line = createTextMask().mask(first);
  if (line.length <= MAX_TITLE) return line;
  // Between words, unless the last one is most of the title.
  const end = line.lastIndexOf(" ", MAX_TITLE - 1);
  return `${line
    .slice(0, end > MAX_TITLE / 2 ? end : MAX_TITLE - 1)
    .toWellFormed()
    .trimEnd()}…`;
}
