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
  /** It runs next to other commands. */
  readonly isBackground: boolean;
  /** Added to the allow list of its environment (S-40). */
  readonly variables: Readonly<Record<string, string>>;
}

export interface StartedCommand {
  readonly process: StartedProcess;
  /** Its output, not yet read. */
  readonly pipes: CommandPipes;
  /** All of its processes; undefined if it never started. */
  readonly tree: ProcessTree | undefined;
  /** After it ended by itself: the signal that its exit code represents, if any. */
  toSignal(code: number): NodeJS.Signals | undefined;
  /** After it ended by itself: why the command never ran, "" if it did. `stderr`: what was printed there. */
  findStartError(stderr: string): string;
  /** It goes on next to other commands, if it is held so that it can; else they wait for its end. */
  moveToBackground(): void;
  /** After its end: frees its resources. Has a sentence for each thing that the sandbox kept it from. */
  release(): readonly string[] | Promise<readonly string[]>;
}

/** Starts commands in one way. */
export interface Launcher {
  /** Absolute, for messages. */
  readonly file: string;
  /** What every command of it is allowed beyond the default sandbox (N38, S-33). */
  readonly permissions: readonly CommandPermission[];
  /** Rejects with what `spawn` throws. */
  start(request: LaunchRequest): Promise<StartedCommand>;
  /** After the last command: removes what the launcher created. May have sentences about work that commands left. */
  close(): Promise<readonly Notice[] | void>;
}

/** The first one is the workspace. */
export type WritableFolders = readonly [workspace: string, ...added: string[]];

/** What commands in a sandbox get. */
export interface SandboxOptions {
  /** The sandbox program, absolute. */
  readonly file: string;
  /** The workspace and further folders that commands write; absolute, links resolved. */
  readonly writable: WritableFolders;
  /** Folders that commands read, even in a hidden one; absolute, links resolved. */
  readonly readOnly?: readonly string[] | undefined;
  /** Only the variables of the allow list reach a command (S-40). */
  readonly environment: Environment;
  /** Which hosts commands may reach. */
  readonly network: CommandNetwork;
  /** Package managers whose tokens commands see. */
  readonly credentials?: readonly CredentialName[] | undefined;
  /** Files that no command may read or write. */
  readonly denials?: readonly FileRule[] | undefined;
  /** Further places that no command sees; absolute. */
  readonly hidden?: readonly string[] | undefined;
  /** A folder of the caller that no command sees, absolute: for the files of a run, and for the places that Sheaf takes away. */
  readonly stateFolder?: string | undefined;
  /** For caches of tools, absolute; undefined: they last as long as the run. */
  readonly cacheFolder?: string | undefined;
  /** Sheaf's own files. Default: the files of this process. */
  readonly program?: ProgramFiles | undefined;
  /** Its commands change nothing, so nothing is protected from them. */
  readonly isProbe?: boolean | undefined;
  /** Calls a function when the process exits in whatever way it can notice; the returned function takes it back. */
  readonly atExit?: ((end: () => void) => () => void) | undefined;
  /** How hosts are resolved; default: by the system. */
  readonly networkPorts?: NetworkPorts | undefined;
  /** What one command may use. */
  readonly limits?: UseLimits | undefined;
}

/** What commands are allowed. `writesOutside`: they write more than the workspace. */
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
