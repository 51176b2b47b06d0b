/** Which conversation a prompt belongs to (C14). */
import { randomUUID } from "node:crypto";
import { SheafError } from "../base/errors.ts";
import type { Store } from "../store/store.ts";
import { isUuid } from "./arguments.ts";
import type { FlagValues } from "./flags.ts";

/**
 * The id of the conversation, `conv_<uuid>`: the one named, the newest of the workspace, or a new one.
 * An id that is well formed but not stored begins a new conversation under it.
 * @throws SheafError USAGE for a malformed id, or when there is nothing to go on with.
 */
export async function chooseConversation(flags: FlagValues, store: Store, workspace: string): Promise<string> {
  const { resume } = flags;
  if (flags["no-save"] && (resume !== undefined || flags.continue)) {
    throw new SheafError(
      "USAGE",
      "--no-save reads no session either: leave it out, or leave --resume and --continue out",
    );
  }
  const named = findNamedSession(flags);
  if (named !== undefined) {
    if (!isUuid(named)) throw new SheafError("USAGE", `the session id "${named}" is no UUID`);
    return `conv_${named.toLowerCase()}`;
  }
  if (resume === undefined && !flags.continue) return `conv_${randomUUID()}`;
  const [newest] = await store.listConversations({ limit: 1, workspace });
  if (newest) return newest.id;
  throw new SheafError("USAGE", `there is no session of ${workspace} to go on with: leave --resume and --continue out`);
}

/** The session that a flag names, as it was given. @throws SheafError USAGE when two flags name two. */
export function findNamedSession(flags: FlagValues): string | undefined {
  const { resume, "session-id": sessionId } = flags;
  const named = sessionId ?? (resume || undefined);
  const isOther = resume !== undefined && resume.toLowerCase() !== named?.toLowerCase();
  if (sessionId !== undefined && (isOther || flags.continue)) {
    throw new SheafError(
      "USAGE",
      `--session-id ${sessionId} names another session than --resume or --continue: give one of them`,
    );
  }
  return named;
}
