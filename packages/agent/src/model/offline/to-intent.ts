/** An instruction to an intent: the rules in their order. */
import { toDelete, toRename, toReplace, toRun, toWrite } from "./intent-change.ts";
import { findPaths, toShow, toSummaryAnswer, toSummaryFile } from "./intent-files.ts";
import { toPlan, toTodoList } from "./intent-plan.ts";
import { toFindFiles, toFindText, toLayout, toList } from "./intent-search.ts";
import type { Intent } from "./intent.ts";
import type { Reading } from "./reading.ts";

type Rule = (reading: Reading, context: string | undefined) => Intent | undefined;

/** The first rule that fits wins; the more special ones come first. */
const rules: readonly Rule[] = [
  toHelp,
  toTodoList,
  toPlan,
  toRename,
  toReplace,
  toDelete,
  toSummaryFile,
  toRun,
  toWrite,
  toLayout,
  toFindFiles,
  toFindText,
  toList,
  toSummaryAnswer,
  toShow,
  toQuestion,
  toSmallTalk,
  toBarePath,
];

/** What an instruction asks for. `context` is a text that came with it. */
export function toIntent(reading: Reading, context?: string): Intent {
  for (const rule of rules) {
    const intent = rule(reading, context);
    if (!intent) continue;
    // "How do I delete a.txt?" and "don't delete a.txt" ask for no change.
    return isChange(intent) && isAsking(reading, intent) ? { kind: "unknown" } : intent;
  }
  return { kind: "unknown" };
}

/** The content of a file may hold a "not" or a "how to". */
function isAsking(reading: Reading, { kind }: Intent): boolean {
  const at = reading.positionOf("asking");
  return kind === "write" ? at < (findPaths(reading)[0]?.at ?? Infinity) : at !== Infinity;
}

function isChange({ kind }: Intent): boolean {
  return ["run", "run_script", "write", "edit", "delete", "rename"].includes(kind);
}

/** Whether an intent changes nothing. */
export function isReadOnly(intent: Intent): boolean {
  switch (intent.kind) {
    case "summarise":
      return intent.target === undefined;
    case "show":
    case "find_text":
    case "find_files":
    case "list_folder":
    case "explain_layout":
    case "help":
    case "greeting":
    case "thanks":
      return true;
    case "run":
    case "run_script":
    case "write":
    case "edit":
    case "delete":
    case "rename":
    case "plan":
    case "todo_list":
    case "missing":
    case "unknown":
      return false;
  }
}

function toHelp(reading: Reading): Intent | undefined {
  const hasObject = reading.mentions.length > 0 || reading.restWords.length > 0;
  return reading.has("help") && !hasObject ? { kind: "help" } : undefined;
}

/** "Ask me what to do." Other "ask me …" have an object, and a rule above knows it. */
function toQuestion(reading: Reading): Intent | undefined {
  if (!reading.has("ask_me")) return undefined;
  return { kind: "missing", what: "task", fill: () => ({ kind: "unknown" }) };
}

function toSmallTalk(reading: Reading): Intent | undefined {
  if (reading.restWords.length > 3 || reading.mentions.length > 0) return undefined;
  const isSaid = (concept: "greeting" | "thanks"): boolean =>
    reading.has(concept) && (reading.restWords.length === 0 || reading.positionOf(concept) <= 1);
  if (isSaid("greeting")) return { kind: "greeting" };
  return isSaid("thanks") ? { kind: "thanks" } : undefined;
}

/** Only a name: its summary. */
function toBarePath(reading: Reading, context: string | undefined): Intent | undefined {
  const paths = findPaths(reading).filter(({ doubtful }) => doubtful !== true);
  if (paths.length === 0 || context !== undefined || reading.restWords.length > 0 || reading.has("asking")) {
    return undefined;
  }
  const [path] = paths;
  return {
    kind: "summarise",
    sources: paths.map(({ text }) => text),
    ...(paths.length === 1 && path?.guessed && { isGuessed: true as const }),
  };
}
