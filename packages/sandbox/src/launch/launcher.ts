/** The port between the runner, which follows a command, and the launchers, which start one. */
import type { CommandPermission, Notice } from "@sheaf/protocol";
import type { Environment } from "@sheaf/base/paths";
import type { ProgramFiles } from "@sheaf/base/files/own-places";
import type { CommandNetwork, CredentialName } from "@sheaf/base/command-network";
import type { FileRule } from "@sheaf/base/files/glob";
import type { CommandRequest } from "../command.ts";
import type { CommandPipes } from "../follow/output-pipes.ts";
import type { ProcessTree } from "../follow/process-tree.ts";
import type { StartedProcess } from "../follow/processes.ts";
import type { UseLimits } from "../follow/sandbox-status.ts";
import type { NetworkPorts } from "./run-network.ts";

export interface LaunchRequest extends Pick<CommandRequest, "command" | "workingDirectory" | "input" | "isReadOnly"> {
  /** True if it runs next to other commands. */
  readonly isBackground: boolean;
  /** Variables that extend the allow list of its environment (S-40). */
  readonly variables: Readonly<Record<string, string>>;
}

export interface StartedCommand {
  readonly process: StartedProcess;
  /** Pipes of its output, which has not been read yet. */
  readonly pipes: CommandPipes;
  /** All of its processes; undefined if it never started. */
  readonly tree: ProcessTree | undefined;
  /** Returns the signal that the exit code represents, if any, after the command ended by itself. */
  toSignal(code: number): NodeJS.Signals | undefined;
  /** Returns the reason why a command that ended by itself never ran; "" if it ran. `stderr` is its error output. */
  findStartError(stderr: string): string;
  /** Lets it continue next to other commands if its places are held for that. Otherwise, others wait for its end. */
  moveToBackground(): void;
  /** Frees its resources after its end. Has a sentence for each action that the sandbox denied. */
  release(): readonly string[] | Promise<readonly string[]>;
}

/** Starts commands in one way. */
export interface Launcher {
  /** The absolute path of its program, for messages. */
  readonly file: string;
  /** Permissions of its commands beyond the default sandbox (N38, S-33). */
  readonly permissions: readonly CommandPermission[];
  /** Starts a command. Rejects with the error of `spawn`. */
  start(request: LaunchRequest): Promise<StartedCommand>;
  /** Removes the launcher's files after the last command. May have sentences about work that commands left. */
  close(): Promise<readonly Notice[] | void>;
}

/** Folders that commands write; the first one is the workspace. */
export type WritableFolders = readonly [workspace: string, ...added: string[]];

/** The settings of a sandbox for commands. */
export interface SandboxOptions {
  /** The sandbox program, absolute. */
  readonly file: string;
  /** The workspace and further folders that commands write; absolute, links resolved. */
  readonly writable: WritableFolders;
  /** Folders that commands read, even in a hidden one; absolute, links resolved. */
  readonly readOnly?: readonly string[] | undefined;
  /** The user's variables. A command gets only the variables on the allow list (S-40). */
  readonly environment: Environment;
  /** The rules for hosts that commands may reach. */
  readonly network: CommandNetwork;
  /** Package managers whose tokens commands see. */
  readonly credentials?: readonly CredentialName[] | undefined;
  /** Files that no command may read or write. */
  readonly denials?: readonly FileRule[] | undefined;
  /** Further places that no command sees; absolute. */
  readonly hidden?: readonly string[] | undefined;
  /**
   * A folder of the caller that no command sees, absolute: for the files of a run, and for the places that Sheaf takes
   * away.
   */
  readonly stateFolder?: string | undefined;
  /** Folder for the tools' caches, absolute. Without it, the caches last as long as the run. */
  readonly cacheFolder?: string | undefined;
  /** Sheaf's own files. Default: the files of this process. */
  readonly program?: ProgramFiles | undefined;
  /** True for a sandbox whose commands change no files, so that no place needs protection. */
  readonly isProbe?: boolean | undefined;
  /** Calls a function when the process exits, however it exits, if it can. The returned function cancels this. */
  readonly atExit?: ((end: () => void) => () => void) | undefined;
  /** Functions that resolve hosts. Default: the system's. */
  readonly networkPorts?: NetworkPorts | undefined;
  /** Limits of one command's use of the machine. */
  readonly limits?: UseLimits | undefined;
}

/** Lists the permissions of commands. `writesOutside`: they write more than the workspace. */
export function listPermissions(
  { network, credentials = [] }: SandboxOptions,
  writesOutside: boolean,
): readonly CommandPermission[] {
  return [
    ...(network.isOpen ? (["network"] as const) : []),
    ...(credentials.length > 0 ? (["credentials"] as const) : []),
    ...(writesOutside ? (["write_outside_workspace"] as const) : []),
  ];
}
