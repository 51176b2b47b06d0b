/**
 * A sandbox that is made before it is needed: while a command runs, or the model thinks. It takes a command only if one
 * that were made now would be the same; else it ends and nothing has run in it.
 */
import { setTimeout as wait } from "node:timers/promises";
import { readStat, toIdentity } from "./folder-memory.ts";
import { isHeldAsPlanned } from "./mount-check.ts";
import type { Mount } from "./mounts.ts";
import type { CommandPipes } from "./output-pipes.ts";
import { readProcess } from "./process-table.ts";
import type { ProcessTree } from "./process-tree.ts";
import type { SandboxStatus } from "./sandbox-status.ts";
import type { StartedProcess } from "./started-process.ts";
import type { WaitingSandbox } from "./waiting-sandbox.ts";

/** What tells one sandbox from another. */
export interface SandboxPlan {
  readonly mounts: readonly Mount[];
  readonly workingDirectory: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** Bubblewrap, as it was started. */
export interface OpenSandbox {
  readonly process: StartedProcess;
  readonly pipes: CommandPipes;
  readonly status: SandboxStatus;
  readonly tree: ProcessTree | undefined;
}

export interface SpareSandbox {
  /** A command has run in one of this kind: makes another in a moment, when nothing else is to do. */
  prepare(plan: SandboxPlan): void;
  /** One with its command told, the next one perhaps begun; undefined if none fits. */
  take(plan: SandboxPlan, words: readonly string[]): Promise<OpenSandbox | undefined>;
  /**
   * Makes no more; resolves when those that are being made are there, or never will be. If bubblewrap is killed in the
   * middle, the first process of its sandbox waits for it for ever.
   */
  settle(): Promise<void>;
  /** Ends it; resolves when nothing of it is left. */
  close(): Promise<void>;
  /** When the guard is gone: lets go of those that never came about. Before, the guard could still open what they name. */
  release(): void;
}

/** Milliseconds: the result of the command before is stored and sent first. */
const delay = 2;
/** Milliseconds; a sandbox that is younger when it is needed was made too late, or nearly. Most often it takes 10. */
const hurry = 20;
/** Characters: a shell reads them one by one. */
const maxOrderLength = 2000;
/** Milliseconds that a sandbox gets to end by itself. */
const endPeriod = 1000;

/** `open`: starts one; undefined if it cannot. @throws What the system says. */
export function createSpareSandbox(open: (plan: SandboxPlan) => WaitingSandbox | undefined): SpareSandbox {
  let timer: NodeJS.Timeout | undefined;
  let waiting: (WaitingSandbox & { readonly key: string; readonly openedAt: number }) | undefined;
  let isUseless = false;
  let hasWorked = false;
  const making = new Set<Promise<boolean>>();
  const ending = new Set<Promise<void>>();
  const lost: WaitingSandbox[] = [];

  const openNext = (plan: SandboxPlan, key: string): void => {
    if (waiting || isUseless) return;
    try {
      const opened = open(plan);
      waiting = opened && { ...opened, key, openedAt: performance.now() };
      isUseless = opened === undefined;
      if (!opened) return;
      const { isReady } = opened;
      making.add(isReady);
      void isReady.finally(() => making.delete(isReady));
    } catch {
      // The next command tries it too, and tells.
    }
  };
  const discard = (sandbox: WaitingSandbox | undefined): void => {
    if (!sandbox) return;
    const ended = endSandbox(sandbox, lost);
    ending.add(ended);
    void ended.finally(() => ending.delete(ended));
  };
  return {
    prepare(plan) {
      clearTimeout(timer);
      hasWorked = true;
      if (waiting || isUseless) return;
      timer = setTimeout(() => openNext(plan, toKey(plan)), delay).unref();
    },
    async take(plan, words) {
      clearTimeout(timer);
      // The first command says itself why no sandbox can be made.
      if (!waiting && hasWorked) openNext(plan, toKey(plan));
      const sandbox = waiting;
      waiting = undefined;
      if (!sandbox) return undefined;
      const isReady = await sandbox.isReady;
      // What is so slow would be so the next time.
      if (!isReady && sandbox.process.isRunning()) isUseless = true;
      const order = toOrder(words);
      const key = toKey(plan);
      if (!isReady || order === undefined || sandbox.key !== key || !isUsable(sandbox, plan)) {
        discard(sandbox);
        return undefined;
      }
      sandbox.tell(order);
      // Where the model gives time enough, the command has the machine for itself.
      if (performance.now() - sandbox.openedAt < hurry) openNext(plan, key);
      return sandbox;
    },
    async settle() {
      clearTimeout(timer);
      await Promise.all(making);
    },
    async close() {
      clearTimeout(timer);
      discard(waiting);
      waiting = undefined;
      await Promise.all(ending);
    },
    release() {
      for (const { pipes, process: bubblewrap } of lost.splice(0)) {
        pipes.close();
        bubblewrap.release();
      }
    },
  };
}

/** All that decides what a sandbox holds: the same names can lead to other files. */
function toKey({ mounts, workingDirectory, variables }: SandboxPlan): string {
  const identities = [...mounts.map(({ path }) => path), workingDirectory].map((path) => {
    const stat = readStat(path);
    return stat ? toIdentity(stat) : "";
  });
  return JSON.stringify([mounts, identities, workingDirectory, variables]);
}

/** Its end is told later than it shows. */
function isUsable({ status }: WaitingSandbox, { mounts, workingDirectory }: SandboxPlan): boolean {
  const first = status.findFirst();
  const entry = first && readProcess(first.pid);
  if (!entry || entry.isDead || entry.start !== first.start) return false;
  return isHeldAsPlanned(first.pid, mounts, workingDirectory);
}

/** Without an order the wrapper ends by itself. One that has not come about is added to `lost`. */
async function endSandbox(sandbox: WaitingSandbox, lost: WaitingSandbox[]): Promise<void> {
  const { process: bubblewrap, pipes, tree } = sandbox;
  if (!(await sandbox.isReady) && bubblewrap.isRunning()) {
    lost.push(sandbox);
    return;
  }
  sandbox.tell("");
  pipes.follow(bubblewrap, () => undefined);
  const late = new AbortController();
  await Promise.race([bubblewrap.ended, wait(endPeriod, undefined, { signal: late.signal }).catch(() => undefined)]);
  late.abort();
  await tree?.end();
  pipes.close();
  bubblewrap.release();
}

/**
 * A line of shell that makes these the words of the wrapper, where `$nl` is a line end. Undefined if they are too long,
 * or hold a character that some shell reads in another way.
 */
function toOrder(words: readonly string[]): string | undefined {
  const quoted = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`).replaceAll("\n", `'"$nl"'`)}'`);
  const line = `set -- ${quoted.join(" ")}\n`;
  return line.length <= maxOrderLength && /^[\t\x20-\x7e]*\n$/.test(line) ? line : undefined;
}
