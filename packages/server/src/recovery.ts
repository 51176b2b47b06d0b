/** Ends or continues responses of dead processes: at the start and at intervals, as others share the store. */
import { waitAtMost } from "@sheaf/base/wait-at-most";
import { endCutResponse } from "@sheaf/agent/run/conversations/end-cut-response";
import type { ResponseRunner } from "@sheaf/agent/run/conversations/response-runner";
import type { SharedStore } from "@sheaf/store/store";

/** Interval between checks. Milliseconds. */
const EVERY_MS = 3000;

/** Number of responses to recover at once: each reads its conversation, and prepares a run. */
const MAX_AT_ONCE = 8;

/** Time to wait for a response with files from a repository, before others get their turn. Milliseconds. */
const PATIENCE_MS = 1000;

interface RecoveryPorts {
  readonly store: SharedStore;
  readonly runner: Pick<ResponseRunner, "find">;
  readonly now: () => number;
  /** Continues a response, or returns false if it may not. Undefined: this server ends it. */
  readonly takeOver: ((responseId: string, owner: string) => Promise<boolean>) | undefined;
  /** Called with each response that ended or continues. */
  readonly onRecovered: (responseId: string) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Recovers responses from now on. */
export function startRecovery(ports: RecoveryPorts) {
  const { store, runner, now, takeOver, onRecovered, onFailure } = ports;
  const starting = new Set<string>();
  const recoverOne = async (id: string, owner: string): Promise<void> => {
    starting.add(id);
    try {
      const continues = await takeOver?.(id, owner).catch(onFailure);
      if (continues || (await endCutResponse(store.forOwner(owner), id, now))) onRecovered(id);
    } catch (error) {
      // A damaged response must not keep the others open.
      onFailure(error);
    } finally {
      starting.delete(id);
    }
  };
  let looking: Promise<void> | undefined;
  let isClosed = false;
  const recoverAll = async (): Promise<void> => {
    try {
      const open = (await store.listOpenResponses()).values();
      const recoverNext = async (): Promise<void> => {
        for (const { id, owner } of open) {
          if (isClosed) return;
          if (!runner.find(id) && !starting.has(id)) await waitAtMost(recoverOne(id, owner), PATIENCE_MS);
        }
      };
      await Promise.all(Array.from({ length: MAX_AT_ONCE }, recoverNext));
    } catch (error) {
      onFailure(error);
    }
  };
  /** Checks once. Looks never overlap: two could treat one response differently. */
  const look = async (): Promise<void> => {
    if (!isClosed) await (looking ??= recoverAll().finally(() => (looking = undefined)));
  };
  const timer = setInterval(() => void look(), EVERY_MS);
  timer.unref();
  return {
    look,
    /** Resolves when recovery no longer needs the store, except for slow responses. */
    async close(): Promise<void> {
      isClosed = true;
      clearInterval(timer);
      await looking;
    },
  };
}
