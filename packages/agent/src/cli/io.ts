/** What a command gets from the process around it. */
import type { Environment } from "../base/paths.ts";
import type { Profile } from "../output/profile.ts";

export interface CommandIo {
  readonly environment: Environment;
  /** Folder in which Sheaf was started. */
  readonly cwd: string;
  /** Whose habits the output has (C30). */
  readonly profile: Profile;
  readonly isInputTerminal: boolean;
  readonly isOutputTerminal: boolean;
}
