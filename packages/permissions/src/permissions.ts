/** What a tool call may do: one decision from mode, flags and the user's rules. Nothing a model writes changes it (S-14). */
import type { Mode } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { allow, ask, deny, type JudgedTool, type PermissionDecision, type PlacedPaths } from "./decision.ts";
import { type CommandCall, decideCommand, isReading, type CommandPolicy } from "./decide-command.ts";
import { decideMcp, decideUrl } from "./decide-network.ts";
import type { PathGlob } from "@sheaf/base/files/glob";
import { createRuleParser, parseRule, type Rule, type Rules } from "./rule.ts";

interface PermissionRequest {
  readonly tool: JudgedTool;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Undefined: it may read anything in the workspace. */
  readonly paths?: PlacedPaths | undefined;
  /** Of a tool that a server gave: its names, as the user knows them. */
  readonly mcp?: { readonly server: string; readonly tool: string };
  /** Rules that a person's answers added for this conversation (X8). */
  readonly answered?: { readonly allow: readonly string[]; readonly deny: readonly string[] };
}

export interface Permissions {
  decide(request: PermissionRequest): Promise<PermissionDecision>;
  /** Returns true if the text of a command shows that it only reads. */
  isReading(call: CommandCall): boolean;
  /** What searches leave out: files that a rule denies to read, or asks about first (S-243). */
  listUnread(answered: NonNullable<PermissionRequest["answered"]>): readonly PathGlob[];
}

/**
 * What the policy is made from. `sandbox`: `enabled`, commands run in it without a rule; `disabled`, commands need a rule;
 * `container`, they run without a rule and without a sandbox; `unavailable`, it is wanted but cannot start, so no command runs (S-31).
 */
export interface PermissionOptions extends CommandPolicy {
  readonly mode: Mode;
  /** What `~` means in rules; absolute. */
  readonly home: string;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** What they match needs a person, whatever allows it (C64). */
  readonly ask?: readonly string[] | undefined;
  /** The same, unless an allow rule or the read-only list would let the call run without the sandbox (C201). */
  readonly askUnlessAllowed?: readonly string[] | undefined;
}

/**
 * The policy from the user's flags and configuration.
 * @throws SheafError USAGE for a rule that cannot be read.
 */
export function createPermissions(options: PermissionOptions): Permissions {
  const { mode } = options;
  const parse = createRuleParser(options.home);
  const allowRules = options.allow.map(parse);
  const denyRules = options.deny.map(parse);
  const askRules = (options.ask ?? []).map((text) => parseAskRule(text, parse));
  const mildRules = (options.askUnlessAllowed ?? []).map((text) => parseAskRule(text, parse));
  const decideByRules = (
    request: Omit<PermissionRequest, "answered">,
    rules: Rules,
    policy: CommandPolicy = options,
  ): PermissionDecision => {
    switch (request.tool.access) {
      case "state":
        return allow("it changes nothing but the conversation");
      case "read":
      case "write":
        return decideFiles(request, rules.denies);
      case "network":
        return decideUrl(request.arguments["url"], rules);
      case "mcp":
        return decideMcp(request.mcp?.server ?? "", request.mcp?.tool ?? request.tool.name, rules);
      case "command": {
        const { command, working_directory: workingDirectory } = request.arguments;
        const call = { command: toText(command, ""), workingDirectory: toText(workingDirectory, ".") };
        return decideCommand(call, policy, rules);
      }
    }
  };
  const isGranted = (request: Omit<PermissionRequest, "answered">, allows: readonly Rule[]): boolean =>
    request.tool.access === "command"
      ? decideByRules(request, { allows, denies: [] }, { ...options, sandbox: "disabled" }).decision === "allow"
      : decideByRules(request, { allows, denies: allows.filter(({ kind }) => kind === "Write") }).decision === "deny";
  return {
    async decide({ answered = { allow: [], deny: [] }, ...request }) {
      if (!isOffered(mode, request.tool)) return refuseByMode(mode, request.tool.name);
      const denies = [...denyRules, ...answered.deny.map(parse)];
      const allows = [...allowRules, ...answered.allow.map(parse)];
      const decision = decideByRules(request, { allows, denies });
      const further = mildRules.length > 0 && !isGranted(request, allows) ? mildRules : [];
      const asks = [...askRules, ...further].filter(({ text }) => !answered.allow.includes(text));
      if (decision.decision !== "allow" || asks.length === 0) return decision;
      // What a rule would refuse if it denied is what it asks about.
      const asked = decideByRules(request, { allows, denies: asks });
      return asked.decision === "deny" ? askByRule(asked.rule) : asked.decision === "ask" ? asked : decision;
    },
    isReading: (call) => isReading(call, options, { denies: denyRules }),
    listUnread(answered) {
      const asks = askRules.filter(({ text }) => !answered.allow.includes(text));
      const rules = [...denyRules, ...answered.deny.map(parse), ...asks];
      return rules.flatMap((rule) => (rule.kind === "Read" ? [rule.glob] : []));
    },
  };
}

