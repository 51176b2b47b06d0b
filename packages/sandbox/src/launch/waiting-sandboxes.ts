/**
 * Makes sandboxes in advance, since making one takes longer than most commands. Each waits for a command that needs the
 * same sandbox as an earlier one. Sheaf waits for the end of that one: a command could rename a folder at that moment,
 * and bubblewrap would make the missing folder again for its mounts.
 */
import type { AdmittedSandbox } from "./admitted-sandbox.ts";

export interface WaitingSandboxes {
  /** Returns the sandbox for this key, unless it has changed since. */
  take(key: string): Promise<AdmittedSandbox | undefined>;
  /** Makes a sandbox in the background, unless one waits for this key. */
  prepare(key: string, make: () => Promise<AdmittedSandbox>): void;
  end(): Promise<void>;
}

/** Most waiting sandboxes: one for commands that write, and one for commands that only read. */
const maxWaiting = 2;

export function createWaitingSandboxes(): WaitingSandboxes {
  const waiting = new Map<string, Promise<AdmittedSandbox | undefined>>();
  const ending = new Set<Promise<void>>();
  let isEnded = false;
  const takeOut = (key: string): Promise<AdmittedSandbox | undefined> | undefined => {
    const made = waiting.get(key);
    waiting.delete(key);
    return made;
  };
  const drop = (sandbox: AdmittedSandbox | undefined): void => {
    const ended = sandbox?.end();
    if (ended) ending.add(ended.finally(() => ending.delete(ended)));
  };
  return {
    async take(key) {
      const sandbox = await takeOut(key);
      if (sandbox?.isUnchanged()) return sandbox;
      drop(sandbox);
      return undefined;
    },
    prepare(key, make) {
      // The caller first passes on the result of its command: a start blocks Node.
      setImmediate(() => {
        if (isEnded || waiting.has(key)) return;
        const [oldest = ""] = waiting.keys();
        if (waiting.size === maxWaiting) void takeOut(oldest)?.then(drop);
        // If it cannot be made, the command gets a new sandbox, which shows the reason.
        waiting.set(
          key,
          make().catch(() => undefined),
        );
      });
    },
    async end() {
      isEnded = true;
      for (const sandbox of await Promise.all(waiting.values())) drop(sandbox);
      await Promise.all(ending);
    },
  };
}
