/** The port between the runner, which follows a command, and the ways to start one. */
import type { CommandPermission } from "@sheaf/protocol";
import type { Environment } from "../../../base/paths.ts";
import type { CommandNetwork } from "../../permissions/decide-network.ts";
import type { FileRule } from "../../permissions/rule.ts";
import type { CommandPipes } from "../follow/output-pipes.ts";
import type { ProcessTree } from "../follow/process-tree.ts";
import type { StartedProcess } from "../follow/processes.ts";
import type { UseLimits } from "../follow/sandbox-status.ts";
import type { NetworkPorts } from "./run-network.ts";

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

export interface SandboxOptions {
  /** The program of the system that holds commands, absolute. */
  readonly file: string;
  /** Absolute, links resolved. */
  readonly workspace: string;
  /** Folders beside the workspace that commands write too; absolute, links resolved. */
  readonly addedFolders: readonly string[];
  readonly environment: Environment;
  /** Which hosts commands may reach. */
  readonly network: CommandNetwork;
  /** Files that no command may read or write. */
  readonly denials: readonly FileRule[];
  /** How hosts are found, where not by the system. */
  readonly networkPorts?: NetworkPorts | undefined;
  readonly limits?: UseLimits | undefined;
}
