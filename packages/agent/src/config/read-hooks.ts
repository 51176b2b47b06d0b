/** The hooks of a run, from every place that may name some (C80, C81). */
import type { HookEventName, HookResult } from "@sheaf/protocol";
import { formatProblem, isJsonObject, listProblems, parseJson, toJsonObject } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import { readOrdinaryFile } from "@sheaf/base/read-ordinary-file";
import {
  type HookCommand,
  hookCommand,
  type HookSettings,
  type HookSources,
  isHookEvent,
  looseGroup,
  parseMatcher,
} from "./hook-settings.ts";

/** Largest file that is read. Bytes. */
const MAX_BYTES = 1024 * 1024;

/** Limit of a run's hooks; Sheaf leaves out the others. */
const MAX_HOOKS = 100;

const defaultSeconds = 60;

/** One command at one event. */
export interface Hook extends Pick<HookResult, "event" | "origin" | "command"> {
  /** The matcher as written; "" or "*": all. */
  readonly matcher: string;
  /** True if it runs for something with one of these names. */
  readonly matches: (names: readonly string[]) => boolean;
  readonly timeoutMs: number;
  readonly isSandboxed: boolean;
  /** The file with the hook; undefined: the user's configuration. */
  readonly file?: string | undefined;
  /** True if a file that it runs differs from the approved one; undefined: no approval is needed. */
  readonly isChanged?: (() => boolean) | undefined;
  /** Asks a program instead of running the command; undefined: it did not answer. */
  readonly ask?: ((input: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<unknown>) | undefined;
}

export interface UnusedHook {
  readonly event: string;
  /** The command, or "" without one. */
  readonly command: string;
  readonly file?: string | undefined;
  readonly problem: string;
}

export interface HookList {
  readonly hooks: readonly Hook[];
  readonly leftOut: readonly UnusedHook[];
}

/** Facts that all hooks of one place share. */
interface HookPlace extends Pick<Hook, "origin" | "file"> {
  readonly isSandboxed: boolean;
}

/** Reads the user's own hooks. @throws SheafError CONFIG_INVALID for a file that cannot be read. */
export function readUserHooks({ own, file, isSandboxed, program = [] }: HookSources): HookList {
  const { leftOut, hooks } = parseHooks(own, { origin: "user", isSandboxed });
  const found = { leftOut, hooks: [...program, ...hooks] };
  if (file === undefined) return found;
  const read = readHookFile(file);
  if (!read.ok) {
    const message = `the hooks file ${file} ${read.problem}: fix it, or take hooksFile out`;
    throw new SheafError("CONFIG_INVALID", message, { cause: read.cause });
  }
  const further = parseHooks(read.hooks, { origin: "user", isSandboxed, file });
  return { hooks: [...found.hooks, ...further.hooks], leftOut: [...found.leftOut, ...further.leftOut] };
}

/** The `hooks` of a settings file; `problem` follows the name of the file. */
export type HookFile =
  | { readonly ok: true; readonly hooks: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string; readonly isMissing: boolean; readonly cause?: unknown };

/** Reads a settings file; `hooks` is `{}` for a file without hooks. */
export function readHookFile(file: string): HookFile {
  const read = readOrdinaryFile(file, MAX_BYTES);
  if (!read.ok) return read;
  const value = parseJson(read.bytes.toString().replace(/^\uFEFF/, ""));
  const { hooks = {} } = toJsonObject(value);
  if (value !== undefined && isJsonObject(hooks)) return { ok: true, hooks };
  const problem = value === undefined ? "is not JSON" : 'has "hooks" that are not an object';
  return { ok: false, problem, isMissing: false };
}

/** Each entry that Sheaf can run; the others with the reason. */
export function parseHooks(value: unknown, place: HookPlace): HookList {
  const hooks: Hook[] = [];
  const leftOut: UnusedHook[] = [];
  const { file } = place;
  for (const [event, groups] of Object.entries(value as HookSettings)) {
    const leaveOut = (problem: string, command = ""): void => void leftOut.push({ event, command, file, problem });
    if (!isHookEvent(event)) {
      leaveOut("Sheaf has no such event");
      continue;
    }
    for (const group of Array.isArray(groups) ? (groups as readonly unknown[]) : [groups]) {
      const [problem] = listProblems(looseGroup, group);
      if (problem) {
        leaveOut(formatProblem(problem));
        continue;
      }
      const { matcher = "", hooks: commands } = group as { readonly matcher?: string; readonly hooks: unknown[] };
      for (const entry of commands) {
        const fault = findFault(entry, place);
        if (fault !== undefined) leaveOut(fault, toCommandText(entry));
        else if (hooks.length >= MAX_HOOKS) leaveOut(`more than ${MAX_HOOKS} hooks`, toCommandText(entry));
        else hooks.push(toHook(entry as HookCommand, { event, matcher }, place));
      }
    }
  }
  return { hooks, leftOut };
}

/** The problem in words for the list; undefined: it can run. */
function findFault(entry: unknown, { origin }: HookPlace): string | undefined {
  const { type, sandbox } = isJsonObject(entry) ? entry : {};
  if (sandbox === false && origin === "workspace") return "hooks of a workspace run only in the sandbox";
  if (typeof type === "string" && type !== "command") return `Sheaf runs no hooks of type ${JSON.stringify(type)}`;
  const [problem] = listProblems(hookCommand, entry);
  if (!problem) return undefined;
  return problem.reason === "unknown"
    ? `Sheaf does not know its field ${JSON.stringify(problem.path.at(-1))}`
    : formatProblem(problem);
}

function toCommandText(entry: unknown): string {
  const { command } = isJsonObject(entry) ? entry : {};
  return typeof command === "string" ? command : "";
}

function toHook(
  { command, timeout = defaultSeconds, sandbox }: HookCommand,
  { event, matcher }: { readonly event: HookEventName; readonly matcher: string },
  { origin, file, isSandboxed }: HookPlace,
): Hook {
  const accepts = parseMatcher(matcher)!;
  return {
    event,
    origin,
    command,
    matcher,
    // Events without kinds run all their hooks.
    matches: (names) => names.length === 0 || names.some(accepts),
    timeoutMs: timeout * 1000,
    isSandboxed: sandbox ?? isSandboxed,
    file,
  };
}
