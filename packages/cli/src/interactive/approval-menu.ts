/** Asks the user at the terminal whether a call may run (X8, S-16). */
import { text } from "@clack/prompts";
import type { ApprovalRequest } from "@sheaf/protocol";
import type { ApprovalDecision, Approver } from "@sheaf/agent/tools/approval";
import { readServerQuestion } from "@sheaf/agent/tools/mcp/server-question";
import { colorDiffLine } from "@sheaf/agent/output/terminal/diff-lines";
import { choose, type MenuScreen } from "./choose.ts";
import type { LineConsole } from "./line-console.ts";
import { askForm, formatFields } from "./ask-questions.ts";
import { toVisibleLine, toVisibleText } from "@sheaf/agent/output/visible-text";

/** Milliseconds until a question expires. */
const EXPIRES_AFTER_MS = 30 * 60 * 1000;

export interface ApprovalMenuOptions {
  readonly hasColors: boolean;
  readonly console: Pick<LineConsole, "yield">;
  readonly screen?: MenuScreen;
  /** Called after Ctrl-C or Esc. */
  readonly onCancel: () => void;
}

/** Creates an approver that asks one question after another, if several calls wait. */
export function createApprovalMenu(options: ApprovalMenuOptions): Approver {
  let before: Promise<unknown> = Promise.resolve();
  return {
    expiresAfterMs: EXPIRES_AFTER_MS,
    answeredIn: "terminal",
    ask(request, signal) {
      const asked = before.then(() =>
        withOwnSignal(signal, (open) => options.console.yield(() => askOnce(request, open, options))),
      );
      before = asked.catch(() => undefined);
      return asked;
    },
  };
}

/** Gives a menu a signal that ends with it: after the answer, `signal` would make it change the terminal again. */
async function withOwnSignal<Result>(
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const open = new AbortController();
  const answered = new AbortController();
  signal.addEventListener("abort", () => open.abort(signal.reason), { once: true, signal: answered.signal });
  try {
    return await ask(open.signal);
  } finally {
    answered.abort();
  }
}

async function askOnce(
  request: ApprovalRequest,
  signal: AbortSignal,
  { hasColors, screen = {}, onCancel }: ApprovalMenuOptions,
): Promise<ApprovalDecision> {
  const { title, description, subject, options, agent } = request;
  const question = readServerQuestion(subject);
  const who = agent === undefined ? "" : `${toVisibleLine(agent)}: `;
  const shown = question ? formatFields(question) : formatSubject(subject, hasColors);
  const rejection = options.find(({ kind }) => kind === "reject_once");
  const chosen = await choose(
    {
      message: `${who}${toVisibleText(title)}\n${shown}\n${toVisibleText(description)}`,
      options: options.map(({ id, label }) => ({ value: id, label: toVisibleLine(label) })),
      initialValue: rejection?.id ?? "",
      yes: options.find(({ kind }) => kind === "allow_once")?.id,
      signal,
    },
    screen,
  );
  if (chosen === undefined) {
    if (!signal.aborted) onCancel();
    return { optionId: rejection?.id ?? "", by: "user" };
  }
  if (question && chosen !== rejection?.id) {
    const values = await askForm(question, signal, screen);
    if (values) return { optionId: chosen, by: "user", editedArguments: values };
    if (!signal.aborted) onCancel();
    return { optionId: rejection?.id ?? "", by: "user" };
  }
  if (question || chosen !== rejection?.id) return { optionId: chosen, by: "user" };
  const message = await text({
    message: "What should it do instead?",
    placeholder: "nothing to add",
    signal,
    ...(screen.input && { input: screen.input }),
    ...(screen.output && { output: screen.output }),
  });
  return { optionId: chosen, by: "user", ...(typeof message === "string" && message !== "" && { message }) };
}

/** Formats a command or all arguments of a call without cuts, because the user approves the whole text. */
function formatSubject(subject: ApprovalRequest["subject"], hasColors: boolean): string {
  const { type, command, workingDirectory, toolName, arguments: given } = subject;
  if (typeof command === "string") return toVisibleText(`$ ${command}\n(in ${String(workingDirectory)})`);
  const args = given as Readonly<Record<string, unknown>>;
  const { lines, rest } = type === "file_edit" ? toEditLines(args) : { lines: [], rest: args };
  const head = `${toVisibleLine(toName(toolName))} ${toVisibleText(JSON.stringify(rest, undefined, 2))}`;
  return [head, ...lines.map((line) => colorDiffLine(toVisibleLine(line), { hasColors }))].join("\n");
}

function toName(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Formats all texts of an edit as lines with `-` and `+`, and returns the other arguments. */
function toEditLines(args: Readonly<Record<string, unknown>>): {
  readonly lines: readonly string[];
  readonly rest: Readonly<Record<string, unknown>>;
} {
  const toLines = (sign: string, all: string): string[] => all.split("\n").map((line) => sign + line);
  const { content, edits, ...rest } = args;
  if (typeof content === "string" && edits === undefined) {
    return { lines: toLines("+", content), rest };
  }
  if (Array.isArray(edits) && content === undefined && edits.every(isEdit)) {
    const lines = edits.flatMap(({ old_string: before, new_string: after, ...more }) => [
      ...(Object.keys(more).length > 0 ? [JSON.stringify(more)] : []),
      ...toLines("-", before),
      ...toLines("+", after),
    ]);
    return { lines, rest };
  }
  return { lines: [], rest: args };
}

function isEdit(value: unknown): value is { readonly old_string: string; readonly new_string: string } {
  if (typeof value !== "object" || value === null) return false;
  const { old_string: before, new_string: after } = value as Readonly<Record<string, unknown>>;
  return typeof before === "string" && typeof after === "string";
}
