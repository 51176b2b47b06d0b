/** Checks words that may be a command or a prompt: unclear words must not cost a model request. */
import { quoteValue, SheafError } from "@sheaf/base/errors";
import { findSlip } from "@sheaf/base/nearest-names";
import { commandDefinitions, commandNames, listChoices, type CommandName } from "./command-definitions.ts";
import { cursorCommands } from "./dialects/cursor/arguments.ts";
import { isSessionWord } from "./session-id.ts";

/** Words that users type instead of a command's name. */
const otherNames = new Map(
  commandNames.flatMap((name) => (commandDefinitions[name].otherNames ?? []).map((other) => [other, name] as const)),
);

const known = [...commandNames, ...otherNames.keys(), ...Object.keys(cursorCommands), "resume", "version"];

/**
 * Checks a prompt's words: the first one must not resemble a command that is alone or fits the other words.
 * @throws SheafError USAGE with both ways to write it.
 */
export function checkPromptWords(words: readonly string[]): void {
  const [word = "", ...rest] = words;
  if (!/^[a-z][a-z-]{2,}$/.test(word)) return;
  const slip = otherNames.has(word) ? word : findSlip(word, known);
  if (slip === undefined) return;
  const name = otherNames.get(slip) ?? slip;
  if (rest.length === 0 ? word.length > 3 : fits(name, rest)) {
    throw new SheafError("USAGE", `did you mean sheaf ${[name, ...rest].join(" ")}? ${toPromptAdvice(words)}`);
  }
}

/**
 * Checks a command's words: not too few, not too many, no sentence. A single word is up to the command.
 * @throws SheafError USAGE; for a sentence with both ways to write it.
 */
export function checkCommandWords(name: CommandName, words: readonly string[]): void {
  const { usage = "" } = commandDefinitions[name];
  // The command's own message lists the names.
  const isMissing = /^[A-Z]/.test(usage) && !words[0] && name !== "schema";
  const isOne = words.length <= (/^(--|$)/.test(usage) ? 0 : 1);
  // The words of a login may be a key (S-41); its own message repeats none.
  if (name === "login" || name === "mcp" || (!isMissing && (isOne || fits(name, words)))) return;
  if (isMissing) throw createMissingError(name, words);
  const advice = toPromptAdvice([name, ...words]);
  throw new SheafError("USAGE", `${name} takes ${usage || "no words"}, but got "${words.join(" ")}". ${advice}`);
}

function createMissingError(name: CommandName, words: readonly string[]): SheafError {
  const { usage = "", examples } = commandDefinitions[name];
  const isSession = usage.startsWith("SESSION");
  const advice = isSession ? "run sheaf ls --all to list the sessions" : `write sheaf ${examples[0]}`;
  const empty = words.length === 0 ? "" : `, not ${quoteValue("")}`;
  return new SheafError("USAGE", `${name} needs ${usage}${empty}: ${advice}`);
}

/** True if the words can belong to the command, by its usage; the command itself checks them closer. */
function fits(name: string, words: readonly string[]): boolean {
  const usage = commandDefinitions[name as CommandName]?.usage ?? "";
  const [first = ""] = words;
  const places = usage.replaceAll(/--\S+ \S+/g, "").match(/\S*[A-Z]\S*/g) ?? [];
  const choices = listChoices(usage);
  if (choices.length > 0) return choices.includes(first);
  if (places[0]?.startsWith("SESSION") && !isSessionWord(first)) return false;
  return words.length <= places.length || usage.includes("…");
}

function toPromptAdvice(words: readonly string[]): string {
  const text = words.join(" ");
  return `For the prompt "${text}" write sheaf -p -- ${text}`;
}
