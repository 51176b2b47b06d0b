/** Asks the person at the terminal whether a call may run (X8, S-16). */
import { isCancel, select, text } from "@clack/prompts";
import type { ApprovalRequest } from "@sheaf/protocol";
import type { ApprovalDecision, Approver } from "../../tools/approval.ts";
import { toVisibleLine, toVisibleText } from "../../output/visible-text.ts";

/** How long a question stays open. Milliseconds. */
const EXPIRES_AFTER_MS = 30 * 60 * 1000;

/** Asks one question after another, however many calls wait. `onCancel`: the person pressed Ctrl-C. */
export function createApprovalMenu(onCancel: () => void): Approver {
  let before: Promise<unknown> = Promise.resolve();
  return {
    expiresAfterMs: EXPIRES_AFTER_MS,
    ask(request, signal) {
      const asked = before.then(() => askOnce(request, signal, onCancel));
      before = asked.catch(() => undefined);
      return asked;
    },
  };
}

async function askOnce(request: ApprovalRequest, signal: AbortSignal, onCancel: () => void): Promise<ApprovalDecision> {
  signal.throwIfAborted();
  const { title, description, subject, options } = request;
  const shown = toVisibleText(formatSubject(subject));
  const chosen = await select({
    message: `${toVisibleText(title)}\n${shown}\n${toVisibleText(description)}`,
    options: options.map(({ id, label }) => ({ value: id, label: toVisibleLine(label) })),
    signal,
    showInstructions: false,
  });
  const rejection = options.find(({ kind }) => kind === "reject_once");
  if (isCancel(chosen)) {
    if (!signal.aborted) onCancel();
    return { optionId: rejection?.id ?? "", by: "user" };
  }
  if (chosen !== rejection?.id) return { optionId: chosen, by: "user" };
  const message = await text({ message: "What should it do instead?", placeholder: "nothing to add", signal });
  return { optionId: chosen, by: "user", ...(typeof message === "string" && message !== "" && { message }) };
}

/** The whole command, or all arguments of any other call: a person approves what is shown. */
function formatSubject(subject: ApprovalRequest["subject"]): string {
  const { command, workingDirectory, toolName, arguments: args } = subject;
  if (typeof command === "string") return `$ ${command}\n(in ${String(workingDirectory)})`;
  return `${String(toolName)} ${JSON.stringify(args, undefined, 2)}`;
}
