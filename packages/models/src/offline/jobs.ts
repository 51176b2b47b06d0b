/** Finds the model's next step for an order. It plays the job again, from the first step, for every request. */
import type { Order, Outcome, PlannedCall } from "./conversation.ts";
import { fill, formatCode, formatFence, formatList, joinParts } from "./digest.ts";
import { formatCounts, formatSummary, toSource } from "./digest.ts";
import { toWordPattern, type Language } from "./instruction.ts";

/** The answer to one request: text, then calls. Without calls the turn is the last one. */
interface Step {
  /** Text of the answer: a string is streamed in words, an array in exactly these deltas. */
  readonly text: string | readonly string[];
  readonly calls: readonly PlannedCall[];
}

/** Yields steps with calls and receives their results; returns the last text. */
type Steps = Generator<Step, string, Outcome[]>;

export function toNextStep(order: Order): Step {
  const { language, outcomes } = order;
  const toStep = (text: Step["text"], calls: Step["calls"]): Step =>
    // Text after calls starts a paragraph.
    ({ text: outcomes.length > 0 && typeof text === "string" && text !== "" ? `\n\n${text}` : text, calls });
  const toEnd = (...parts: string[]): Step => toStep(joinParts(language.introduction, ...parts), []);
  const failed = outcomes.find(({ isError }) => isError);
  if (failed) {
    const head = fill(language.failed, formatCode(failed.toolName), toObject(failed));
    const message = failed.output.trim().split("\n", 1).join("").slice(0, 600);
    return toEnd(head, `> ${formatCode(message)}`);
  }
  const steps = chooseJob(order);
  if (!steps) return toEnd(`- ${language.help.replaceAll("|", "\n- ")}`, language.realModel);
  let next = steps.next();
  for (let at = 0; !next.done;) {
    const { text, calls } = next.value;
    const results = outcomes.slice(at, at + calls.length);
    if (results.length < calls.length) return toStep(text, calls);
    at += calls.length;
    next = steps.next(results);
  }
  return toStep(next.value, []);
}

/** Returns the first job whose rule matches, if any. "How do I …?" and "Don't …" change no files. */
function chooseJob(order: Order): Steps | undefined {
  const { language, mode, text, context, attached, answer, paths, quotes, code, has } = order;
  const hasTexts = context !== "" || attached.length > 0;
  const [[path], [from, to]] = [paths, quotes];
  const isAboutFile = path !== undefined && (has("read") || has("summary"));
  const goals = toWordPattern(language.goal).exec(text)?.slice(1) ?? [];
  if (has("plan") && !isAboutFile) return plan(order, goals.find((goal) => goal !== undefined) ?? answer ?? "");
  if (mode === "plan" && text !== "") return plan(order, text);
  if ((has("replace") || has("write") || has("run")) && has("not")) return undefined;
  if (has("replace") && path !== undefined && to !== undefined) {
    const edits = [{ old_string: from, new_string: to, replace_all: true }];
    const read = toCalls(language, "read_file", { target_file: path });
    return complete(language, path, read, toCalls(language, "edit_file", { target_file: path, edits }));
  }
  if (has("write") && has("summary"))
    return summarise(order, paths.find((name) => text.endsWith(` in ${name}`)) ?? "summary.txt");
  if (has("write") && path !== undefined) {
    const content = quotes.find((quote) => quote !== path) ?? answer;
    if (content === undefined) return ask(language, "content");
    return complete(language, path, toCalls(language, "write_file", { target_file: path, content }));
  }
  if (has("run") && (path === undefined || code !== undefined)) return runCommand(language, code ?? answer);
  const isReading = isAboutFile || has("summary") || (hasTexts && (has("read") || text === ""));
  return isReading ? summarise(order) : undefined;
}

/** Asks for the object that an instruction lacks; the run ends there (C25, N42). */
function* ask(language: Language, id: "file" | "command" | "goal" | "content"): Steps {
  const prompt = language.questions.split("|")[["file", "command", "goal", "content"].indexOf(id)]!;
  const [listed] = id === "file" ? yield toCalls(language, "list_dir", { target_directory: "." }) : [];
  const files = listed?.output.match(/^[^\s.]\S*\.\w+$/gm) ?? [];
  const labels = id === "command" ? ["npm test", "git status"] : files.slice(0, 8);
  const options = labels.map((label, index) => ({ id: `option-${index + 1}`, label }));
  const args = { title: prompt, questions: [{ id, prompt, options }] };
  yield { text: language.introduction, calls: [{ toolName: "ask_question", args }] };
  return joinParts(language.introduction, prompt, labels.map((label) => `- ${label}`).join("\n"));
}

