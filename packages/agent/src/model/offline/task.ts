/** What is to be done now: the conversation so far, read anew for each request. */
import type { Mode } from "@sheaf/protocol";
import type { ModelMessage, ModelRequest } from "../provider.ts";
import { readInstruction, type Instruction } from "./instruction.ts";
import { toShortGoal } from "./intent-plan.ts";
import type { Intent, MissingIntent } from "./intent.ts";
import type { Language } from "./language.ts";
import type { PromptReader } from "./reading.ts";

/** A tool call and what came of it. */
export interface Outcome {
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly output: string;
  readonly isError: boolean;
}

export interface Task {
  readonly intent: Intent;
  readonly language: Language;
  /** Results since the user's message, in order of the calls. */
  readonly outcomes: readonly Outcome[];
  readonly mode: Mode;
  /** Tools that are offered. */
  readonly tools: ReadonlySet<string>;
  /** The run says that this is its last turn. */
  readonly isLastTurn: boolean;
  /** Ids of todos that the conversation has used (N40). */
  readonly usedIds: ReadonlySet<string>;
  /** A text came with the prompt. */
  readonly hasContext: boolean;
}

/** A user message and what followed it. */
interface Exchange {
  readonly text: string;
  readonly outcomes: readonly Outcome[];
}

/** How many questions in a row are followed back. */
const questionLimit = 8;
const languageReach = 6;

/** The task of a request; a pure function of it. */
export function toTask(reader: PromptReader, request: ModelRequest): Task {
  const exchanges = toExchanges(request.messages);
  const last = exchanges.length - 1;
  const instruction = resolveInstruction(reader, exchanges, last, 0);
  const intent = toModeIntent(withLastFile(instruction, exchanges), instruction, request.mode);
  return {
    intent,
    language: instruction.reading.language,
    outcomes: exchanges[last]?.outcomes ?? [],
    mode: request.mode,
    tools: new Set(request.tools.map(({ name }) => name)),
    isLastTurn: request.system.includes("last turn of the budget"),
    usedIds: toUsedIds(exchanges.slice(0, -1)),
    hasContext: instruction.context !== undefined,
  };
}

