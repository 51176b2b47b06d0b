/** How much one owner may have at once, and use up in a day (S-55). */
import type { RunEvent, TokenPrice } from "@sheaf/protocol";
import { findPrice, toCostUsd, toEndedRequest } from "@sheaf/protocol/cost";
import type { BudgetLimits } from "@sheaf/agent/run/budget";
import { isWaitingLimit } from "@sheaf/store/cluster";
import { RunningLimitError, type SharedStore } from "@sheaf/store/store";
import { messageLimits } from "@sheaf/base/files/attachment";
import { HttpError } from "./http-error.ts";
import type { AttachmentSettings } from "./stored-attachments.ts";

/** Per owner. */
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
  /** Files of messages (S-200). */
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

/** File reads, searches for files and lists of changes of one owner at the same time; and whole conversations. */
const MAX_READS = 32;

/** Waiting does not help against too many conversations; deleting some does. Seconds. */
const DELETE_SECONDS = 60;

const DAY_MS = 24 * 60 * 60 * 1000;

/** `now` in milliseconds since 1970. */
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

  /** Seconds until the next day begins. */
  const toWait = (): number => Math.ceil((DAY_MS - (now() % DAY_MS)) / 1000);

  return {
    /** Counts a response until the result is called. @throws HttpError LIMIT_REACHED. */
    startResponse: (owner: string) => count(running, owner, limits.running, runningWords),
    /** Responses of one owner, for the store, which also knows those of other servers. */
    maxRunning: limits.running,
    /** What the store says of them, as an answer; other errors as they are. */
    toLimitError(error: unknown): unknown {
      if (isWaitingLimit(error)) return createLimitError(limits.waiting, "messages that wait");
      return error instanceof RunningLimitError ? createLimitError(limits.running, runningWords) : error;
    },
    /** Messages of one owner that wait in the store, whichever server took them. */
    maxWaiting: limits.waiting,
    attachments: limits.attachments,
    /** Counts a stream until the result is called. @throws HttpError LIMIT_REACHED. */
    openStream: (owner: string) => count(streams, owner, limits.streams, "streams at the same time"),
    /** Counts a look at files until the result is called. @throws HttpError LIMIT_REACHED. */
    startRead: (owner: string) => count(reads, owner, MAX_READS, "reads of files at the same time"),
    /** Searches of one owner come one after the other: each looks at all that the owner has, and others need the store, too. */
    search,
    /** Counts a whole conversation from its request until it was sent. @throws HttpError LIMIT_REACHED. */
    openWhole: (owner: string) => count(wholes, owner, MAX_READS, "whole conversations on their way"),
    /** So do those that load the logs of a whole conversation. */
    loadWhole,
    /** Of all owners. */
    get openStreams(): number {
      return [...streams.values()].reduce((sum, open) => sum + open, 0);
    },
    /** @throws HttpError LIMIT_REACHED when no more conversation may be made. */
    async checkConversations(store: SharedStore): Promise<void> {
      if ((await store.countConversations()) < limits.conversations) return;
      const message = `one token can have at most ${limits.conversations} conversations: delete some`;
      throw new HttpError("LIMIT_REACHED", message, { retryAfter: DELETE_SECONDS });
    },
    /** What is left of the day as limits of one response. @throws HttpError LIMIT_REACHED when nothing is. */
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
    /** Writes down what a group of events has used up. */
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

function createLimitError(limit: number, what: string): HttpError {
  return new HttpError("LIMIT_REACHED", `one token can have at most ${limit} ${what}: wait until one has ended`, {
    retryAfter: 1,
  });
}

/** One line for each owner, in which actions wait for the one before. */
function createLine() {
  /** When the last action of an owner is over, whatever its outcome. */
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
