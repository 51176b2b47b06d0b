/** The flags of the command line (section 4 of docs/formats/cli.md). */

/** How a flag takes its value. `optional`: the next word, if it is no flag. */
type FlagKind = "switch" | "value" | "list" | "optional";

export interface Flag {
  readonly kind: FlagKind;
  /** Other spellings, with their dashes. */
  readonly aliases?: readonly string[];
  /** What stands for the value in the help text. */
  readonly placeholder?: string;
  readonly help: string;
}

/** Flags by name, in the order of the help text. */
export const flags = {
  print: { kind: "switch", aliases: ["-p"], help: "Print the answer and exit (on by itself in pipes)" },
  "output-format": {
    kind: "value",
    placeholder: "FORMAT",
    help: "text, json, stream-json (default), documents or documents-stream",
  },
  model: {
    kind: "value",
    aliases: ["-m"],
    placeholder: "MODEL",
    help: "PROVIDER/ID, offline, or scripted:FILE; see sheaf models",
  },
  "api-key": { kind: "value", placeholder: "KEY", help: "Key of the model; sheaf login keeps one without showing it" },
  "base-url": {
    kind: "value",
    placeholder: "URL",
    help: "Address of the model's server, instead of the provider's own",
  },
  header: {
    kind: "list",
    aliases: ["-H"],
    placeholder: '"NAME: VALUE"',
    help: "Header of each model request; repeatable",
  },
  mode: { kind: "value", placeholder: "MODE", help: "agent (default), plan, ask or debug" },
  plan: { kind: "switch", help: "The same as --mode plan" },
  force: { kind: "switch", aliases: ["-f", "--yolo"], help: "Run every command without asking" },
  allow: { kind: "list", placeholder: "RULE", help: 'Allow by rule, for instance "Shell(npm test)"; repeatable' },
  deny: { kind: "list", placeholder: "RULE", help: "Refuse by rule; wins over --allow and --force; repeatable" },
  "on-denied": {
    kind: "value",
    placeholder: "WHAT",
    help: "continue (default): the model sees the refusal; stop: exit 8",
  },
  workspace: { kind: "value", placeholder: "DIR", help: "Folder to work in (default: this one)" },
  trust: { kind: "switch", help: "Trust this workspace" },
  resume: {
    kind: "optional",
    placeholder: "[ID]",
    help: "Go on with a session: the one named, or the newest one here",
  },
  continue: { kind: "switch", help: "Go on with the newest session of this workspace" },
  "session-id": { kind: "value", placeholder: "UUID", help: "Id of the session to begin" },
  "no-save": { kind: "switch", help: "Keep nothing on disk" },
  "wait-for-quota": { kind: "switch", help: "Wait when a quota resets later, instead of exit 5 at once" },
  "max-turns": { kind: "value", placeholder: "N", help: "End after N model requests" },
  "max-tool-calls": { kind: "value", placeholder: "N", help: "End before tool call N + 1" },
  "max-tokens": { kind: "value", placeholder: "N", help: "End once N tokens are used" },
  "max-cost-usd": { kind: "value", placeholder: "N", help: "End once the run has cost N dollars, by your price table" },
  timeout: { kind: "value", placeholder: "SECONDS", help: "End after this time" },
  "include-thinking": { kind: "switch", help: "Print the model's thinking too" },
  "stream-partial-output": { kind: "switch", help: "Print deltas as they come (they are by default)" },
  heartbeat: { kind: "value", placeholder: "SECONDS", help: "stream-json: print a heartbeat line after this silence" },
  locale: { kind: "value", placeholder: "LOCALE", help: "Language of the text format: en, de, tr, ja, zh-TW" },
  format: { kind: "value", placeholder: "FORMAT", help: "status, models: text (default) or json" },
  from: {
    kind: "value",
    placeholder: "FORMAT",
    help: "convert: openai-chat, openai-responses, anthropic-messages, gemini, …",
  },
  to: { kind: "value", placeholder: "FORMAT", help: "convert: documents or documents-stream" },
  "output-schema": { kind: "value", placeholder: "FILE", help: "The answer must be JSON that fits this JSON Schema" },
  record: { kind: "value", placeholder: "FILE", help: "Keep all that comes into the run in a file, for sheaf replay" },
  redact: { kind: "value", placeholder: "OUT", help: "replay: write a copy without what is private, for sharing" },
  verbose: { kind: "switch", help: "Say more on stderr when it fails" },
  version: { kind: "switch", aliases: ["-v"], help: "Print the version" },
  help: { kind: "switch", aliases: ["-h"], help: "Print this help" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;

/** The type of a flag's value once it is given. */
type FlagValue<Kind extends FlagKind> = Kind extends "switch" ? true : Kind extends "list" ? readonly string[] : string;

/** What was given, by name. An `optional` flag without a value is "". */
export type FlagValues = { readonly [Name in FlagName]?: FlagValue<(typeof flags)[Name]["kind"]> };
