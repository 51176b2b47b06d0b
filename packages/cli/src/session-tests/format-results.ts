/** Formats the results of tests for a user, for a page of Markdown, and for a CI. */
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { Judgement } from "./judge-test.ts";

export interface TestResult {
  readonly name: string;
  readonly file: string;
  /** Judgements, one for each run. */
  readonly judgements: readonly Judgement[];
  readonly seconds: number;
}

export function isPassed({ judgements }: TestResult): boolean {
  return judgements.every(({ failure }) => failure === undefined);
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

export function formatTextResults(results: readonly TestResult[]): string {
  const failed = results.filter((result) => !isPassed(result));
  const lines = results.flatMap((result) => [
    `${isPassed(result) ? "pass" : "FAIL"}  ${toVisibleLine(result.name)}${formatRuns(result)}`,
    ...formatFailure(result).map((line) => `      ${toVisibleLine(line)}`),
  ]);
  const sum = `${results.length - failed.length} of ${counted(results.length, "test")} passed`;
  return [...lines, `${sum}.`, ""].join("\n");
}

function formatFailure({ judgements }: TestResult): string[] {
  const failure = judgements.map((judgement) => judgement.failure).find((found) => found !== undefined);
  return failure ? [`${failure.place}: ${failure.message}`, ...failure.diff.split("\n").filter(Boolean)] : [];
}

/** Formats the number of passed runs with a real model, and their cost. */
function formatRuns({ judgements }: TestResult): string {
  if (judgements.length < 2) return "";
  const passed = judgements.filter(({ failure }) => !failure).length;
  const sum = (read: (cost: Judgement["cost"]) => number): number =>
    judgements.reduce((total, { cost }) => total + read(cost), 0);
  const usd = sum((cost) => cost.usd ?? 0);
  const runs = `${passed} of ${judgements.length} runs`;
  return `  ${runs}, ${counted(
    sum(({ turns }) => turns),
    "turn",
  )}, ${sum(({ tokens }) => tokens)} tokens, $${usd.toFixed(4)}`;
}

export function formatMarkdownResults(results: readonly TestResult[]): string {
  const toCell = (text: string): string => toVisibleLine(text).replaceAll("|", "\\|");
  const rows = results.map((result) => {
    const [first = ""] = formatFailure(result);
    return `| ${toCell(result.name)} | ${isPassed(result) ? "pass" : "**fail**"} | ${toCell(first)} |`;
  });
  return ["| test | result | first difference |", "|---|---|---|", ...rows, ""].join("\n");
}

export function formatJunitResults(results: readonly TestResult[]): string {
  const cases = results.map((result) => {
    const attributes = `name="${toXml(result.name)}" file="${toXml(result.file)}" time="${result.seconds.toFixed(3)}"`;
    const [message, ...diff] = formatFailure(result);
    if (message === undefined) return `  <testcase ${attributes}/>`;
    return `  <testcase ${attributes}><failure message="${toXml(message)}">${toXml(diff.join("\n"))}</failure></testcase>`;
  });
  const failures = results.filter((result) => !isPassed(result)).length;
  const head = `<testsuite name="sheaf" tests="${results.length}" failures="${failures}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...cases, "</testsuite>", ""].join("\n");
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes text for XML, which allows few control characters. */
function toXml(text: string): string {
  return text.replace(/(?![\t\n\r])[\p{Cc}\uFFFE\uFFFF]/gu, "\uFFFD").replace(/[&<>"]/g, (found) => entities[found]!);
}
