/** Ends what dead processes left open, or goes on with it: at the start, and from time to time, since others use the store too. */
import { waitAtMost } from "@sheaf/base/wait-at-most";
import { endCutResponse } from "@sheaf/agent/run/conversations/end-cut-response";
import type { ResponseRunner } from "@sheaf/agent/run/conversations/response-runner";
import type { SharedStore } from "@sheaf/store/store";

/** How often it checks. Milliseconds. */
const EVERY_MS = 3000;

/** How long the others wait for one whose files come from a repository, and are prepared. Milliseconds. */
const PATIENCE_MS = 1000;

interface RecoveryPorts {
  readonly store: SharedStore;
  readonly runner: Pick<ResponseRunner, "find">;
  readonly now: () => number;
  /** Goes on with a response; false: it may not. Undefined: this server ends what others left. */
  readonly takeOver: ((responseId: string, owner: string) => Promise<boolean>) | undefined;
  /** Called with each response that was ended, or goes on. */
  readonly onRecovered: (responseId: string) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Checks from now on. */
export function startRecovery(ports: RecoveryPorts) {
  const { store, runner, now, takeOver, onRecovered, onFailure } = ports;
  const starting = new Set<string>();
  const recoverOne = async (id: string, owner: string): Promise<void> => {
    starting.add(id);
    try {
      const goesOn = await takeOver?.(id, owner).catch(onFailure);
      if (goesOn || (await endCutResponse(store.forOwner(owner), id, now))) onRecovered(id);
    } catch (error) {
      // A damaged response must not keep the others open.
      onFailure(error);
    } finally {
      starting.delete(id);
    }
  };
  /** Checks once. */
  const recover = async (): Promise<void> => {
    for (const { id, owner } of await store.listOpenResponses()) {
      if (runner.find(id) || starting.has(id)) continue;
      const recovered = recoverOne(id, owner);
      await (takeOver ? waitAtMost(recovered, PATIENCE_MS) : recovered);
    }
  };
  let isRecovering = false;
  /** One look at a time: two would want different things of one response. */
  const look = async (): Promise<void> => {
    if (isRecovering) return;
    isRecovering = true;
    await recover().catch(onFailure);
    isRecovering = false;
  };
  const timer = setInterval(() => void look(), EVERY_MS);
  timer.unref();
  return { recover, close: (): void => clearInterval(timer) };
}
