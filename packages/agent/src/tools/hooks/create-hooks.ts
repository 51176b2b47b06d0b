/** Runs the user's hooks of a run (C80). */
import type { HookResult, Notice } from "@sheaf/protocol";
import type { Hook } from "../../config/read-hooks.ts";
import { maskKeys } from "@sheaf/base/key-shapes";
import type { CommandRunner } from "@sheaf/sandbox/command";
import { toPrefix } from "@sheaf/base/files/text-format";
import { type HookAnswer, refusingEvents, toFailedAnswer, toHookAnswer, toProgramAnswer } from "./hook-answer.ts";
import { type HookSession, toHookInput, toMatchedNames } from "./hook-input.ts";
import type { HookOccasion, Hooks } from "./hooks.ts";

interface HookPlace {
  readonly commands: CommandRunner;
  /** Absolute path. */
  readonly folder: string;
}

export interface HookPorts {
  readonly hooks: readonly Hook[];
  readonly session: HookSession;
  /**
   * The runners of hooks: `inside` the run's own, since commands of one workspace must know of each other (S-22);
   * `after` in the same sandbox, once the run's commands have ended. `outside` has no sandbox, and the home folder
   * (S-138).
   */
  readonly places: Readonly<Record<"inside" | "after" | "outside", HookPlace>>;
  /** Variables for all hooks. */
  readonly variables: Readonly<Record<string, string>>;
  /** True if hooks' messages to the user reach the log: clients of a server are other people (S-136). */
  readonly hasNotices: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Bytes of a command in the log. */
const MAX_COMMAND = 1000;

/** Bytes of a command in a sentence. */
const MAX_NAME = 80;

const changedMessage = "a file that it runs has changed since you trusted it: look at it with sheaf hooks trust";

export function createHooks({ hooks, session, places, variables, hasNotices, now }: HookPorts): Hooks {
  let held = places.inside;
  let last: Promise<unknown> = Promise.resolve();
  const runHook = async (hook: Hook, occasion: HookOccasion, signal: AbortSignal): Promise<HookResult> => {
    const { event, origin, command, timeoutMs, isSandboxed } = hook;
    const { commands, folder } = isSandboxed ? held : places.outside;
    const startedAt = now();
    const call = "call" in occasion ? occasion.call : undefined;
    const base = { type: "hook_result", event, origin, command: maskKeys(toPrefix(command, MAX_COMMAND)) } as const;
    const head = { ...base, ...(call && { callId: call.callId }) };
    const toResult = (said: HookAnswer): HookResult => {
      const { message = "", ...answer } = said;
      const notice = hasNotices && message !== "" ? { notice: toNotice(hook, answer, message) } : {};
      return { ...head, ...answer, ...notice, durationMs: now() - startedAt };
    };
    if (hook.isChanged?.()) return toResult(toFailedAnswer(event, -1, changedMessage));
    const input = toHookInput(occasion, session);
    if (hook.ask) {
      const signals = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      return toResult(toProgramAnswer(event, await hook.ask(input, signals), call?.toolName));
    }
    const outcome = await commands.run({
      command,
      workingDirectory: folder,
      timeoutMs,
      signal,
      variables,
      // A command that verifies a run is an ordinary one: it gets no input.
      input: event === "Verify" ? undefined : `${JSON.stringify(input)}\n`,
      onOutput: () => undefined,
    });
    return toResult(toHookAnswer(event, outcome, call?.toolName));
  };

  const runAll = async (occasion: HookOccasion, signal: AbortSignal): Promise<readonly HookResult[]> => {
    const names = toMatchedNames(occasion);
    const results: HookResult[] = [];
    let current = occasion;
    const { event } = occasion;
    for (const hook of hooks) {
      if (hook.event !== event || !hook.matches(names)) continue;
      if (signal.aborted) break;
      const result = await runHook(hook, current, signal);
      results.push(result);
      // The next hook sees the arguments as this one left them.
      const { arguments: args } = result;
      if (args && current.event === "PreToolUse") current = { ...current, call: { ...current.call, arguments: args } };
      // A refusal is final; but a formatter runs although a check objects.
      if (result.decision === "end" || (result.decision === "block" && refusingEvents.has(event))) break;
    }
    return results;
  };

  return {
    run(occasion, signal) {
      // Calls that only read end side by side, but commands in the foreground run alone.
      const results = last.then(() => runAll(occasion, signal));
      last = results.catch(() => undefined);
      return results;
    },
    leaveRun() {
      held = places.after;
    },
    async end() {
      await last;
      await Promise.all([places.after.commands.end(), places.outside.commands.end()]);
    },
  };
}

function toNotice({ event, command }: Hook, { status }: Pick<HookResult, "status">, message: string): Notice {
  const hasFailed = status === "failed";
  const text = `${event} hook (${toHookName(command)})${hasFailed ? " failed" : ""}: ${maskKeys(message)}`;
  return { code: hasFailed ? "HOOK_FAILED" : "HOOK_MESSAGE", message: text };
}

/** Returns the first characters of a hook's command, as its name in a sentence. */
export function toHookName(command: string): string {
  const [line = ""] = command.split("\n", 1);
  const name = toPrefix(line, MAX_NAME);
  return `${maskKeys(name)}${name.length < command.length ? "…" : ""}`;
}
