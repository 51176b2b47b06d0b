/** A user message to an instruction and the text that came with it. */
import type { Intent } from "./intent.ts";
import type { Language } from "./language.ts";
import { toShortGoal } from "./intent-plan.ts";
import type { PromptReader, Reading } from "./reading.ts";
import { isReadOnly, toIntent } from "./to-intent.ts";

export interface Instruction {
  readonly reading: Reading;
  readonly intent: Intent;
  /** Text that came with the instruction: piped in before it, or written behind it. */
  readonly context?: string;
}

/** A longer paragraph is a text, not an instruction. */
const instructionLimit = 2000;
const blockLimit = 200_000;

/**
 * Finds the instruction in a message. A message with several paragraphs is a text and an instruction behind it, as the
 * loop joins piped input and prompt; only the last paragraph can ask for a change, so that a piped text never does.
 */
export function readInstruction(reader: PromptReader, message: string, fallback: Language): Instruction {
  const text = message.trim();
  const withBlock = readWithBlock(reader, text, fallback);
  if (withBlock) return withBlock;
  const lastBreak = text.lastIndexOf("\n\n");
  if (lastBreak === -1) return readParagraph(reader, text, fallback);

  const last = text.slice(lastBreak + 2).trim();
  const before = text.slice(0, lastBreak).trimEnd();
  if (last.length <= instructionLimit) {
    const reading = reader.read(last, fallback);
    const intent = toIntent(reading, before);
    if (!isSmallTalk(intent)) return { reading, intent, context: before };
  }
  return readFirstParagraph(reader, text, fallback) ?? readUnknown(reader, last, text, fallback);
}

/** One paragraph: an instruction, or a text whose last or first line is one. */
function readParagraph(reader: PromptReader, text: string, fallback: Language): Instruction {
  if (text.length <= instructionLimit) {
    const reading = reader.read(text, fallback);
    return { reading, intent: toIntent(reading) };
  }
  const lastLine = text.slice(text.lastIndexOf("\n") + 1).trim();
  const firstEnd = text.indexOf("\n");
  const lines = [lastLine, firstEnd === -1 ? "" : text.slice(0, firstEnd).trim()];
  for (const [place, line] of lines.entries()) {
    if (line === "" || line.length > 300) continue;
    const context = place === 0 ? text.slice(0, text.length - line.length).trim() : text.slice(firstEnd).trim();
    const reading = reader.read(line, fallback);
    const intent = toIntent(reading, context);
    if (isReadOnly(intent) && !isSmallTalk(intent)) return { reading, intent, context };
  }
  return readUnknown(reader, text.slice(0, instructionLimit), text, fallback);
}

/** "Summarise this:" above a text. */
function readFirstParagraph(reader: PromptReader, text: string, fallback: Language): Instruction | undefined {
  const end = text.indexOf("\n\n");
  const first = text.slice(0, end).trim();
  if (first.length > instructionLimit) return undefined;
  const rest = text.slice(end).trim();
  const reading = reader.read(first, fallback);
  const intent = toIntent(reading, rest);
  if (intent.kind === "missing" && (intent.what === "items" || intent.what === "goal")) {
    return { reading, intent: intent.fill(intent.what === "goal" ? toShortGoal(rest) : rest) };
  }
  const isSafe = isReadOnly(intent) || intent.kind === "plan" || intent.kind === "todo_list";
  return isSafe && !isSmallTalk(intent) ? { reading, intent, context: rest } : undefined;
}

/** An instruction with a fenced block at the end: the block belongs to it. */
function readWithBlock(reader: PromptReader, text: string, fallback: Language): Instruction | undefined {
  if (!text.endsWith("```")) return undefined;
  const close = text.lastIndexOf("\n```");
  const open = text.lastIndexOf("\n```", close - 1);
  if (close === -1 || open === -1 || text.length - open > blockLimit) return undefined;
  const head = text.slice(0, open).trimEnd();
  const start = head.lastIndexOf("\n\n");
  const instruction = head.slice(start === -1 ? 0 : start + 2);
  if (instruction.length > instructionLimit) return undefined;
  const reading = reader.read(`${instruction}${text.slice(open)}`, fallback);
  const block = reading.mentions.find(({ kind }) => kind === "block")?.text ?? "";
  const intent = toIntent(reading, block);
  if (isSmallTalk(intent)) return undefined;
  return { reading, intent, context: block };
}

function readUnknown(reader: PromptReader, instruction: string, context: string, fallback: Language): Instruction {
  return {
    reading: reader.read(instruction.slice(0, instructionLimit), fallback),
    intent: { kind: "unknown" },
    context,
  };
}

function isSmallTalk({ kind }: Intent): boolean {
  return kind === "unknown" || kind === "greeting" || kind === "thanks";
}
