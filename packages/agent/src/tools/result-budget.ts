/** Limits the part of a result that the model sees: one bound for every tool, stored with the result (N56 to N58). */
import type { ToolEffect } from "@sheaf/protocol";
import type { KeptResults } from "../workspace/kept-results.ts";
import { addLineNumbers } from "@sheaf/base/files/numbered-lines";
import { toPrefix } from "@sheaf/base/files/text-format";
import { createOutputSink, maxLineLength, type WholeOutput } from "../workspace/whole-output.ts";
import type { ToolOutcome, ToolReturn } from "./tool.ts";

const maxResultBytes = 30_000;
/** Bytes for all results of a turn; each gets at most half of the rest. Files cost half: the model chose each. */
const maxTurnBytes = 60_000;
/** Bytes for each result, even if the results before it used up the budget. */
const minResultBytes = 2000;
/** Bytes that the notes of a shortened result may take. */
const noteBytes = 700;

/** The rest of the budget for the results of one turn. */
export interface TurnBudget {
  /** Bytes for the next result. */
  readonly room: number;
  spend(bytes: number): void;
}

/** Creates the budget of a turn: at most a fourth of a window of `windowTokens`, at 3.5 bytes a token. */
export function createTurnBudget(windowTokens = Infinity): TurnBudget {
  let left = Math.min(maxTurnBytes, (windowTokens / 4) * 3.5);
  return {
    get room() {
      return Math.max(minResultBytes, Math.min(maxResultBytes, Math.floor(left / 2)));
    },
    spend(bytes) {
      left -= bytes;
    },
  };
}

/** Kinds of results with text that programs write for terminals. */
const folded: ReadonlySet<string> = new Set(["command", "terminal", "mcp"]);

/** Returns the outcome with the text that the model sees, and takes its bytes from the budget. */
export function limitResult(
  { whole: given, ...outcome }: ToolReturn,
  budget: TurnBudget,
  results: KeptResults | undefined,
): ToolOutcome {
  const { effect, error } = outcome;
  const text = toSeenOutput(outcome);
  const folds = folded.has(effect?.kind ?? "");
  // A file that the tool read still exists, so it needs no copy.
  const options = { folds, results: effect?.kind === "read" ? undefined : results };
  const whole = typeof given === "object" ? given : toWhole(given ?? text, options);
  const shown = toShown(whole, effect, budget.room);
  budget.spend(Buffer.byteLength(shown) / (effect?.kind === "read" ? 2 : 1));
  const limited = { ...outcome, ...(error && { error: { ...error, message: cutLine(error.message) } }) };
  if (shown === text) return limited;
  // The note of a tool that read a file describes lines that the model does not get.
  const { note, ...unnoted } = limited;
  return { ...unnoted, ...(note !== undefined && effect?.kind !== "read" && { note }), shown };
}

/** Returns the text that the model sees of a result: lines of files with their numbers (N60). */
export function toSeenOutput({ output, shown, effect }: ToolOutcome): string {
  return shown ?? (effect?.kind === "read" ? addLineNumbers(output, effect.startLine) : output);
}

function toWhole(text: string, options: Parameters<typeof createOutputSink>[0]): WholeOutput {
  const sink = createOutputSink(options);
  sink.append(Buffer.from(text.toWellFormed()));
  return sink.end();
}

