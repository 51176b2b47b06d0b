/** Flags shared by commands, in the help's form: `<VALUE>` is required, `[VALUE]` is optional, `...` is repeatable. */

/** Flags of every command. */
export const commonFlags = {
  "--verbose": "Print more details on stderr after a failure",
  "-h, --help": "Print this help",
} as const;

/** Flags of commands that print a result instead of a run. */
export const formatFlags = {
  "--format <text|json>": "text is the default",
  "--json": "The same as --format json",
} as const;

export const workspaceFlag = { "--workspace <DIR>...": "Folder to work in (default: this one)" } as const;

export const trustFlag = { "--trust": "Trust this workspace for this run; sheaf trust does so permanently" } as const;

/** Flags of commands that change trust in a server or a hook. */
export const consentFlags = {
  "--remove": "trust: stop trusting it",
  "--digest <HEX>": "trust: approve exactly this content, without a question",
} as const;

/** Flags of commands that print a run. */
export const outputFlags = {
  "--output-format <FORMAT>": "stream-json (default), text, json, documents[-stream]",
  "--include-thinking": "Print the model's thinking too",
  "--stream-partial-output": "Print deltas as they arrive (the default)",
  "--compat <PROFILE>": "Speak as cursor-2026, codex-2026 or claude-2026 (automatic under their names)",
  "--locale <en|de|tr|ja|zh-TW>": "Language of the text format",
} as const;

export const unmaskedFlag = { "--unmasked": "Print keys and passwords instead of [masked]" } as const;

export const modelFlag = { "-m, --model <MODEL>": "PROVIDER/ID, offline or scripted:FILE (sheaf models)" } as const;

/** Flags for the connection to a model. */
export const endpointFlags = {
  "-a, --api-key <KEY>": "Key of the model; sheaf login stores one without showing it",
  "--base-url <URL>": "Address of the model's server, instead of the provider's own",
  '-H, --header <"NAME: VALUE">...': "Header of each model request (repeatable)",
} as const;

export const modeFlags = {
  "--mode <MODE>": "agent (default), plan, ask or debug",
  "--plan": "The same as --mode plan",
} as const;

export const ruleFlags = {
  "-f, --force, --yolo": "Run every command without asking",
  "--allow <RULE>...": 'Allow by rule, like "Shell(npm test)"; repeatable',
  "--ask <RULE>...": "Ask by rule, even with --force; repeatable",
  "--deny <RULE>...": "Refuse by rule; wins over --allow and --force; repeatable",
} as const;

export const sandboxFlag = {
  "--sandbox <enabled|disabled|container>": "container: you throw this machine away",
} as const;

export const addDirFlag = {
  "--add-dir <DIR>...": "A further folder to read and write, by absolute paths (repeatable)",
} as const;

export const heartbeatFlag = { "--heartbeat <SECONDS>": "stream-json: print a line after this silence" } as const;

/** Flags for the model and its permissions, which servers take as well. */
export const requestFlags = {
  ...endpointFlags,
  "--fallback-model <LIST>": "Models that answer, in this order, when the model is not available",
  ...modeFlags,
  "--effort <off|low|medium|high|max>": "How much the model thinks",
  "--web-search": "Let the model's provider search the web for it, where the provider can",
  "--agents": "Let the model give tasks to subagents: search, plan, review, and your own",
  ...ruleFlags,
  "--on-denied <continue|stop>": "continue (default): the model sees the refusal; stop: exit 8",
  "--verify <COMMAND>...": "Succeed only if this command passes; repeatable",
  "--verify-rounds <N>": "How often a failed command sends the model back to work (default: 2)",
  "--strict": "Exit with 8 if a sandbox, tool server, hook or permission is missing",
  ...sandboxFlag,
  ...addDirFlag,
  ...trustFlag,
} as const;

/** Limits of one run. */
export const limitFlags = {
  "--wait-for-quota": "Wait for a quota to reset, instead of exiting with 5 at once",
  "--context-tokens <N>": "Summarise older parts of a conversation before a request exceeds N tokens",
  "--max-turns <N>": "End after N model requests",
  "--max-tool-calls <N>": "End before tool call N + 1",
  "--max-tokens <N>": "End once N tokens are used",
  "--max-cost-usd <N>": "End once the run has cost N dollars",
  "--timeout <SECONDS>": "End after this time",
} as const;

