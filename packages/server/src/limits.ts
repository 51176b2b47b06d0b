/** Limits of each owner: how much may run and be stored at once, and how much a day may cost (S-55). */
import type { RunEvent, TokenPrice } from "@sheaf/protocol";
import { findPrice, toCostUsd, toEndedRequest } from "@sheaf/protocol/cost";
import type { BudgetLimits } from "@sheaf/agent/run/budget";
import { isWaitingLimit } from "@sheaf/store/cluster";
import { RunningLimitError, type SharedStore } from "@sheaf/store/store";
import { messageLimits } from "@sheaf/base/files/attachment";
import { HttpError } from "./http-error.ts";
import type { AttachmentSettings } from "./stored-attachments.ts";

export interface OwnerLimits {
  /** Responses that run at the same time. */
  readonly running: number;
  /** Messages that wait. */
  readonly waiting: number;
  /** Event streams that are open at the same time. */
  readonly streams: number;
  readonly conversations: number;
  /** Model requests in a day (UTC); undefined: no limit. */
  readonly turnsPerDay: number | undefined;
  /** US dollars in a day (UTC), by the price of the model; undefined: no limit. */
  readonly costUsdPerDay: number | undefined;
  /** Limits of uploaded files (S-200). */
  readonly attachments: AttachmentSettings;
}

export const defaultOwnerLimits: OwnerLimits = {
  running: 1000,
  waiting: 1000,
  streams: 1000,
  conversations: 100_000,
  turnsPerDay: undefined,
  costUsdPerDay: undefined,
  attachments: {
    fileBytes: messageLimits.messageBytes,
    count: 100,
    bytes: 100 * 1024 * 1024,
    keptMs: 24 * 60 * 60 * 1000,
  },
};

/** Reads of files (also searches and lists of changes) of one owner at the same time; also whole conversations. */
const MAX_READS = 32;

/** Waiting time in the answer to an owner with too many conversations. Only deleting some helps. Seconds. */
const DELETE_SECONDS = 60;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Creates the meter of all owners. `now` in milliseconds since 1970. */
export function createOwnerMeter(limits: OwnerLimits, now: () => number) {
  const running = new Map<string, number>();
  const streams = new Map<string, number>();
  const reads = new Map<string, number>();
  const wholes = new Map<string, number>();
  const search = createLine();
  const loadWhole = createLine();
  const hasDayLimit = limits.turnsPerDay !== undefined || limits.costUsdPerDay !== undefined;
  const today = (): string => new Date(now()).toISOString().slice(0, 10);

  const count = (counts: Map<string, number>, owner: string, limit: number, what: string): (() => void) => {
    const before = counts.get(owner) ?? 0;
    if (before >= limit) throw createLimitError(before, what);
    counts.set(owner, before + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const rest = (counts.get(owner) ?? 1) - 1;
      if (rest === 0) counts.delete(owner);
      else counts.set(owner, rest);
    };
  };

  const runningWords = "responses at the same time";

  /** Seconds until the next day (UTC). */
  const toWait = (): number => Math.ceil((DAY_MS - (now() % DAY_MS)) / 1000);

  return {
    /** Counts a response until the result is called. @throws HttpError LIMIT_REACHED. */
    startResponse: (owner: string) => count(running, owner, limits.running, runningWords),
    /** Running responses that one owner may have. The store checks it, because it also knows those of other servers. */
    maxRunning: limits.running,
    /** Turns the store's errors about limits into answers, and returns other errors unchanged. */
    toLimitError(error: unknown): unknown {
      if (isWaitingLimit(error)) return createLimitError(limits.waiting, "waiting messages", "started");
      return error instanceof RunningLimitError ? createLimitError(limits.running, runningWords) : error;
    },
    /** Messages of one owner that may wait in the store, from all servers. */
    maxWaiting: limits.waiting,
    attachments: limits.attachments,
    /** Counts a stream until the result is called. @throws HttpError LIMIT_REACHED. */
    openStream: (owner: string) => count(streams, owner, limits.streams, "streams at the same time"),
    /** Counts a look at files until the result is called. @throws HttpError LIMIT_REACHED. */
    startRead: (owner: string) => count(reads, owner, MAX_READS, "reads of files at the same time"),
    /** Runs one search per owner at a time: each reads all conversations of the owner, and loads the store. */
    search,
    /** Counts a whole conversation until it has been sent. @throws HttpError LIMIT_REACHED. */
    openWhole: (owner: string) => count(wholes, owner, MAX_READS, "whole conversations on their way"),
    /** Runs the loads of whole conversations of one owner one after the other. */
    loadWhole,
    /** Open streams of all owners. */
    get openStreams(): number {
      return [...streams.values()].reduce((sum, open) => sum + open, 0);
    },
    /** @throws HttpError LIMIT_REACHED when no more conversation may be made. */
    async checkConversations(store: SharedStore): Promise<void> {
      if ((await store.countConversations()) < limits.conversations) return;
      const message = `too many conversations for one token (limit: ${limits.conversations}): delete some`;
      throw new HttpError("LIMIT_REACHED", message, { retryAfter: DELETE_SECONDS });
    },
    /** Returns the rest of the day's budget as limits of one response. @throws HttpError LIMIT_REACHED. */
    async readRest(store: SharedStore): Promise<Pick<BudgetLimits, "maxTurns" | "maxCostUsd">> {
      if (!hasDayLimit) return {};
      const { turns, costUsd } = await store.readUsage(today());
      const maxTurns = limits.turnsPerDay === undefined ? undefined : limits.turnsPerDay - turns;
      const maxCostUsd = limits.costUsdPerDay === undefined ? undefined : limits.costUsdPerDay - costUsd;
      if ((maxTurns ?? 1) <= 0 || (maxCostUsd ?? 1) <= 0) {
        const message = "the daily budget of this token is used up: wait until tomorrow (UTC)";
        throw new HttpError("LIMIT_REACHED", message, { retryAfter: toWait() });
      }
      return { ...(maxTurns !== undefined && { maxTurns }), ...(maxCostUsd !== undefined && { maxCostUsd }) };
    },
    /** Adds the usage in a group of events to the owner's usage of the day. */
    async note(store: SharedStore, events: readonly RunEvent[], price: TokenPrice | undefined): Promise<void> {
      if (!hasDayLimit) return;
      for (const event of events) {
        const ended = toEndedRequest(event);
        if (!ended) continue;
        const paid = findPrice(ended, price);
        await store.addUsage(today(), { turns: 1, costUsd: paid ? toCostUsd(ended.usage, paid) : 0 });
      }
    },
  };
}

function createLimitError(limit: number, what: string, change = "ended"): HttpError {
  const message = `too many ${what} for one token (limit: ${limit}): wait until one has ${change}`;
  return new HttpError("LIMIT_REACHED", message, { retryAfter: 1 });
}

/** Runs the actions of each owner one after the other. */
function createLine() {
  /** The last action of each owner, which resolves when it is over, whatever its outcome. */
  const lines = new Map<string, Promise<unknown>>();
  return async <Result>(owner: string, action: () => Promise<Result>): Promise<Result> => {
    const result = (lines.get(owner) ?? Promise.resolve()).then(action);
    const over = result.catch(() => undefined);
    lines.set(owner, over);
    try {
      return await result;
    } finally {
      if (lines.get(owner) === over) lines.delete(owner);
    }
  };
}

export type OwnerMeter = ReturnType<typeof createOwnerMeter>;
