/** The flags of the commands, read from their definitions (section 4 of docs/formats/cli.md). */
import { commandDefinitions, type CommandName, type Definitions } from "./command-definitions.ts";
import { commonFlags } from "./flag-sets.ts";

/** Spellings of all flags, such as `-m, --model <MODEL>`. */
type Syntax =
  | keyof typeof commonFlags
  | {
      [Name in keyof Definitions]: Definitions[Name] extends { flags: infer Own } ? keyof Own : never;
    }[keyof Definitions];

/** Name in a spelling: `model` for `-m, --model <MODEL>`. */
type NameOf<Text extends string> = Text extends `${string}--${infer Rest}` ? FirstWord<Rest> : never;

type FirstWord<Text extends string> = Text extends `${infer Word}${"," | " "}${string}` ? FirstWord<Word> : Text;

type ValueOf<Text extends string> = Text extends `${string}...`
  ? readonly string[]
  : Text extends `${string}${"<" | "["}${string}`
    ? string
    : true;

export type FlagName = NameOf<Syntax>;

/** Given values by name. An `optional` flag without a value is "". */
export type FlagValues = { readonly [Text in Syntax as NameOf<Text>]?: ValueOf<Text> };

export interface Flag {
  readonly name: FlagName;
  /** Kind of value. `optional`: the next word, if that isn't a flag. */
  readonly kind: "switch" | "value" | "list" | "optional";
  /** All spellings, with their dashes. */
  readonly spellings: readonly string[];
  /** Spellings and value in the help. */
  readonly usage: string;
  /** Placeholder of the value, or its choices as `one|other`; "" for a switch. */
  readonly placeholder: string;
  readonly help: string;
}

/** Own and common flags of a command, in the order of its help. */
export function listFlags(command: CommandName | "prompt"): readonly Flag[] {
  return parseFlags({ ...commandDefinitions[command].flags, ...commonFlags });
}

export function parseFlags(table: Readonly<Record<string, string>>): Flag[] {
  return Object.entries(table).map(([syntax, help]) => {
    const [words = "", value = ""] = syntax.split(/ (?=[<[])/);
    const spellings = words.split(", ");
    const name = spellings.find((spelling) => spelling.startsWith("--"))!.slice(2) as FlagName;
    const placeholder = value.replace(/^<|>(\.\.\.)?$/g, "");
    return { name, kind: toKind(value), spellings, usage: `${words} ${placeholder}`.trim(), placeholder, help };
  });
}

function toKind(value: string): Flag["kind"] {
  if (value === "") return "switch";
  if (value.endsWith("...")) return "list";
  return value.startsWith("[") ? "optional" : "value";
}

export function mapSpellings(all: readonly Flag[]): ReadonlyMap<string, Flag> {
  return new Map(all.flatMap((flag) => flag.spellings.map((spelling) => [spelling, flag])));
}

/** Flags of all commands, by spelling. Commands that share a flag take its value in the same way. */
export const flags = mapSpellings(
  parseFlags(Object.assign({}, ...Object.values(commandDefinitions).map(({ flags: own }) => own), commonFlags)),
);
