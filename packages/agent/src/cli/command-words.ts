/** Words that may be a command or a prompt: what is neither clearly costs no model request. */
import { SheafError } from "../base/errors.ts";
import { findSlip } from "../base/nearest-names.ts";
import { commandNames, commandUsages, type CommandName } from "./command-usages.ts";
import { foreignCommands } from "./foreign-commands.ts";
import { isSessionWord } from "./session-id.ts";

/** What people type for a command. */
const otherNames: Readonly<Record<string, CommandName>> = {
  sessions: "ls",
  session: "ls",
  chats: "ls",
  list: "ls",
  history: "ls",
};

const known: readonly string[] = [
  ...commandNames,
  ...Object.keys(otherNames),
  ...Object.keys(foreignCommands),
  "resume",
  "version",
];

/**
 * Of words that would be a prompt: a first word that is nearly a command, alone or with words that fit it.
 * @throws SheafError USAGE with both ways to write it.
 */
export function checkPromptWords(words: readonly string[]): void {
  const [word = "", ...rest] = words;
  if (!/^[a-z][a-z-]{2,}$/.test(word)) return;
  const slip = Object.hasOwn(otherNames, word) ? word : findSlip(word, known);
  if (slip === undefined) return;
  const name = otherNames[slip] ?? slip;
  if (rest.length === 0 ? word.length > 3 : fits(name, rest)) {
    throw new SheafError("USAGE", `did you mean sheaf ${[name, ...rest].join(" ")}? ${toPromptAdvice(words)}`);
  }
}

/** Of words after a command: a sentence that begins with its name. @throws SheafError USAGE with both ways to write it. */
export function checkCommandWords(name: CommandName, words: readonly string[]): void {
  const usage = commandUsages[name];
  // The words of a login may be a key (S-41); its own message repeats none.
  const isSentence = words.length > (usage === "" ? 0 : 1) && name !== "login" && name !== "mcp";
  if (!isSentence || fits(name, words)) return;
  const takes = usage === "" ? "no words" : usage;
  throw new SheafError(
    "USAGE",
    `${name} takes ${takes}; "${words.join(" ")}" was given. ${toPromptAdvice([name, ...words])}`,
  );
}

/** Whether the words can belong to the command, by its usage; the command itself checks them closer. */
function fits(name: string, words: readonly string[]): boolean {
  const usage = commandUsages[name as CommandName] ?? "";
  const [first = ""] = words;
  const places = usage.split(" ").filter((place) => /[A-Z]/.test(place) && !place.startsWith("-"));
  const choices: readonly string[] = usage.match(/(?<![-\w])[a-z]+\b/g) ?? [];
  if (choices.length > 0) return choices.includes(first);
  if (places[0]?.startsWith("SESSION") && !isSessionWord(first)) return false;
  return words.length <= places.length || usage.includes("…");
}

function toPromptAdvice(words: readonly string[]): string {
  const text = words.join(" ");
  return `For the prompt "${text}" write sheaf -p -- ${text}`;
}
