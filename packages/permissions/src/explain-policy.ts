/** Explains the decisions about each kind of call in a run, for people and for audits. */
import type { Mode, RunStart } from "@sheaf/protocol";
import { type CommandPolicy, containerReason, sandboxRuleKinds } from "./decide-command.ts";
import type { ToolAccess } from "./decision.ts";
import { isOffered } from "./permissions.ts";
import { readOnlyGit, readOnlyPrograms } from "./read-only-commands.ts";

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
    /** The decision; `rules` means that the rules in the list decide. */
    readonly decision: "allow" | "ask" | "deny" | "rules";
    readonly reason: string;
  }[];
  readonly rules: readonly SourcedRule[];
}

export interface PolicyFacts extends Omit<ExplainedPolicy, "classes">, Pick<CommandPolicy, "force" | "sandboxFault"> {
  /** Further folders, apart from the workspace; absolute. */
  readonly addedFolders: readonly string[];
}

type Row = ExplainedPolicy["classes"][number];
type Verdict = readonly [decision: Row["decision"], reason: string];

/** Returns one row for each kind of call. */
export function explainPolicy(facts: PolicyFacts): ExplainedPolicy {
  const { mode, trusted, sandbox, rules, addedFolders } = facts;
  const added = addedFolders.join(", ");
  const risky = "their contents run or take effect later, for instance .git, .sheaf, .vscode, .bashrc";
  const whoIsAsked = "a person is asked if possible; otherwise the call is refused, and the model gets the reason";
  const verdicts: readonly (readonly [ToolAccess, string, Verdict])[] = [
    ["read", "read files", judgeFiles(facts, ["Read"])],
    ["write", "write files", judgeFiles(facts, ["Read", "Write"])],
    ["read", "added folders", ["allow", `as the workspace, by absolute paths: ${added}`]],
    ["write", "write protected names", ["deny", risky]],
    ["command", "commands", judgeCommands(facts)],
    ["command", "reach of commands", judgeReach(facts)],
    ["command", "commands that only read", judgeReading(facts)],
    ["command", "git commands that only read", judgeGit(facts)],
    ["network", "web pages", judgeListed(facts, "WebFetch", "the network is off without a rule for the host")],
    ["mcp", "tools of MCP servers", judgeListed(facts, "Mcp", "each needs a rule or a person")],
    ["state", "what asks", ["ask", whoIsAsked]],
  ];
  const classes = verdicts
    .filter(([, name]) => name !== "added folders" || added !== "")
    .map(([access, name, verdict]): Row => {
      const isThere = access === "state" || isOffered(mode, { access });
      const [decision, reason] = isThere ? withAskRules(facts, access, verdict) : refuseByMode(mode);
      return { class: name, decision, reason };
    });
  return { mode, trusted, sandbox, classes, rules };
}

function refuseByMode(mode: Mode): Verdict {
  return ["deny", `${mode} mode changes nothing`];
}

const ruleKinds: Readonly<Record<ToolAccess, readonly string[]>> = {
  read: ["Read"], write: ["Read", "Write"], command: ["Shell"], network: ["WebFetch"], mcp: ["Mcp"], state: [],
}; // prettier-ignore

function withAskRules(facts: PolicyFacts, access: ToolAccess, [decision, reason]: Verdict): Verdict {
  const isAsking = decision === "allow" && hasRule(facts, "ask", ruleKinds[access]);
  return isAsking ? ["rules", `${reason}; what a rule names asks first`] : [decision, reason];
}

function hasRule({ rules }: PolicyFacts, effect: SourcedRule["effect"], kinds: readonly string[]): boolean {
  return rules.some(
    (entry) => entry.effect === effect && kinds.some((kind) => entry.rule.trim().startsWith(`${kind}(`)),
  );
}

function judgeFiles(facts: PolicyFacts, kinds: readonly string[]): Verdict {
  if (hasRule(facts, "deny", kinds)) return ["rules", "in the workspace, except what a rule denies; never outside it"];
  return ["allow", "in the workspace, also through links; never outside it"];
}

function judgeCommands(facts: PolicyFacts): Verdict {
  const { sandbox, sandboxFault, force } = facts;
  if (sandbox === "unavailable") return ["deny", sandboxFault ?? "the sandbox cannot start"];
  const isDenying = hasRule(facts, "deny", ["Shell"]);
  const isUnheld = sandbox === "container" && hasRule(facts, "deny", sandboxRuleKinds);
  if ((force || sandbox === "enabled" || sandbox === "container") && !isUnheld) {
    const held = sandbox === "enabled" ? "the sandbox limits what a command can do" : containerReason;
    const general = force ? "--force lets every command run" : held;
    const rest = sandbox === "enabled" && !isNetworkOpen(facts) ? "" : "; what cannot be compared with it asks";
    return isDenying ? ["rules", `${general}, except what a rule denies${rest}`] : ["allow", general];
  }
  if (isDenying || hasRule(facts, "allow", ["Shell"]))
    return ["rules", "each part of a command needs a rule that allows it and none that denies it"];
  if (isUnheld) return ["ask", "only a sandbox can hold commands to the deny rules: pass --allow RULE"];
  return ["ask", "without a sandbox and a rule: pass --allow RULE or --force"];
}

/** Sums up in one line all that a command can see. */
function judgeReach(facts: PolicyFacts): Verdict {
  if (facts.sandbox === "unavailable") return judgeCommands(facts);
  if (facts.sandbox === "disabled" || facts.sandbox === "container")
    return ["allow", "without the sandbox every file and host that you reach; only read-only ones obey Read rules"];
  const folders = ["the workspace", ...facts.addedFolders].join(", ");
  const isDenied = hasRule(facts, "deny", ["Read", "Write"]);
  const denied = isDenied ? " and denied files (with more than 300 such places none runs)" : "";
  const hosts = isNetworkOpen(facts) ? "the hosts that rules allow" : "no host";
  return ["rules", `they write ${folders}, read the machine without secret places${denied}, and reach ${hosts}`];
}

function isNetworkOpen(facts: PolicyFacts): boolean {
  return hasRule(facts, "allow", ["Network", "PrivateNetwork"]);
}

function judgeReading(facts: PolicyFacts): Verdict {
  if (facts.sandbox === "unavailable") return judgeCommands(facts);
  const programs = [...Object.keys(readOnlyPrograms), "find", "sed -n"].toSorted().join(", ");
  return ["allow", `with options that only read, on paths in the workspace: ${programs}`];
}

function judgeGit(facts: PolicyFacts): Verdict {
  if (facts.sandbox !== "disabled" || facts.force) return judgeCommands(facts);
  const commands = Object.keys(readOnlyGit).join(", ");
  if (facts.trusted) return ["allow", `at the root of the trusted workspace: ${commands}`];
  return ["ask", "the configuration of a repository can run programs, and this workspace is not trusted (sheaf trust)"];
}

function judgeListed(facts: PolicyFacts, kind: string, otherwise: string): Verdict {
  return hasRule(facts, "allow", [kind]) ? ["rules", "what a rule allows; everything else asks"] : ["ask", otherwise];
}
