/** An instruction to a job: the first rule that fits. */
import { changeFiles, replaceText, runCommand, runScript, writeFile } from "./changing-jobs.ts";
import type { Job } from "./job.ts";
import { askFor, explain, listTodos, plan, splitItems, toGoal } from "./planning-jobs.ts";
import { restoreMentions, toBaseName, type Mention } from "./prompt.ts";
import { explainFolder, findFiles, findText, listFolder, showFiles, summarise } from "./reading-jobs.ts";
import type { Reading } from "./reading.ts";

/** What the rules look at. */
interface Instruction extends Reading {
  /** A text that came with the instruction. */
  readonly context: string | undefined;
  /** The files that it names. */
  readonly paths: readonly Mention[];
  readonly names: readonly string[];
  /** The folder that it names. */
  readonly folder: string | undefined;
}

/** The more special rules come first. */
const rules: readonly ((instruction: Instruction) => Job | undefined)[] = [
  toTodoList,
  toPlan,
  toRename,
  toReplacement,
  toDeletion,
  toSummaryFile,
  toRun,
  toWrite,
  toLayout,
  toSearch,
  toList,
  toSummary,
  toShow,
  toTalk,
];

export function toJob(reading: Reading, context?: string): Job {
  const paths = reading.prompt.mentions.filter(({ kind }) => kind === "path");
  const names = paths.map(({ text }) => text);
  const instruction = { ...reading, context, paths, names, folder: findFolder(reading) };
  for (const rule of rules) {
    const job = rule(instruction);
    if (!job) continue;
    // "How do I delete a.txt?" and "don't delete a.txt" ask for no change; the content of a file can hold such words.
    const end = rule === toWrite ? (paths[0]?.at ?? 0) : Infinity;
    return job.effect === "changes" && reading.placeOf("asking").start < end ? explain("unknown") : job;
  }
  return explain("unknown");
}

/** Without a slash, a folder needs a usual name, unless something is to be found or listed in it. */
function findFolder({ prompt, language, has }: Reading): string | undefined {
  const folder = prompt.mentions.find(({ kind }) => kind === "folder")?.text;
  const word = language.folder.exec(prompt.folded)?.find((group, index) => index > 0 && group !== undefined);
  const isUsual = /^(?:src|lib|app|tests?|docs|scripts|packages|examples)$/.test(word ?? "");
  return folder ?? (isUsual || has("find", "list") ? word : undefined);
}

/** "make a todo list: a, b, c" */
function toTodoList({ has, prompt, placeOf }: Instruction): Job | undefined {
  if (!has("todo_list") || has("find", "summarise", "delete")) return undefined;
  const mark = prompt.text.search(/[:\n]/);
  const from = mark === -1 ? placeOf("todo_list").end : mark + 1;
  const items = splitItems(restoreMentions(prompt, prompt.text.slice(from).replace(/^\s*(?:with|mit)\s/i, "")));
  return items.length > 0 ? listTodos(items) : askFor("items", (answer) => listTodos(splitItems(answer)));
}

/** "plan the move to TypeScript" */
function toPlan({ has, prompt, language, paths }: Instruction): Job | undefined {
  const isAboutFile = paths.length > 0 && has("about", "summarise", "show");
  if (!has("plan") || has("find") || isAboutFile) return undefined;
  const goals = language.goals.map((pattern) => toGoal(restoreMentions(prompt, pattern.exec(prompt.text)?.[1] ?? "")));
  const goal = goals.find((text) => /\p{L}/u.test(text.replace(/^\W*(?:please|bitte|lütfen|it|this)$/i, "")));
  return goal === undefined ? askFor("goal", (answer) => plan(toGoal(answer))) : plan(goal);
}

/** "rename a.txt to b.txt" */
function toRename({ has, prompt }: Instruction): Job | undefined {
  const [from, to] = prompt.mentions;
  if (!has("rename") || from?.kind !== "path") return undefined;
  const rename = (name: string): Job => changeFiles("rename_file", { source_file: from.text, destination_file: name });
  if (!to) return askFor("names", rename);
  return rename(to.kind === "folder" ? `${to.text}/${toBaseName(from.text)}` : to.text);
}

