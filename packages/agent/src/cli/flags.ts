/** The flags of the command line (section 4 of docs/formats/cli.md). */

/** How a flag takes its value. `optional`: the next word, if it is not a flag. */
type FlagKind = "switch" | "value" | "list" | "optional";

export interface Flag {
  readonly kind: FlagKind;
  /** Other spellings, with their dashes. */
  readonly aliases?: readonly string[];
  /** Placeholder of the value in the help text. */
  readonly placeholder?: string;
  readonly help: string;
}

/** Flags by name, in the order of the help text. */
export const flags = {
  print: { kind: "switch", aliases: ["-p"], help: "Print the answer and exit (automatic in pipes)" },
  "output-format": {
    kind: "value",
    placeholder: "FORMAT",
    help: "text, json, stream-json (default), documents[-stream]",
  },
  "input-format": { kind: "value", placeholder: "FORMAT", help: "text (default), or stream-json: messages on stdin" },
  model: {
    kind: "value",
    aliases: ["-m"],
    placeholder: "MODEL",
    help: "PROVIDER/ID, offline or scripted:FILE (sheaf models)",
  },
  "fallback-model": {
    kind: "value",
    placeholder: "LIST",
    help: "Models that answer, in this order, when the model is not available",
  },
  "list-models": { kind: "switch", help: "The same as sheaf models" },
  "api-key": {
    kind: "value",
    aliases: ["-a"],
    placeholder: "KEY",
    help: "Key of the model; sheaf login stores one without showing it",
  },
  "base-url": {
    kind: "value",
    placeholder: "URL",
    help: "Address of the model's server, instead of the provider's own",
  },
  header: {
    kind: "list",
    aliases: ["-H"],
    placeholder: '"NAME: VALUE"',
    help: "Header of each model request (repeatable); mcp add: header of each request to the server (repeatable)",
  },
  file: { kind: "list", placeholder: "FILE", help: "Attach an image, a PDF or a text to the prompt (repeatable)" },
  image: { kind: "list", placeholder: "FILE", help: "The same as --file" },
  mode: { kind: "value", placeholder: "MODE", help: "agent (default), plan, ask or debug" },
  effort: { kind: "value", placeholder: "LEVEL", help: "How much the model thinks: off, low, medium, high or max" },
  "web-search": { kind: "switch", help: "Let the model's provider search the web for it, where the provider can" },
  agents: { kind: "switch", help: "Let the model give tasks to subagents: search, plan, review, and your own" },
  plan: { kind: "switch", help: "The same as --mode plan" },
  force: {
    kind: "switch",
    aliases: ["-f", "--yolo"],
    help: "Run every command without asking; worktrees rm: also trees with changes that are not merged",
  },
  allow: { kind: "list", placeholder: "RULE", help: 'Allow by rule, like "Shell(npm test)"; repeatable' },
  ask: { kind: "list", placeholder: "RULE", help: "Ask by rule, even with --force; repeatable" },
  deny: { kind: "list", placeholder: "RULE", help: "Refuse by rule; wins over --allow and --force; repeatable" },
  "system-prompt": { kind: "value", placeholder: "TEXT", help: "Replace Sheaf's own instructions to the model" },
  "append-system-prompt": { kind: "value", placeholder: "TEXT", help: "Add text to the end of the system prompt" },
  "append-system-prompt-file": { kind: "value", placeholder: "FILE", help: "The same, with the text of a file" },
  tools: { kind: "value", placeholder: "LIST", help: "Offer the model these tools alone, separated by commas" },
  "exclude-tools": { kind: "value", placeholder: "LIST", help: "Offer the model all tools but these" },
  "allowed-tools": {
    kind: "value",
    placeholder: "LIST",
    help: "Several --allow rules, or names of tools, in one list",
  },
  "list-tools": { kind: "switch", help: "Print the tools that a run with these flags offers" },
  "approve-mcps": { kind: "switch", help: "Allow every tool of the MCP servers in your configuration" },
  command: { kind: "value", placeholder: "CMD", help: "permissions check: a shell command" },
  path: { kind: "value", placeholder: "PATH", help: "permissions check: a path of a file tool" },
  access: { kind: "value", placeholder: "ACCESS", help: "permissions check: read or write, with --path" },
  tool: { kind: "value", placeholder: "NAME", help: "hooks test: the tool that is called" },
  input: { kind: "value", placeholder: "JSON", help: "hooks test: tool_input, or the fields of the event" },
  mcp: { kind: "value", placeholder: "SERVER:TOOL", help: "permissions check: a tool of an MCP server" },
  "on-denied": {
    kind: "value",
    placeholder: "WHAT",
    help: "continue (default): the model sees the refusal; stop: exit 8",
  },
  sandbox: {
    kind: "value",
    placeholder: "STATE",
    help: "enabled (default); disabled: commands run outside of it, and need --force or a rule",
  },
  workspace: {
    kind: "list",
    placeholder: "DIR",
    help: "Folder to work in (default: this one); serve: repeatable, NAME=DIR or NAME=git+URL#BRANCH",
  },
  worktree: {
    kind: "optional",
    aliases: ["-w"],
    placeholder: "[NAME]",
    help: "Work in a working tree of its own, kept if it changes something (sheaf worktrees)",
  },
  "add-dir": {
    kind: "list",
    placeholder: "DIR",
    help: "A further folder to read and write, by absolute paths (repeatable)",
  },
  trust: { kind: "switch", help: "Trust this workspace for this run; sheaf trust does so permanently" },
  list: { kind: "switch", help: "trust: list the trusted workspaces" },
  remove: {
    kind: "switch",
    help: "trust, mcp trust, hooks trust: stop trusting it",
  },
  "no-browser": { kind: "switch", help: "mcp login: open no browser; paste the address at which one ends" },
  digest: { kind: "value", placeholder: "HEX", help: "mcp trust, hooks trust: say yes to this content, unasked" },
  resume: {
    kind: "optional",
    placeholder: "[ID]",
    help: "Continue session ID (or its start), or the newest one",
  },
  continue: { kind: "switch", help: "Continue the newest session of this workspace" },
  "session-id": { kind: "value", placeholder: "UUID", help: "Id of the session to begin" },
  "no-save": { kind: "switch", help: "Keep nothing on disk" },
  "wait-for-quota": { kind: "switch", help: "Wait for a quota to reset, instead of exiting with 5 at once" },
  "context-tokens": {
    kind: "value",
    placeholder: "N",
    help: "Summarise older parts of a conversation before a request exceeds N tokens",
  },
  "max-turns": { kind: "value", placeholder: "N", help: "End after N model requests" },
  "max-tool-calls": { kind: "value", placeholder: "N", help: "End before tool call N + 1" },
  "max-tokens": { kind: "value", placeholder: "N", help: "End once N tokens are used" },
  "max-cost-usd": { kind: "value", placeholder: "N", help: "End once the run has cost N dollars" },
  env: {
    kind: "list",
    aliases: ["-e"],
    placeholder: "NAME=VALUE",
    help: "mcp add: a variable of the server (repeatable); NAME alone takes it from your environment",
  },
  "start-timeout": { kind: "value", placeholder: "SECONDS", help: "mcp add: longest time until the server is ready" },
  timeout: {
    kind: "value",
    placeholder: "SECONDS",
    help: "End after this time; mcp add: longest call without progress",
  },
  "include-thinking": { kind: "switch", help: "Print the model's thinking too" },
  "stream-partial-output": { kind: "switch", help: "Print deltas as they arrive (the default)" },
  compat: {
    kind: "value",
    placeholder: "PROFILE",
    help: "cursor-2026: print what cursor-agent prints (automatic when started by that name)",
  },
  heartbeat: {
    kind: "value",
    placeholder: "SECONDS",
    help: "stream-json: print a heartbeat line after this silence; serve: the same for event streams (default: 15)",
  },
  locale: { kind: "value", placeholder: "LOCALE", help: "Language of the text format: en, de, tr, ja, zh-TW" },
  "on-conflict": {
    kind: "value",
    placeholder: "WHAT",
    help: "revert: refuse (default), leave or overwrite; worktrees merge: refuse, leave or mark",
  },
  format: {
    kind: "value",
    placeholder: "FORMAT",
    help: "text (default) or json; export: json (default) or markdown",
  },
  json: { kind: "switch", help: "The same as --format json" },
  all: {
    kind: "switch",
    help: "Sessions of every workspace; worktrees ls: all",
  },
  branch: { kind: "switch", help: "worktrees merge: make the branch sheaf/NAME, and change no file" },
  overwrite: {
    kind: "switch",
    help: "revert: the same as --on-conflict overwrite; install-alias: replace any program",
  },
  by: { kind: "value", placeholder: "LIST", help: "usage: rows by model (default), day, workspace, or several" },
  since: { kind: "value", placeholder: "TIME", help: "usage: since a day (2026-02-23), or the last 7d or 12h" },
  limit: { kind: "value", placeholder: "N", help: "ls: at most N sessions (default: 50; with --format json, all)" },
  output: { kind: "value", aliases: ["-o"], placeholder: "FILE", help: "export: write to a file, not to stdout" },
  url: {
    kind: "value",
    placeholder: "URL",
    help: "permissions check: an address; mcp add: address of a running server",
  },
  from: {
    kind: "value",
    placeholder: "FORMAT",
    help: "convert: a model's (openai-chat, anthropic-messages, gemini, …) or cursor-stream-json",
  },
  to: {
    kind: "value",
    placeholder: "WHAT",
    help: "convert: documents or documents-stream; revert: the first response to revert",
  },
  "output-schema": { kind: "value", placeholder: "FILE", help: "The answer must be JSON that fits this JSON Schema" },
  record: { kind: "value", placeholder: "FILE", help: "Record the inputs of the run to a file, for sheaf replay" },
  redact: { kind: "value", placeholder: "OUT", help: "replay: write a copy without private data, for sharing" },
  host: { kind: "value", placeholder: "HOST", help: "serve: address to listen on (default: 127.0.0.1)" },
  port: { kind: "value", placeholder: "PORT", help: "serve: port to listen on (default: 7433, 0 for any free one)" },
  "token-file": {
    kind: "value",
    placeholder: "FILE",
    help: "serve: tokens of clients, one per line: TOKEN, or NAME TOKEN",
  },
  store: {
    kind: "value",
    placeholder: "URL",
    help: "serve: store in a database, postgres://USER@HOST/NAME; store: that database, not the file",
  },
  "on-node-loss": {
    kind: "value",
    placeholder: "end|resume",
    help: "serve: what others do with a response whose server died (default: end)",
  },
  trees: {
    kind: "value",
    placeholder: "DIR",
    help: "serve: where the trees of workspaces from git are (default: the data folder)",
  },
  offer: { kind: "list", placeholder: "MODEL", help: "serve: further model that requests may name (repeatable)" },
  open: { kind: "switch", help: "serve: print an address that opens the page once, within a minute" },
  "allow-host": { kind: "list", placeholder: "NAME", help: "serve: further name of this server, as clients call it" },
  "trust-proxy": {
    kind: "list",
    placeholder: "ADDRESSES",
    help: "serve: proxies whose X-Forwarded-… headers count, such as 127.0.0.1,10.0.0.0/8",
  },
  "allow-origin": {
    kind: "list",
    placeholder: "ORIGIN",
    help: "serve: pages of this origin may call the API, by token",
  },
  grace: { kind: "value", placeholder: "SECONDS", help: "serve: time for runs to end after a signal (default: 10)" },
  "max-running": { kind: "value", placeholder: "N", help: "serve: simultaneous responses per token" },
  "max-waiting": {
    kind: "value",
    placeholder: "N",
    help: "serve: messages per token that wait in the database (default: 1000)",
  },
  "max-streams": { kind: "value", placeholder: "N", help: "serve: simultaneous event streams per token" },
  "max-conversations": { kind: "value", placeholder: "N", help: "serve: conversations per token" },
  "max-attachments": {
    kind: "value",
    placeholder: "N",
    help: "serve: files per token that were sent before their message (default: 100)",
  },
  "max-attachments-mib": {
    kind: "value",
    placeholder: "N",
    help: "serve: size of these files together (default: 100)",
  },
  "max-attachment-mib": {
    kind: "value",
    placeholder: "N",
    help: "serve: size of one attached file, at most 10 (default: 10)",
  },
  "attachment-hours": {
    kind: "value",
    placeholder: "N",
    help: "serve: how long files can be sent before their message (default: 24)",
  },
  "max-turns-per-day": { kind: "value", placeholder: "N", help: "serve: model requests per token and day (UTC)" },
  "max-cost-usd-per-day": {
    kind: "value",
    placeholder: "N",
    help: "serve: dollars per token and day (UTC), by its price",
  },
  "keep-days": {
    kind: "value",
    placeholder: "N",
    help: "serve: delete conversations N days after their last message, unless they are pinned",
  },
  "insecure-listen": { kind: "switch", help: "serve: listen for other machines without a --token-file" },
  verbose: { kind: "switch", help: "Print more details on stderr after a failure" },
  version: { kind: "switch", aliases: ["-v"], help: "Print the version" },
  help: { kind: "switch", aliases: ["-h"], help: "Print this help" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;

/** The type of a flag's value once it is given. */
type FlagValue<Kind extends FlagKind> = Kind extends "switch" ? true : Kind extends "list" ? readonly string[] : string;

/** What was given, by name. An `optional` flag without a value is "". */
export type FlagValues = { readonly [Name in FlagName]?: FlagValue<(typeof flags)[Name]["kind"]> };
