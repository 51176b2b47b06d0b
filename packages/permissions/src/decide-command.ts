/** Decides if a shell command may run (S-10 to S-12). Deny always wins; no rule allows a partly unknown command. */
import type { RunStart } from "@sheaf/protocol";
import { allow, allowByRule, ask, type AskReason, deny, type PermissionDecision } from "./decision.ts";
import { compareWithRule } from "./compare-with-rule.ts";
import { listRunCommands } from "./list-run-commands.ts";
import { findUnnamedWord, unwrapCommand } from "./programs.ts";
import { readCommand } from "./read-command.ts";
import { isReadOnly } from "./read-only-commands.ts";
import { createReadingPlace, type FindPlace } from "./reading-place.ts";
import type { Rule, Rules, ShellRule } from "./rule.ts";
import { type FindGitObstacle, findLineObstacle } from "./untrusted-git.ts";
import type { ShellReading, SimpleCommand } from "./shell-reading.ts";

/** The policy for all commands of a run. */
export interface CommandPolicy {
  /** True if every command runs, unless a rule denies it. */
  readonly force: boolean;
  readonly sandbox: RunStart["sandbox"];
  /** The reason why the sandbox is unavailable, with the remedy, in one line. */
  readonly sandboxFault?: string | undefined;
  readonly trusted: boolean;
  /** Path of the workspace: absolute, links resolved. */
  readonly root: string;
  readonly findPlace: FindPlace;
  readonly findGitObstacle: FindGitObstacle;
}

/** One command, exactly as it will run, and its working directory. */
export interface CommandCall {
  readonly command: string;
  readonly workingDirectory: string;
}

export function decideCommand(call: CommandCall, policy: CommandPolicy, rules: Rules): PermissionDecision {
  if (policy.sandbox === "unavailable") {
    const reason = policy.sandboxFault ?? "commands run in a sandbox only, and it cannot start here";
    return deny(reason, undefined, isReading(call, policy, rules) ? undefined : "sandbox");
  }
  const denies = rules.denies.filter((rule) => rule.kind === "Shell");
  const allows = rules.allows.filter((rule) => rule.kind === "Shell");
  const nothing = denies.find(({ words }) => !words);
  if (nothing) return refuse(nothing);
  const unheld = findUnheldRule(policy, rules.denies);
  const general = findGeneralPermission(policy, allows, unheld);
  if (general && denies.length === 0) return general;
  const result = readCommand(call.command);
  if (!result.ok) {
    return general
      ? askToCompare(`it contains ${result.problem}`, denies)
      : askForPermission(result.problem, allows, unheld);
  }
  const { reading } = result;
  const refusal = denies.length > 0 ? findRefusal(reading, denies, isLineContained(policy, rules)) : undefined;
  if (refusal || general) return refusal ?? general!;
  if (reading.obstacle !== undefined) return askForPermission(reading.obstacle, allows, unheld);
  return decideByParts(reading, call, policy, { ...rules, allows });
}

/** Rules that only the sandbox can enforce on every command. */
export const sandboxRuleKinds: readonly string[] = ["Read", "Write", "Network", "PrivateNetwork", "Credentials"];

export const containerReason = "the user throws this container away";

/** Returns the first deny rule that only a missing sandbox could enforce. */
function findUnheldRule({ sandbox }: CommandPolicy, denies: readonly Rule[]): Rule | undefined {
  return sandbox === "container" ? denies.find(({ kind }) => sandboxRuleKinds.includes(kind)) : undefined;
}

/** True if the text of a command shows that it only reads. */
export function isReading(call: CommandCall, policy: CommandPolicy, { denies }: Pick<Rules, "denies">): boolean {
  const result = readCommand(call.command);
  if (!result.ok || result.reading.obstacle !== undefined) return false;
  return decideByParts(result.reading, call, policy, { allows: [], denies }).decision === "allow";
}

/** Returns the permission for every command, if any. */
function findGeneralPermission(
  policy: CommandPolicy,
  allows: readonly ShellRule[],
  unheld: Rule | undefined,
): PermissionDecision | undefined {
  if (policy.force && !unheld) return allow("--force lets every command run");
  if (policy.sandbox === "enabled") return allow("the sandbox limits what a command can do");
  if (policy.sandbox === "container" && !unheld) return allow(containerReason);
  const everything = allows.find(({ words }) => !words);
  return everything && allowByRule(everything.text);
}

function refuse({ text }: ShellRule): PermissionDecision {
  return deny(`the rule ${text} denies this command: do it another way, or tell the user`, text);
}

/** True if no process of a command leaves the sandbox: then rules apply only to the line's visible words (S-85). */
function isLineContained({ sandbox }: CommandPolicy, { allows }: Rules): boolean {
  return sandbox === "enabled" && !allows.some(({ kind }) => kind === "Network" || kind === "PrivateNetwork");
}

/** Returns the first rule that covers a command, or else the first doubt. */
function findRefusal(
  reading: ShellReading,
  denies: readonly ShellRule[],
  isContained: boolean,
): PermissionDecision | undefined {
  const { commands, unclear } = listRunCommands(reading);
  const doubts = [...unclear];
  for (const command of commands) {
    for (const rule of denies) {
      const result = compareWithRule(rule.words ?? [], command);
      if (result === true) return refuse(rule);
      if (result !== false) doubts.push(result);
    }
  }
  const [first] = isContained ? [] : doubts;
  return first === undefined ? undefined : askToCompare(first, denies);
}

