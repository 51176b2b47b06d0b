/** Shell rules against one program with its arguments (S-10, S-06). */
import { findUnnamedWord, gathersWords, takesCommandText, toProgramName } from "./programs.ts";
import type { ShellRule } from "./rule.ts";
import type { SimpleCommand } from "./shell-reading.ts";
import { unwrapCommand } from "./wrappers.ts";

/** What a rule says of a command: it covers it, it is about another one, or a word stands against it. */
type Coverage = "covered" | "other" | { readonly word: string };

/** Whether an allow rule covers a command. The rule's words are its first words; the rest may not run or write more. */
export function findCoverage({ words: named }: ShellRule, command: SimpleCommand): Coverage {
  if (!named) return "covered";
  const words = command.map(({ text }) => text);
  const found = compareWords(named, words, command);
  if (found !== "other") return found;
  const inner = unwrapCommand(words);
  return inner === words ? "other" : compareWords(named, inner, command.slice(words.length - inner.length));
}

function compareWords(named: readonly string[], words: readonly string[], command: SimpleCommand): Coverage {
  const isBeginning = named.every((word, index) => word === words[index] && !command[index]!.isGlob);
  if (!isBeginning) return "other";
  const word = findUnnamedWord(words, named.length);
  return word === undefined ? "covered" : { word };
}

/**
 * Whether a rule denies a command. Wider than allowing: its words may stand anywhere in the command, in this order,
 * with others between (`sudo rm x`, `git -c a=b push`), in any case and with a folder in front. `maybe`: a pattern of
 * file names, or a text that a shell reads again, could be such a word.
 */
export function findDenial({ words: named }: ShellRule, command: SimpleCommand): "yes" | "maybe" | "no" {
  if (!named || areIn(named, command, false)) return "yes";
  if (areIn(named, command, true)) return "maybe";
  const words = command.map(({ text }) => text);
  if (gathersWords(words) && areIn(named.slice(0, 1), command, false)) return "maybe";
  return takesCommandText(words) ? "maybe" : "no";
}

function areIn(named: readonly string[], command: SimpleCommand, isGlobAny: boolean): boolean {
  let found = 0;
  for (const { text, isGlob } of command) {
    const wanted = named[found];
    if (wanted === undefined) break;
    const isSame = text.toLowerCase() === wanted.toLowerCase() || toProgramName(text) === toProgramName(wanted);
    if (isSame || (isGlob && isGlobAny)) found += 1;
  }
  return found === named.length;
}

/** How many words name what a program does; of the others, only the exact call is known. */
const namingWords: Readonly<Record<string, number>> = {
  apt: 2, "apt-get": 2, brew: 2, bun: 2, bundle: 2, bunx: 2, cargo: 2, cmake: 2, composer: 2, dotnet: 2, gh: 2, git: 2, go: 2, gradle: 2,
  "./gradlew": 2, helm: 2, just: 2, make: 2, mvn: 2, npm: 2, npx: 2, pip: 2, pip3: 2, pnpm: 2, poetry: 2, rake: 2, rustup: 2,
  terraform: 2, uv: 2, yarn: 2, bash: 2, node: 2, python: 2, python3: 2, ruby: 2, sh: 2,
}; // prettier-ignore

/** The rule that a person who says "always" to this command means; undefined: none that is narrow enough. */
export function suggestRule(command: SimpleCommand): string | undefined {
  const words = unwrapCommand(command.map(({ text }) => text));
  const program = words[0] ?? "";
  let count = Object.hasOwn(namingWords, program) ? namingWords[program]! : 0;
  if (/^(?:run|exec|-m|tool)$/.test(words[1] ?? "")) count = 3;
  const named = words.slice(0, count);
  const isPlain =
    named.every((word) => /^[\w./:@-]+$/.test(word)) && (count === 3 || named[1]?.startsWith("-") !== true);
  if (count === 0 || named.length < count || !isPlain || findUnnamedWord(words, count) !== undefined) return undefined;
  return `Shell(${named.join(" ")})`;
}
