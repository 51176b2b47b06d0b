/** Words, flags and help of each command, for parsing, errors, help and completion. */
import * as sets from "./flag-sets.ts";

export interface CommandDefinition {
  /** Words after the command's name; default: no words. */
  readonly usage?: string;
  /** Summary in one line. */
  readonly summary: string;
  /** Flags in the help's form, each with its help. Every command also takes `commonFlags`. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Examples of command lines, without `sheaf `. */
  readonly examples: readonly string[];
  /** Further help, one paragraph each. */
  readonly notes?: readonly string[];
  /** Possible first words, if the usage lacks some of them. */
  readonly actions?: readonly string[];
  /** Words that users type instead of the name. */
  readonly otherNames?: readonly string[];
}

const session = "123e4567-e89b-42d3-a456-426614174000";

/** All commands, in the order of the help. `prompt` describes words that aren't a command. */
const definitions = {
  prompt: {
    usage: "PROMPT…",
    summary: "Answer one prompt",
    flags: {
      ...sets.runFlags,
      "--input-format <text|stream-json>": "text (default), or stream-json: messages on stdin",
      "--list-models": "The same as sheaf models",
      "--list-tools": "Print the tools that a run with these flags offers",
      "--file <FILE>...": "Attach an image, a PDF or a text to the prompt (repeatable)",
      "--image <FILE>...": "The same as --file",
      "--resume [ID]": "Continue session ID (or its start), or the newest one",
      "--continue": "Continue the newest session of this workspace",
      "--session-id <UUID>": "Id of the new session",
      "--no-save": "Keep nothing on disk",
      "-w, --worktree [NAME]": "Work in a separate tree; the changes become the branch sheaf/NAME",
      "-v, --version": "Print the version",
    },
    examples: [],
  },
  answer: {
    usage: "SESSION QUESTION=OPTION…",
    summary: "Answer the questions of the agent (exit code 10), and continue",
    flags: sets.runFlags,
    examples: [`answer ${session} storage=sqlite`, `answer ${session} "name=My project"`],
    notes: ["Questions without an answer are skipped. With a single question its id may be left out."],
  },
  show: {
    usage: "SESSION",
    summary: "Print a stored session again, in any format",
    flags: { ...sets.outputFlags, ...sets.unmaskedFlag },
    examples: [`show ${session} --output-format text`, `show ${session} --output-format documents`],
  },
  ls: {
    summary: "List the sessions of this workspace, newest first",
    flags: {
      "--all": "Sessions of every workspace",
      ...sets.formatFlags,
      "--limit <N>": "At most N sessions (default: 50; with --format json, all)",
      ...sets.workspaceFlag,
    },
    examples: ["ls", "ls --all --format json"],
    otherNames: ["sessions", "session", "chats", "list", "history"],
  },
  usage: {
    summary: "Sum up the tokens and the cost of this workspace's sessions",
    flags: {
      "--by <LIST>": "Rows by model (default), day, workspace, or several",
      "--since <TIME>": "Since a day (2026-02-23), or the last 7d or 12h",
      "--all": "Sessions of every workspace",
      ...sets.formatFlags,
      ...sets.workspaceFlag,
    },
    examples: ["usage", "usage --all --by day,model --since 7d", "usage --json"],
    notes: [
      "The cost is that of the price recorded when the run began, or else of the prices in your configuration now.",
      "Sessions that were removed, or run with --no-save, are not in it. Days are those of UTC.",
    ],
  },
  "create-chat": { summary: "Print the id of a new session, for --resume", examples: ["create-chat"] },
  diff: {
    usage: "SESSION SESSION",
    summary: "Show where two sessions part, and their tokens, cost and files",
    flags: sets.formatFlags,
    examples: [`diff ${session} 0f8fad5b-d9cb-469f-a165-70867728950e`],
    notes: ["The exit code is 0 even if they differ. With --json, parting is null if they are the same."],
  },
  export: {
    usage: "SESSION",
    summary: "Write a session as JSON (which sheaf import reads), or Markdown",
    flags: {
      "--format <json|markdown>": "json is the default",
      "-o, --output <FILE>": "Write to a file, not to stdout",
      ...sets.unmaskedFlag,
    },
    examples: [`export ${session}`, `export ${session} --format markdown --output session.md`],
  },
  import: { usage: "FILE", summary: "Import what sheaf export wrote as JSON", examples: ["import session.json"] },
  fork: {
    usage: "SESSION [RESPONSE]",
    summary: "Start a new session from a response of another one; files are not changed",
    examples: [`fork ${session}`],
  },
  rm: { usage: "SESSION…", summary: "Delete sessions permanently", examples: [`rm ${session}`] },
  test: {
    usage: "[NAME…]",
    summary: "Run stored sessions again without a model, and show where they part",
    flags: sets.testFlags,
    actions: ["add"],
    examples: [`test add ${session} --name fix-cart`, "test", "test fix-cart --live --model anthropic/… --runs 3"],
    notes: ["sheaf test add SESSION --name NAME writes the file .sheaf/tests/NAME.yaml, for you to read and edit."],
  },
  demo: {
    summary: "Show how Sheaf fixes a bug, without a key, in a folder that it makes",
    flags: { "--open": "Also show it on the page", ...sets.outputFlags, ...sets.sandboxFlag },
    examples: ["demo", "demo --open", "demo --output-format documents"],
  },
  review: {
    usage: "[post FILE…]",
    summary: "Find problems of a change, or post them to GitHub or GitLab",
    flags: {
      "--base <COMMIT>": "Where the change is to go, such as origin/main",
      "--head <COMMIT>": "The end of the change (default: HEAD)",
      "--change <NUMBER>": "post: the pull request or merge request",
      ...sets.outputFlags,
      ...sets.modelFlag,
      ...sets.endpointFlags,
      ...sets.limitFlags,
      ...sets.trustFlag,
      ...sets.workspaceFlag,
    },
    actions: ["post"],
    examples: ["review --base main --output-format json", "review post findings.json --change 7 --head 0a1b2c3"],
    notes: ["A review only reads. Only sheaf review post needs the token of the repository, and it asks no model."],
  },
  schema: {
    usage: "NAME",
    summary: "Print a JSON Schema: stream-json, documents, events, config and others",
    examples: ["schema stream-json", "schema config > sheaf-config.schema.json"],
  },
  convert: {
    usage: "--to FORMAT [--from FORMAT]",
    summary: "Convert a model's or an agent's stream on stdin to documents",
    flags: {
      "--from <FORMAT>": "Its format (openai-chat, claude-stream-json, …), if Sheaf does not find it",
      "--to <FORMAT>": "What to print: documents, text, json, cursor-stream-json, codex-exec-json, …",
      "--include-thinking": "Print the model's thinking too",
      "--text-calls <TOOLS>": "Read calls of TOOLS (names with commas) in the text",
      "--report <FILE>": "Write what became no document to FILE",
    },
    examples: [
      "convert --to documents-stream < stream.sse",
      "convert --from claude-stream-json --to documents < run.ndjson",
    ],
  },
  login: {
    usage: "PROVIDER",
    summary: "Store a key, typed at a hidden prompt or piped to stdin",
    examples: ["login anthropic", "login openai < key.txt"],
  },
  logout: { usage: "[PROVIDER]", summary: "Delete a stored key, or all of them", examples: ["logout openai"] },
  models: {
    usage: "[PROVIDER]",
    summary: "List the names that --model takes",
    flags: { ...sets.formatFlags, ...sets.endpointFlags },
    examples: ["models", "models ollama --format json"],
  },
  blame: {
    usage: "FILE[:LINE]",
    summary: "Show which session, call, model and prompt made the lines of a file",
    flags: {
      "--format <text|json|agent-trace>": "text is the default; agent-trace: a record of Agent Trace",
      "--json": "The same as --format json",
      "--notes": "Write the record into the git notes of the newest commit (ref agent-trace)",
    },
    examples: ["blame src/cart.ts:12", "blame src/cart.ts --json"],
    notes: ["Lines that no call made are people's, with the commit that git blame shows."],
  },
  revert: {
    usage: "SESSION [RESPONSE]",
    summary: "Undo the last response, or RESPONSE and all after it: files and history",
    flags: {
      "--to <RESPONSE>": "The first response to revert",
      ...sets.formatFlags,
      "--overwrite": "The same as --on-conflict overwrite",
      "--on-conflict <refuse|leave|overwrite>": "What to do with files that changed since; refuse is the default",
      ...sets.workspaceFlag,
    },
    examples: [
      `revert ${session}`,
      `revert ${session} --to 0f8fad5b-d9cb-469f-a165-70867728950e`,
      `revert ${session} --on-conflict leave`,
    ],
  },
  trust: {
    usage: "[DIR]",
    summary: "Trust a repository: its AGENTS.md instructs the model",
    flags: {
      "--list": "List the trusted workspaces",
      "--remove": "Stop trusting it",
      ...sets.workspaceFlag,
      ...sets.formatFlags,
    },
    examples: ["trust", "trust --list", "trust --remove ../other"],
    notes: ["Trust grants no permissions: flags, rules and the sandbox decide what tools may do."],
  },
  skills: {
    summary: "List the skills and commands of this workspace, and why one is not used",
    flags: { ...sets.trustFlag, ...sets.workspaceFlag, ...sets.formatFlags },
    examples: ["skills", "skills --json"],
    notes: ["Those of a repository are used once you trust it."],
  },
  permissions: {
    usage: "explain | check",
    summary: "Show what a run may do and why, or decide one case",
    flags: {
      "--command <CMD>": "check: a shell command",
      "--path <PATH>": "check: a path of a file tool",
      "--access <read|write>": "check: how --path is used",
      "--url <URL>": "check: an address",
      "--mcp <SERVER:TOOL>": "check: a tool of an MCP server",
      ...sets.ruleFlags,
      ...sets.modeFlags,
      ...sets.sandboxFlag,
      ...sets.workspaceFlag,
      ...sets.addDirFlag,
      ...sets.trustFlag,
      ...sets.formatFlags,
    },
    examples: [
      "permissions explain",
      'permissions check --command "npm test && git push" --allow "Shell(npm test)" --json',
      "permissions check --path .env --access read --deny 'Read(.env)' --json",
      "permissions check --url https://example.org/ --json",
    ],
    notes: ["A check prints allow, ask or deny. In print mode nobody is asked, so that ask means refused."],
  },
  serve: {
    summary: "Serve the Chat API and its page over HTTP",
    flags: sets.serverFlags,
    examples: [
      "serve --model anthropic/claude-sonnet-4-5 --open",
      "serve --port 0 --model offline --workspace docs=~/docs",
      "serve --store postgres://sheaf@db.example.org/sheaf --token-file ~/.config/sheaf/tokens",
      "serve --model offline --workspace app=git+https://git.example.org/app.git#main",
      "serve --model offline --allow-host chat.example.org --trust-proxy 127.0.0.1",
    ],
  },
  store: {
    usage: "check | migrate | vacuum | copy",
    summary: "Check, migrate, vacuum or copy the whole store of a server",
    flags: { "--store <URL>": "This database, not the file: postgres://USER@HOST/NAME", ...sets.formatFlags },
    examples: ["store check", "store copy --store postgres://sheaf@db.example.org/sheaf"],
    notes: [
      "check reads every log; exit code 9 if something is wrong. migrate brings the tables to the newest schema.",
      "vacuum frees the space of what was deleted.",
      "copy moves the file of this user to a database that is empty, in one transaction, and verifies every row.",
    ],
  },
  config: {
    usage: "explain",
    summary: "Show each setting, its value and where it came from",
    flags: { ...sets.settingFlags, ...sets.workspaceFlag, ...sets.heartbeatFlag, ...sets.formatFlags },
    examples: ["config explain", "config explain --model offline --format json"],
  },
  doctor: {
    summary: "Check this machine, the model and its key, and suggest fixes",
    flags: {
      ...sets.formatFlags,
      ...sets.modelFlag,
      ...sets.endpointFlags,
      ...sets.workspaceFlag,
      ...sets.sandboxFlag,
    },
    examples: ["doctor", "doctor --json"],
    notes: ["User namespaces work if this command prints 0: unshare --user --map-root-user id -u"],
  },
  completion: {
    usage: "bash|zsh|fish",
    summary: "Print the completion script of a shell",
    examples: [
      "completion bash > ~/.local/share/bash-completion/completions/sheaf",
      'completion zsh > "${fpath[1]}/_sheaf"',
      "completion fish > ~/.config/fish/completions/sheaf.fish",
    ],
  },
  "install-alias": {
    usage: "DIR",
    summary: "Create programs that start Sheaf, also under the name of another agent",
    flags: {
      "--as <NAME>...": "cursor-agent, agent, codex, claude or sheaf; repeatable (default: the first two)",
      "--overwrite": "Replace any other program",
    },
    examples: ["install-alias ~/bin", "install-alias ~/bin --as codex"],
    notes: ["Only programs that this command made are replaced, unless you pass --overwrite."],
  },
  hooks: {
    usage: "ls | trust [FILE…] | test EVENT",
    summary: "List the hooks of a run, trust those of a repository, or try them",
    flags: {
      "--tool <NAME>": "test: the tool that is called",
      "--input <JSON>": "test: tool_input, or the fields of the event",
      ...sets.consentFlags,
      ...sets.workspaceFlag,
      ...sets.trustFlag,
      ...sets.sandboxFlag,
      ...sets.formatFlags,
    },
    examples: ["hooks ls", `hooks test PreToolUse --tool Bash --input '{"command":"rm -r build"}'`, "hooks trust"],
    notes: [
      "hooks test runs the hooks of the event as a run would, and shows what each would do.",
      "hooks trust shows the hooks of this repository's .claude/settings.json, .claude/settings.local.json or .sheaf/hooks.json, and asks whether runs may use them. What changes needs a new yes.",
    ],
  },
  mcp: {
    usage: "list|add|remove|trust|login …",
    actions: "list list-tools list-prompts list-resources add remove trust login logout enable disable".split(" "),
    summary: "Show, add, remove or trust servers of the Model Context Protocol",
    flags: {
      ...sets.formatFlags,
      "--url <URL>": "add: address of a running server",
      '-H, --header <"NAME: VALUE">...': "add: header of each request to the server (repeatable)",
      "-e, --env <NAME=VALUE>...":
        "add: a variable of the server (repeatable); NAME alone takes it from your environment",
      "--timeout <SECONDS>": "add: longest call without progress",
      "--start-timeout <SECONDS>": "add: longest time until the server is ready",
      ...sets.consentFlags,
      "--no-browser": "login: open no browser; paste the address at which one ends",
      ...sets.workspaceFlag,
    },
    examples: [
      "mcp list",
      "mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/docs",
      "mcp add search --url https://example.org/mcp",
      "mcp remove files",
      "mcp list-tools files",
      "mcp list-prompts files",
      "mcp trust",
      "mcp login search",
    ],
    notes: [
      "mcp login NAME logs in to a server that asks for it, in a browser; mcp logout NAME forgets the login.",
      "mcp enable and disable NAME are mcp trust and mcp trust --remove, for a server of this workspace.",
      "mcp trust shows the servers of this workspace's .mcp.json and .cursor/mcp.json, and asks for each whether runs may use it. A server that changes needs a new yes.",
    ],
  },
  acp: {
    usage: "[login PROVIDER]",
    summary: "Speak the Agent Client Protocol on stdin and stdout, for editors",
    // The editor chooses the folder and shows the run, so flags for both are missing.
    flags: sets.settingFlags,
    examples: ["acp --model anthropic/claude-sonnet-4-5"],
    notes: [
      "The editor names the folder of each session. Calls that need consent are asked in the editor.",
      "sheaf acp login PROVIDER is sheaf login PROVIDER, for editors that open a terminal to log in.",
    ],
  },
  help: {
    usage: "[COMMAND]",
    summary: "Show the common flags, all of them, all commands, or one command",
    examples: ["help", "help flags", "help commands", "help export"],
  },
} as const satisfies Readonly<Record<string, CommandDefinition>>;

export type Definitions = typeof definitions;

/** Name of a command, which excludes `prompt`. */
export type CommandName = Exclude<keyof Definitions, "prompt">;

export const commandDefinitions: Readonly<Record<CommandName | "prompt", CommandDefinition>> = definitions;

export const commandNames = Object.keys(definitions).filter((name) => name !== "prompt") as CommandName[];

export function isCommandName(word: string): word is CommandName {
  return (commandNames as readonly string[]).includes(word);
}

/** Words after `sheaf help` that aren't commands. */
export const helpTopics = ["commands", "flags"] as const;

/** Returns the literal words of a usage: `ls` and `rm` for `ls | rm NAME…`. */
export function listChoices(usage: string): string[] {
  const parts = usage.replace(/^\[|\]$/g, "").split("|");
  return parts.map((part) => part.trim().split(" ", 1)[0]!).filter((word) => /^[a-z]/.test(word));
}
