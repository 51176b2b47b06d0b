/** The report about a server, for people and for programs. */
import { levels, type Level } from "./check.ts";
import type { Outcome } from "./run-suite.ts";

export type LevelSummary = Readonly<Record<Outcome["status"], number>>;

export interface Report {
  /** Version of this format. */
  readonly version: 1;
  readonly server: string;
  /** The highest level without a failure, lower levels included; null if even `base` has one. */
  readonly level: Level | null;
  readonly levels: Readonly<Record<Level, LevelSummary>>;
  readonly clauses: Readonly<Record<string, Outcome["status"]>>;
  readonly checks: readonly Outcome[];
}

export function createReport(server: string, checks: readonly Outcome[]): Report {
  const count = (level: Level, status: Outcome["status"]): number =>
    checks.filter((check) => check.level === level && check.status === status).length;
  const summary = Object.fromEntries(
    levels.map((level) => [
      level,
      { passed: count(level, "passed"), failed: count(level, "failed"), skipped: count(level, "skipped") },
    ]),
  ) as Record<Level, LevelSummary>;
  const broken = levels.findIndex((level) => summary[level].failed > 0);
  const reached = levels.slice(0, broken === -1 ? levels.length : broken).filter((level) => summary[level].passed > 0);
  return { version: 1, server, level: reached.at(-1) ?? null, levels: summary, clauses: toClauses(checks), checks };
}

/** Gives each clause its status: broken if any check failed it, skipped if no check could test it. */
function toClauses(checks: readonly Outcome[]): Report["clauses"] {
  const clauses: Record<string, Outcome["status"]> = {};
  for (const { clauses: proved, status } of checks) {
    for (const clause of proved) {
      if (status === "passed") clauses[clause] = "passed";
      else clauses[clause] ??= "skipped";
    }
  }
  for (const { status, clause } of checks) if (status === "failed" && clause !== undefined) clauses[clause] = "failed";
  const byNumber = new Intl.Collator("en", { numeric: true });
  return Object.fromEntries(Object.entries(clauses).toSorted(([one], [other]) => byNumber.compare(one, other)));
}

const marks = { passed: "ok  ", failed: "FAIL", skipped: "skip" } as const;

/** Formats a check as one line, with a second line for its problem. */
export function formatOutcome({ status, id, clauses, title, clause, message }: Outcome): string {
  const line = `${marks[status]} ${id.padEnd(26)} ${title} [${clauses.join(" ")}]`;
  return message === undefined
    ? line
    : `${line}\n       ${clause === undefined ? "" : `${clause}: `}${toVisible(message)}`;
}

/** Escapes control characters of the server's text, because they would steer the terminal (S-70). */
function toVisible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, (character) =>
    /[\t\n]/.test(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export function formatSummary({ server, level, levels: summary, clauses }: Report): string {
  const lines = levels.map((each) => {
    const { passed, failed, skipped } = summary[each];
    return `${each.padEnd(12)} ${passed} passed, ${failed} failed, ${skipped} skipped`;
  });
  const broken = Object.keys(clauses).filter((clause) => clauses[clause] === "failed");
  return [
    "",
    ...lines,
    broken.length === 0 ? "no clause is broken" : `broken clauses: ${broken.join(", ")}`,
    `${server} ${level === null ? "does not reach the level base" : `reaches the level ${level}`}${toDoubt(summary, level)}`,
  ].join("\n");
}

/** Mentions the skipped checks of a level, which is reached if no check failed. */
function toDoubt(summary: Report["levels"], level: Level | null): string {
  const upTo = level === null ? [] : levels.slice(0, levels.indexOf(level) + 1);
  const skipped = upTo.reduce((sum, each) => sum + summary[each].skipped, 0);
  return skipped === 0 ? "" : `, apart from ${skipped} skipped checks`;
}
