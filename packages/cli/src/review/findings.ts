/** The findings of a review: their schema, and a reader that treats them as untrusted text (C220 to C222). */
import { formatProblem, listProblems, parseJson } from "@sheaf/protocol/check-value";
import type { JsonSchema } from "@sheaf/protocol/schema";
import { SheafError } from "@sheaf/base/errors";
import { toHash } from "@sheaf/base/files/read-file";
import { readOrdinaryFile } from "@sheaf/base/read-ordinary-file";
import { toQuote } from "@sheaf/base/to-fence";
import { toVisibleCharacters } from "@sheaf/agent/tools/approval-question";

export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly severity: "high" | "medium" | "low";
  readonly rule: string;
  readonly problem: string;
}

/** A finding at a line of the change. */
export interface PlacedFinding extends Finding {
  /** Id that stays the same while the file, the rule and the text of the line do. */
  readonly id: string;
}

/** Lines of a change that can have a comment: by path, then by number in the new file. */
export type ChangedLines = ReadonlyMap<string, ReadonlyMap<number, ChangedLine>>;

export interface ChangedLine {
  readonly text: string;
  /** Number in the old file; undefined if the change added the line. */
  readonly oldLine: number | undefined;
}

const severities = ["high", "medium", "low"] as const;

/** Kinds of findings. The list is closed, since a finding is recognized by its rule. */
const rules = "correctness security concurrency performance compatibility tests documentation design".split(" ");

export const findingsSchema = {
  type: "object",
  properties: {
    findings: {
      type: "array",
      description: "Real problems of the change, the worst first; an empty list is fine",
      items: {
        type: "object",
        properties: {
          path: { type: "string", description: "The file, relative to the root of the repository" },
          line: { type: "integer", minimum: 1, description: "A line of the diff, by its number in the new file" },
          severity: { type: "string", enum: severities },
          rule: { type: "string", enum: rules },
          problem: { type: "string", description: "The failure, and when it happens" },
        },
        required: ["path", "line", "severity", "rule", "problem"],
        additionalProperties: false,
      },
    },
  },
  required: ["findings"],
  additionalProperties: false,
} as const satisfies JsonSchema;

const MAX_FILE_BYTES = 1024 * 1024;

const MAX_PROBLEM_LENGTH = 2000;

/** Limit of a list in a summary. */
const MAX_LINES = 100;

/** Reads the JSON of `sheaf review`, or findings alone. @throws SheafError USAGE for anything else. */
export function readFindings(file: string): readonly Finding[] {
  const fail = (problem: string): SheafError =>
    new SheafError("USAGE", `${file} has no findings (${problem}): write it by sheaf review --output-format json`);
  const read = readOrdinaryFile(file, MAX_FILE_BYTES);
  if (!read.ok) throw fail(read.problem);
  const json = parseJson(read.bytes.toString()) as { structured_output?: unknown } | undefined;
  const value = json?.structured_output ?? json;
  const [problem] = listProblems(findingsSchema, value);
  if (problem) throw fail(formatProblem(problem));
  return (value as { findings: readonly Finding[] }).findings;
}

/** Sorts findings with a place in the change, the worst first, from the others. The order distinguishes equal lines. */
export function placeFindings(findings: readonly Finding[], lines: ChangedLines) {
  const byPlace = Map.groupBy(findings, ({ path, line, rule }) => JSON.stringify([path, line, rule]));
  const placed: PlacedFinding[] = [];
  const unplaced: Finding[] = [];
  const counts = new Map<string, number>();
  for (const same of [...byPlace.values()].toSorted(([one], [other]) => one!.line - other!.line)) {
    const finding = { ...same[0]!, problem: same.map(({ problem }) => problem).join("\n\n") };
    const { path, line, rule } = finding;
    const text = lines.get(path)?.get(line)?.text;
    if (text === undefined) {
      unplaced.push(finding);
      continue;
    }
    const key = JSON.stringify([path, rule, text.trim()]);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    placed.push({ ...finding, id: toHash(Buffer.from(`${key}${count}`)).slice(0, 16) });
  }
  const toRank = ({ severity }: Finding): number => severities.indexOf(severity);
  return { placed: placed.toSorted((one, other) => toRank(one) - toRank(other)), unplaced };
}

/** Reads the patch of one file from an API: the lines that can have a comment. */
export function readPatch(patch: string): Map<number, ChangedLine> {
  const lines = new Map<number, ChangedLine>();
  let [oldLine, newLine] = [0, 0];
  for (const text of patch.split("\n")) {
    const [, oldStart, newStart] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text) ?? [];
    if (newStart !== undefined) [oldLine, newLine] = [Number(oldStart), Number(newStart)];
    else if (text.startsWith("+")) lines.set(newLine++, { text: text.slice(1), oldLine: undefined });
    else if (text.startsWith("-")) oldLine += 1;
    else if (text.startsWith(" ")) lines.set(newLine++, { text: text.slice(1), oldLine: oldLine++ });
  }
  return lines;
}

/** Mark of the summary. */
export const SUMMARY = "summary";

const MARK = /^<!-- sheaf-review (\w+) -->/;

/** Returns the id of the finding in a comment, or `summary`; undefined for any other comment. */
export function readMark(body: string): string | undefined {
  return MARK.exec(body)?.[1];
}

/** Formats a comment. Its block keeps untrusted text from mentioning people, linking to pages or giving commands. */
function formatComment(mark: string, title: string, text: string): string {
  const wrapped = toVisibleCharacters(text).replaceAll(/(.{1,100})( +|$)/gm, (_, line: string, end: string) =>
    end === "" ? line : `${line}\n`,
  );
  return `<!-- sheaf-review ${mark} -->\n**${title}**\n\n${toQuote(wrapped)}\n`;
}

export function formatFinding({ id, severity, rule, problem }: PlacedFinding): string {
  const isLong = problem.length > MAX_PROBLEM_LENGTH;
  return formatComment(id, `${severity}: ${rule}`, isLong ? `${problem.slice(0, MAX_PROBLEM_LENGTH)} [cut]` : problem);
}

/** Formats the one comment about the change as a whole. */
export function formatReview(placed: readonly PlacedFinding[], unposted: readonly Finding[]): string {
  const count = placed.length + unposted.length;
  if (count === 0) return `<!-- sheaf-review ${SUMMARY} -->\n**Sheaf has no open findings.**\n`;
  const toLine = ({ severity, path, line, rule }: Finding, note = ""): string =>
    `${severity.padEnd(6)}  ${path}:${line}  ${rule}${note}`.slice(0, 300);
  const lines = [...placed.map((one) => toLine(one)), ...unposted.map((one) => toLine(one, " (here only)"))];
  const rest = count > MAX_LINES ? [`and ${count - MAX_LINES} more`] : [];
  const title = `Sheaf has ${count} open ${count === 1 ? "finding" : "findings"}`;
  return formatComment(SUMMARY, title, [...lines.slice(0, MAX_LINES), ...rest].join("\n"));
}
