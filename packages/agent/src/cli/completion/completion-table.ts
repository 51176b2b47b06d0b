/** What can be completed, for every shell. */
import { modelStreamFormats } from "@sheaf/documents/model-streams";
import { outputFormats, cliProfiles } from "../../output/projection.ts";
import { usageKeys } from "../../output/usage-report.ts";
import { schemaNames } from "@sheaf/protocol/schemas";
import { providerPresets } from "../../config/provider-presets.ts";
import { efforts } from "../../config/user-config.ts";
import { commandDescriptions, helpTopics } from "../command-descriptions.ts";
import { commandNames } from "../command-usages.ts";
import { toFlagHelp } from "../command-flags.ts";
import { flags, type Flag, type FlagName } from "../flags.ts";
import { commonFlags, generalFlags, promptFlags } from "../prompt-flags.ts";

/** How the value of a flag is completed. */
export type ValueCompletion =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "file" | "folder" | "session" | "text" };

export interface FlagCompletion {
  /** `--name` and its other spellings. */
  readonly spellings: readonly string[];
  readonly help: string;
  /** Undefined for a switch. */
  readonly value: ValueCompletion | undefined;
}

export interface CommandCompletion {
  readonly name: string;
  readonly help: string;
  readonly flags: readonly FlagCompletion[];
  /** First word after the command. */
  readonly word: ValueCompletion;
}

export interface CompletionTable {
  readonly commands: readonly CommandCompletion[];
  /** Flags of a prompt. */
  readonly flags: readonly FlagCompletion[];
}

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
  format: ["text", "json", "markdown", "html"],
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

/** Everything, from the tables that the help is made from. */
export function toCompletionTable(): CompletionTable {
  return {
    commands: commandNames.map((name) => {
      const { summary, flags: own } = commandDescriptions[name];
      return {
        name,
        help: summary,
        flags: [...own, ...commonFlags].map((flag) => ({
          ...toFlagCompletion(flag),
          help: toFlagHelp(flag, name),
        })),
        word: toWordCompletion(name),
      };
    }),
    flags: [...promptFlags, ...generalFlags].map(toFlagCompletion),
  };
}

function toWordCompletion(name: string): ValueCompletion {
  const words = commandWords[name];
  if (words) return { kind: "words", words };
  if (sessionCommands.has(name)) return { kind: "session" };
  if (fileCommands.has(name)) return { kind: "file" };
  return { kind: folderCommands.has(name) ? "folder" : "text" };
}

function toFlagCompletion(name: FlagName): FlagCompletion {
  const { kind, help, aliases = [], placeholder = "" }: Flag = flags[name];
  const value = kind === "switch" ? undefined : toValue(name, placeholder);
  return { spellings: [`--${name}`, ...aliases], help, value };
}

function toValue(name: FlagName, placeholder: string): ValueCompletion {
  const words = flagWords[name];
  if (words) return { kind: "words", words };
  if (name === "resume") return { kind: "session" };
  return { kind: placeholderKinds[placeholder] ?? "text" };
}
