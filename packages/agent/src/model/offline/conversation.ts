/** What is to be done now: the conversation so far, read anew for each request. */
import type { ModelMessage, ModelRequest } from "../provider.ts";
import type { Context, Job, Outcome } from "./job.ts";
import { english, type Language } from "./languages/english.ts";
import { readMessage, type Understood } from "./message.ts";
import { askFor, plan, toGoal } from "./planning-jobs.ts";

/** A message of the user, and the calls that followed it. */
interface Exchange {
  readonly text: string;
  readonly outcomes: Outcome[];
}

/** The job of a request; a pure function of it. */
export function toTask(request: ModelRequest): { readonly job: Job; readonly context: Context } {
  const isNote = (message: ModelMessage): boolean => message.role === "user" && message.isNote === true;
  const lastNote = request.messages.at(-1);
  const exchanges = toExchanges(request.messages.filter((message) => !isNote(message)));
  // A few messages are enough for questions in a row, and for the language.
  const understood = understand(exchanges.slice(-8));
  const outcomes = exchanges.slice(0, -1).flatMap((exchange) => exchange.outcomes);
  const context: Context = {
    language: understood.reading.language,
    mode: request.mode,
    // In agent mode a plan can be presented, although models see the tool in plan mode only (C39).
    tools: new Set([...request.tools.map(({ name }) => name), ...(request.mode === "agent" ? ["create_plan"] : [])]),
    usedIds: new Set(outcomes.flatMap(({ args }) => toRecords(args["todos"]).map(({ id }) => String(id)))),
    outcomes: exchanges.at(-1)?.outcomes ?? [],
    isLastTurn: lastNote?.role === "user" && isNote(lastNote) && lastNote.text.includes("last turn of the budget"),
  };
  const job = withLastFile(understood, outcomes);
  return { job: request.mode === "plan" ? toPlanned(job, understood) : job, context };
}

function toExchanges(messages: readonly ModelMessage[]): Exchange[] {
  const exchanges: Exchange[] = [];
  const results = new Map(messages.flatMap((message) => (message.role === "tool" ? [[message.callId, message]] : [])));
  messages.forEach((message, index) => {
    if (message.role === "user") exchanges.push({ text: message.text, outcomes: [] });
    // An answer can be the result of the call that asked, without a message (N42).
    const asked = exchanges.at(-1)?.outcomes.at(-1);
    if (message.role === "tool" && asked?.toolName === "ask_question" && messages[index + 1]?.role !== "user") {
      const answer = message.output.split("\n").find((line) => toAnswerText(asked, line) !== line);
      if (answer !== undefined) exchanges.push({ text: answer, outcomes: [] });
    }
    if (message.role !== "assistant") return;
    for (const part of message.content) {
      const result = part.type === "tool_call" ? results.get(part.callId) : undefined;
      if (part.type !== "tool_call" || !result) continue;
      const { output, isError } = result;
      exchanges.at(-1)?.outcomes.push({ toolName: part.toolName, args: part.arguments, output, isError });
    }
  });
  return exchanges.length > 0 ? exchanges : [{ text: "", outcomes: [] }];
}

/** The answer without the id of its question, which `sheaf answer` and the server write before it. */
function toAnswerText(asked: Outcome, line: string): string {
  const id = String(toRecords(asked.args["questions"])[0]?.["id"]);
  return line.startsWith(`${id}:`) ? line.slice(id.length + 1).trim() : line;
}

/** The job of the last exchange; an answer to a question completes the job before it. */
function understand(exchanges: readonly Exchange[]): Understood {
  const text = exchanges.at(-1)?.text ?? "";
  const before = exchanges.slice(0, -1);
  const asked = before.at(-1)?.outcomes.at(-1);
  if (asked?.toolName !== "ask_question" || asked.isError) return readMessage(text, findLanguage(before));
  const { reading, job } = understand(before);
  const answer = toAnswerText(asked, text);
  const own = readMessage(answer, reading.language);
  if (!job.missing) return own;
  const { what, complete } = job.missing;
  const option = findOption(asked, answer);
  if (what === "task") return option === undefined ? own : readMessage(option, reading.language);
  if (option !== undefined) return { reading, job: complete(option) };
  if (what !== "file") return { reading, job: complete(answer.trim()) };
  // Asked for a file: a name completes the job, a whole new instruction replaces it.
  const path = own.reading.prompt.mentions.find(({ kind }) => kind === "path" || kind === "folder")?.text;
  const isNew = own.reading.has("show", "find", "delete", "run", "rename", "list", "write");
  const name = path ?? (own.job.effect === "unknown" && /^[\w.-]{1,100}$/.test(answer) ? answer : undefined);
  return name === undefined || isNew ? own : { reading, job: complete(name) };
}

/** The option that an answer means: by id, by number, or by its words. */
function findOption(asked: Outcome, answer: string): string | undefined {
  const wanted = answer.trim().toLowerCase();
  const options = toRecords(toRecords(asked.args["questions"])[0]?.["options"]);
  const index = options.findIndex(({ id, label }) => String(id) === wanted || String(label).toLowerCase() === wanted);
  const option = options[index === -1 ? Number(/^\(?(\d{1,2})[.)]?$/.exec(wanted)?.[1] ?? 0) - 1 : index];
  return option && String(option["label"]);
}

function toRecords(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "object" && entry !== null) : [];
}

/** The language of the newest message that shows one. */
function findLanguage(exchanges: readonly Exchange[]): Language {
  for (const { text } of exchanges.toReversed()) {
    const { isLanguageKnown, language } = readMessage(text, english).reading;
    if (isLanguageKnown) return language;
  }
  return english;
}

/** "Summarise it": the file that was read last. */
function withLastFile({ job, reading }: Understood, outcomes: readonly Outcome[]): Job {
  if (job.missing?.what !== "file" || !reading.has("this")) return job;
  const path = outcomes.findLast(({ toolName, isError }) => toolName === "read_file" && !isError)?.args["target_file"];
  return typeof path === "string" ? job.missing.complete(path) : job;
}

/** Plan mode plans whatever is asked for, and asks when it cannot (N40). */
function toPlanned(job: Job, { reading }: Understood): Job {
  if (job.effect === "plans" || job.effect === "asks" || job.effect === "explains") return job;
  const goal = toGoal(reading.prompt.original);
  return goal === "" ? askFor("goal", (answer) => plan(toGoal(answer))) : plan(goal, job);
}
