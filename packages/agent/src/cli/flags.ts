/** The flags of the command line (section 4 of docs/formats/cli.md). */

/** Each flag as the help shows it, in its order: `<VALUE>` is needed, `[VALUE]` may be left out, `...` may be repeated. */
const table = {
  "-p, --print": "Print the answer and exit (automatic in pipes)",
  "--output-format <FORMAT>": "text, json, stream-json (default), documents[-stream]",
  "--input-format <FORMAT>": "text (default), or stream-json: messages on stdin",
  "-m, --model <MODEL>": "PROVIDER/ID, offline or scripted:FILE (sheaf models)",
  "--fallback-model <LIST>": "Models that answer, in this order, when the model is not available",
  "--list-models": "The same as sheaf models",
  "-a, --api-key <KEY>": "Key of the model; sheaf login stores one without showing it",
  "--base-url <URL>": "Address of the model's server, instead of the provider's own",
  '-H, --header <"NAME: VALUE">...':
    "Header of each model request (repeatable); mcp add: header of each request to the server (repeatable)",
  "--file <FILE>...": "Attach an image, a PDF or a text to the prompt (repeatable)",
  "--image <FILE>...": "The same as --file",
  "--mode <MODE>": "agent (default), plan, ask or debug",
  "--effort <LEVEL>": "How much the model thinks: off, low, medium, high or max",
  "--web-search": "Let the model's provider search the web for it, where the provider can",
  "--agents": "Let the model give tasks to subagents: search, plan, review, and your own",
  "--plan": "The same as --mode plan",
  "-f, --force, --yolo": "Run every command without asking; worktrees rm: also trees with changes that are not merged",
  "--allow <RULE>...": 'Allow by rule, like "Shell(npm test)"; repeatable',
  "--ask <RULE>...": "Ask by rule, even with --force; repeatable",
  "--deny <RULE>...": "Refuse by rule; wins over --allow and --force; repeatable",
  "--system-prompt <TEXT>": "Replace Sheaf's own instructions to the model",
  "--append-system-prompt <TEXT>": "Add text to the end of the system prompt",
  "--append-system-prompt-file <FILE>": "The same, with the text of a file",
  "--tools <LIST>": "Offer the model these tools alone, separated by commas",
  "--exclude-tools <LIST>": "Offer the model all tools but these",
  "--allowed-tools <LIST>": "Several --allow rules, or names of tools, in one list",
  "--list-tools": "Print the tools that a run with these flags offers",
  "--approve-mcps": "Allow every tool of the MCP servers in your configuration",
  "--command <CMD>": "permissions check: a shell command",
  "--path <PATH>": "permissions check: a path of a file tool",
  "--access <ACCESS>": "permissions check: read or write, with --path",
  "--tool <NAME>": "hooks test: the tool that is called",
  "--input <JSON>": "hooks test: tool_input, or the fields of the event",
  "--mcp <SERVER:TOOL>": "permissions check: a tool of an MCP server",
  "--on-denied <WHAT>": "continue (default): the model sees the refusal; stop: exit 8",
  "--sandbox <STATE>": "enabled (default); disabled: commands run outside of it, and need --force or a rule",
  "--workspace <DIR>...": "Folder to work in (default: this one); serve: repeatable, NAME=DIR or NAME=git+URL#BRANCH",
  "-w, --worktree [NAME]": "Work in a working tree of its own, kept if it changes something (sheaf worktrees)",
  "--add-dir <DIR>...": "A further folder to read and write, by absolute paths (repeatable)",
  "--trust": "Trust this workspace for this run; sheaf trust does so permanently",
  "--list": "trust: list the trusted workspaces",
  "--remove": "trust, mcp trust, hooks trust: stop trusting it",
  "--no-browser": "mcp login: open no browser; paste the address at which one ends",
  "--digest <HEX>": "mcp trust, hooks trust: say yes to this content, unasked",
  "--resume [ID]": "Continue session ID (or its start), or the newest one",
  "--continue": "Continue the newest session of this workspace",
  "--session-id <UUID>": "Id of the session to begin",
  "--no-save": "Keep nothing on disk",
  "--wait-for-quota": "Wait for a quota to reset, instead of exiting with 5 at once",
  "--context-tokens <N>": "Summarise older parts of a conversation before a request exceeds N tokens",
  "--max-turns <N>": "End after N model requests",
  "--max-tool-calls <N>": "End before tool call N + 1",
  "--max-tokens <N>": "End once N tokens are used",
  "--max-cost-usd <N>": "End once the run has cost N dollars",
  "-e, --env <NAME=VALUE>...":
    "mcp add: a variable of the server (repeatable); NAME alone takes it from your environment",
  "--start-timeout <SECONDS>": "mcp add: longest time until the server is ready",
  "--timeout <SECONDS>": "End after this time; mcp add: longest call without progress",
  "--include-thinking": "Print the model's thinking too",
  "--stream-partial-output": "Print deltas as they arrive (the default)",
  "--compat <PROFILE>": "cursor-2026: print what cursor-agent prints (automatic when started by that name)",
  "--heartbeat <SECONDS>":
    "stream-json: print a heartbeat line after this silence; serve: the same for event streams (default: 15)",
  "--locale <LOCALE>": "Language of the text format: en, de, tr, ja, zh-TW",
  "--on-conflict <WHAT>": "revert: refuse (default), leave or overwrite; worktrees merge: refuse, leave or mark",
  "--format <FORMAT>": "text (default) or json; export: json (default) or markdown",
  "--json": "The same as --format json",
  "--all": "Sessions of every workspace; worktrees ls: all",
  "--branch": "worktrees merge: make the branch sheaf/NAME, and change no file",
  "--overwrite": "revert: the same as --on-conflict overwrite; install-alias: replace any program",
  "--by <LIST>": "usage: rows by model (default), day, workspace, or several",
  "--since <TIME>": "usage: since a day (2026-02-23), or the last 7d or 12h",
  "--limit <N>": "ls: at most N sessions (default: 50; with --format json, all)",
  "-o, --output <FILE>": "export: write to a file, not to stdout",
  "--url <URL>": "permissions check: an address; mcp add: address of a running server",
  "--from <FORMAT>": "convert: a model's (openai-chat, anthropic-messages, gemini, …) or cursor-stream-json",
  "--to <WHAT>": "convert: documents or documents-stream; revert: the first response to revert",
  "--output-schema <FILE>": "The answer must be JSON that fits this JSON Schema",
  "--record <FILE>": "Record the inputs of the run to a file, for sheaf replay",
  "--record-body <FILE>": "Keep the bytes that the provider answers, in FILE, FILE.2 and so on",
  "--redact <OUT>": "replay: write a copy without private data, for sharing",
  "--host <HOST>": "serve: address to listen on (default: 127.0.0.1)",
  "--port <PORT>": "serve: port to listen on (default: 7433, 0 for any free one)",
  "--token-file <FILE>": "serve: tokens of clients, one per line: TOKEN, or NAME TOKEN",
  "--store <URL>": "serve: store in a database, postgres://USER@HOST/NAME; store: that database, not the file",
  "--on-node-loss <end|resume>": "serve: what others do with a response whose server died (default: end)",
  "--trees <DIR>": "serve: where the trees of workspaces from git are (default: the data folder)",
  "--offer <MODEL>...": "serve: further model that requests may name (repeatable)",
  "--open": "serve: print an address that opens the page once, within a minute",
  "--allow-host <NAME>...": "serve: further name of this server, as clients call it",
  "--trust-proxy <ADDRESSES>...": "serve: proxies whose X-Forwarded-… headers count, such as 127.0.0.1,10.0.0.0/8",
  "--allow-origin <ORIGIN>...": "serve: pages of this origin may call the API, by token",
  "--grace <SECONDS>": "serve: time for runs to end after a signal (default: 10)",
  "--max-running <N>": "serve: simultaneous responses per token",
  "--max-waiting <N>": "serve: messages per token that wait in the database (default: 1000)",
  "--max-streams <N>": "serve: simultaneous event streams per token",
  "--max-conversations <N>": "serve: conversations per token",
  "--max-attachments <N>": "serve: files per token that were sent before their message (default: 100)",
  "--max-attachments-mib <N>": "serve: size of these files together (default: 100)",
  "--max-attachment-mib <N>": "serve: size of one attached file, at most 10 (default: 10)",
  "--attachment-hours <N>": "serve: how long files can be sent before their message (default: 24)",
  "--max-turns-per-day <N>": "serve: model requests per token and day (UTC)",
  "--max-cost-usd-per-day <N>": "serve: dollars per token and day (UTC), by its price",
  "--keep-days <N>": "serve: delete conversations N days after their last message, unless they are pinned",
  "--insecure-listen": "serve: listen for other machines without a --token-file",
  "--verbose": "Print more details on stderr after a failure",
  "-v, --version": "Print the version",
  "-h, --help": "Print this help",
} as const;

