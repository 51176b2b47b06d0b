/** Runs the program of a tool server, and ends it with all processes that it started. */
import { spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import { waitAtMost } from "@sheaf/base/wait-at-most";
import type { CommandRunner } from "../command.ts";
import { markerName } from "../environment.ts";
import { createProcessTree } from "../follow/process-tree.ts";
import { followChild } from "../follow/processes.ts";
import { createReaper } from "../follow/reaper.ts";
import { quoteWord } from "../programs.ts";

/** Milliseconds that a program may take to leave once its stdin is closed. */
const LEAVE_MS = 300;

export interface ServerProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** All variables of the program. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly onOutput: (bytes: Buffer) => void;
  /** Receives its error output, since Sheaf's own stderr stays empty (C15). */
  readonly onErrorOutput: (bytes: Buffer) => void;
  /** Called when the program has ended by itself, and its pipes are closed. */
  readonly onEnd: () => void;
}

export interface ServerProgram {
  /** Resolves once stdin has taken the text. */
  write(text: string): Promise<void>;
  /** Ends the program with all its processes. Never rejects. */
  end(): Promise<void>;
}

/** Starts the program outside the sandbox. Resolves once it runs. @throws if it cannot be started. */
export async function startServerProgram(options: ServerProgramOptions): Promise<ServerProgram> {
  const { command, args, environment, cwd, onOutput, onErrorOutput, onEnd } = options;
  const reaper = createReaper();
  // This mark finds its processes again, even those detached from their parents.
  const marker = reaper.createMarker();
  // A separate group: Ctrl-C in a terminal ends an answer, not the servers of the conversation.
  const child = spawn(command, args, {
    cwd,
    env: { ...environment, [markerName]: marker },
    detached: true,
    stdio: "pipe",
  });
  const followed = followChild(child);
  const { pid, stdin, stdout, stderr } = child;
  const tree = pid === undefined ? undefined : createProcessTree(pid, marker);
  stdout.on("data", onOutput);
  stderr.on("data", onErrorOutput);
  for (const pipe of [stdin, stdout, stderr]) pipe.on("error", () => undefined);
  void followed.closed.then(onEnd);
  try {
    await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  } catch (error) {
    reaper.dismiss();
    throw error;
  }
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        stdin.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    async end() {
      stdin.end();
      await waitAtMost(followed.closed, LEAVE_MS);
      await tree?.end();
      reaper.dismiss();
      followed.release();
    },
  };
}

/** Runs the program like a command that only reads (S-258). `commands` serves it alone, and ends with it. */
export function runServerProgram(options: ServerProgramOptions, commands: CommandRunner): ServerProgram {
  const { command, args, environment, cwd, onOutput, onErrorOutput, onEnd } = options;
  const input = new PassThrough();
  const controller = new AbortController();
  const request = {
    command: `exec ${[command, ...args].map(quoteWord).join(" ")}`,
    workingDirectory: cwd,
    timeoutMs: undefined,
    input,
    variables: environment,
    isBackground: true,
    isReadOnly: true,
    signal: controller.signal,
    onOutput: () => undefined,
    onBackgroundOutput: (bytes: Uint8Array, stream: string) =>
      (stream === "stdout" ? onOutput : onErrorOutput)(Buffer.from(bytes)),
  };
  const run = async (): Promise<void> => {
    const { refusal, startError, refusals } = await commands.run(request);
    onErrorOutput(Buffer.from(["", refusal, startError, ...refusals].join("\n")));
    onEnd();
  };
  const ended = run();
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        input.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    async end() {
      input.end();
      await waitAtMost(ended, LEAVE_MS);
      controller.abort();
      await ended;
      await commands.end();
    },
  };
}