function askToCompare(part: string, denies: readonly ShellRule[]): PermissionDecision {
  const shown = denies.slice(0, 3).map(({ text }) => text);
  const names = [...shown, ...(denies.length > 3 ? ["others"] : [])].join(", ");
  const reason = `this command cannot be compared with ${names}, because ${part}`;
  const advice = "write plain commands, or put them into a file and run that";
  return ask({ reason, cause: { code: "not_comparable", value: names } }, advice);
}

function askForPermission(problem: string, allows: readonly ShellRule[], unheld: Rule | undefined): PermissionDecision {
  const advice =
    allows.length > 0 ? "split it into plain commands that a rule allows, or the user passes" : "the user passes";
  const reason = `this command needs a permission (it contains ${problem}, which no rule can judge)`;
  return ask({ reason, cause: { code: "not_readable" } }, `${advice} ${unheld ? '--allow "Shell(*)"' : "--force"}`);
}

/** Decides by parts: each needs its own rule, or must be a command that only reads. */
function decideByParts(
  reading: ShellReading,
  call: CommandCall,
  policy: CommandPolicy,
  { allows, denies }: Rules & { readonly allows: readonly ShellRule[] },
): PermissionDecision {
  const place = createReadingPlace(reading, call.workingDirectory, policy, denies);
  // Repeated commands are judged once.
  const commands = [...new Map(place.commands.map((command) => [JSON.stringify(command), command])).values()];
  const obstacleOfGit = findLineObstacle(commands, place.folder, policy.findGitObstacle);
  if (obstacleOfGit) return ask(obstacleOfGit, obstacleOfGit.advice);
  const open: SimpleCommand[] = [];
  const used = new Set<string>();
  let obstacle: AskReason | undefined;
  for (const command of commands) {
    const found = findRule(allows, command);
    if (found && "kind" in found) used.add(found.text);
    else if (!isReadOnly(command, place)) {
      open.push(command);
      obstacle ??= found;
    }
  }
  if (open.length === 0) {
    return used.size === 0 ? allow("it only reads in the workspace") : allowByRule([...used].join(", "));
  }
  return askForRules(open, obstacle, findUnheldRule(policy, denies));
}

/** Returns the rule that covers a command, or the reason why none does. Words after the rule's must be harmless. */
function findRule(allows: readonly ShellRule[], command: SimpleCommand): ShellRule | AskReason | undefined {
  const words = command.map(({ text }) => text);
  let obstacle: AskReason | undefined;
  for (const rule of allows) {
    for (const tail of [words, unwrapCommand(words)]) {
      const { length } = rule.words ?? [];
      const start = words.length - tail.length;
      const isAbout = rule.words?.every((word, at) => word === tail[at] && !command[start + at]!.isGlob) ?? true;
      if (!isAbout) continue;
      const word = rule.words && findUnnamedWord(tail, length);
      if (word === undefined) return rule;
      const reason = `the rule ${rule.text} does not cover ${JSON.stringify(word.slice(0, 200))}, which may run another program or write files`;
      obstacle ??= { reason, cause: { code: "not_covered", value: rule.text } };
    }
  }
  return obstacle;
}

function askForRules(
  open: readonly SimpleCommand[],
  obstacle: AskReason | undefined,
  unheld: Rule | undefined,
): PermissionDecision {
  const suggested = open.map(suggestRule);
  const always = suggested.every((rule) => rule !== undefined) ? [...new Set(suggested)] : [];
  if (obstacle !== undefined) {
    return ask(obstacle, "leave it out, or the user passes a rule that names it or --force", always);
  }
  const [first = []] = open;
  const example = always[0] ?? `Shell(${toPlainStart(first)})`;
  const why = unheld ? `, since only a sandbox can hold it to the rule ${unheld.text}` : "";
  const advice = `the user passes --allow ${JSON.stringify(example)}${unheld ? "" : " or --force"}`;
  return ask({ reason: `this command needs a permission${why}`, cause: { code: "no_rule" } }, advice, always);
}

/** Returns the first words of a command, as far as a rule can contain them. */
function toPlainStart(command: SimpleCommand): string {
  const words = command.slice(0, 2).map(({ text }) => text);
  const end = words.findIndex((word) => !/^[\w./:@%+,-]{1,60}$/.test(word));
  return (end < 0 ? words : words.slice(0, end)).join(" ") || "*";
}

/** Programs whose effect is in their first two words. For other programs, a rule covers only the exact call. */
const namedByTwo: ReadonlySet<string> = new Set((
  "apt apt-get brew bun bundle bunx cargo cmake composer dotnet gh git go gradle ./gradlew helm just make mvn npm npx pip pip3 pnpm poetry " +
  "rake rustup terraform uv yarn bash node python python3 ruby sh"
).split(" ")); // prettier-ignore

/** Suggests a narrow rule, which the answer "always" adds for this command; undefined if all would be too wide. */
function suggestRule(command: SimpleCommand): string | undefined {
  const words = unwrapCommand(command.map(({ text }) => text));
  const program = words[0] ?? "";
  let count = namedByTwo.has(program) ? 2 : 0;
  if (/^(?:run|exec|-m|tool)$/.test(words[1] ?? "")) count = 3;
  const named = words.slice(0, count);
  const isPlain =
    named.every((word) => /^[\w./:@-]+$/.test(word)) && (count === 3 || named[1]?.startsWith("-") !== true);
  if (count === 0 || named.length < count || !isPlain || findUnnamedWord(words, count) !== undefined) return undefined;
  return `Shell(${named.join(" ")})`;
}
