/** What a conversation in the terminal can change about itself. */
import type { FlagValues } from "../flags.ts";

export interface InteractiveState {
  /** As given at the start, changed by `/mode` and `/model`. */
  flags: FlagValues;
  /** UUID (C14). */
  session: string;
}