/** Settings of a run, for any kind of output. */
export const settingFlags = {
  ...modelFlag,
  ...requestFlags,
  "--system-prompt <TEXT>": "Replace Sheaf's own instructions to the model",
  "--append-system-prompt <TEXT>": "Add text to the end of the system prompt",
  "--append-system-prompt-file <FILE>": "The same, with the text of a file",
  "--tools <LIST>": "Offer the model these tools alone, separated by commas",
  "--exclude-tools <LIST>": "Offer the model all tools but these",
  "--allowed-tools <LIST>": "Several --allow rules, or names of tools, in one list",
  "--approve-mcps": "Allow every tool of the MCP servers in your configuration",
  "--label <KEY=VALUE>...": "A label of the run, for sheaf usage --by label; repeatable",
  "--max-cost-usd-per-day <N>": "End once runs with the same label, or all, have cost N dollars today (UTC)",
  ...limitFlags,
} as const;

/** Flags of commands that run a model and print the run. */
export const runFlags = {
  "-p, --print": "Print the answer and exit (automatic in pipes)",
  ...outputFlags,
  ...settingFlags,
  ...workspaceFlag,
  ...heartbeatFlag,
  "--output-schema <FILE>": "The answer must be JSON that fits this JSON Schema",
  "--output-last-message <FILE>": "Also write the final message to a file",
  "--background-wait <SECONDS>": "How long to wait for background commands at the end (default: 600; 0: end them)",
  "--record-body <FILE>": "Keep the bytes that the provider answers, in FILE, FILE.2 and so on",
} as const;

export const serverFlags = {
  "--host <HOST>": "Address to listen on (default: 127.0.0.1)",
  "--port <PORT>": "Port to listen on (default: 7433, 0 for any free one)",
  "--token-file <FILE>": "Tokens of clients, one per line: TOKEN, or NAME TOKEN",
  "--jwt-issuer <URL>": "Identity provider: the server accepts its tokens (JWT)",
  "--jwt-audience <NAME>": "Name of this server in the tokens of the provider",
  "--jwks <URL>": "The provider's public keys (default: from its OpenID configuration)",
  "--store <URL>": "Store in a database, postgres://USER@HOST/NAME",
  "--on-node-loss <end|resume>": "End or resume responses of a server that died (default: end)",
  "--open": "Print an address that opens the page once, within a minute",
  "--allow-host <NAME>...": "Further name of this server, as clients call it",
  "--trust-proxy <ADDRESSES>...": "Proxies to trust in X-Forwarded-… headers, such as 127.0.0.1,10.0.0.0/8",
  "--allow-origin <ORIGIN>...": "Pages of this origin may call the API, by token",
  "--insecure-listen": "Listen for other machines without --token-file or --jwt-issuer",
  "--grace <SECONDS>": "Time for runs to end after a signal (default: 10)",
  "--workspace <DIR>...": "Folder to work in (repeatable): DIR, NAME=DIR or NAME=git+URL#BRANCH",
  "--trees <DIR>": "Where the trees of workspaces from git are (default: the data folder)",
  ...modelFlag,
  "--offer <MODEL>...": "Further model that requests may name (repeatable)",
  ...requestFlags,
  ...limitFlags,
  "--heartbeat <SECONDS>": "Send a heartbeat in event streams after this silence (default: 15)",
  "--max-running <N>": "Simultaneous responses per token",
  "--max-waiting <N>": "Messages per token that wait in the store (default: 1000)",
  "--max-streams <N>": "Simultaneous event streams per token",
  "--max-conversations <N>": "Conversations per token",
  "--max-attachments <N>": "Files per token that were sent before their message (default: 100)",
  "--max-attachments-mib <N>": "Size of these files together (default: 100)",
  "--max-attachment-mib <N>": "Size of one attached file, at most 10 (default: 10)",
  "--attachment-hours <N>": "How long files can be sent before their message (default: 24)",
  "--max-turns-per-day <N>": "Model requests per token and day (UTC)",
  "--max-cost-usd-per-day <N>": "Dollars per token and day (UTC), by its price",
  "--keep-days <N>": "Delete conversations N days after their last message, unless they are pinned",
} as const;

export const testFlags = {
  "--name <NAME>": "add: the name of the test, in .sheaf/tests",
  "--files <GLOB>...": "add: the files of the workspace that it needs (repeatable)",
  "--update": "Accept the results of this run",
  "--live": "Ask a real model, and compare the expectations alone",
  "--runs <N>": "--live: how often (default: 1)",
  "--model <MODEL>": "--live: the model",
  "--format <text|markdown|junit>": "text is the default",
  "-o, --output <FILE>": "Write to a file, not to stdout",
  ...trustFlag,
  ...workspaceFlag,
} as const;
