/** A message to the instruction in it. */
import type { Job } from "./job.ts";
import type { Language } from "./languages/english.ts";
import { explain } from "./planning-jobs.ts";
import { readIntent, type Reading } from "./reading.ts";
import { toJob } from "./rules.ts";

export interface Understood {
  readonly reading: Reading;
  readonly job: Job;
}

/** A longer paragraph is a text, not an instruction. */
const instructionLimit = 2000;
const blockAtEnd = /\n(`{3,})[^\n`]*\n((?:(?!\1)[^])*)\1$/;

/**
 * A message of several paragraphs is a text followed by its instruction, as piped input and prompt are joined. Only the
 * last paragraph can ask for a change, so that a text never does; the first one can only read and plan.
 */
export function readMessage(message: string, fallback: Language): Understood {
  const understand = (instruction: string, context?: string): Understood => {
    const reading = readIntent(instruction.slice(0, instructionLimit), fallback);
    return { reading, job: instruction.length > instructionLimit ? explain("unknown") : toJob(reading, context) };
  };
  const text = message.trim();
  const block = blockAtEnd.exec(text.slice(-200_000));
  if (block) return understand(text.slice(0, -block[0].length).split("\n\n").at(-1) ?? "", block[2]);
  const hasParagraphs = text.includes("\n\n");
  if (!hasParagraphs && text.length <= instructionLimit) return understand(text);

  const separator = hasParagraphs ? "\n\n" : "\n";
  const parts = text.split(separator).map((part) => part.trim());
  const last = understand(parts.at(-1) ?? "", parts.slice(0, -1).join(separator));
  const { effect } = last.job;
  if (effect === "reads" || (hasParagraphs && effect !== "unknown" && effect !== "explains")) return last;
  const rest = parts.slice(1).join(separator);
  const first = understand(parts[0] ?? "", rest);
  const { missing } = first.job;
  if (missing?.what === "items" || missing?.what === "goal") return { ...first, job: missing.complete(rest) };
  const isSafe = first.job.effect === "reads" || first.job.effect === "plans";
  return isSafe ? first : { ...last, job: explain("unknown") };
}
