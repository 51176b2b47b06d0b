/** Asks the user at the terminal: questions of the agent (N42) and forms of tool servers (X59). */
import { isCancel, multiselect, text } from "@clack/prompts";
import type {
  QuestionField,
  ServerQuestion,
  ClarificationAnswer,
  ClarificationDocument,
  ClarificationQuestion,
} from "@sheaf/protocol";
import { toVisibleLine, toVisibleText } from "@sheaf/agent/output/visible-text";
import { findFieldProblem } from "@sheaf/agent/tools/mcp/question-form";
import { choose, type MenuScreen, startPause } from "./choose.ts";

type Values = Record<string, unknown>;

/** Returns the values of a form, without fields left empty; undefined after Ctrl-C. */
export async function askForm(
  { server, fields, arguments: defaults }: ServerQuestion,
  signal: AbortSignal,
  screen: MenuScreen,
): Promise<Values | undefined> {
  const entries: [string, unknown][] = [];
  for (const field of fields) {
    // Each question starts with the server's name, so that it can't pass for Sheaf's.
    const message = `${toVisibleLine(server)}: ${formatField(field)}`;
    const initial = Object.hasOwn(defaults, field.name) ? defaults[field.name] : undefined;
    const answer = await askField(field, { message, initial, signal, screen });
    if (answer === undefined) return undefined;
    if (answer.value !== undefined) entries.push([field.name, answer.value]);
  }
  return Object.fromEntries(entries);
}

/** Formats a field in one line. */
function formatField({ title, description, required }: QuestionField): string {
  const head = `${toVisibleLine(title)}${required ? "" : " (may be left out)"}`;
  return description === undefined ? head : `${head}: ${toVisibleLine(description)}`;
}

/** Lists the fields of a form before the user answers. */
export function formatFields({ fields }: ServerQuestion): string {
  return fields.map(({ title }) => toVisibleLine(title)).join(", ");
}

interface FieldAnswer {
  /** Value of the field; undefined if the user left it empty. */
  readonly value: unknown;
}

interface FieldPrompt {
  readonly message: string;
  readonly initial: unknown;
  readonly signal: AbortSignal;
  readonly screen: MenuScreen;
}

async function askField(
  field: QuestionField,
  { message, initial, signal, screen }: FieldPrompt,
): Promise<FieldAnswer | undefined> {
  const { type, options = [], required } = field;
  const { input, output } = screen;
  const place = { message, signal, ...(input && { input }), ...(output && { output }) };
  const isMeant = startPause(screen, signal);
  if (type === "choices") {
    const choices = options.map(({ value, label }) => ({ value, label: toVisibleLine(label) }));
    const initialValues = Array.isArray(initial) ? (initial as string[]) : [];
    for (;;) {
      const chosen = await multiselect({ ...place, options: choices, initialValues, required: false });
      if (isCancel(chosen)) return undefined;
      if (!isMeant()) continue;
      if (chosen.length === 0 && !required) return { value: undefined };
      if (findFieldProblem(field, chosen) === undefined) return { value: chosen };
    }
  }
  if (type === "choice" || type === "boolean") {
    const known = type === "boolean" ? yesOrNo : options.map(({ value, label }) => ({ value, label }));
    const choices = [
      ...known.map(({ value, label }) => ({ value, label: toVisibleLine(label) })),
      ...(required ? [] : [{ value: undefined, label: "Leave it out" }]),
    ];
    // Enter alone must not answer a question of a server with yes, even if the server proposes that.
    const first = choices.findIndex(({ value }) => value === (type === "boolean" ? false : initial));
    const numbered = choices.map(({ label }, index) => ({ value: `${index}`, label }));
    const asked = { message, options: numbered, initialValue: `${Math.max(first, 0)}`, signal };
    const chosen = await choose(type === "boolean" ? { ...asked, yes: "0" } : asked, screen);
    return chosen === undefined ? undefined : { value: choices[Number(chosen)]!.value };
  }
  const initialValue = typeof initial === "string" || typeof initial === "number" ? `${initial}` : "";
  const answer = await text({
    ...place,
    initialValue,
    validate: (written = "") => {
      if (written === initialValue && !isMeant()) return "Press Enter again";
      if (written === "" && !required) return undefined;
      return findFieldProblem(field, toValue(field, written));
    },
  });
  if (isCancel(answer)) return undefined;
  return { value: answer === "" && !required ? undefined : toValue(field, answer) };
}

const yesOrNo = [
  { value: true, label: "Yes" },
  { value: false, label: "No" },
];

function toValue({ type }: QuestionField, written: string): unknown {
  if (type === "string") return written;
  return written.trim() === "" ? undefined : Number(written);
}

/** Id of the option to answer freely. The model's options have printable ids, so they can't have this one. */
const OTHER = "\u0000other";

/** Returns one answer for each question; undefined after Ctrl-C, because Sheaf never makes up answers (C25). */
export async function askQuestions({
  id,
  content,
  metadata,
}: ClarificationDocument): Promise<ClarificationAnswer[] | undefined> {
  const answers: ClarificationAnswer[] = [];
  for (const [index, question] of metadata.questions.entries()) {
    const title = index === 0 && content !== "" && content !== question.text ? `${toVisibleText(content)}\n` : "";
    const answer = await askQuestion(question, title);
    if (answer === undefined) return undefined;
    answers.push({ documentId: id, questionId: question.id, ...answer });
  }
  return answers;
}

type Answer = Pick<ClarificationAnswer, "optionIds" | "text">;

async function askQuestion(question: ClarificationQuestion, title: string): Promise<Answer | undefined> {
  const message = `${title}${toVisibleText(question.text)}`;
  if (question.options.length === 0) return askText(message);
  const options = question.options.map(({ id, label }) => ({ value: id, label: toVisibleLine(label) }));
  if (question.allowMultiple) {
    const chosen = await multiselect({ message, options, required: true });
    return isCancel(chosen) ? undefined : { optionIds: chosen, text: "" };
  }
  const chosen = await choose({
    message,
    options: [...options, { value: OTHER, label: "Something else …" }],
    initialValue: options[0]!.value,
  });
  if (chosen === undefined) return undefined;
  return chosen === OTHER ? askText("Your answer") : { optionIds: [chosen], text: "" };
}

async function askText(message: string): Promise<Answer | undefined> {
  const answer = await text({
    message,
    validate: (value) => (value?.trim() ? undefined : "Say something, or press Ctrl-C"),
  });
  return isCancel(answer) ? undefined : { optionIds: [], text: answer };
}
