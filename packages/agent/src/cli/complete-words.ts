/** The words that complete a command line. */
import { modelStreamFormats } from "@sheaf/documents/model-streams";
import { outputFormats, cliProfiles } from "../output/projection.ts";
import { usageKeys } from "../output/usage-report.ts";
import { schemaNames } from "@sheaf/protocol/schemas";
import { providerPresets } from "../config/provider-presets.ts";
import { efforts } from "../config/user-config.ts";
import { commandDescriptions, helpTopics } from "./command-descriptions.ts";
import { commandNames, type CommandName } from "./command-usages.ts";
import { toFlagHelp } from "./command-flags.ts";
import { flags, type FlagName } from "./flags.ts";
import { commonFlags, generalFlags, promptFlags } from "./prompt-flags.ts";

/** A word and its help, or "". */
export type CompletedWord = readonly [word: string, help: string];

/** A shell completes names of files and folders itself. */
export type WordCompletion =
  | { readonly kind: "words"; readonly rows: readonly CompletedWord[] }
  | { readonly kind: "file" | "folder" | "session" };

const flagWords: Readonly<Partial<Record<FlagName, readonly string[]>>> = {
  "output-format": outputFormats,
  mode: ["agent", "plan", "ask", "debug"],
  effort: efforts,
  "on-denied": ["continue", "stop"],
  sandbox: ["enabled", "disabled"],
  locale: ["en", "de", "tr", "ja", "zh-TW"],
  compat: cliProfiles,
  from: [...modelStreamFormats, "cursor-stream-json"],
  to: ["documents", "documents-stream"],
  model: ["offline", "scripted:"],
  format: ["text", "json", "markdown"],
  access: ["read", "write"],
  "on-conflict": ["refuse", "leave", "overwrite", "mark"],
  by: usageKeys,
};

/** What the value of other flags is, by its placeholder. */
const placeholderKinds: Readonly<Record<string, "file" | "folder">> = { FILE: "file", OUT: "file", DIR: "folder" };

const providers = [...providerPresets.keys()];

const commandWords: Readonly<Record<string, readonly string[]>> = {
  completion: ["bash", "zsh", "fish"],
  config: ["explain"],
  help: [...helpTopics, ...commandNames],
  schema: [...schemaNames, "config"],
  permissions: ["explain", "check"],
  worktrees: ["ls", "rm", "merge"],
  hooks: ["ls", "trust", "test"],
  mcp: [
    "list",
    "list-tools",
    "list-prompts",
    "list-resources",
    "add",
    "remove",
    "trust",
    "login",
    "logout",
    "enable",
    "disable",
  ],
  login: providers,
  logout: providers,
  models: providers,
};

/** Ids come from `sheaf ls` when they are asked for. */
const sessionCommands: ReadonlySet<string> = new Set(["answer", "show", "export", "fork", "rm", "revert"]);
const fileCommands: ReadonlySet<string> = new Set(["import", "replay"]);
const folderCommands: ReadonlySet<string> = new Set(["install-alias", "trust"]);

/** Completes the last of the words after `sheaf`, which may be empty, from the tables of the help. */
export function completeWords(words: readonly string[]): WordCompletion {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  if (before.includes("--")) return { kind: "file" };
  const end = before.findIndex((word) => word === "-p" || word === "--print");
  const command = before.slice(0, end === -1 ? undefined : end).find(isCommand);
  const attached = /^(--[^=]+)=/.exec(current);
  const flag = findFlag(attached?.[1] ?? before.at(-1));
  if (flag && flags[flag].kind !== "switch") return withPrefix(attached?.[0] ?? "", completeValue(flag));
  if (current.startsWith("-")) return completeFlag(command);
  if (command !== undefined) return completeCommandWord(command);
  if (before.length > 0) return { kind: "file" };
  return { kind: "words", rows: commandNames.map((name) => [name, commandDescriptions[name].summary]) };
}

function isCommand(word: string): word is CommandName {
  return (commandNames as readonly string[]).includes(word);
}

function findFlag(spelling: string | undefined): FlagName | undefined {
  return (Object.keys(flags) as FlagName[]).find((name) => flags[name].spellings.some((other) => other === spelling));
}

function withPrefix(prefix: string, completion: WordCompletion): WordCompletion {
  if (completion.kind !== "words") return completion;
  return { kind: "words", rows: completion.rows.map(([word, help]) => [`${prefix}${word}`, help]) };
}

function completeFlag(command: CommandName | undefined): WordCompletion {
  const names = command ? [...commandDescriptions[command].flags, ...commonFlags] : [...promptFlags, ...generalFlags];
  const rows = names.flatMap((name) =>
    flags[name].spellings.map((spelling) => [spelling, toFlagHelp(name, command)] as const),
  );
  return { kind: "words", rows };
}

function completeCommandWord(name: CommandName): WordCompletion {
  const words = commandWords[name];
  if (words) return toRows(words);
  if (sessionCommands.has(name)) return { kind: "session" };
  if (folderCommands.has(name)) return { kind: "folder" };
  return fileCommands.has(name) ? { kind: "file" } : toRows([]);
}

function completeValue(name: FlagName): WordCompletion {
  const words = flagWords[name];
  if (words) return toRows(words);
  if (name === "resume") return { kind: "session" };
  const kind = placeholderKinds[flags[name].placeholder];
  return kind ? { kind } : toRows([]);
}

function toRows(words: readonly string[]): WordCompletion {
  return { kind: "words", rows: words.map((word) => [word, ""]) };
}
