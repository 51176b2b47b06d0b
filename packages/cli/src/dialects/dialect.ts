/** The form of a dialect: the arguments, the input and the output of programs that were made for another one. */
import { basename } from "node:path";
import type { ApprovalRequest, Notice, RunStart } from "@sheaf/protocol";
import type { createConfig } from "@sheaf/agent/config/config";
import type { ModelSettings } from "@sheaf/agent/config/endpoints";
import type { ProjectionOptions } from "@sheaf/agent/output/create-message-projection";
import type { CliProfile, OutputFormat, Projection } from "@sheaf/agent/output/projection";
import type { ServerPorts } from "@sheaf/agent/tools/mcp/server-connection";
import { SheafError } from "@sheaf/base/errors";
import type { ParsedArguments } from "../arguments.ts";
import type { FlagValues } from "../flags.ts";
import type { CommandName } from "../command-definitions.ts";
import type { CommandIo } from "../io.ts";
import type { AskedCall } from "./line-approver.ts";
import type { ProgramResponse } from "./program-requests.ts";
import type { Talk } from "./two-way.ts";

/** By the values of `--compat`: the names of programs that start Sheaf in the dialect (C30). */
export const dialectPrograms = {
  sheaf: [],
  "cursor-2026": ["cursor-agent", "agent"],
  "codex-2026": ["codex"],
  "claude-2026": ["claude"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type DialectName = keyof typeof dialectPrograms;

/** Settings beyond the flags of Sheaf. */
export type DialectSettings = Partial<Parameters<typeof createConfig>[0]>;

/** Arguments as Sheaf's own flags and words, from which `createPromptRun` makes the `RunRequest`; the notices are their losses. */
export interface ReadArguments {
  readonly parsed: ParsedArguments;
  readonly notices: readonly Notice[];
  readonly settings?: DialectSettings;
  /** Its lines in both directions; default: the lines of Sheaf, also for output. */
  readonly openSpeech?: (talk: Talk) => Speech;
}

/** Each is a folder; its code is loaded where it is spoken. */
export interface CliDialect {
  readonly name: DialectName;
  /** @throws SheafError USAGE for words that it does not have. */
  readonly readArguments: (words: readonly string[], place: Pick<CommandIo, "environment" | "cwd">) => ReadArguments;
  /** Default of `--output-format`. */
  readonly format: OutputFormat;
  /** The profile of the formats that `createLines` leaves to Sheaf. */
  readonly profile: CliProfile;
  /** Run events as lines; undefined: Sheaf's own format has them. */
  readonly createLines?: (format: OutputFormat, options: ProjectionOptions) => Projection | undefined;
  /** The model that a name of `--model` means; undefined: the model of the user's settings. */
  readonly toModel?: (
    name: string | undefined,
    settings: ModelSettings,
  ) => { readonly model: string | undefined; readonly notice?: Notice };
  /** Commands with which its clients write flags of a prompt, too. */
  readonly promptFlagCommands?: ReadonlySet<CommandName>;
  /** Words that ask for the state of a login. */
  readonly statusWords?: readonly string[];
  /** Its programs may take a word on stderr for a failure, and leave sockets open. */
  readonly isQuiet?: boolean;
  /** On stderr, if a signal ended the run. */
  readonly cancelLine?: string;
}

/** What one line of a program asks for. */
export type Command =
  /** A run, after those before it; undefined: there is nothing to run. */
  | {
      readonly kind: "message";
      readonly open: () => Message | Promise<Message | undefined>;
      /** The same, if a running answer may get it (C240). */
      readonly added?: Message;
    }
  /** It answers what Sheaf asked. */
  | { readonly kind: "response"; readonly response: ProgramResponse }
  /** Done at once, also during a run. */
  | { readonly kind: "now"; readonly run: () => void | Promise<void> };

/** A message, as a run takes it. */
export type Message = Pick<RunStart, "prompt" | "attachments" | "answers">;

/** One program at both ends of stdin and stdout, until stdin is closed. */
export interface Speech {
  /** @throws SheafError USAGE by `createLineError` for a line that has no meaning: it ends the run. */
  readonly readLine: (line: unknown, number: number) => Command;
  /** The request that asks about a call; `input` has its arguments. */
  readonly toQuestion: (
    request: ApprovalRequest,
    call: AskedCall,
  ) => Readonly<Record<string, unknown>> & { readonly input: unknown };
  /** The arguments in an answer to it, by Sheaf's names. */
  readonly toArguments: (call: AskedCall, input: AskedCall["input"]) => AskedCall["input"];
  /** Default: by the arguments. @throws SheafError to refuse every run. */
  readonly order?: () => SpokenOrder;
  /** False: Sheaf refuses calls that need a person. */
  readonly asks?: boolean;
  /** To tool servers inside of the program. */
  readonly openTransport?: ServerPorts["openTransport"];
}

/** The parts of a run that requests of the program may change. */
interface SpokenOrder {
  readonly flags: FlagValues;
  readonly settings: DialectSettings;
  readonly notices: readonly Notice[];
}

/** The last `--compat` of the words, or else by the name of the program. @throws SheafError USAGE for an unknown one; it lists the known ones. */
export function chooseDialect(words: readonly string[], program: string): DialectName {
  const end = words.indexOf("--");
  const given = end < 0 ? words : words.slice(0, end);
  const at = given.findLastIndex((word) => /^--compat(=|$)/.test(word));
  const name = given[at]?.includes("=") ? given[at].slice("--compat=".length) : given[at + 1];
  if (at < 0 || name === undefined || name.startsWith("--")) {
    const started = basename(program).replace(/\.(exe|cmd|js)$/i, "");
    const found = Object.entries(dialectPrograms).find(([, names]) => (names as readonly string[]).includes(started));
    return (found?.[0] ?? "sheaf") as DialectName;
  }
  if (Object.hasOwn(dialectPrograms, name)) return name as DialectName;
  const known = Object.keys(dialectPrograms).join(", ");
  throw new SheafError("USAGE", `--compat "${name}" is unknown: use one of ${known}`);
}
