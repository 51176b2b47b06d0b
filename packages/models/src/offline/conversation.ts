/** Reads the conversation again for each request: the instruction that applies, and the results of its calls. */
import { isText, readText } from "../attachments.ts";
import type { ModelRequest } from "../provider.ts";
import { readInstruction, type Instruction } from "./instruction.ts";

export interface PlannedCall {
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface Outcome extends PlannedCall {
  readonly output: string;
  readonly isError: boolean;
}

export interface Order extends Instruction, Pick<ModelRequest, "mode"> {
  /** The text above the instruction, such as piped input. */
  readonly context: string;
  /** The texts attached to the instruction (X49). */
  readonly attached: readonly { readonly path: string; readonly text: string }[];
  /** The user's answer to the question that the model asked. */
  readonly answer: string | undefined;
  /** Results since the instruction or its answer. */
  readonly outcomes: readonly Outcome[];
  /** The number of messages. */
  readonly length: number;
}

export function readConversation({ messages, mode }: ModelRequest): Order {
  const calls = new Map<string, PlannedCall["args"]>();
  let outcomes: Outcome[] = [];
  let text = "";
  let answer: string | undefined;
  let attached: Order["attached"] = [];
  const take = (said: string): void => {
    answer = toAnswer(outcomes.at(-1), said.trim());
    if (answer === undefined) text = said.trim();
    outcomes = [];
  };
  for (const [index, message] of messages.entries()) {
    if (message.role === "user" && message.isNote !== true) {
      take(message.text);
      const texts = message.attachments?.filter(isText) ?? [];
      // The answer to a question is about the same files.
      if (answer === undefined) attached = texts.map((file) => ({ path: file.name, text: readText(file) }));
    }
    if (message.role === "assistant")
      for (const part of message.content) if (part.type === "tool_call") calls.set(part.callId, part.arguments);
    if (message.role !== "tool") continue;
    const { toolName, callId, output, isError } = message;
    outcomes.push({ toolName, args: calls.get(callId) ?? {}, output, isError });
    // The answer can be the result of the question's call, without a message (N42).
    const given = toolName === "ask_question" && /^(?:file|command|goal|content): .+$/m.exec(output)?.[0];
    if (given && messages[index + 1]?.role !== "user") take(given);
  }
  // The last paragraph alone is an instruction, so that other text never asks for anything.
  const at = text.lastIndexOf("\n\n");
  const read = readInstruction(text.length - at > 2000 ? "" : text.slice(at + 1).trim());
  return {
    ...read,
    context: text.slice(0, Math.max(0, at)),
    attached,
    answer,
    mode,
    outcomes,
    length: messages.length,
  };
}

/**
 * Returns the answer to a question: an option by id, number or label, or the words. Undefined for a new instruction.
 */
function toAnswer(asked: Outcome | undefined, text: string): string | undefined {
  if (asked?.toolName !== "ask_question" || asked.isError) return undefined;
  const [question] = asked.args["questions"] as { id: string; options: { id: string; label: string }[] }[];
  const said = text.replace(`${question?.id}: `, "");
  const option = question?.options.find(({ id, label }, at) => [id, label, String(at + 1)].includes(said))?.label;
  if (option !== undefined || question?.id !== "file") return option ?? said;
  return /^\S+(?: \S+){0,2}$/.test(said) ? (readInstruction(said).paths[0] ?? said) : undefined;
}
