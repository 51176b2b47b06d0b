/** The words that complete a command line, from the definitions of the commands. */
import { modelStreamFormats } from "@sheaf/documents/model-streams";
import { outputFormats } from "@sheaf/agent/output/projection";
import { usageKeys } from "@sheaf/agent/output/usage-report";
import { schemaNames } from "@sheaf/protocol/schemas";
import { providerPresets } from "@sheaf/agent/config/provider-presets";
import { modes } from "@sheaf/agent/config/config";
import { commandDefinitions, commandNames, helpTopics, listChoices, type CommandName } from "./command-definitions.ts";
import { listFlags } from "./flags.ts";

/** A word and its help, or "". */
export type CompletedWord = readonly [word: string, help: string];

/** A shell completes names of files and folders itself. Ids come from `sheaf ls` when they are asked for. */
export type WordCompletion =
  | { readonly kind: "words"; readonly rows: readonly CompletedWord[] }
  | { readonly kind: "file" | "folder" | "session" };

/** By the name of a flag or command, or by what a usage calls the value. */
const values: Readonly<Record<string, WordCompletion>> = {
  "output-format": toRows(outputFormats),
  from: toRows([...modelStreamFormats, "cursor-stream-json"]),
  by: toRows(usageKeys),
  schema: toRows([...schemaNames, "config"]),
  COMMAND: toRows([...helpTopics, ...commandNames]),
  DIR: { kind: "folder" },
  FILE: { kind: "file" },
  ID: { kind: "session" },
  MODE: toRows(modes),
  MODEL: toRows(["offline", "scripted:"]),
  OUT: { kind: "file" },
  PROVIDER: toRows([...providerPresets.keys()]),
  SESSION: { kind: "session" },
};

/** Completes the last of the words after `sheaf`, which may be empty. */
export function completeWords(words: readonly string[]): WordCompletion {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  if (before.includes("--")) return { kind: "file" };
  const end = before.findIndex((word) => word === "-p" || word === "--print");
  const command = before.slice(0, end === -1 ? undefined : end).find(isCommand);
  const flags = listFlags(command ?? "prompt");
  const attached = /^(--[^=]+)=/.exec(current);
  const spelling = attached?.[1] ?? before.at(-1) ?? "";
  const flag = flags.find(({ kind, spellings }) => kind !== "switch" && spellings.includes(spelling));
  if (flag) return withPrefix(attached?.[0] ?? "", completeValue(flag.placeholder, flag.name));
  if (current.startsWith("-")) {
    const rows = flags.flatMap(({ spellings, help }) => spellings.map((word) => [word, help] as const));
    return { kind: "words", rows };
  }
  if (command !== undefined) {
    const { usage = "", actions } = commandDefinitions[command];
    return actions ? toRows(actions) : completeValue(usage, command);
  }
  if (before.length > 0) return { kind: "file" };
  return { kind: "words", rows: commandNames.map((name) => [name, commandDefinitions[name].summary]) };
}

function isCommand(word: string): word is CommandName {
  return (commandNames as readonly string[]).includes(word);
}

function withPrefix(prefix: string, completion: WordCompletion): WordCompletion {
  if (completion.kind !== "words") return completion;
  return { kind: "words", rows: completion.rows.map(([word, help]) => [`${prefix}${word}`, help]) };
}

function completeValue(usage: string, name: string): WordCompletion {
  const [place = ""] = usage.replaceAll(/[[\]…]/g, "").split(" ");
  return values[name] ?? values[place] ?? toRows(listChoices(usage));
}

function toRows(words: readonly string[]): WordCompletion {
  return { kind: "words", rows: words.map((word) => [word, ""]) };
}
