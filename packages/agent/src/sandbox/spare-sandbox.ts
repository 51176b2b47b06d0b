/**
 * A sandbox that is made while the model thinks: its wrapper waits for the command that comes next. It takes a command
 * only if one that were made now would be the same; else it ends and nothing has run in it.
 */
import type { ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { readStat, toIdentity } from "./folder-memory.ts";
import type { Mount } from "./mounts.ts";
import type { CommandPipes } from "./output-pipes.ts";
import { readProcess } from "./process-table.ts";
import type { ProcessTree } from "./process-tree.ts";
import type { SandboxStatus } from "./sandbox-status.ts";

/** What tells one sandbox from another. */
export interface SandboxPlan {
  readonly mounts: readonly Mount[];
  readonly workingDirectory: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** Bubblewrap, as it was started. */
export interface OpenSandbox {
  readonly child: ChildProcess;
  readonly pipes: CommandPipes;
  readonly status: SandboxStatus;
  readonly tree: ProcessTree | undefined;
}

export interface SpareSandbox {
  /** In a moment, when nothing else is to do: makes one of this kind. */
  prepare(plan: SandboxPlan): void;
  /** The one that waits, with its command told; undefined if none fits. */
  take(plan: SandboxPlan, words: readonly string[]): OpenSandbox | undefined;
  /** Ends it; resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** Its wrapper reads one line. */
export interface WaitingSandbox extends OpenSandbox {
  readonly order: Writable;
}

/** Milliseconds: the result of the command before is stored and sent first. */
const delay = 2;
/** Characters: a shell reads them one by one. */
const maxOrderLength = 2000;
/** Milliseconds that a sandbox gets to end by itself. */
const endPeriod = 1000;

/** `open`: starts one. @throws What `spawn` throws. */
export function createSpareSandbox(open: (plan: SandboxPlan) => WaitingSandbox): SpareSandbox {
  let timer: NodeJS.Timeout | undefined;
  let waiting: (WaitingSandbox & { readonly key: string }) | undefined;
  const ending = new Set<Promise<void>>();

  const discard = (): void => {
    clearTimeout(timer);
    if (!waiting) return;
    const ended = endSandbox(waiting);
    waiting = undefined;
    ending.add(ended);
    void ended.finally(() => ending.delete(ended));
  };
  return {
    prepare(plan) {
      clearTimeout(timer);
      if (waiting) return;
      timer = setTimeout(() => {
        const key = toKey(plan);
        try {
          waiting = { ...open(plan), key };
        } catch {
          // The next command tries it too, and tells.
        }
      }, delay).unref();
    },
    take(plan, words) {
      clearTimeout(timer);
      const order = toOrder(words);
      if (!waiting || order === undefined || !isRunning(waiting.child) || waiting.key !== toKey(plan)) {
        discard();
        return undefined;
      }
      const taken = waiting;
      waiting = undefined;
      taken.order.end(order);
      return taken;
    },
    async close() {
      discard();
      await Promise.all(ending);
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

/** Without an order the wrapper ends by itself. */
async function endSandbox({ child, pipes, tree, order }: WaitingSandbox): Promise<void> {
  order.end();
  pipes.follow(child, () => undefined);
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    child.once("exit", () => resolve());
    const timer = setTimeout(() => void tree?.end().then(resolve), endPeriod);
    await ended;
    clearTimeout(timer);
  }
  pipes.close();
  for (const stream of child.stdio) stream?.destroy();
}

/** Its end is told later than it shows. */
function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  if (pid === undefined || exitCode !== null || signalCode !== null) return false;
  return readProcess(pid)?.isDead === false;
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
