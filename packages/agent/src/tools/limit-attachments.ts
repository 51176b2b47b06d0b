/** Limits the attachments of tools in one conversation (N65). */
import { withNote } from "./failure.ts";
import type { ToolReturn } from "./tool.ts";
import type { ToolState } from "./tool-state.ts";

/** Bytes, which both the log and the memory of every further run of the conversation hold. */
const MAX_CONVERSATION_BYTES = 100 * 1024 * 1024;

/** Returns the outcome, with a note instead of its attachments if they exceed the limit. */
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
