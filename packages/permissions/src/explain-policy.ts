/** What each kind of call resolves to in a run, and why: for people, and for audits. */
import type { Mode, RunStart } from "@sheaf/protocol";
import type { CommandPolicy } from "./decide-command.ts";
import type { ToolAccess } from "./decision.ts";
import { isOffered } from "./permissions.ts";
import { readOnlyGit, readOnlyPrograms } from "./read-only-commands.ts";

/** A rule and the place that it came from. */
export interface SourcedRule {
  readonly effect: "allow" | "ask" | "deny";
  readonly rule: string;
  readonly source: "flag" | "config" | "workspace";
}

export interface ExplainedPolicy {
  readonly mode: Mode;
  readonly trusted: boolean;
  readonly sandbox: RunStart["sandbox"];
  readonly classes: readonly {
    readonly class: string;
    /** `rules`: the rules below decide. */
    readonly decision: "allow" | "ask" | "deny" | "rules";
    readonly reason: string;
  }[];
  readonly rules: readonly SourcedRule[];
}

export interface PolicyFacts extends Omit<ExplainedPolicy, "classes">, Pick<CommandPolicy, "force" | "sandboxFault"> {
  /** Beside the workspace; absolute. */
  readonly addedFolders: readonly string[];
}

type Row = ExplainedPolicy["classes"][number];

/** One row for each kind of call. */
export function explainPolicy(facts: PolicyFacts): ExplainedPolicy {
  const { mode, trusted, sandbox, rules } = facts;
  const classes = [
    toRow(facts, "read", "read files", toFileRow(facts, "Read")),
    toRow(facts, "write", "write files", toFileRow(facts, "Write")),
    ...(facts.addedFolders.length === 0 ? [] : [toRow(facts, "read", "added folders", toAddedRow(facts))]),
    toRow(facts, "write", "write protected names", {
      decision: "deny",
      reason: "their contents run or take effect later, for instance .git, .sheaf, .vscode, .bashrc",
    }),
    toRow(facts, "command", "commands", toCommandRow(facts)),
    toRow(facts, "command", "reach of commands", toReachRow(facts)),
    toRow(facts, "command", "commands that only read", toReadOnlyRow(facts)),
    toRow(facts, "command", "git commands that only read", toGitRow(facts)),
    toRow(
      facts,
      "network",
      "web pages",
      toListedRow(facts, "WebFetch", "the network is off without a rule for the host"),
    ),
    toRow(facts, "mcp", "tools of MCP servers", toListedRow(facts, "Mcp", "each needs a rule or a person")),
    {
      class: "what asks",
      decision: "ask",
      reason: "a person is asked if possible; otherwise the call is refused, and the model gets the reason",
    } as const,
  ];
  return { mode, trusted, sandbox, classes, rules };
}

function toRow(facts: PolicyFacts, access: ToolAccess, name: string, row: Omit<Row, "class">): Row {
  if (isOffered(facts.mode, { access })) return { class: name, ...withAskRules(facts, access, row) };
  return { class: name, decision: "deny", reason: `${facts.mode} mode changes nothing` };
}

const ruleKinds: Readonly<Record<ToolAccess, readonly string[]>> = {
  read: ["Read"], write: ["Read", "Write"], command: ["Shell"], network: ["WebFetch"], mcp: ["Mcp"], state: [],
}; // prettier-ignore

function withAskRules(facts: PolicyFacts, access: ToolAccess, row: Omit<Row, "class">): Omit<Row, "class"> {
  const asks = ruleKinds[access].some((kind) => hasRule(facts, kind, "ask"));
  if (!asks || row.decision !== "allow") return row;
  return { decision: "rules", reason: `${row.reason}; what a rule names asks first` };
}

function hasRule({ rules }: PolicyFacts, kind: string, effect: SourcedRule["effect"]): boolean {
  return rules.some((entry) => entry.effect === effect && entry.rule.trim().startsWith(`${kind}(`));
}

function toFileRow(facts: PolicyFacts, kind: "Read" | "Write"): Omit<Row, "class"> {
  const denies = hasRule(facts, "Read", "deny") || (kind === "Write" && hasRule(facts, "Write", "deny"));
  if (denies) return { decision: "rules", reason: "in the workspace, except what a rule denies; never outside it" };
  return { decision: "allow", reason: "in the workspace, also through links; never outside it" };
}

function toAddedRow({ addedFolders }: PolicyFacts): Omit<Row, "class"> {
  return { decision: "allow", reason: `as the workspace, by absolute paths: ${addedFolders.join(", ")}` };
}

function toCommandRow(facts: PolicyFacts): Omit<Row, "class"> {
  if (facts.sandbox === "unavailable") {
    return { decision: "deny", reason: facts.sandboxFault ?? "the sandbox cannot start" };
  }
  const denies = hasRule(facts, "Shell", "deny");
  const general =
    (facts.force && "--force lets every command run") ||
    (facts.sandbox === "enabled" && "the sandbox limits what a command can do");
  if (general) {
    if (!denies) return { decision: "allow", reason: general };
    const rest = facts.sandbox === "enabled" && !isNetworkOpen(facts) ? "" : "; what cannot be compared with it asks";
    return { decision: "rules", reason: `${general}, except what a rule denies${rest}` };
  }
  if (denies || hasRule(facts, "Shell", "allow")) {
    return { decision: "rules", reason: "each part of a command needs a rule that allows it and none that denies it" };
  }
  return { decision: "ask", reason: "without a sandbox and a rule: pass --allow RULE or --force" };
}

/** One line on all that a command can see. */
function toReachRow(facts: PolicyFacts): Omit<Row, "class"> {
  if (facts.sandbox === "unavailable") return toCommandRow(facts);
  if (facts.sandbox === "disabled") {
    return {
      decision: "allow",
      reason: "without the sandbox every file and host that you reach; only read-only ones obey Read rules",
    };
  }
  const folders = ["the workspace", ...facts.addedFolders].join(", ");
  const isDenied = hasRule(facts, "Read", "deny") || hasRule(facts, "Write", "deny");
  const denied = isDenied ? " and denied files (with more than 300 such places none runs)" : "";
  const hosts = isNetworkOpen(facts) ? "the hosts that rules allow" : "no host";
  return {
    decision: "rules",
    reason: `they write ${folders}, read the machine without secret places${denied}, and reach ${hosts}`,
  };
}

function isNetworkOpen(facts: PolicyFacts): boolean {
  return hasRule(facts, "Network", "allow") || hasRule(facts, "PrivateNetwork", "allow");
}

function toReadOnlyRow(facts: PolicyFacts): Omit<Row, "class"> {
  if (facts.sandbox === "unavailable") return toCommandRow(facts);
  const programs = [...Object.keys(readOnlyPrograms), "find", "sed -n"].toSorted().join(", ");
  return { decision: "allow", reason: `with options that only read, on paths in the workspace: ${programs}` };
}

function toGitRow(facts: PolicyFacts): Omit<Row, "class"> {
  if (facts.sandbox !== "disabled" || facts.force) return toCommandRow(facts);
  const commands = Object.keys(readOnlyGit).join(", ");
  if (facts.trusted) return { decision: "allow", reason: `at the root of the trusted workspace: ${commands}` };
  const reason = "the configuration of a repository can run programs, and this workspace is not trusted (sheaf trust)";
  return { decision: "ask", reason };
}

function toListedRow(facts: PolicyFacts, kind: string, otherwise: string): Omit<Row, "class"> {
  if (hasRule(facts, kind, "allow")) return { decision: "rules", reason: "what a rule allows; everything else asks" };
  return { decision: "ask", reason: otherwise };
}