/** `replace "a" with "b" in file.txt` */
function toReplacement({ has, prompt, paths }: Instruction): Job | undefined {
  const path = paths.findLast(({ quoted }) => quoted === undefined || paths.length === 3);
  const [from, to] = prompt.mentions.filter((mention) => mention !== path).flatMap(({ quoted }) => quoted ?? []);
  if (!has("replace") || !from || to === undefined) return undefined;
  return path ? replaceText(path.text, from, to) : askFor("file", (answer) => replaceText(answer, from, to));
}

/** "delete a.txt" */
function toDeletion({ has, prompt, names }: Instruction): Job | undefined {
  if (!has("delete")) return undefined;
  const remove = (...files: readonly string[]): Job =>
    changeFiles("delete_file", ...files.map((file) => ({ target_file: file })));
  const [path] = names;
  // Part of a file: `remove "a" from b.txt`.
  const quote = prompt.mentions.find(({ kind }) => kind === "quote")?.text;
  if (path !== undefined) return quote === undefined ? remove(...names) : replaceText(path, quote, "");
  return has("file") ? askFor("file", remove) : undefined;
}

/** "Read README.md and create a summary" */
function toSummaryFile(instruction: Instruction): Job | undefined {
  const { has, context, paths } = instruction;
  const target = findTarget(instruction);
  const isOther = target !== undefined && (paths.length > 1 || context !== undefined);
  if (!has("summarise") || !(isOther || (has("write") && !has("about")))) return undefined;
  const sources = paths.filter((path) => !isOther || path !== target).map(({ text }) => text);
  if (sources.length > 0)
    return summarise({ sources, target: toTargetName(sources, isOther ? target.text : undefined) });
  if (context !== undefined) return summarise({ sources, context, target: target?.text });
  if (has("project")) return undefined;
  return askFor("file", (answer) => summarise({ sources: [answer], target: toTargetName([answer], target?.text) }));
}

/** The file that is to be written: "in out.txt", or a name such as summary.txt. */
function findTarget({ prompt, language, paths }: Instruction): Mention | undefined {
  const marks = new Set([...prompt.folded.matchAll(language.target)].map((match) => match[1] ?? match[2]));
  const marked = paths.findLast(({ mark }) => marks.has(mark));
  return marked ?? paths.slice(1).findLast(({ text }) => /summary|zusammenfassung|özet|要約|摘要/i.test(text));
}

/** A source is never overwritten: notes.md gives notes-summary.md. */
function toTargetName(sources: readonly string[], target = "summary.txt"): string {
  const isSource = sources.some((source) => source.toLowerCase() === target.toLowerCase());
  return isSource ? target.replace(/(?=\.[^./]+$)|$/, "-summary") : target;
}

/** "run `npm test`", "run the tests" */
function toRun({ has, prompt }: Instruction): Job | undefined {
  const typed = /^\$\s+([^\n]+)$/.exec(prompt.original.trim())?.[1];
  if (typed !== undefined) return runCommand(typed);
  if (!has("run")) return undefined;
  const quote = prompt.mentions.find(({ quoted }) => quoted !== undefined);
  if (quote?.quoted !== undefined) return runCommand(quote.quoted.trim());
  const script = has("tests") ? "test" : /\b(?:build|lint|check|format|typecheck)\b/.exec(prompt.folded)?.[0];
  if (script !== undefined) return runScript(script);
  return prompt.mentions.length > 0 ? undefined : askFor("command", runCommand);
}

/** `create hello.txt with the content "Hello"` */
function toWrite({ has, prompt, context, paths }: Instruction): Job | undefined {
  if (!has("write") || has("about")) return undefined;
  const path = paths.find(({ quoted }) => quoted === undefined) ?? paths.at(-1);
  const quote = prompt.mentions.find((mention) => mention !== path && mention.quoted !== undefined)?.quoted;
  const [, afterColon] = /^[^:]*:\s*(\S.*)$/s.exec(prompt.text.slice(path?.at ?? 0)) ?? [];
  const content = quote ?? (afterColon === undefined ? context : restoreMentions(prompt, afterColon));
  const write = (name: string): Job =>
    content === undefined ? askFor("content", (answer) => writeFile(name, answer)) : writeFile(name, content);
  // "Create a REST API in server.ts" is more than these rules can do.
  const isClear = content !== undefined || (prompt.folded.match(/[\p{L}\p{N}]+/gu) ?? []).length <= 4;
  if (!isClear) return undefined;
  return path ? write(path.text) : has("file") ? askFor("names", write) : undefined;
}

