/** The port between the runner, which follows a command, and the ways to start one. */
import type { CommandPermission } from "@sheaf/protocol";
import type { CommandPipes } from "./output-pipes.ts";
import type { ProcessTree } from "./process-tree.ts";
import type { StartedProcess } from "./started-process.ts";

export interface LaunchRequest {
  readonly command: string;
  /** Absolute. */
  readonly workingDirectory: string;
  /** Others run beside it. */
  readonly isBackground: boolean;
  /** What its environment holds beside the allow list (S-40). */
  readonly variables: Readonly<Record<string, string>>;
}

/** A command that was started. */
export interface StartedCommand {
  readonly process: StartedProcess;
  /** What it prints; nobody reads it yet. */
  readonly pipes: CommandPipes;
  /** All that belongs to it; undefined if it never started. */
  readonly tree: ProcessTree | undefined;
  /** Asked when it ended by itself: the signal that ended it, where its exit code stands for one. */
  toSignal(code: number): NodeJS.Signals | undefined;
  /** Asked when it ended by itself: why the command never ran, "" if it did. `stderr`: what came of it. */
  findStartError(stderr: string): string;
  /** Behind its end: lets go of what stood beside it. Sentences about what it was kept from. */
  release(): readonly string[];
}

/** Starts commands in one way. */
export interface Launcher {
  /** Absolute, for messages. */
  readonly file: string;
  /** What every command of it is allowed beyond the default sandbox (N38, S-33). */
  readonly permissions: readonly CommandPermission[];
  /** Rejects with what `spawn` throws. */
  start(request: LaunchRequest): Promise<StartedCommand>;
  /** No more commands: removes what the launcher made. */
  close(): Promise<void>;
}
