/** The interface of a dialect: arguments, input and output for programs that were made for another agent. */
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

/** Names of programs that start Sheaf in a dialect, by the value of `--compat` (C30). */
export const dialectPrograms = {
  sheaf: ["sheaf"],
  "cursor-2026": ["cursor-agent", "agent"],
  "codex-2026": ["codex"],
  "claude-2026": ["claude"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type DialectName = keyof typeof dialectPrograms;

/** Settings that no flag of Sheaf has. */
export type DialectSettings = Partial<Parameters<typeof createConfig>[0]>;

/** Arguments as Sheaf's flags and words, for `createPromptRun` to make the `RunRequest`, with notices of losses. */
export interface ReadArguments {
  readonly parsed: ParsedArguments;
  readonly notices: readonly Notice[];
  readonly settings?: DialectSettings;
  /** Opens the dialect's lines in both directions; default: Sheaf's lines, for output as well. */
  readonly openSpeech?: (talk: Talk) => Speech;
}

/** A dialect. Each has its own folder, whose code is loaded on demand. */
export interface CliDialect {
  readonly name: DialectName;
  /** Reads the arguments. @throws SheafError USAGE for words that the dialect lacks. */
  readonly readArguments: (words: readonly string[], place: Pick<CommandIo, "environment" | "cwd">) => ReadArguments;
  /** Default of `--output-format`. */
  readonly format: OutputFormat;
  /** The profile of the formats that `createLines` leaves to Sheaf. */
  readonly profile: CliProfile;
  /** Creates the output of run events; undefined: Sheaf's format applies. */
  readonly createLines?: (format: OutputFormat, options: ProjectionOptions) => Projection | undefined;
  /** Returns the model for a name of `--model`; undefined: the model of the user's settings. */
  readonly toModel?: (
    name: string | undefined,
    settings: ModelSettings,
  ) => { readonly model: string | undefined; readonly notice?: Notice };
  /** Commands with which the program's clients write a prompt's flags as well. */
  readonly promptFlagCommands?: ReadonlySet<CommandName>;
  /** Words that request the state of a login. */
  readonly statusWords?: readonly string[];
  /** True for programs that treat text on stderr as a failure, or leave sockets open. */
  readonly isQuiet?: boolean;
  /** The line on stderr if a signal ended the run. */
  readonly cancelLine?: string;
}

/** The meaning of one line from a program. */
export type Command =
  /** A run, which starts after the earlier ones; undefined: the line needs no run. */
  | {
      readonly kind: "message";
      readonly open: () => Message | Promise<Message | undefined>;
      /** The same message, if a running answer may get it (C240). */
      readonly added?: Message;
    }
  /** An answer to a question of Sheaf. */
  | { readonly kind: "response"; readonly response: ProgramResponse }
  /** An action that happens at once, even during a run. */
  | { readonly kind: "now"; readonly run: () => void | Promise<void> };

export type Message = Pick<RunStart, "prompt" | "attachments" | "answers">;

/** A program at both ends of stdin and stdout, until it closes stdin. */
export interface Speech {
  /** Reads a line. @throws SheafError USAGE by `createLineError` for an invalid line, which ends the run. */
  readonly readLine: (line: unknown, number: number) => Command;
  /** Makes the question about a call; `input` has the call's arguments. */
  readonly toQuestion: (
    request: ApprovalRequest,
    call: AskedCall,
  ) => Readonly<Record<string, unknown>> & { readonly input: unknown };
  /** Returns the arguments in an answer, by Sheaf's names. */
  readonly toArguments: (call: AskedCall, input: AskedCall["input"]) => AskedCall["input"];
  /** Returns the run's settings; default: the arguments' settings. @throws SheafError to refuse every run. */
  readonly order?: () => SpokenOrder;
  /** False if Sheaf must refuse calls that need approval. */
  readonly asks?: boolean;
  /** Opens a connection to a tool server inside of the program. */
  readonly openTransport?: ServerPorts["openTransport"];
}

/** The settings of a run that the program's requests can change. */
interface SpokenOrder {
  readonly flags: FlagValues;
  readonly settings: DialectSettings;
  readonly notices: readonly Notice[];
}

/** Returns the dialect by the last `--compat`, or by the program's name. @throws SheafError USAGE if unknown. */
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