/** "explain the project structure" */
function toLayout({ has, paths, folder = "." }: Instruction): Job | undefined {
  const isAsked = has("project") && has("about", "summarise", "show", "list") && !has("find");
  return isAsked && paths.length === 0 ? explainFolder(folder) : undefined;
}

/** "find TODO in src", "where is createServer defined?", "find all *.ts files" */
function toSearch(instruction: Instruction): Job | undefined {
  const { has, prompt, folder, names } = instruction;
  const glob = prompt.mentions.find(({ kind }) => kind === "glob")?.text;
  const term = findTerm(instruction);
  const pattern = glob ?? names[0];
  if (!has("find") && !(glob !== undefined && has("list", "show"))) return undefined;
  if (term !== undefined) return findText(term, names[0] ?? folder, glob);
  // A pattern also finds files in folders.
  if (pattern !== undefined) return findFiles(pattern.includes("/") ? pattern : `**/${pattern}`, folder);
  return askFor("term", (answer) => findText(answer, folder, glob));
}

/** What is searched for: a quotation, a name that looks like code, or the words after the verb. */
function findTerm({ prompt, language, has }: Instruction): string | undefined {
  const quote = prompt.mentions.find(({ kind }) => kind === "quote");
  const name = prompt.text.match(/[\w$]+/g)?.find((word) => /[a-z0-9][A-Z]|[A-Za-z]_|^[A-Z][A-Z0-9]{2,}$/.test(word));
  const match = has("find") ? language.term.exec(prompt.text.trim().replace(/[?.!。？]+$/, "")) : undefined;
  const words = match?.slice(1).find((group) => group !== undefined) ?? "";
  const isPhrase = /\S/.test(words) && !/[\uE000-\uF8FF]|^(?:all )?files$/.test(words);
  return quote?.text ?? name ?? (isPhrase ? words.trim() : undefined);
}

/** "list the files in src" */
function toList({ has, folder, paths }: Instruction): Job | undefined {
  const isAsked = has("list") || (has("about", "show") && folder !== undefined && has("file"));
  return isAsked && paths.length === 0 ? listFolder(folder ?? ".") : undefined;
}

/** "summarise README.md", "what is in package.json?", "summarise this" */
function toSummary({ has, context, names: sources, folder }: Instruction): Job | undefined {
  if (!has("summarise", "about")) return undefined;
  if (sources.length > 0 || context !== undefined) return summarise({ sources, context });
  if (folder !== undefined) return explainFolder(folder);
  // "What is love?" is about no file.
  return has("summarise", "this", "file") ? askFor("file", (answer) => summarise({ sources: [answer] })) : undefined;
}

/** "show lines 10-20 of src/a.ts", "read README.md" */
function toShow({ has, prompt, paths, names }: Instruction): Job | undefined {
  if (!has("show") && !(has("lines") && paths.length > 0)) return undefined;
  const numbers = has("lines") ? (prompt.folded.match(/\d{1,7}/g) ?? []).map(Number) : [];
  // One number counts lines from the first.
  const [start = 1, end = 0] = [...(numbers.length > 1 ? [] : [1]), ...numbers.slice(0, 2)].toSorted((a, b) => a - b);
  const range = paths[0]?.lines ?? (end > 0 && start > 0 ? ([start, end] as const) : undefined);
  if (paths.length > 0) return showFiles(names, range);
  return has("file", "lines") ? askFor("file", (answer) => showFiles([answer], range)) : undefined;
}

/** "ask me what to do", "help", or nothing but a name. */
function toTalk({ has, prompt, context, names: sources }: Instruction): Job | undefined {
  if (has("ask_me")) return askFor("task", () => explain("unknown"));
  const isName = sources.length > 0 && context === undefined && /^[\s\uE000-\uF8FF]+$/.test(prompt.text);
  if (isName) return summarise({ sources });
  return has("help") && prompt.mentions.length === 0 ? explain("explains") : undefined;
}
