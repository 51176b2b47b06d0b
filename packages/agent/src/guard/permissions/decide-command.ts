/** Whether a shell command may run (S-10 to S-12). Deny wins over everything; what is not fully known passes no rule. */
import type { RunStart } from "@sheaf/protocol";
import { allow, allowByRule, ask, deny, type PermissionDecision } from "./decision.ts";
import { createReadingPlace, type FindPlace } from "./reading-place.ts";
import { isReadOnly } from "./read-only-commands.ts";
import type { Rule, ShellRule } from "./rule.ts";
import { findCoverage, findDenial, suggestRule } from "./shell-rules.ts";
import type { ShellReader, ShellReading, SimpleCommand } from "./shell-reading.ts";

/** What holds for all commands of a run. */
export interface CommandPolicy {
  /** Every command runs, unless a rule denies it. */
  readonly force: boolean;
  readonly sandbox: RunStart["sandbox"];
  /** Why the sandbox is unavailable and what the user can do, in one line. */
  readonly sandboxFault?: string | undefined;
  readonly trusted: boolean;
  readonly loadReader: () => Promise<ShellReader>;
  readonly findPlace: FindPlace;
}

interface Rules {
  readonly allows: readonly Rule[];
  readonly denies: readonly Rule[];
}

/** One command, as it will be executed, and the folder in which it will be. */
interface CommandCall {
  readonly command: string;
  readonly workingDirectory: string;
}

export async function decideCommand(
  call: CommandCall,
  policy: CommandPolicy,
  rules: Rules,
): Promise<PermissionDecision> {
  if (policy.sandbox === "unavailable") {
    return deny(policy.sandboxFault ?? "commands run in a sandbox only, and it cannot start here");
  }
  const denies = rules.denies.filter((rule) => rule.kind === "Shell");
  const allows = rules.allows.filter((rule) => rule.kind === "Shell");
  const nothing = denies.find(({ words }) => !words);
  if (nothing) return refuse(nothing);
  const general = findGeneralPermission(policy, allows);
  if (general && denies.length === 0) return general;
  const result = (await policy.loadReader()).read(call.command);
  if (!result.ok) return general ? askToCompare(result.problem, denies) : askForPermission(result.problem, allows);
  return (
    findRefusal(result.reading, denies) ?? general ?? decideByParts(result.reading, call, policy, { ...rules, allows })
  );
}

/** What lets every command run, if anything does. */
function findGeneralPermission(policy: CommandPolicy, allows: readonly ShellRule[]): PermissionDecision | undefined {
  if (policy.force) return allow("--force lets every command run");
  if (policy.sandbox === "enabled") return allow("the sandbox holds what a command can do");
  const everything = allows.find(({ words }) => !words);
  return everything && allowByRule(everything.text);
}

function refuse({ text }: ShellRule): PermissionDecision {
  return deny(`the rule ${text} denies this command: do it another way, or tell the user`, text);
}

function findRefusal({ commands }: ShellReading, denies: readonly ShellRule[]): PermissionDecision | undefined {
  let unclear: ShellRule | undefined;
  for (const command of toDistinct(commands)) {
    for (const rule of denies) {
      const denial = findDenial(rule, command);
      if (denial === "yes") return refuse(rule);
      if (denial === "maybe") unclear ??= rule;
    }
  }
  return unclear && askToCompare("wildcards or a text that a shell reads again", [unclear]);
}

function askToCompare(problem: string, denies: readonly ShellRule[]): PermissionDecision {
  const names = denies.map(({ text }) => text).join(", ");
  return ask(`this command holds ${problem}, so it cannot be compared with ${names}`, "split it into plain commands");
}

function askForPermission(problem: string, allows: readonly ShellRule[]): PermissionDecision {
  const advice =
    allows.length > 0 ? "split it into plain commands that a rule allows, or the user passes" : "the user passes";
  return ask(`this command needs a permission (it holds ${problem}, which no rule can judge)`, `${advice} --force`);
}

/** Every part needs a rule of its own, or must be one of the commands that only read. */
function decideByParts(
  reading: ShellReading,
  call: CommandCall,
  policy: CommandPolicy,
  { allows, denies }: Rules & { readonly allows: readonly ShellRule[] },
): PermissionDecision {
  const place = createReadingPlace(reading, call.workingDirectory, policy, denies);
  const open: SimpleCommand[] = [];
  const used = new Set<string>();
  let obstacle: string | undefined;
  for (const command of toDistinct(place.commands)) {
    const covered = findRule(allows, command);
    if (covered.rule) used.add(covered.rule.text);
    else if (!isReadOnly(command, place)) {
      open.push(command);
      obstacle ??= covered.obstacle;
    }
  }
  if (open.length === 0) {
    return used.size === 0 ? allow("it only reads in the workspace") : allowByRule([...used].join(", "));
  }
  return askForRules(open, obstacle);
}

function findRule(
  allows: readonly ShellRule[],
  command: SimpleCommand,
): { readonly rule?: ShellRule; readonly obstacle?: string } {
  let obstacle: string | undefined;
  for (const rule of allows) {
    const coverage = findCoverage(rule, command);
    if (coverage === "covered") return { rule };
    if (coverage === "other") continue;
    obstacle ??= `the rule ${rule.text} does not cover ${toShown(coverage.word)}, which may run another program or write files`;
  }
  return obstacle === undefined ? {} : { obstacle };
}

function askForRules(open: readonly SimpleCommand[], obstacle: string | undefined): PermissionDecision {
  const suggested = open.map(suggestRule);
  const always = suggested.every((rule) => rule !== undefined) ? [...new Set(suggested)] : [];
  if (obstacle !== undefined) {
    return ask(obstacle, "leave it out, or the user names it in the rule or passes --force", always);
  }
  const [first = []] = open;
  const example = always[0] ?? `Shell(${toPlainStart(first)})`;
  const advice = `the user passes --allow ${JSON.stringify(example)} or --force`;
  return ask("this command needs a permission", advice, always);
}

/** The first words of a command, as far as a rule can hold them. */
function toPlainStart(command: SimpleCommand): string {
  const words = command.slice(0, 2).map(({ text }) => text);
  const end = words.findIndex((word) => !/^[\w./:@%+,-]{1,60}$/.test(word));
  return (end < 0 ? words : words.slice(0, end)).join(" ") || "*";
}

/** A command that stands there many times is looked at once. */
function toDistinct(commands: readonly SimpleCommand[]): readonly SimpleCommand[] {
  if (commands.length < 2) return commands;
  return [...new Map(commands.map((command) => [JSON.stringify(command), command])).values()];
}

/** A word of the model in one short line. */
function toShown(word: string): string {
  return JSON.stringify(word.slice(0, 200));
}
