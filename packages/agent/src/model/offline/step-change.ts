/** Changes to files, and commands. */
import { formatFailure } from "./failure.ts";
import type { EditIntent, Intent } from "./intent.ts";
import type { Phrases } from "./phrases/phrases.ts";
import { parseReadOutput } from "./read-output.ts";
import { argumentOf, lastOutcomeOf, outcomesOf, readCall, toAnswer, toCalls, toFence, type Step } from "./step.ts";
import { toLines } from "./summary/digest.ts";
import type { Outcome, Task } from "./task.ts";

const shownLines = 40;
const shownCharacters = 8000;

type Of<Kind extends Intent["kind"]> = Extract<Intent, { kind: Kind }>;

export function toWriteStep(task: Task, { path, content }: Of<"write">, phrases: Phrases): Step {
  const written = lastOutcomeOf(task, "write_file");
  if (!written)
    return toCalls(phrases.announce("write", path), { toolName: "write_file", args: { target_file: path, content } });
  const result = written.isError
    ? formatFailure(phrases, "write", path, written)
    : phrases.written(path, toLines(content).length);
  return toAnswer(`${phrases.introduction}\n\n${result}`);
}

/** Reads first, so that a text that is not there changes nothing, and every place is counted. */
export function toEditStep(task: Task, intent: EditIntent, phrases: Phrases): Step {
  const { path, from, to } = intent;
  const answer = (text: string): Step => toAnswer(`${phrases.introduction}\n\n${text}`);
  if (from === to) return answer(phrases.sameText);
  const read = lastOutcomeOf(task, "read_file");
  if (!read) return toCalls(phrases.announce("read", path), readCall(path));
  if (read.isError) return answer(formatFailure(phrases, "edit", path, read));
  const edited = lastOutcomeOf(task, "edit_file");
  const { text, totalLines } = parseReadOutput(read);
  const places = countPlaces(text, from);
  if (edited)
    return answer(
      edited.isError ? formatFailure(phrases, "edit", path, edited) : phrases.edited(path, Math.max(1, places)),
    );
  // What lies behind the read part is not known: then the tool decides.
  if (places === 0 && totalLines === undefined) return answer(phrases.notInFile(from, path));
  const edit = {
    old_string: from,
    new_string: to,
    ...((places > 1 || totalLines !== undefined) && { replace_all: true }),
  };
  return toCalls(phrases.announce("edit", path), { toolName: "edit_file", args: { target_file: path, edits: [edit] } });
}

function countPlaces(text: string, part: string): number {
  let places = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places += 1;
  return places;
}

export function toDeleteStep(task: Task, { paths }: Of<"delete">, phrases: Phrases): Step {
  const outcomes = outcomesOf(task, "delete_file");
  if (outcomes.length === 0) {
    const calls = paths.map((path) => ({ toolName: "delete_file", args: { target_file: path } }));
    return toCalls(phrases.announce("delete", phrases.list(paths)), ...calls);
  }
  const done = outcomes.filter(({ isError }) => !isError).map((outcome) => argumentOf(outcome, "target_file"));
  const failures = outcomes
    .filter(({ isError }) => isError)
    .map((outcome) => formatFailure(phrases, "delete", argumentOf(outcome, "target_file"), outcome));
  return toAnswer(
    [phrases.introduction, ...(done.length > 0 ? [phrases.deleted(done)] : []), ...failures].join("\n\n"),
  );
}

export function toRenameStep(task: Task, { from, to }: Of<"rename">, phrases: Phrases): Step {
  const renamed = lastOutcomeOf(task, "rename_file");
  if (!renamed) {
    const args = { source_file: from, destination_file: to };
    return toCalls(phrases.announce("rename", from), { toolName: "rename_file", args });
  }
  const result = renamed.isError ? formatFailure(phrases, "rename", from, renamed) : phrases.renamed(from, to);
  return toAnswer(`${phrases.introduction}\n\n${result}`);
}

export function toRunStep(task: Task, command: string, phrases: Phrases): Step {
  const ran = lastOutcomeOf(task, "run_terminal_cmd");
  if (!ran) return toCalls(phrases.announce("run", command), { toolName: "run_terminal_cmd", args: { command } });
  return toAnswer(`${phrases.introduction}\n\n${formatCommand(ran, command, phrases)}`);
}

/** "Run the tests": package.json says how. */
export function toRunScriptStep(task: Task, script: string, phrases: Phrases): Step {
  const read = lastOutcomeOf(task, "read_file");
  if (!read) return toCalls(phrases.announce("read", "package.json"), readCall("package.json"));
  if (read.isError)
    return toAnswer(`${phrases.introduction}\n\n${formatFailure(phrases, "read", "package.json", read)}`);
  const scripts = readScripts(parseReadOutput(read).text);
  if (!scripts.includes(script))
    return toAnswer(`${phrases.introduction}\n\n${phrases.noScript(script, scripts.slice(0, 20))}`);
  return toRunStep(task, script === "test" ? "npm test" : `npm run ${script}`, phrases);
}

function readScripts(text: string): string[] {
  try {
    const manifest: unknown = JSON.parse(text);
    const scripts =
      typeof manifest === "object" && manifest !== null && "scripts" in manifest ? manifest.scripts : undefined;
    return typeof scripts === "object" && scripts !== null ? Object.keys(scripts) : [];
  } catch {
    return [];
  }
}

function formatCommand(ran: Outcome, command: string, phrases: Phrases): string {
  // A command that ended with a code is no failure of the tool.
  if (ran.isError) return formatFailure(phrases, "run", command, ran);
  const { output, exitCode, note } = parseCommandOutput(ran.output);
  const head = phrases.commandEnded(command, exitCode) + (exitCode === timeoutCode ? ` ${phrases.advice.timeout}` : "");
  const lines = output.trimEnd() === "" ? [] : output.trimEnd().split("\n");
  if (lines.length === 0) return `${head} ${phrases.noOutput}`;
  const shown = lines.slice(-shownLines);
  const text = shown.join("\n").slice(-shownCharacters);
  const label = shown.length < lines.length ? phrases.lastLines(shown.length, lines.length) : phrases.commandOutput;
  const remark = note.includes("was cut out") ? `\n\n> ${note}` : "";
  return `${head} ${label}\n\n${toFence(text, "text")}${remark}`;
}

const commandNote = /^(?:The command was ended after|Ended by|Exit code|The output has) .{1,300}$/;
const timeoutCode = 124;

/** The exit code stands in a note behind the output; without a note it is 0 (N37). */
function parseCommandOutput(output: string): { output: string; exitCode: number; note: string } {
  const end = output.lastIndexOf("\n");
  const note = output.slice(end + 1);
  if (!commandNote.test(note)) return { output, exitCode: 0, note: "" };
  const code = /[Ee]xit code (-?\d{1,3})\b/.exec(note)?.[1];
  const isTimeout = note.startsWith("The command was ended after");
  return {
    output: output.slice(0, Math.max(0, end)),
    exitCode: code === undefined ? (isTimeout ? timeoutCode : 0) : Number(code),
    note,
  };
}
