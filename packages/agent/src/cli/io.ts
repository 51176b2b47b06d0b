/** What a command gets from the process around it. */
import type { Environment } from "../config/paths.ts";

export interface CommandIo {
  readonly environment: Environment;
  /** Folder in which Sheaf was started. */
  readonly cwd: string;
  readonly isInputTerminal: boolean;
  readonly isOutputTerminal: boolean;
}
