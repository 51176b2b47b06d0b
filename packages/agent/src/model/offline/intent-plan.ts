/** Rules for plans, todo lists and questions. */
import type { Intent } from "./intent.ts";
import { findPaths } from "./intent-files.ts";
import { restoreMentions } from "./prompt.ts";
import type { Reading } from "./reading.ts";

const goalLimit = 400;
const itemLimit = 50;

/** "plan the move to TypeScript". */
export function toPlan(reading: Reading): Intent | undefined {
  if (!reading.has("plan")) return undefined;
  const isAboutFile = findPaths(reading).length > 0 && reading.has("about", "summarise", "show", "find");
  if (isAboutFile || reading.has("find", "where")) return undefined;
  const goal = toGoal(reading);
  if (goal !== "") return { kind: "plan", goal };
  return { kind: "missing", what: "goal", fill: (answer) => ({ kind: "plan", goal: answer }) };
}

function toGoal(reading: Reading): string {
  const { masked } = reading.prompt;
  const text = masked.slice(0, 2000);
  const goal = reading.vocabulary.planGoals
    .map((pattern) => pattern.exec(text)?.[1]?.trim())
    .find((match) => match !== undefined && match !== "");
  if (goal !== undefined && hasContent(reading, goal)) return toShortGoal(restoreMentions(reading.prompt, goal));
  const rest = reading.restWords.map((word) => word.text).join(" ");
  return reading.restWords.length > 0 || reading.mentions.length > 0
    ? toShortGoal(rest === "" ? reading.prompt.original : rest)
    : "";
}

/** Whether anything but small words is left: "make a plan, please" has no goal. */
function hasContent(reading: Reading, goal: string): boolean {
  const start = reading.prompt.masked.indexOf(goal);
  const end = start + goal.length;
  const isInside = ({ maskedAt }: { readonly maskedAt: number }): boolean => maskedAt >= start && maskedAt < end;
  return (
    reading.restWords.some(isInside) || reading.mentions.some(isInside) || reading.has("tests", "project", "structure")
  );
}

/** One line, without the punctuation at its end. */
export function toShortGoal(text: string): string {
  const line = text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/[.!?:,。\uFF01\uFF1F\uFF1A\uFF0C]+$/u, "");
  return line.length > goalLimit ? `${line.slice(0, goalLimit).trimEnd()}…` : line;
}

/** "make a todo list: a, b, c". */
export function toTodoList(reading: Reading): Intent | undefined {
  const isHeaded = /^to[- ]?do\s?:/.test(reading.prompt.folded);
  if (!isHeaded && (!reading.has("todo_list") || reading.has("find", "where", "summarise", "delete"))) return undefined;
  const items = toItems(reading);
  if (items.length > 0) return { kind: "todo_list", items };
  if (findPaths(reading).length > 0) return undefined;
  return { kind: "missing", what: "items", fill: (answer) => ({ kind: "todo_list", items: splitItems(answer) }) };
}

function toItems(reading: Reading): string[] {
  const { prompt } = reading;
  const colon = prompt.masked.indexOf(":");
  if (colon !== -1) return splitItems(restoreMentions(prompt, prompt.masked.slice(colon + 1)));
  const lineEnd = prompt.masked.indexOf("\n");
  if (lineEnd !== -1) return splitItems(restoreMentions(prompt, prompt.masked.slice(lineEnd + 1)));
  const first = reading.restWords.find((word) => word.maskedAt > 0);
  if (!first) return [];
  const behind = prompt.masked.slice(first.maskedAt).replace(/\s?(?:としてTODOリスト|のTODOリスト|を?含む).*$/iu, "");
  return first.at > reading.positionOf("todo_list") ? splitItems(restoreMentions(prompt, behind)) : [];
}

/** The entries of a list: one a line, or parted by commas. */
export function splitItems(text: string): string[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const parts = lines.length > 1 ? lines : (lines[0] ?? "").split(/[,;、\uFF0C\uFF1B]|\s(?:and|und|ve)\s(?=[^,;]*$)/u);
  return parts
    .map((part) =>
      part
        .replace(/^\s*(?:[-*+•]|\d{1,3}[.)])\s+/, "")
        .replace(/^\s*\[[ x]\]\s+/i, "")
        .replace(/^(?:and|und|ve)\s/i, "")
        .trim(),
    )
    .map((part) => part.replace(/[.。]$/u, ""))
    .filter((part) => part !== "")
    .slice(0, itemLimit);
}
