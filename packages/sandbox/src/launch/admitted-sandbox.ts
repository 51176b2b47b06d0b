/** A bubblewrap whose mounts were checked (S-78), from the check to the end of its command. */
import { type MountTable, readMountTable } from "../hold/mount-table.ts";
import type { ChildProcess } from "node:child_process";
import { writeSync } from "node:fs";
import type { Writable } from "node:stream";
import type { CommandPipes } from "../follow/output-pipes.ts";
import { createSandboxTree } from "../follow/process-tree.ts";
import { followChild, sendSignal } from "../follow/processes.ts";
import { followStatus, type StatusDescriptors, type UseLimits, watchUse } from "../follow/sandbox-status.ts";
import type { Mount } from "../hold/mounts.ts";
import { toFolderError } from "../programs.ts";
import { admitMounts } from "./admit-mounts.ts";
import type { StartedCommand } from "./launcher.ts";

export interface SandboxFacts {
  readonly pipes: CommandPipes;
  /** The command; undefined if its wrapper waits for one. */
  readonly command: string | undefined;
  readonly workingDirectory: string;
  readonly mounts: readonly Mount[];
  /** Folders that commands write. */
  readonly tops: readonly string[];
  readonly descriptors: StatusDescriptors & { readonly block: number };
}

/** A checked sandbox, which runs one command, once. */
export interface AdmittedSandbox {
  readonly child: ChildProcess;
  /** True if it has the mounts of its admission: the kernel's table shows if a place was renamed or deleted. */
  isUnchanged(): boolean;
  /** Starts the command, or sends it to a waiting wrapper. Calls `takeNotes` once, when all processes have ended. */
  start(
    command: string,
    limits: UseLimits,
    takeNotes: () => readonly string[] | Promise<readonly string[]>,
  ): Promise<Omit<StartedCommand, "moveToBackground">>;
  /** Ends it at once. */
  end(): Promise<void>;
}

/** Waits for the mounts, right after `spawn`. Rejects if they are not as planned. */
export async function admitSandbox(child: ChildProcess, facts: SandboxFacts): Promise<AdmittedSandbox> {
  const { pipes, workingDirectory, descriptors } = facts;
  const status = followStatus(child, descriptors);
  const bubblewrap = followChild(child);
  const isRunning = (): boolean => child.pid !== undefined && bubblewrap.isRunning();
  const end = async (): Promise<void> => {
    bubblewrap.kill();
    // The first process does not end with bubblewrap yet.
    const first = status.findFirst();
    if (first) sendSignal(first.pid, "SIGKILL");
    await createSandboxTree(bubblewrap, status.findFirst).end();
    bubblewrap.release();
    pipes.close();
  };
  const endOnError = async (error: unknown): Promise<never> => {
    await end();
    throw error;
  };
  const table: MountTable =
    (await admitMounts({ ...facts, findFirst: status.findFirst, isRunning }).catch(endOnError)) ?? new Map();
  const isWaiting = facts.command === undefined;
  if (isWaiting) openGate(child, pipes, descriptors.block);
  return {
    child,
    isUnchanged() {
      const now = readMountTable(status.findFirst()?.pid);
      return isRunning() && process.getBuiltinModule("node:util").isDeepStrictEqual(now, table);
    },
    async start(command, limits, takeNotes) {
      const excess: string[] = [];
      const stopWatch = await watchUse(status.findFirst, table, limits, (sentence) => {
        excess.push(sentence);
        bubblewrap.kill();
      });
      if (isWaiting) sendCommand(child.stdio[descriptors.notice] as Writable, command);
      else openGate(child, pipes, descriptors.block);
      return {
        process: bubblewrap,
        pipes,
        tree: child.pid === undefined ? undefined : createSandboxTree(bubblewrap, status.findFirst),
        toSignal: status.toSignal,
        findStartError: (stderr) => (status.findExitCode() === undefined ? toStartError(stderr, workingDirectory) : ""),
        async release() {
          stopWatch();
          return [...excess, ...(await takeNotes())];
        },
      };
    },
    end,
  };
}

/** Sends the number of lines first: if the wrapper receives fewer, it does not run the command. */
function sendCommand(pipe: Writable, command: string): void {
  const lines = command.split("\n");
  pipe.write([lines.length, ...lines, ""].join("\n"));
}

/**
 * Opens the gate, at which bubblewrap waits after all its mounts. Bubblewrap also takes the end of a pipe as a start.
 */
function openGate(child: ChildProcess, { gate }: CommandPipes, block: number): void {
  if (gate !== "pipe") return void writeSync(gate, "x");
  const pipe = child.stdio.at(block) as Writable | null | undefined;
  pipe?.on("error", () => undefined);
  pipe?.end("x");
}

/** Returns the reason why bubblewrap did not start the command, from its stderr. */
function toStartError(stderr: string, workingDirectory: string): string {
  const reason = stderr.replaceAll(/\s+/g, " ").trim().slice(0, 500);
  return toFolderError(workingDirectory) || `the sandbox could not start (${reason})`;
}
