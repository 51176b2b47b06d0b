/** What a tool call may do: one pure decision from mode, flags and rules. Nothing a model writes changes it (S-14). */
import type { Mode } from "@sheaf/protocol";
import type { Tool, ToolAccess } from "../tools/tool.ts";
import { toPaths } from "./paths.ts";
import { type FileRule, findShellObstacle, isShellDenied, parseRule, type Rule, type ShellRule } from "./rule.ts";
import { parseWords } from "./words.ts";

/** A call to decide on. */
interface PermissionRequest {
  readonly toolName: string;
  readonly access: ToolAccess;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type PermissionDecision =
  | { readonly decision: "allow"; readonly rule?: string }
  | {
      readonly decision: "deny";
      /** The rule that denied it, as it was written. */
      readonly rule?: string;
      /** One line for the model and the user: why, and what to do. */
      readonly reason: string;
    };

/** The policy of a run. */
export interface Permissions {
  decide(request: PermissionRequest): PermissionDecision;
}

export interface PermissionOptions {
  readonly mode: Mode;
  /** Every command runs, unless a rule denies it. */
  readonly force: boolean;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

const allowed: PermissionDecision = { decision: "allow" };

/**
 * The policy from the user's flags.
 * @throws SheafError USAGE for a rule that cannot be read.
 */
export function createPermissions({ mode, force, allow, deny }: PermissionOptions): Permissions {
  const allowRules = allow.map(parseRule);
  const denyRules = deny.map(parseRule);
  return {
    decide(request) {
      if (!isOffered(mode, { name: request.toolName, access: request.access }))
        return refuseByMode(mode, request.toolName);
      if (request.access === "state" || request.access === "network") return allowed;
      if (request.access !== "command") return decideFiles(request, denyRules);
      const { command } = request.arguments;
      return decideCommand(typeof command === "string" ? command : "", force, allowRules, denyRules);
    },
  };
}

/** Tools that change nothing but the conversation, by the modes that do not have all of them. */
const stateTools = { ask: ["ask_question"], plan: ["ask_question", "create_plan", "todo_write"] } as const;

/** Whether a mode has a tool: ask and plan have none that writes, runs commands or uses the network (S-15). */
export function isOffered(mode: Mode, tool: Pick<Tool, "name" | "access">): boolean {
  if (mode === "agent" || mode === "debug") return true;
  if (tool.access === "state") return stateTools[mode].some((name) => name === tool.name);
  return tool.access === "read";
}

function refuseByMode(mode: Mode, toolName: string): PermissionDecision {
  const reason = `${toolName} is not there in ${mode} mode, which changes nothing: go on without it, or start with --mode agent`;
  return { decision: "deny", reason };
}

/** Deny wins over allow and force. What is no plain words cannot be compared, so it passes no rule (S-11). */
function decideCommand(
  command: string,
  force: boolean,
  allowRules: readonly Rule[],
  denyRules: readonly Rule[],
): PermissionDecision {
  const words = parseWords(command);
  const denies = denyRules.filter((rule) => rule.kind === "Shell");
  const denied = denies.find((rule) => !rule.words || (words && isShellDenied(rule, words)));
  if (denied) {
    const reason = `the rule ${denied.text} denies this command: do it another way, or tell the user`;
    return { decision: "deny", rule: denied.text, reason };
  }
  const shapes = "operators, quotes, variables, wildcards or several lines";
  if (denies.length > 0 && !words) {
    const names = denies.map((rule) => rule.text).join(", ");
    const reason = `this command holds ${shapes}, so it cannot be compared with ${names}: split it into plain commands`;
    return { decision: "deny", reason };
  }
  if (force) return allowed;
  return decideByAllowRules(
    words,
    allowRules.filter((rule) => rule.kind === "Shell"),
  );
}

function decideByAllowRules(words: readonly string[] | undefined, rules: readonly ShellRule[]): PermissionDecision {
  const everything = rules.find((rule) => !rule.words);
  if (everything) return { decision: "allow", rule: everything.text };
  if (!words) {
    const problem = "it holds operators, quotes, variables, wildcards or several lines, which no rule can judge";
    const advice =
      rules.length > 0 ? "split it into plain commands that a rule allows, or the user passes" : "the user passes";
    return { decision: "deny", reason: `this command needs a permission (${problem}): ${advice} --force` };
  }
  const advice = `--allow ${JSON.stringify(`Shell(${words.slice(0, 2).join(" ")})`)} or --force`;
  for (const rule of rules) {
    const obstacle = findShellObstacle(rule, words);
    if (obstacle === "") return { decision: "allow", rule: rule.text };
    if (obstacle === "other words") continue;
    const reason = `the rule ${rule.text} does not cover "${obstacle.word}", which may run another program or write files`;
    return { decision: "deny", reason: `${reason}: leave it out, or the user names it in the rule or passes --force` };
  }
  return { decision: "deny", reason: `this command needs a permission: the user passes ${advice}` };
}

/**
 * File tools may read and write inside the workspace, except what a rule denies. A file that must not be read must not
 * be edited or moved either: the result would show it. A search is refused if its folder could hold such a file.
 * Commands are not held by Read and Write rules; only the sandbox can do that.
 */
function decideFiles(request: PermissionRequest, denyRules: readonly Rule[]): PermissionDecision {
  const { files, folders } = toPaths(request.toolName, request.arguments);
  for (const rule of denyRules) {
    if (rule.kind === "Shell" || (rule.kind === "Write" && request.access !== "write")) continue;
    const path = files.find((file) => rule.glob.isCovering(file));
    if (path !== undefined) {
      const reason = `the rule ${rule.text} denies ${request.toolName} on ${toShown(path)}: leave this file, and tell the user`;
      return { decision: "deny", rule: rule.text, reason };
    }
    const folder = rule.kind === "Read" ? folders.find((candidate) => rule.glob.mayMatchBelow(candidate)) : undefined;
    if (folder !== undefined) return refuseFolder(request.toolName, rule, folder);
  }
  return allowed;
}

function refuseFolder(toolName: string, rule: FileRule, folder: string): PermissionDecision {
  const reason = `${toolName} in ${toShown(folder)} could show a file that the rule ${rule.text} denies`;
  const advice = "name a folder that cannot hold one, or read files by name with read_file";
  return { decision: "deny", rule: rule.text, reason: `${reason}: ${advice}` };
}

/** A path of the model in one short line. */
function toShown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
