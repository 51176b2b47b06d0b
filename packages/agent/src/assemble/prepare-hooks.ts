/** The hooks of one response, and what it is of its session (C80, C87). */
import type { Notice } from "@sheaf/protocol";
import type { HookMoments } from "../run/run-hooks.ts";
import type { Hooks } from "../tools/hooks/hooks.ts";
import type { ResponseBase } from "./response-base.ts";
import { recordCommands } from "./prepare-undo.ts";
import { toRunStart } from "./run-request.ts";
import { openHooks } from "./wire.ts";
import type { Sessions } from "./wire-servers.ts";

export interface PreparedHooks {
  /** Undefined: none runs. */
  readonly hooks: Hooks | undefined;
  readonly moments: HookMoments | undefined;
  readonly notices: readonly Notice[];
  /** Undefined: nothing is to be closed. */
  readonly close: (() => Promise<void>) | undefined;
}

/** @throws SheafError CONFIG_INVALID for a file of the user that cannot be read. */
export async function prepareHooks(
  { request, policy, commands, commandOptions, conversation, undo }: ResponseBase,
  sessions: Sessions,
  now: () => number,
): Promise<PreparedHooks> {
  const { conversationId } = request;
  const { hooks, notices } = await openHooks({
    sources: request.hooks,
    trustedWorkspace: request.runsWorkspaceHooks && request.trusted ? request : undefined,
    session: { conversationId, permissionMode: toRunStart(request).permissionMode, workspace: policy.workspace },
    commands,
    commandOptions,
    record: (runner) => recordCommands(runner, undo, { conversationId, permissions: policy.permissions }),
    isServer: sessions === "conversations",
    now,
  });
  const isNew = conversation.messages.length === 0;
  return {
    hooks,
    notices,
    moments: hooks && findMoments(conversationId, isNew, sessions),
    close: hooks && (() => keepHooks(hooks, conversationId, sessions)),
  };
}

/** A resumed session had its start before. */
function findMoments(conversationId: string, isNew: boolean, sessions: Sessions): HookMoments {
  const source = isNew ? "startup" : "resume";
  if (sessions === "runs") return { begins: source, ends: true };
  if (sessions === "conversations") return isNew ? { begins: source } : {};
  return sessions.has(conversationId) ? {} : { begins: source };
}

/** Until the session ends. */
async function keepHooks(hooks: Hooks, conversationId: string, sessions: Sessions): Promise<void> {
  if (typeof sessions === "string") return hooks.end();
  hooks.leaveRun();
  const before = sessions.get(conversationId);
  sessions.set(conversationId, hooks);
  await before?.end();
}
