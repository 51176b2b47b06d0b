/** Plans, todo lists, questions, and help. */
import { call, formatFailedOutcome, toAnswer, toFailed, type Context, type Job, type MissingObject } from "./job.ts";
import { fill, formatCode, formatItems, formatList } from "./phrasing.ts";
import { parseTopFiles } from "./tool-results.ts";

const goalLimit = 400;
const itemLimit = 50;

type PlanTodo = Readonly<Record<"id" | "content", string> & Record<"dependencies", readonly string[]>>;

/** Says what the model can do; `unknown` if no rule fits the prompt. */
export function explain(effect: "explains" | "unknown"): Job {
  return {
    effect,
    // oxlint-disable-next-line require-yield -- its first step is its last
    *run({ language }) {
      const { introduction, notUnderstood, abilities, realModel } = language.phrases;
      const head = effect === "unknown" ? notUnderstood : introduction;
      return { text: [head, abilities, realModel].join("\n\n"), calls: [] };
    },
  };
}

/** Looks at the folder, then presents a plan. `inner` is the job that plan mode plans. */
export function plan(goal: string, inner?: Job): Job {
  return {
    effect: "plans",
    *run(context) {
      const { language, tools } = context;
      const listed = tools.has("list_dir") ? yield* call(language, "list_dir", { target_directory: "." }) : undefined;
      const todos = toPlanTodos(context, goal, listed ? parseTopFiles(listed) : [], inner);
      const title = fill(language.phrases.planTitle, goal);
      const overview = fill(language.phrases.planOverview, goal);
      const text = todos.map(({ content }, index) => `${index + 1}. ${content}`).join("\n");
      if (!tools.has("create_plan")) return toAnswer(language, `# ${title}`, text);
      const planned = yield* call(language, "create_plan", { title, overview, plan: text, todos });
      return planned.isError
        ? toAnswer(language, formatFailedOutcome(language, planned), text)
        : toAnswer(language, overview);
    },
  };
}

/** One step after the other. A job that only reads needs no tests, a small change no definition of its end. */
function toPlanTodos({ language, usedIds }: Context, goal: string, files: readonly string[], inner?: Job): PlanTodo[] {
  const { phrases } = language;
  const isNew = inner === undefined || inner.effect === "unknown";
  const isTested = files.includes("package.json") && (isNew || inner.effect === "changes");
  const first = files.filter((path) => toRank(path) < 2).map(formatCode);
  const steps = [
    ["look", first.length > 0 ? fill(phrases.look, formatList(language, first)) : ""],
    ["goal", isNew ? fill(phrases.goal, goal) : ""],
    ["part", goal],
    ["tests", isNew ? phrases.tests : ""],
    ["check", isTested ? fill(phrases.check, formatCode("npm test")) : ""],
  ] as const;
  const wanted = steps.filter(([, content]) => content !== "");
  const ids = wanted.map(([name]) => toFreeId(name, usedIds));
  return wanted.map(([, content], at) => ({
    id: ids[at]!,
    content,
    dependencies: ids.slice(Math.max(0, at - 1), at),
  }));
}

export function listTodos(items: readonly string[]): Job {
  return {
    effect: "plans",
    *run({ language, usedIds }) {
      const todos = items.map((content, index) => ({
        id: toFreeId(`item-${index + 1}`, usedIds),
        content,
        status: "pending",
      }));
      const written = yield* call(language, "todo_write", { todos, merge: false });
      if (written.isError) return toFailed(language, written);
      return toAnswer(language, fill(language.phrases.done, formatList(language, items)));
    },
  };
}

/** An id that the conversation has not used (N40). */
function toFreeId(id: string, used: ReadonlySet<string>): string {
  let free = id;
  for (let number = 2; used.has(free); number += 1) free = `${id}-${number}`;
  return free;
}

/** The entries of a list: one a line, or separated by commas. */
export function splitItems(text: string): string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const parts = lines.length > 1 ? lines : text.split(/[,;、，；]|\s(?:and|und|ve)\s(?=[^,;]*$)/u);
  return parts
    .map((part) => part.trim().replace(/^(?:[-*+•]|\d{1,3}[.)]|and|und|ve)\s+(?:\[[ x]\]\s+)?/i, ""))
    .map((part) => part.replace(/[.。]$/u, ""))
    .filter((part) => part !== "")
    .slice(0, itemLimit);
}

/** One line, without the punctuation at its end. */
export function toGoal(text: string): string {
  const line = text.slice(0, goalLimit).replaceAll(/\s+/g, " ").trim();
  return line.replace(/[.!?:,。！？：，]+$/u, "") + (text.length > goalLimit ? "…" : "");
}

/** Asks for what an instruction lacks, with files of the folder as options; the run ends there (C25, N42). */
export function askFor(what: MissingObject, complete: (answer: string) => Job): Job {
  return {
    effect: "asks",
    missing: { what, complete },
    *run({ language, tools }) {
      const { introduction, missing, questions, tasks } = language.phrases;
      const isListed = (what === "file" || what === "task") && tools.has("list_dir");
      const listed = isListed ? yield* call(language, "list_dir", { target_directory: "." }) : undefined;
      const files = listed ? parseTopFiles(listed) : [];
      const ranked = files.toSorted((a, b) => toRank(a) - toRank(b)).slice(0, 8);
      const task = [...ranked.slice(0, 2).map((file) => fill(tasks[0] ?? "", file)), ...tasks.slice(1)];
      const labels = { file: ranked, task, command: ["npm test", "git status", "ls -la"] }[what as string] ?? [];
      const prompt = questions[what];
      const list = formatItems(language, labels);
      if (!tools.has("ask_question")) return toAnswer(language, prompt, list);
      const options = labels.map((label, index) => ({ id: `option-${index + 1}`, label }));
      const args = { title: missing, questions: [{ id: what, prompt, options }] };
      const [asked] = yield { text: `${introduction} ${missing}`, calls: [{ toolName: "ask_question", args }] };
      return toAnswer(language, asked?.isError ? formatFailedOutcome(language, asked) : "", prompt, list);
    },
  };
}

/** Files that people ask for first come first. */
function toRank(path: string): number {
  if (/^readme(?:\.|$)/i.test(path)) return 0;
  if (/^(?:package\.json|pyproject\.toml|cargo\.toml|go\.mod|changelog\.md)$/i.test(path)) return 1;
  return /^\.|lock/i.test(path) ? 3 : 2;
}
