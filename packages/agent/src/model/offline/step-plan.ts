/** Plans, todo lists, questions, and the explanation of a folder. */
import { formatFailure } from "./failure.ts";
import { parseTree, toTopFiles, toTopFolders, type TreeEntry } from "./folder-tree.ts";
import { splitItems } from "./intent-plan.ts";
import type { Intent, MissingIntent, MissingObject } from "./intent.ts";
import { toBaseName } from "./mention.ts";
import { toCode } from "./phrases/format-number.ts";
import type { FolderRole, Phrases, PlanFacts, PlanStepText } from "./phrases/phrases.ts";
import { lastOutcomeOf, listCall, toAnswer, toCalls, type Step } from "./step.ts";
import { toTerms } from "./summary/terms.ts";
import type { Task } from "./task.ts";

type Of<Kind extends Intent["kind"]> = Extract<Intent, { kind: Kind }>;

const optionLimit = 8;

export const folderRoles: ReadonlyMap<string, FolderRole> = new Map(
  (
    [
      ["source", "src lib app source server client core cmd internal pkg"],
      ["tests", "test tests __tests__ spec specs e2e"],
      ["documentation", "docs doc documentation guide guides man"],
      ["scripts", "scripts script tools bin hack"],
      ["packages", "packages workspaces modules crates apps libs"],
      ["examples", "examples example samples demo demos"],
      ["output", "dist build out target coverage"],
      ["configuration", "config conf configs .vscode .config"],
      ["assets", "assets public static images img media"],
      ["automation", ".github .gitlab .circleci ci .ci"],
      ["benchmarks", "bench benchmarks benchmark perf"],
    ] as const
  ).flatMap(([role, names]) => names.split(" ").map((name) => [name, role] as const)),
);

/** Looks at the folder, then presents the plan. */
export function toPlanStep(task: Task, intent: Of<"plan">, phrases: Phrases): Step {
  const listed = lastOutcomeOf(task, "list_dir");
  if (!listed && task.tools.has("list_dir")) return toCalls(phrases.announce("list", "."), listCall("."));
  const planned = lastOutcomeOf(task, "create_plan");
  const facts = toPlanFacts(intent, listed && !listed.isError ? parseTree(listed.output) : []);
  const steps = withFreeIds(toFittingSteps(phrases.planSteps(facts), intent.inner), task.usedIds);
  const plan = formatPlan(facts, steps, phrases);
  if (!planned && !task.tools.has("create_plan"))
    return toAnswer(`${phrases.introduction}\n\n# ${phrases.planTitle(facts.goal)}\n\n${plan}`);
  if (planned) {
    const result = planned.isError
      ? `${formatFailure(phrases, "plan", facts.goal, planned)}\n\n${plan}`
      : phrases.planReady(steps.length);
    return toAnswer(`${phrases.introduction}\n\n${result}`);
  }
  const args = {
    title: phrases.planTitle(facts.goal),
    overview: phrases.planOverview(facts.goal),
    plan,
    todos: steps.map(({ id, content, after }) => ({ id, content, dependencies: after })),
  };
  return toCalls(phrases.announce("plan", facts.goal), { toolName: "create_plan", args });
}

/** What only reads needs no tests, and a small change no definition of its end. */
function toFittingSteps(steps: readonly PlanStepText[], inner: Intent | undefined): PlanStepText[] {
  if (!inner || inner.kind === "unknown") return [...steps];
  const hasCheck = ["write", "edit", "delete", "rename", "run", "run_script"].includes(inner.kind);
  const kept = steps.filter(({ id }) => id === "look" || id.startsWith("part-") || (hasCheck && id === "check"));
  const parts = kept.filter(({ id }) => id.startsWith("part-")).map(({ id }) => id);
  return kept.map((step) => ({ ...step, after: step.id === "look" ? [] : step.id === "check" ? parts : ["look"] }));
}

/** Ids are unique in a conversation (N40). */
function withFreeIds(steps: readonly PlanStepText[], used: ReadonlySet<string>): PlanStepText[] {
  const names = new Map(steps.map(({ id }) => [id, toFreeId(id, used)]));
  return steps.map((step) => ({
    ...step,
    id: names.get(step.id) ?? step.id,
    after: step.after.map((id) => names.get(id) ?? id),
  }));
}

function toFreeId(id: string, used: ReadonlySet<string>): string {
  if (!used.has(id)) return id;
  let number = 2;
  while (used.has(`${id}-${number}`)) number += 1;
  return `${id}-${number}`;
}

function toPlanFacts({ goal, inner }: Of<"plan">, entries: readonly TreeEntry[]): PlanFacts {
  const files = entries.filter(({ isFolder }) => !isFolder).map(({ path }) => path);
  const folders = toTopFolders(entries);
  const folderOf = (role: FolderRole): string | undefined =>
    folders.find((folder) => folderRoles.get(folder.toLowerCase()) === role);
  const goalTerms = new Set(toTerms(goal));
  const named = inner?.kind === "summarise" ? inner.sources : [];
  const fitting = files.filter((path) =>
    toTerms(
      toBaseName(path)
        .replaceAll(/[-_.]/g, " ")
        .replaceAll(/([a-z])([A-Z])/g, "$1 $2"),
    ).some((term) => goalTerms.has(term)),
  );
  const readme = toTopFiles(entries).find((path) => /^readme(?:\.|$)/i.test(path));
  const first = [...new Set([...named, ...fitting])].slice(0, 4);
  const others = files
    .filter((path) => /^(?:readme(?:\.\w+)?|package\.json|pyproject\.toml|cargo\.toml|go\.mod)$/i.test(path))
    .slice(0, 2);
  return {
    goal,
    parts: toGoalParts(goal),
    files: first.length > 0 ? first : others,
    sourceFolder: folderOf("source") ?? folderOf("packages"),
    testFolder: folderOf("tests"),
    testCommand: toTestCommand(files),
    readme,
  };
}