/** Presents a plan whose steps follow one another. */
function* plan({ language, length }: Order, wanted: string): Steps {
  const goal = wanted
    .slice(0, 400)
    .replaceAll(/\s+|[.!?。！？]+$/gu, " ")
    .trim();
  if (goal === "") return yield* ask(language, "goal");
  const contents = language.steps.split("|").map((step) => fill(step, goal));
  const ids = contents.map((_, index) => `step-${length}-${index + 1}`);
  const todos = contents.map((content, at) => ({ id: ids[at], content, dependencies: ids.slice(0, at).slice(-1) }));
  const text = contents.map((content, index) => `${index + 1}. ${content}`).join("\n");
  const args = { title: goal, overview: language.introduction, plan: text, todos };
  return yield* complete(language, goal, toCalls(language, "create_plan", args));
}

/** Runs steps one after the other; the last of them completes the object. */
function* complete(language: Language, object: string, ...steps: readonly Step[]): Steps {
  for (const step of steps) yield step;
  return joinParts(language.introduction, fill(language.done, formatCode(object)));
}

function* runCommand(language: Language, command: string | undefined): Steps {
  if (command === undefined) return yield* ask(language, "command");
  const [ran] = yield toCalls(language, "run_terminal_cmd", { command });
  return joinParts(
    language.introduction,
    formatFence(ran!.output.split("\n").slice(-40).join("\n").slice(-8000), "text"),
  );
}

/**
 * Summarises files, or else the attached texts and the text above the instruction, in the answer or into a file, which
 * is never a source.
 */
function* summarise({ language, context, attached, answer, paths }: Order, target?: string): Steps {
  const given = [...attached, ...(context === "" ? [] : [{ path: "prompt", text: context }])];
  const isGiven = (path: string): boolean => attached.some((file) => file.path === path);
  const named = [...paths, answer ?? ""].filter((path) => path !== target && path !== "" && !isGiven(path));
  if (named.length === 0 && given.length === 0) return yield* ask(language, "file");
  const [before = "", reading = "", writing = ""] = language.announce.split("|");
  const read = toCalls(language, "read_file", ...named.map((path) => ({ target_file: path })));
  const announced = { ...read, text: [before, fill(reading, formatList(language, named))] };
  const reads = named.length === 0 ? [] : yield target === undefined ? read : announced;
  const texts = named.length === 0 ? given : attached;
  const sources = [...texts.map((file) => ({ ...file, note: "" })), ...reads.map(toSource)];
  const toParts = (origin: string): string[] =>
    sources.flatMap(({ path, text, note }) => [
      formatSummary(language, text, path),
      note,
      fill(origin, target === undefined ? formatCode(path) : path, formatCounts(language, text)),
    ]);
  if (target === undefined) return joinParts(language.introduction, ...toParts("{0}: {1}"));
  // A name such as `README` for README.md, or the whole name if its ending matters.
  const all = [...attached.map(({ path }) => path), ...named];
  const names = all.map((path) => path.replace(/^.*\//, "").replace(/\.(?:md|mdx|txt|rst|adoc)$/i, ""));
  const title = `# ${fill(language.title, formatList(language, names))}`;
  const content = `${joinParts(title, ...toParts(language.origin))}\n`;
  yield { ...toCalls(language, "write_file", { target_file: target, content }), text: [fill(writing, target)] };
  // The format's example ends without a word (C7).
  return "";
}

function toCalls(language: Language, toolName: string, ...args: readonly PlannedCall["args"][]): Step {
  const calls = args.map((entry) => ({ toolName, args: entry }));
  return { text: fill(language.calling, formatCode(toolName), formatList(language, calls.map(toObject))), calls };
}

/** Returns the object of a call: its first text. */
function toObject({ toolName, args }: PlannedCall): string {
  return formatCode(Object.values(args).find((value) => typeof value === "string") ?? toolName);
}
