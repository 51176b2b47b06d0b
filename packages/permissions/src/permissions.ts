/** Decides about tool calls from mode, flags and the user's rules. A model's text never changes a decision (S-14). */
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
  /** Paths of the call. Undefined: it may read anything in the workspace. */
  readonly paths?: PlacedPaths | undefined;
  /** Names of a server and its tool, as the user knows them. */
  readonly mcp?: { readonly server: string; readonly tool: string };
  /** Rules from a person's answers in this conversation (X8). */
  readonly answered?: { readonly allow: readonly string[]; readonly deny: readonly string[] };
}

export interface Permissions {
  decide(request: PermissionRequest): Promise<PermissionDecision>;
  /** True if the text of a command shows that it only reads. */
  isReading(call: CommandCall): boolean;
  /** Lists the globs of files that searches skip: a rule denies reading them, or asks before it (S-243). */
  listUnread(answered: NonNullable<PermissionRequest["answered"]>): readonly PathGlob[];
}

/**
 * The policy's settings. `sandbox` decides about commands: with `enabled`, they run in it without a rule. With
 * `disabled`, they need a rule. With `container`, they run without a rule and without a sandbox. With `unavailable`, no
 * command runs, because the wanted sandbox cannot start (S-31).
 */
export interface PermissionOptions extends CommandPolicy {
  readonly mode: Mode;
  /** The folder for `~` in rules; absolute. */
  readonly home: string;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** Rules for calls that always need a person, even if another rule allows them (C64). */
  readonly ask?: readonly string[] | undefined;
  /** Such rules, unless an allow rule or the read-only list would let the call run without the sandbox (C201). */
  readonly askUnlessAllowed?: readonly string[] | undefined;
}

/** Creates the policy of a run. @throws SheafError USAGE for a rule that cannot be read. */
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
      // An ask rule asks exactly where it would refuse as a deny rule.
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

/** Parses a rule for questions. @throws SheafError USAGE for a kind that cannot ask. */
export function parseAskRule(text: string, parse = parseRule): Rule {
  const rule = parse(text);
  if (!["Network", "PrivateNetwork", "Credentials"].includes(rule.kind)) return rule;
  const advice = "which hosts and tokens commands reach is decided before they run, so allow or deny it";
  throw new SheafError("USAGE", `the rule ${JSON.stringify(text)} cannot ask: ${advice}`);
}

/** Asks because of a rule. The answer "always" ends the rule for the conversation. */
function askByRule(rule: string | undefined): PermissionDecision {
  const reason = `the user's rule ${rule ?? ""} asks before this`;
  const why = { reason, cause: { code: "ask_rule", ...(rule !== undefined && { value: rule }) } } as const;
  const advice = 'a person can agree in a terminal, an editor or the page, or over the API with "approvals": "ask"';
  return ask(why, advice, rule === undefined ? [] : [rule]);
}

/** Returns a text. Any other value becomes a text that matches no rule. */
function toText(value: unknown, missing: string): string {
  if (value === undefined) return missing;
  return typeof value === "string" ? value : "";
}

/** True if a mode offers a tool. Ask and plan offer no tool that writes, runs commands or uses the network (S-15). */
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
 * Decides about file tools, which may read and write inside the workspace unless a rule denies it. A file that must not
 * be read must not be edited or moved either, since the result would show it. A search skips denied files that its call
 * does not mention (S-243). Commands on the read-only list obey Read rules here; for all other commands, the sandbox
 * enforces both kinds.
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

/** Shows a path of the model in one short line. */
function toShown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
