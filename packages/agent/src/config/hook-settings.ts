/** Hooks in a configuration, in the form of Claude Code's settings (C80). */
import type { HookEventName } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import type { Hook } from "./read-hooks.ts";

/** The events at which a hook can run. */
export const hookEvents = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "Notification",
  "PreCompact",
  "Stop",
  "Verify",
  "SessionEnd",
] as const satisfies readonly HookEventName[];

/** Events of Claude Code that Sheaf lacks. It runs no hooks for them, and lists them as unused (C81). */
const foreignEvents = [
  "PostToolUseFailure",
  "PermissionRequest",
  "PermissionDenied",
  "SubagentStart",
  "SubagentStop",
  "StopFailure",
  "PostCompact",
  "ConfigChange",
  "CwdChanged",
  "FileChanged",
  "InstructionsLoaded",
  "Setup",
  "TaskCreated",
  "TaskCompleted",
  "TeammateIdle",
  "WorktreeCreate",
  "WorktreeRemove",
  "Elicitation",
  "ElicitationResult",
] as const;

export function isHookEvent(name: string): name is HookEventName {
  return (hookEvents as readonly string[]).includes(name);
}

/** Seconds that a hook may take. */
const MAX_TIMEOUT = 600;

const command = s.object({
  type: s.literal("command"),
  command: s.string({ minLength: 1, maxLength: 4000 }),
  /** Seconds; default 60. */
  timeout: s.optional(s.number({ exclusiveMinimum: 0, maximum: MAX_TIMEOUT })),
  /** False: it runs outside the sandbox, in the home folder. Default: `hooksSandbox`. */
  sandbox: s.optional(s.boolean()),
  /** Text for Claude Code's screen; not used. */
  statusMessage: s.optional(s.string()),
});

export interface HookCommand extends s.ValueOf<typeof command> {}

export const hookCommand = s.strict(command) as s.Schema<HookCommand>;

const matcher = s.refine(
  s.string({ maxLength: 1000 }),
  "names separated by |, a regular expression, or *",
  (text) => parseMatcher(text) !== undefined,
);

/** Makes a test of names from a matcher; undefined if it is not a regular expression. */
export function parseMatcher(text: string): ((name: string) => boolean) | undefined {
  if (text === "" || text === "*") return () => true;
  if (/^[\w\s|,-]+$/.test(text)) {
    const names = new Set(text.split(/[|,]/).map((name) => name.trim()));
    return (name) => names.has(name);
  }
  try {
    return toTimedTest(new RegExp(text));
  } catch {
    return undefined;
  }
}

/** Time that a matcher may look at a name. Milliseconds. */
const MATCH_MS = 250;

/**
 * A model chooses names, and some patterns backtrack for hours. A pattern that took too long accepts every name from
 * then on: a guard runs once too often rather than never (S-210).
 */
function toTimedTest(pattern: RegExp): (name: string) => boolean {
  // Node can interrupt a pattern only in this way.
  const { runInNewContext } = process.getBuiltinModule("node:vm");
  let isTooSlow = false;
  return (name) => {
    try {
      return isTooSlow || runInNewContext("pattern.test(name)", { pattern, name }, { timeout: MATCH_MS }) === true;
    } catch {
      return (isTooSlow = true);
    }
  };
}

const group = s.object({
  /** Names of tools, or of the event's kinds. Default: all. */
  matcher: s.optional(matcher),
  hooks: s.list<HookCommand>(hookCommand, { maxItems: 50 }),
});

/** The same group, before the check that its commands are Sheaf's. */
export const looseGroup = s.object({ matcher: s.optional(matcher), hooks: s.list(s.anything()) });

const eventName = s.refine(
  s.string(),
  `an event: ${hookEvents.join(", ")}`,
  (name) => isHookEvent(name) || (foreignEvents as readonly string[]).includes(name),
);

/** Hooks by event. */
export const hookSettings = s.record(s.list(s.strict(group), { maxItems: 50 }), eventName);

/** The user's hooks, as the configuration has them. */
export type HookSettings = s.ValueOf<typeof hookSettings>;

/** Files in which a workspace may have hooks. All of them apply. */
export const hookFiles = [".sheaf/hooks.json", ".claude/settings.json", ".claude/settings.local.json"] as const;

/** Sources of a run's hooks. */
export interface HookSources {
  /** The hooks in the user's configuration. */
  readonly own: HookSettings;
  /** The user's settings of Claude Code, absolute; undefined: they are not read. */
  readonly file?: string | undefined;
  /** True if the user's hooks run in the sandbox, unless a hook sets that itself. */
  readonly isSandboxed: boolean;
  /** Number of times that a failed `Verify` command sends the model back to work; default 2 (C168). */
  readonly verifyRounds?: number | undefined;
  /** Hooks of a program at the other end of stdin and stdout, which run before the others (C203). */
  readonly program?: readonly Hook[] | undefined;
}

/** Adds the commands that verify a run to its hooks. They run as the model's own commands do. */
export function withVerify(hooks: HookSettings, commands: readonly string[]): HookSettings {
  const added = commands.map((text) => ({
    type: "command" as const,
    command: text,
    timeout: MAX_TIMEOUT,
    sandbox: true,
  }));
  return added.length === 0 ? hooks : { ...hooks, Verify: [...(hooks.Verify ?? []), { hooks: added }] };
}