type Syntax = keyof typeof table;

/** `model` of `-m, --model <MODEL>`. */
type NameOf<Text extends string> = Text extends `${string}--${infer Rest}` ? FirstWord<Rest> : never;

type FirstWord<Text extends string> = Text extends `${infer Word}${"," | " "}${string}` ? FirstWord<Word> : Text;

type ValueOf<Text extends string> = Text extends `${string}...`
  ? readonly string[]
  : Text extends `${string}${"<" | "["}${string}`
    ? string
    : true;

export type FlagName = NameOf<Syntax>;

/** The given values, by name. An `optional` flag without a value is "". */
export type FlagValues = { readonly [Text in Syntax as NameOf<Text>]?: ValueOf<Text> };

export interface Flag {
  /** How it takes its value. `optional`: the next word, if that isn't a flag. */
  readonly kind: "switch" | "value" | "list" | "optional";
  /** All of them, with their dashes. */
  readonly spellings: readonly string[];
  /** Spellings and value in the help. */
  readonly usage: string;
  /** Placeholder of the value; "" for a switch. */
  readonly placeholder: string;
  readonly help: string;
}

/** By name, in the order of the help. */
export const flags = Object.fromEntries(
  Object.entries(table).map(([syntax, help]) => {
    const [words = "", value = ""] = syntax.split(/ (?=[<[])/);
    const spellings = words.split(", ");
    const placeholder = value.replace(/^<|>(\.\.\.)?$/g, "");
    const flag: Flag = { kind: toKind(value), spellings, usage: `${words} ${placeholder}`.trim(), placeholder, help };
    return [spellings.find((spelling) => spelling.startsWith("--"))!.slice(2), flag];
  }),
) as Readonly<Record<FlagName, Flag>>;

function toKind(value: string): Flag["kind"] {
  if (value === "") return "switch";
  if (value.endsWith("...")) return "list";
  return value.startsWith("[") ? "optional" : "value";
}