function toExchanges(messages: readonly ModelMessage[]): Exchange[] {
  const exchanges: { text: string; outcomes: Outcome[] }[] = [];
  const results = new Map<string, Extract<ModelMessage, { role: "tool" }>>();
  for (const message of messages) if (message.role === "tool") results.set(message.callId, message);
  messages.forEach((message, index) => {
    if (message.role === "user") exchanges.push({ text: message.text, outcomes: [] });
    // An answer can also be the result of the tool that asked, without a message of its own (N42).
    const answer =
      message.role === "tool" && messages[index + 1]?.role !== "user"
        ? findAnswer(exchanges.at(-1)?.outcomes.at(-1), message)
        : undefined;
    if (answer !== undefined) exchanges.push({ text: answer, outcomes: [] });
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

/** The line `id: answer` in the result of a question; undefined while there is none. */
function findAnswer(asked: Outcome | undefined, message: Extract<ModelMessage, { role: "tool" }>): string | undefined {
  if (asked?.toolName !== "ask_question" || message.toolName !== "ask_question" || message.isError) return undefined;
  return message.output.split("\n").find((line) => toAnswerText(asked, line) !== undefined);
}

/** What stands behind the id of the question: `sheaf answer` and the server write it in front. */
function toAnswerText(asked: Outcome, line: string): string | undefined {
  const [question] = toRecords(asked.args["questions"]);
  const id = typeof question?.["id"] === "string" ? question["id"] : "";
  return id !== "" && line.startsWith(`${id}:`) ? line.slice(id.length + 1).trim() : undefined;
}

/** The instruction of an exchange; an answer to a question makes the instruction before it whole. */
function resolveInstruction(
  reader: PromptReader,
  exchanges: readonly Exchange[],
  index: number,
  depth: number,
): Instruction {
  const text = exchanges[index]?.text ?? "";
  const asked = exchanges[index - 1]?.outcomes.at(-1);
  if (asked?.toolName !== "ask_question" || asked.isError || depth >= questionLimit) {
    return readInstruction(reader, text, findLanguage(reader, exchanges, index));
  }
  const before = resolveInstruction(reader, exchanges, index - 1, depth + 1);
  const answer = toAnswerText(asked, text) ?? text;
  const own = readInstruction(reader, answer, before.reading.language);
  if (before.intent.kind !== "missing") return own;
  const language =
    own.reading.isLanguageKnown && own.intent.kind !== "unknown" ? own.reading.language : before.reading.language;
  return { ...own, ...fillInstruction(reader, before.intent, own, answer.trim(), asked, language) };
}

function fillInstruction(
  reader: PromptReader,
  missing: MissingIntent,
  own: Instruction,
  text: string,
  asked: Outcome,
  language: Language,
): Pick<Instruction, "intent" | "reading"> {
  const chosen = findOption(asked, text);
  const reading = chosen === undefined ? { ...own.reading, language } : own.reading;
  if (missing.what === "task") return chosen === undefined ? own : readInstruction(reader, chosen, language);
  const withLanguage = { ...own.reading, language };
  if (chosen !== undefined) return { reading: withLanguage, intent: missing.fill(chosen) };
  if (missing.what === "replacement") return own;
  if (missing.what !== "file")
    return { reading: withLanguage, intent: missing.fill(missing.what === "goal" ? toShortGoal(text) : text) };
  // Asked for a file: a whole new instruction is one, a name fills the gap.
  const path = own.reading.mentions.find(({ kind }) => kind === "path" || kind === "folder");
  const isBareName =
    path !== undefined &&
    own.reading.restWords.length === 0 &&
    !own.reading.has("show", "find", "delete", "run", "rename");
  if (path && (isBareName || own.intent.kind === "unknown"))
    return { reading: withLanguage, intent: missing.fill(path.text) };
  if (own.intent.kind === "unknown" && /^[\w.-]{1,100}$/.test(text))
    return { reading: withLanguage, intent: missing.fill(text) };
  return { reading, intent: own.intent };
}

/** The label of the option that an answer means: by id, by number, or by its words. */
function findOption(asked: Outcome, answer: string): string | undefined {
  const wanted = answer.trim().toLowerCase();
  if (wanted === "" || wanted.length > 300) return undefined;
  const options = toOptions(asked.args);
  const exact = options.find(({ id, label }) => id.toLowerCase() === wanted || label.toLowerCase() === wanted);
  if (exact) return exact.label;
  const number = /^\(?(\d{1,2})[.)]?$/.exec(wanted)?.[1];
  return number === undefined ? undefined : options[Number(number) - 1]?.label;
}

/** Options of the first question of an `ask_question` call. */
function toOptions(args: Readonly<Record<string, unknown>>): { id: string; label: string }[] {
  const [question] = toRecords(args["questions"]);
  return toRecords(question?.["options"]).map(({ id, label }) => ({ id: String(id), label: String(label) }));
}

function toRecords(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "object" && entry !== null) : [];
}

/** The language of the newest earlier message that shows one. */
function findLanguage(reader: PromptReader, exchanges: readonly Exchange[], index: number): Language {
  for (let place = index - 1; place >= Math.max(0, index - languageReach); place -= 1) {
    const { reading } = readInstruction(reader, exchanges[place]?.text ?? "", "en");
    if (reading.isLanguageKnown) return reading.language;
  }
  return "en";
}

/** "Summarise it": the file that was read last. */
function withLastFile({ intent, reading }: Instruction, exchanges: readonly Exchange[]): Intent {
  if (intent.kind !== "missing" || intent.what !== "file" || !reading.has("this")) return intent;
  const read = exchanges
    .slice(0, -1)
    .flatMap(({ outcomes }) => outcomes)
    .findLast(({ toolName, isError }) => toolName === "read_file" && !isError);
  const path = read?.args["target_file"];
  return typeof path === "string" ? intent.fill(path) : intent;
}

/** Plan mode plans whatever is asked, and asks when it cannot (N40). */
function toModeIntent(intent: Intent, { reading }: Instruction, mode: Mode): Intent {
  if (mode !== "plan") return intent;
  switch (intent.kind) {
    case "plan":
    case "missing":
    case "help":
    case "greeting":
    case "thanks":
      return intent;
    default: {
      const goal = toShortGoal(reading.prompt.original);
      if (goal !== "") return { kind: "plan", goal, inner: intent };
      return { kind: "missing", what: "goal", fill: (answer) => ({ kind: "plan", goal: answer }) };
    }
  }
}

function toUsedIds(exchanges: readonly Exchange[]): Set<string> {
  const ids = new Set<string>();
  for (const { outcomes } of exchanges) {
    for (const { args } of outcomes) for (const { id } of toRecords(args["todos"])) ids.add(String(id));
  }
  return ids;
}
