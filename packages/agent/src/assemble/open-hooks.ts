/** The hooks of a run, and where each of them runs (S-138). Loaded only where the user has some. */
import { homedir } from "node:os";
import type { RunStart } from "@sheaf/protocol";
import type { HookSources } from "../config/hook-settings.ts";
import { readUserHooks } from "../config/read-hooks.ts";
import { type CommandRunnerOptions, createCommandRunner } from "../guard/sandbox/launch/command-runner.ts";
import { createHooks } from "../tools/hooks/create-hooks.ts";
import type { Hooks } from "../tools/hooks/hooks.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface HookOrder {
  /** Undefined: none. */
  readonly sources: HookSources | undefined;
  readonly session: {
    readonly conversationId: string;
    readonly permissionMode: RunStart["permissionMode"];
    readonly workspace: Workspace;
  };
  /** Those of the model's commands. */
  readonly commandOptions: CommandRunnerOptions;
  /** Whose clients are not its user. */
  readonly isServer: boolean;
  /** Milliseconds. */
  readonly now: () => number;
}

/** The modes of Claude Code. `plan` changes nothing, as `ask`. */
const permissionModes = { default: "default", plan: "plan", ask: "plan", force: "bypassPermissions" } as const;

/** What a program needs to reach the user's screen. */
const screenVariables = ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"] as const;

/** @throws SheafError CONFIG_INVALID for a file that cannot be read. */
export function openHooks({ sources, session, commandOptions, isServer, now }: HookOrder): Hooks | undefined {
  const { hooks } = sources ? readUserHooks(sources) : { hooks: [] };
  if (hooks.length === 0) return undefined;
  const { conversationId, permissionMode, workspace } = session;
  const { environment, variables } = commandOptions;
  const project = { CLAUDE_PROJECT_DIR: workspace.root };
  const screen = screenVariables.flatMap((name) =>
    environment[name] === undefined ? [] : [[name, environment[name]]],
  );
  const inside = createCommandRunner({ ...commandOptions, variables: { ...variables, ...project } });
  const outside = createCommandRunner({
    ...commandOptions,
    sandbox: { state: "disabled" },
    variables: { ...(Object.fromEntries(screen) as Record<string, string>), ...project },
  });
  return createHooks({
    hooks,
    session: {
      sessionId: conversationId.replace(/^conv_/, ""),
      permissionMode: permissionModes[permissionMode],
      workspace,
    },
    places: {
      inside: { commands: inside, folder: workspace.root },
      outside: { commands: outside, folder: homedir() },
    },
    hasNotices: !isServer,
    now,
  });
}
