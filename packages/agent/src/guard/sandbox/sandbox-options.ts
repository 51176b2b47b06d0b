/** What a launcher that holds commands is made of. */
import type { CommandNetwork } from "../permissions/command-network.ts";
import type { FileRule } from "../permissions/rule.ts";
import type { Environment } from "./environment.ts";
import type { NetworkPorts } from "./rule-proxy.ts";
import type { UseLimits } from "./use-watch.ts";

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