/** @throws SheafError USAGE for a rule that asks about nothing. */
export function parseAskRule(text: string, parse = parseRule): Rule {
  const rule = parse(text);
  if (!["Network", "PrivateNetwork", "Credentials"].includes(rule.kind)) return rule;
  const advice = "which hosts and tokens commands reach is decided before they run, so allow or deny it";
  throw new SheafError("USAGE", `the rule ${JSON.stringify(text)} cannot ask: ${advice}`);
}

/** "Always" ends the rule for the conversation. */
function askByRule(rule: string | undefined): PermissionDecision {
  const reason = `the user's rule ${rule ?? ""} asks before this`;
  const why = { reason, cause: { code: "ask_rule", ...(rule !== undefined && { value: rule }) } } as const;
  return ask(why, "a person can agree in a terminal, an editor or the page", rule === undefined ? [] : [rule]);
}

/** Anything but text is judged as a text that matches no rule. */
function toText(value: unknown, missing: string): string {
  if (value === undefined) return missing;
  return typeof value === "string" ? value : "";
}

/** True if a mode offers a tool: ask and plan offer none that writes, runs commands or uses the network (S-15). */
export function isOffered(mode: Mode, { access, modes = [] }: Pick<JudgedTool, "access" | "modes">): boolean {
  if (mode === "debug" || mode === "agent") return true;
  return access === "read" || (access === "state" && modes.includes(mode));
}

function refuseByMode(mode: Mode, toolName: string): PermissionDecision {
  return deny(
    `${toolName} is not available in ${mode} mode, which changes nothing: go on without it, or start with --mode agent`,
  );
}

/**
 * File tools may read and write inside the workspace, except what a rule denies. A file that must not be read must not
 * be edited or moved either, since the result would show it. What a call searches without naming it is left out of the
 * result (S-243). Of commands, those on the read-only list obey Read rules here; for all others the sandbox enforces both
 * kinds.
 */
export function decideFiles(
  { tool, paths }: Pick<PermissionRequest, "tool" | "paths">,
  denies: readonly Rule[],
): PermissionDecision {
  const named = paths ? [...paths.files, ...paths.folders] : [];
  for (const rule of denies) {
    if (rule.kind !== "Read" && !(rule.kind === "Write" && tool.access === "write")) continue;
    const glob = paths ? rule.glob.in(paths.root) : rule.glob;
    const path = named.find((candidate) => glob.isCovering(candidate));
    if (path !== undefined) {
      const reason = `the rule ${rule.text} denies ${tool.name} on ${toShown(path)}: leave this file, and tell the user`;
      return deny(reason, rule.text);
    }
    if (!paths && rule.kind === "Read" && rule.glob.mayMatchBelow(".")) {
      const reason = `${tool.name} in "." could show a file that the rule ${rule.text} denies`;
      const advice = "name a folder that cannot contain one, or read files by name with read_file";
      return deny(`${reason}: ${advice}`, rule.text);
    }
  }
  return allow("file tools work inside the workspace");
}

/** A path of the model in one short line. */
function toShown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
