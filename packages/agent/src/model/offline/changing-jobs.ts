/** Jobs that change files or run commands. */
import { call, formatFailedOutcome, toAnswer, toCalls, toFailed, toObject, type Job, type PlannedCall } from "./job.ts";
import { fill, formatCode, formatFence, formatList } from "./phrasing.ts";
import { parseReadOutput, toLines } from "./tool-results.ts";

const shownLines = 40;
const shownCharacters = 8000;

/** Calls of a tool that changes files. */
export function changeFiles(toolName: string, ...args: readonly PlannedCall["args"][]): Job {
  return {
    effect: "changes",
    *run({ language }) {
      const results = yield toCalls(language, toolName, ...args);
      const done = results.filter(({ isError }) => !isError).map(toObject);
      const failures = results.filter(({ isError }) => isError).map((failed) => formatFailedOutcome(language, failed));
      const head = done.length > 0 ? fill(language.phrases.done, formatList(language, done)) : "";
      return toAnswer(language, head, ...failures);
    },
  };
}

export function writeFile(path: string, content: string): Job {
  return changeFiles("write_file", { target_file: path, content });
}

/** Replaces every place. Reads first, so that a text that is not there changes nothing. */
export function replaceText(path: string, from: string, to: string): Job {
  return {
    effect: "changes",
    *run(context) {
      const { language } = context;
      const read = yield* call(language, "read_file", { target_file: path });
      if (read.isError) return toFailed(language, read);
      const { text, note } = parseReadOutput(read);
      // In a part that was not read the tool decides.
      const isMissing = note === "" && !text.includes(from);
      if (isMissing) return toAnswer(language, fill(language.phrases.nothing, formatCode(from)));
      const edit = { old_string: from, new_string: to, replace_all: true };
      return yield* changeFiles("edit_file", { target_file: path, edits: [edit] }).run(context);
    },
  };
}

export function runCommand(command: string): Job {
  return {
    effect: "changes",
    *run({ language }) {
      const ran = yield* call(language, "run_terminal_cmd", { command });
      if (ran.isError) return toFailed(language, ran);
      const lines = toLines(ran.output);
      const left = lines.length > shownLines ? fill(language.phrases.more, lines.length - shownLines) : "";
      // A note of the tool at its end gives an exit code other than 0 (N37).
      const output = lines.slice(-shownLines).join("\n").slice(-shownCharacters);
      return toAnswer(language, left, formatFence(output, "text"));
    },
  };
}

/** Runs a script of package.json, such as `test`. */
export function runScript(script: string): Job {
  return {
    effect: "changes",
    *run(context) {
      const { language } = context;
      const read = yield* call(language, "read_file", { target_file: "package.json" });
      if (read.isError) return toFailed(language, read);
      if (read.output.includes(`"${script}":`)) return yield* runCommand(`npm run ${script}`).run(context);
      return toAnswer(language, fill(language.phrases.nothing, formatCode(`scripts.${script}`)));
    },
  };
}
