/** The words of another program: its flags by name, in a form that its dialect reads. */
import type { Notice } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";

/** What follows a flag: nothing, a value, a value if one is there, or all words up to the next flag. */
export type Arity = "switch" | "value" | "optional" | "list";

/** `spellings`: its names with dashes, separated by blanks; the first one is its key. `loss`: the reason why it has no effect. */
export interface ForeignFlag {
  readonly spellings: string;
  readonly arity: Arity;
  readonly loss?: string;
}

export interface ForeignArguments {
  /** By the first spelling, in the order of the words; a switch has "". */
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
  readonly notices: readonly Notice[];
}

/** Names of flags and settings that may limit a run, which Sheaf never ignores. */
const limiting =
  /permission|allow|deny|denied|tool|hook|sandbox|trust|safe|restrict|managed|strict|isolat|fork|resume|approv|network|danger|bypass|rule|polic|access|secur|guard|read.?only|remote|local/i;

/** @throws SheafError USAGE for an unknown flag or setting that may limit the run. */
export function ignoreUnknown(name: string): Notice {
  if (limiting.test(name)) {
    throw new SheafError("USAGE", `${name} may limit the run, and Sheaf does not know it: leave it out`);
  }
  return { code: "FLAG_IGNORED", message: `${name} is ignored: Sheaf does not know it` };
}

/** @throws SheafError USAGE for a missing value, and as `ignoreUnknown`. */
export function readForeignArguments(words: readonly string[], flags: readonly ForeignFlag[]): ForeignArguments {
  const known = new Map(
    flags.flatMap((flag) => flag.spellings.split(" ").map((spelling) => [spelling, flag] as const)),
  );
  const given = new Map<string, string[]>();
  const notices = new Map<string, Notice>();
  const end = words.indexOf("--");
  const rest = words.slice(0, end < 0 ? undefined : end);
  const positionals: string[] = [];
  const takeWord = (): string | undefined => (rest[0] === undefined || /^-./.test(rest[0]) ? undefined : rest.shift());
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!/^-./.test(word)) {
      // Some programs write an empty value behind a switch.
      if (word !== "") positionals.push(word);
      continue;
    }
    const [, spelling = word, attached] = /^(-[^=]*)=([\s\S]*)$/.exec(word) ?? [];
    const { spellings = spelling, arity = "switch", loss } = known.get(spelling) ?? {};
    const [name = spelling] = spellings.split(" ");
    const values = given.get(name) ?? [];
    given.set(name, values);
    if (!known.has(spelling)) notices.set(name, ignoreUnknown(spelling));
    if (loss !== undefined) notices.set(name, { code: "FLAG_IGNORED", message: `${name} is ignored: ${loss}` });
    if (attached !== undefined || arity === "switch") values.push(attached ?? "");
    else if (arity === "list") for (let next = takeWord(); next !== undefined; next = takeWord()) values.push(next);
    else {
      const value = takeWord();
      if (value === undefined && arity === "value") {
        throw new SheafError("USAGE", `${spelling} needs a value: write ${spelling}=VALUE`);
      }
      values.push(value ?? "");
    }
  }
  return {
    given,
    positionals: [...positionals, ...(end < 0 ? [] : words.slice(end + 1))],
    notices: [...notices.values()],
  };
}
