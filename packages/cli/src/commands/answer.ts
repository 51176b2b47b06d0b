/** `sheaf answer SESSION …` answers a run's questions after exit code 10, and continues the session (C20, N42). */
import { toResponse } from "@sheaf/documents";
import type { ClarificationAnswer, ClarificationDocument, RunStart } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { Store } from "@sheaf/store/store";
import { createStore } from "@sheaf/agent/assemble/wire-stores";
import type { ParsedArguments } from "../arguments.ts";
import { checkCommandLine } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { toOutputFormat } from "../output-choice.ts";
import { runOrRefuse } from "../refused-run.ts";
import { toConfig } from "../run-config.ts";
import { findConversation } from "../session-words.ts";
import type { RunControl } from "../signals.ts";
import { printRun } from "./prompt.ts";

/**
 * Runs the command. Its words are `QUESTION=OPTION[,OPTION]` or `QUESTION=any text`; one question needs no `QUESTION=`.
 * Unanswered questions are skipped (N73): Sheaf never makes up answers (C25).
 */
export async function runAnswer(parsed: ParsedArguments, io: CommandIo, control: RunControl): Promise<number> {
  const prepare = async () => {
    checkCommandLine(parsed);
    const { flags, positionals } = parsed;
    const [session = "", ...words] = positionals;
    const config = toConfig(flags, io);
    const question = await readQuestion(config.storeFile, session);
    const message = toAnswerMessage(toAnswers(question, words));
    return { message, config, flags: { ...flags, resume: session } };
  };
  return runOrRefuse(prepare, (start) => printRun(start, io, control), toOutputFormat(parsed.flags, io), parsed, io);
}

/** Makes the user message that continues the conversation with these answers (N42). */
export function toAnswerMessage(
  answers: readonly ClarificationAnswer[],
): Required<Pick<RunStart, "prompt" | "answers">> {
  const lines = answers.flatMap(({ questionId, optionIds, text }) => {
    const words = [...optionIds, text].filter(Boolean);
    return words.length === 0 ? [] : [`${questionId}: ${words.join(" ")}`];
  });
  return { prompt: lines.join("\n"), answers };
}

/** Reads the questions in the last response of a session. @throws SheafError USAGE without a question. */
export async function readQuestion(storeFile: string, session: string): Promise<ClarificationDocument> {
  const store = await createStore(storeFile);
  try {
    return await findQuestion(store, session);
  } finally {
    await store.close();
  }
}

async function findQuestion(store: Store, session: string): Promise<ClarificationDocument> {
  const last = (await store.listResponses(await findConversation(store, session))).findLast((row) => !row.reverted);
  const events = last ? await store.readEvents(last.id) : [];
  const { documents, status } = toResponse(events);
  const question = documents.findLast((document) => document.type === "clarification");
  if (question) return question;
  const [start] = events;
  if (status === "error" && start?.type === "run_start" && start.answers) {
    const advice = `the answer is kept: go on with --resume ${session} "continue"`;
    throw new SheafError("USAGE", `the session ${session} was answered, and the run after it failed; ${advice}`);
  }
  throw new SheafError("USAGE", `${session} has no open question: run sheaf -p --resume ${session} -- "your prompt"`);
}

export function toAnswers(question: ClarificationDocument, words: readonly string[]): ClarificationAnswer[] {
  const { questions } = question.metadata;
  const given = new Map<string, string>();
  for (const word of words) {
    const equals = word.indexOf("=");
    const id = word.slice(0, Math.max(equals, 0));
    if (given.has(id)) throw new SheafError("USAGE", `the question "${id}" is answered twice: give one ${id}=ANSWER`);
    if (questions.some((candidate) => candidate.id === id)) given.set(id, word.slice(equals + 1));
    else if (questions.length === 1 && words.length === 1) given.set(questions[0]!.id, word);
    else
      throw new SheafError("USAGE", `"${word}" answers no question: write ID=ANSWER with one of ${listIds(questions)}`);
  }
  if (given.size === 0)
    throw new SheafError("USAGE", `no question has an answer: add ID=ANSWER for ${listIds(questions)}`);
  return questions.map(({ id, options, allowMultiple }) => {
    const text = given.get(id);
    if (text === undefined) return { documentId: question.id, questionId: id, optionIds: [], text: "" };
    if (text.trim() === "") throw new SheafError("USAGE", `the answer to "${id}" is empty: write ${id}=ANSWER`);
    const chosen = allowMultiple ? text.split(",") : [text];
    const isOption = chosen.every((choice) => options.some((option) => option.id === choice));
    const answer = { documentId: question.id, questionId: id };
    return isOption ? { ...answer, optionIds: chosen, text: "" } : { ...answer, optionIds: [], text };
  });
}

function listIds(questions: readonly { readonly id: string }[]): string {
  return questions.map(({ id }) => id).join(", ");
}