/** "a, b and c" gives three steps, if each is more than a word. */
function toGoalParts(goal: string): string[] {
  const parts = splitItems(goal.replaceAll(/\s*(?:;|；)\s*/g, ", "));
  const areSteps =
    parts.length > 1 &&
    parts.length <= 8 &&
    parts.every((part) => part.includes(" ") || /^[\u3040-\u9fff]{3,}/.test(part));
  return areSteps ? parts : [goal];
}

function toTestCommand(files: readonly string[]): string | undefined {
  const names = new Set(files);
  if (names.has("package.json")) return "npm test";
  if (names.has("Cargo.toml")) return "cargo test";
  if (names.has("go.mod")) return "go test ./...";
  if (names.has("pyproject.toml") || names.has("setup.py")) return "pytest";
  return names.has("Makefile") ? "make test" : undefined;
}

function formatPlan(facts: PlanFacts, steps: readonly PlanStepText[], phrases: Phrases): string {
  const { goal, look, steps: stepsHeading, open } = phrases.planHeadings;
  const parts = [`## ${goal}\n\n${facts.goal}`];
  if (facts.files.length > 0) parts.push(`## ${look}\n\n${facts.files.map((path) => `- ${toCode(path)}`).join("\n")}`);
  parts.push(`## ${stepsHeading}\n\n${steps.map(({ content }, index) => `${index + 1}. ${content}`).join("\n")}`);
  parts.push(`## ${open}\n\n${phrases.planOpen}`);
  return parts.join("\n\n");
}

export function toTodoStep(task: Task, { items }: Of<"todo_list">, phrases: Phrases): Step {
  const written = lastOutcomeOf(task, "todo_write");
  if (written) {
    const result = written.isError ? formatFailure(phrases, "todo", "", written) : phrases.todosReady(items.length);
    return toAnswer(`${phrases.introduction}\n\n${result}`);
  }
  const used = new Set(task.usedIds);
  const todos = items.map((content, index) => {
    const id = toFreeId(toSlug(content, index), used);
    used.add(id);
    return { id, content, status: "pending" };
  });
  return toCalls(phrases.announce("todo", ""), { toolName: "todo_write", args: { todos, merge: false } });
}

/** `add-tests`; `step-2` where no letter remains. */
function toSlug(content: string, index: number): string {
  const slug = content
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replace(/^-|-$/g, "");
  return slug.length >= 2 ? slug : `step-${index + 1}`;
}

/** Looks at the folder where its files are the options, then asks; the run ends there (C25, N42). */
export function toQuestionStep(task: Task, intent: MissingIntent, phrases: Phrases): Step {
  const { what } = intent;
  const needsFiles = what === "file" || what === "task";
  const listed = lastOutcomeOf(task, "list_dir");
  if (needsFiles && !listed && task.tools.has("list_dir")) return toCalls(phrases.announce("list", "."), listCall("."));
  const files = listed && !listed.isError ? toTopFiles(parseTree(listed.output)) : [];
  const options = toOptions(what, files, phrases).map((label, index) => ({ id: `option-${index + 1}`, label }));
  const prompt = phrases.questions[what];
  const asked = lastOutcomeOf(task, "ask_question");
  if (asked || !task.tools.has("ask_question")) {
    const failure = asked?.isError ? [formatFailure(phrases, "ask", "", asked)] : [];
    const choices = options.length > 0 ? [phrases.askInText, options.map(({ label }) => `- ${label}`).join("\n")] : [];
    return toAnswer([phrases.introduction, ...failure, prompt, ...choices].join("\n\n"));
  }
  const args = { title: phrases.questionTitle, questions: [{ id: what, prompt, options }] };
  return toCalls(`${phrases.introduction} ${phrases.announce("ask", "")}`, { toolName: "ask_question", args });
}

function toOptions(what: MissingObject, files: readonly string[], phrases: Phrases): string[] {
  if (what === "file") return files.toSorted((a, b) => toRank(a) - toRank(b)).slice(0, optionLimit);
  if (what === "task") return [...phrases.taskOptions(files.filter((file) => toRank(file) < 2).slice(0, 2))];
  return what === "command" ? ["npm test", "git status", "ls -la"] : [];
}

/** What people ask for first stands first. */
function toRank(path: string): number {
  if (/^readme(?:\.|$)/i.test(path)) return 0;
  if (/^(?:package\.json|pyproject\.toml|cargo\.toml|go\.mod|changelog\.md|agents\.md)$/i.test(path)) return 1;
  if (/\.(?:md|txt|rst)$/i.test(path)) return 2;
  return /^\.|lock/i.test(path) ? 4 : 3;
}
