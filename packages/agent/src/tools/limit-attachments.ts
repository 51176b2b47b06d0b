/** What tools may attach in one conversation (N65). */
import { withNote } from "./failure.ts";
import type { ToolReturn } from "./tool.ts";
import type { ToolState } from "./tool-state.ts";

/** The log has all of it, and so has the memory of every run that goes on with the conversation. Bytes. */
const MAX_CONVERSATION_BYTES = 100 * 1024 * 1024;

/** The outcome; without its attachments, and with a note, if they exceed the limit. */
export function limitAttachments(outcome: ToolReturn, state: Pick<ToolState, "attachedBytes">): ToolReturn {
  const { attachments, ...rest } = outcome;
  if (!attachments) return outcome;
  const bytes = attachments.reduce((sum, attachment) => sum + attachment.bytes, state.attachedBytes);
  if (bytes <= MAX_CONVERSATION_BYTES) {
    state.attachedBytes = bytes;
    return outcome;
  }
  const limit = `tools can attach at most ${MAX_CONVERSATION_BYTES} bytes in a conversation`;
  const note = `Not shown: ${limit}, and this would be more. Say so; a new session starts from zero.`;
  return withNote(rest, note);
}
