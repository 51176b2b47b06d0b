/** Whether a prompt is answered once and printed, or a conversation is opened (C1). */
import type { FlagValues } from "./flags.ts";
import type { CommandIo } from "./io.ts";

/** Print mode: asked for, or inferred because stdout is no terminal or stdin is piped (C1). */
export function isPrintMode(flags: FlagValues, io: CommandIo): boolean {
  return flags.print === true || !io.isOutputTerminal || !io.isInputTerminal;
}
