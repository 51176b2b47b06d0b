/** The hooks of a run, and where each of them runs (S-138). Loaded only where the user has some. */
import { homedir } from "node:os";
import type { Notice, RunStart } from "@sheaf/protocol";
import type { HookSources } from "../config/hook-settings.ts";
import { readUserHooks, type UnusedHook } from "../config/read-hooks.ts";
import { readWorkspaceHooks, type WorkspaceHooks } from "../config/workspace-hooks.ts";
import type { CommandRunner } from "@sheaf/sandbox/command";
import { type RunnerSettings, createSandbox } from "@sheaf/sandbox/create-sandbox";
import { isExpendable } from "@sheaf/sandbox/sandbox";
import { createHooks, toHookName } from "../tools/hooks/create-hooks.ts";
import { guardingEvents } from "../tools/hooks/hook-answer.ts";
import { claudeModes } from "../tools/hooks/hook-input.ts";
import type { Hooks } from "../tools/hooks/hooks.ts";
import type { Workspace } from "@sheaf/base/files/workspace";

export interface HookRequest {
  /** The user's hooks; undefined without any. */
  readonly sources: HookSources | undefined;
  /** The workspace whose approved hooks may run (S-141); undefined: no workspace. */
  readonly trustedWorkspace: { readonly workspace: string; readonly dataFolder: string | undefined } | undefined;
  readonly session: {
    readonly conversationId: string;
    readonly permissionMode: RunStart["permissionMode"];
    readonly workspace: Workspace;
  };
  /** The model's commands. */
  readonly commands: CommandRunner;
  readonly commandOptions: RunnerSettings;
  /** Lets the effects of a runner's commands be undone; default: they cannot be. */
  readonly record?: ((commands: CommandRunner) => CommandRunner) | undefined;
  /** True for a server, whose clients are not its user. */
  readonly isServer: boolean;
  /** Milliseconds. */
  readonly now: () => number;
}

/** Variables by which a program reaches the user's screen. */
const screenVariables = ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"] as const;

/** The hooks, and notices for the user about hooks that do not run. */
export interface OpenedHooks {
  /** Undefined: none runs. */
  readonly hooks: Hooks | undefined;
  readonly notices: readonly Notice[];
  /** Some of them verify the run. */
  readonly verifies?: boolean;
}

/** @throws SheafError CONFIG_INVALID for a file of the user that cannot be read. */
export function openHooks({
  sources,
  trustedWorkspace,
  session,
  commands,
  commandOptions,
  record = (runner) => runner,
  isServer,
  now,
}: HookRequest): OpenedHooks {
  const own = sources ? readUserHooks(sources) : { hooks: [], leftOut: [] };
  const isHeld = isExpendable(commandOptions.sandbox);
  const found = trustedWorkspace ? readWorkspaceHooks(trustedWorkspace) : [];
  const leftOut = [
    ...own.leftOut,
    ...found.flatMap((entry) => (entry.state === "trusted" && isHeld ? entry.leftOut : [])),
  ];
  const unused = [
    ...found.flatMap((entry) => findObstacle(entry, isHeld) ?? []),
    ...leftOut.filter(({ event }) => guardingEvents.has(event)).map(formatMissingGuard),
  ];
  const notices = unused.map((message): Notice => ({ code: "HOOK_NOT_RUN", message }));
  // A verification that cannot run has not passed: the sandbox refuses it, aloud.
  const isMissing = commandOptions.sandbox.state === "unavailable";
  const further = found
    .flatMap((entry) => (entry.state === "trusted" ? entry.hooks : []))
    .filter(({ event }) => isHeld || (isMissing && event === "Verify"));
  const hooks = [...own.hooks, ...further];
  if (hooks.length === 0) return { hooks: undefined, notices };
  const { conversationId, permissionMode, workspace } = session;
  const { environment } = commandOptions;
  const screen = screenVariables.flatMap((name) =>
    environment[name] === undefined ? [] : [[name, environment[name]]],
  );
  const outside = createSandbox({
    ...commandOptions,
    sandbox: { state: "disabled" },
    variables: Object.fromEntries(screen) as Record<string, string>,
  });
  const created = createHooks({
    hooks,
    session: {
      sessionId: conversationId.replace(/^conv_/, ""),
      permissionMode: claudeModes[permissionMode],
      workspace,
    },
    places: {
      inside: { commands, folder: workspace.root },
      after: { commands: createSandbox(commandOptions), folder: workspace.root },
      outside: { commands: record(outside), folder: environment.HOME || homedir() },
    },
    variables: { CLAUDE_PROJECT_DIR: workspace.root },
    hasNotices: !isServer,
    now,
  });
  return { hooks: created, notices, verifies: hooks.some(({ event }) => event === "Verify") };
}

/** A guard never disappears silently (S-213). */
function formatMissingGuard({ event, command, file, problem }: UnusedHook): string {
  const name = command === "" ? "" : ` (${toHookName(command)})`;
  return `a ${event} hook${name} of ${file ?? "your configuration"} does not run and guards nothing: ${problem}`;
}

/** The reason why the hooks of a file do not run, in a sentence. */
function findObstacle(entry: WorkspaceHooks, isHeld: boolean): string | undefined {
  const { name, state } = entry;
  switch (state) {
    case "trusted":
      return isHeld ? undefined : `hooks of ${name} do not run: hooks of a workspace run only in the sandbox`;
    case "not_trusted":
      return `hooks of ${name} do not run: look at them with sheaf hooks trust`;
    case "changed":
      return `hooks of ${name} do not run, since they have changed: look at them with sheaf hooks trust`;
    case "unusable":
      return `hooks of ${name} do not run: ${entry.problem}`;
  }
}
