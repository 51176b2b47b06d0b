/** The hooks of one response, and its place in its session (C80, C87). */
import type { Notice } from "@sheaf/protocol";
import { isOffered } from "@sheaf/permissions/permissions";
import type { HookMoments } from "../run/run-hooks.ts";
import type { Hooks } from "../tools/hooks/hooks.ts";
import { runTerminalCmdTool } from "../tools/run-terminal-cmd.ts";
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
  /** Undefined without hooks to close. */
  readonly close: (() => Promise<void>) | undefined;
}

/** Number of times that a failed command that verifies the run sends the model back to work. */
const defaultRounds = 2;

/** @throws SheafError CONFIG_INVALID for a file of the user that cannot be read. */
export async function prepareHooks(
  { request, policy, commands, commandOptions, conversation, undo }: ResponseBase,
  sessions: Sessions,
  now: () => number,
): Promise<PreparedHooks> {
  const { conversationId, mode } = request;
  const {
    hooks,
    notices,
    verifies = false,
  } = await openHooks({
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
    moments: hooks && {
      ...findMoments(conversationId, isNew, sessions),
      // The other modes change no file that could be verified (C168).
      ...(verifies &&
        isOffered(mode, runTerminalCmdTool) && { verifyRounds: request.hooks?.verifyRounds ?? defaultRounds }),
    },
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

/** Keeps the hooks until the session ends. */
async function keepHooks(hooks: Hooks, conversationId: string, sessions: Sessions): Promise<void> {
  if (typeof sessions === "string") return hooks.end();
  hooks.leaveRun();
  const before = sessions.get(conversationId);
  sessions.set(conversationId, hooks);
  await before?.end();
}