/** Returns the whole text if it fits. Else whole lines between two notes: the first and, for programs, the last. */
function toShown(whole: WholeOutput, effect: ToolEffect | undefined, room: number): string {
  const isWhole = whole.tail === "";
  const all = toLines(whole.head);
  if (isWhole && whole.bytes <= room && all.every(isShort)) return whole.head;
  const hasTail = folded.has(effect?.kind ?? "");
  const free = room - noteBytes;
  // The limit of memory may have cut the last line. A long line stays, since `cutLine` cuts it anyway.
  const starts = isWhole || !isShort(all.at(-1) ?? "") ? all : all.slice(0, -1);
  const head = takeLines(starts, hasTail ? free / 2 : free);
  const ends = isWhole ? all.slice(head.lines.length) : toLines(whole.tail).slice(1);
  const tail = takeLines(hasTail ? ends.toReversed() : [], free - head.bytes);
  const note = toNote(whole, { head, tail }, effect);
  const isAll = isWhole && head.lines.length + tail.lines.length === all.length;
  return [note, ...head.lines, ...(isAll ? [] : ["[...]"]), ...tail.lines.toReversed(), note].join("\n");
}

function isShort(line: string): boolean {
  return line.length <= maxLineLength;
}

/** Splits a text into lines. The empty text after the last line end isn't a line. */
function toLines(text: string): string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** Lines as the model sees them. */
interface TakenLines {
  readonly lines: readonly string[];
  readonly bytes: number;
  /** Number of lines that these are in the kept file, which wraps long ones. */
  readonly count: number;
  readonly hasLongLine: boolean;
}

/** Takes as many lines as fit, at least the start of the first one. */
function takeLines(lines: readonly string[], room: number): TakenLines {
  const taken: string[] = [];
  let bytes = 0;
  let count = 0;
  let hasLongLine = false;
  for (const line of lines) {
    const shown = cutLine(line);
    const size = Buffer.byteLength(shown) + 1;
    if (bytes + size > room && taken.length > 0) break;
    taken.push(size > room ? toPrefix(shown, room) : shown);
    bytes += size;
    count += Math.max(1, Math.ceil(line.length / maxLineLength));
    hasLongLine ||= !isShort(line);
  }
  return { lines: taken, bytes: Math.min(bytes, room), count, hasLongLine };
}

function cutLine(line: string): string {
  if (isShort(line)) return line;
  return `${line.slice(0, maxLineLength).toWellFormed()} [... the line continues ...]`;
}

/** Returns the note on a shortened text: the part that the model sees, and the way to the rest. */
function toNote(
  whole: WholeOutput,
  { head, tail }: { readonly head: TakenLines; readonly tail: TakenLines },
  effect: ToolEffect | undefined,
): string {
  const hasLongLine = head.hasLongLine || tail.hasLongLine;
  const isRead = effect?.kind === "read";
  const [before, total] = isRead ? [effect.startLine - 1, effect.totalLines] : [0, whole.lines];
  // A file that the tool read has no wrapped lines.
  const headCount = isRead ? head.lines.length : head.count;
  const toRange = (first: number, count: number): string =>
    count === 1 ? `${before + first}` : `${before + first}-${before + first + count - 1}`;
  const ranges = [
    ...(headCount > 0 ? [toRange(1, headCount)] : []),
    ...(tail.count > 0 ? [toRange(whole.lines - tail.count + 1, tail.count)] : []),
  ];
  const shown = `Lines ${ranges.join(" and ")} of ${total} (${head.bytes + tail.bytes} of ${whole.bytes} bytes).`;
  const way = isRead ? ": continue with offset and column" : "";
  const cut = hasLongLine ? [`Lines over ${maxLineLength} characters end early here${way}.`] : [];
  const next = before + headCount + 1;
  const more = next <= total ? [`Read on with offset ${next}.`] : [];
  const advice = isRead ? more : [adviseOnRest(whole, hasLongLine)];
  return `[${[shown, ...cut, ...advice].join(" ")}]`;
}

function adviseOnRest(whole: WholeOutput, hasLongLine: boolean): string {
  const file = whole.keep();
  if (!file) return "The rest was not kept: make the call again for less.";
  const part = file.lines < whole.lines ? `Lines 1-${file.lines} are` : "All of it is";
  const wrapped = hasLongLine ? ", long lines wrapped" : "";
  return `${part} in ${file.name}${wrapped}: use read_file with offset and limit, or grep_search.`;
}
