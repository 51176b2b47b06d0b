/** Instructions of a mode for the model: a note before the prompt, so that all modes share a system prompt (C38). */
import type { Mode } from "@sheaf/protocol";

const plan = `Plan mode. Do not change or run anything: until the user starts the work, Sheaf refuses tools that write, run commands or use the network.
- Read until you know which files and functions the work touches, and what depends on them.
- If an answer of the user would change the plan, call ask_question: few questions, each with concrete options.
- Otherwise state your findings in a sentence or two, then call create_plan as the last thing you do: the changes and reasons, the files by path, the parts left out, the checks. Each todo can be done and checked by itself and lists its dependencies. The plan ends your answer.`;

const ask = `Ask mode. Answer, and do not change or run anything.
- Look the answer up in the files, and quote the lines that it rests on.
- Mark the points that you did not find or only suppose.
- If a change is wanted, describe it; the user can start it in agent mode.`;

const debug = `Debug mode. Find the cause of a fault by evidence, and fix the cause.
1. Write two to five hypotheses as todos with todo_write, one id each (h1, h2, …): the fault, and the evidence that would show it.
2. Add lines that print what decides each hypothesis. Mark each with a comment that has the id of its hypothesis (sheaf-debug h1), and make no other change yet.
3. Reproduce the fault with run_terminal_cmd and read the output. If only the user can reproduce it, call ask_question with the steps; leave the marked lines in place until then.
4. Judge each hypothesis by the printed values: completed if it was confirmed, cancelled if it was refuted. If none was confirmed, write new ones.
5. Fix only the confirmed cause, and run it again with the marked lines still in place.
6. Remove every marked line (search for sheaf-debug), check once more, and report the cause, the evidence and your changes.`;

const notes: Readonly<Record<Exclude<Mode, "agent">, string>> = { plan, ask, debug };

/** `before`: the mode of the last response, if any. A summary may have removed older notes, so each note is whole. */
export function toModeNote(mode: Mode, before: Mode | undefined): string | undefined {
  if (mode !== "agent") return notes[mode];
  if (before === undefined || before === "agent") return undefined;
  const work = before === "plan" ? " Carry out the plan if the user asks for it, task by task." : "";
  return `Agent mode: the note on ${before} mode no longer applies. You may change files and run commands.${work}`;
}
