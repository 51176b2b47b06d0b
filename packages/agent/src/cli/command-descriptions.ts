/** What the commands do: for help and completion, and for the check of flags that do not belong. */
import type { CommandName } from "./command-usages.ts";
import type { FlagName } from "./flags.ts";
import { limitFlags, outputFlags, requestFlags, runFlags, settingFlags } from "./prompt-flags.ts";

export interface CommandDescription {
  /** One line. */
  readonly summary: string;
  /** Flags that it takes besides `--verbose` and `--help`. */
  readonly flags: readonly FlagName[];
  /** Command lines, without `sheaf `. */
  readonly examples: readonly string[];
  /** More to know, one paragraph each. */
  readonly notes?: readonly string[];
}

const session = "123e4567-e89b-42d3-a456-426614174000";

/** By command. */
export const commandDescriptions: Readonly<Record<CommandName, CommandDescription>> = {
  answer: {
    summary: "Answer the questions of the agent (exit code 10), and continue",
    flags: runFlags,
    examples: [`answer ${session} storage=sqlite`, `answer ${session} "name=My project"`],
    notes: ["Questions without an answer are skipped. With a single question its id may be left out."],
  },
  show: {
    summary: "Print a stored session again, in any format",
    flags: outputFlags,
    examples: [`show ${session} --output-format text`, `show ${session} --output-format documents`],
  },
  ls: {
    summary: "List the sessions of this workspace, newest first",
    flags: ["all", "format", "json", "limit", "workspace"],
    examples: ["ls", "ls --all --format json"],
  },
  usage: {
    summary: "Sum up the tokens and the cost of this workspace's sessions",
    flags: ["by", "since", "all", "format", "json", "workspace"],
    examples: ["usage", "usage --all --by day,model --since 7d", "usage --json"],
    notes: [
      "The cost is that of the price recorded when the run began, or else of the prices in your configuration now.",
      "Sessions that were removed, or run with --no-save, are not in it. Days are those of UTC.",
    ],
  },
  "create-chat": {
    summary: "Print the id of a new session, for --resume",
    flags: [],
    examples: ["create-chat"],
  },
  export: {
    summary: "Write a session as JSON (which sheaf import reads), Markdown, or one HTML file",
    flags: ["format", "output"],
    examples: [`export ${session}`, `export ${session} --format markdown --output session.md`],
  },
  import: {
    summary: "Import a session that sheaf export wrote as JSON",
    flags: [],
    examples: ["import session.json"],
  },
  fork: {
    summary: "Start a new session from a response of another one; files are not changed",
    flags: [],
    examples: [`fork ${session}`],
  },
  rm: { summary: "Delete sessions permanently", flags: [], examples: [`rm ${session}`] },
  replay: {
    summary: "Print a run of --record again, offline, in any format",
    flags: [...outputFlags, "redact"],
    examples: ["replay run.ndjson", "replay run.ndjson --redact shared.ndjson"],
  },
  schema: {
    summary: "Print a JSON Schema: stream-json, documents, events, config and others",
    flags: [],
    examples: ["schema stream-json", "schema config > sheaf-config.schema.json"],
  },
  convert: {
    summary: "Convert a model's or an agent's stream on stdin to documents",
    flags: ["from", "to", "include-thinking"],
    examples: [
      "convert --from openai-chat --to documents-stream < stream.sse",
      "convert --from cursor-stream-json --to documents < run.ndjson",
    ],
  },
  login: {
    summary: "Store a key, typed at a hidden prompt or piped to stdin",
    flags: [],
    examples: ["login anthropic", "login openai < key.txt"],
  },
  logout: {
    summary: "Delete a stored key, or all of them",
    flags: [],
    examples: ["logout openai"],
  },
  models: {
    summary: "List the names that --model takes",
    flags: ["format", "json", "api-key", "base-url", "header"],
    examples: ["models", "models ollama --format json"],
  },
  revert: {
    summary: "Undo the last response, or RESPONSE and all after it: files and history",
    flags: ["to", "format", "json", "overwrite", "on-conflict", "workspace"],
    examples: [
      `revert ${session}`,
      `revert ${session} --to 0f8fad5b-d9cb-469f-a165-70867728950e`,
      `revert ${session} --on-conflict leave`,
    ],
  },
  worktrees: {
    summary: "List the working trees of --worktree, remove them, or merge one",
    flags: ["format", "json", "all", "force", "branch", "on-conflict", "workspace"],
    examples: [
      "worktrees ls",
      "worktrees merge fix-login",
      "worktrees merge fix-login --branch",
      "worktrees rm fix-login",
    ],
    notes: [
      "merge changes your files, and commits nothing; with conflicts it changes none, unless --on-conflict says so.",
      "A tree is kept after a merge, until rm.",
    ],
  },
  trust: {
    summary: "Trust a repository: its AGENTS.md instructs the model",
    flags: ["list", "remove", "workspace", "format", "json"],
    examples: ["trust", "trust --list", "trust --remove ../other"],
    notes: ["Trust grants no permissions: flags, rules and the sandbox decide what tools may do."],
  },
  skills: {
    summary: "List the skills and commands of this workspace, and why one is not used",
    flags: ["trust", "workspace", "format", "json"],
    examples: ["skills", "skills --json"],
    notes: ["Those of a repository are used once you trust it."],
  },
  permissions: {
    summary: "Show what a run may do and why, or decide one case",
    flags: [
      "command",
      "path",
      "access",
      "url",
      "mcp",
      "allow",
      "ask",
      "deny",
      "force",
      "mode",
      "plan",
      "sandbox",
      "workspace",
      "add-dir",
      "trust",
      "format",
      "json",
    ],
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
    flags: [
      "host",
      "port",
      "token-file",
      "store",
      "on-node-loss",
      "open",
      "allow-host",
      "trust-proxy",
      "allow-origin",
      "insecure-listen",
      "grace",
      "workspace",
      "trees",
      "add-dir",
      "model",
      "offer",
      ...requestFlags,
      "on-denied",
      "sandbox",
      "trust",
      ...limitFlags,
      "max-running",
      "max-waiting",
      "max-streams",
      "max-conversations",
      "max-attachments",
      "max-attachments-mib",
      "max-attachment-mib",
      "attachment-hours",
      "max-turns-per-day",
      "max-cost-usd-per-day",
      "keep-days",
    ],
    examples: [
      "serve --model anthropic/claude-sonnet-4-5 --open",
      "serve --port 0 --model offline --workspace docs=~/docs",
      "serve --store postgres://sheaf@db.example.org/sheaf --token-file ~/.config/sheaf/tokens",
      "serve --model offline --workspace app=git+https://git.example.org/app.git#main",
      "serve --model offline --allow-host chat.example.org --trust-proxy 127.0.0.1",
    ],
  },
  store: {
    summary: "Check, migrate, vacuum or copy the whole store of a server",
    flags: ["store", "format", "json"],
    examples: ["store check", "store copy --store postgres://sheaf@db.example.org/sheaf"],
    notes: [
      "check reads every log; exit code 9 if something is wrong. migrate brings the tables to the newest schema.",
      "vacuum frees the space of what was deleted.",
      "copy moves the file of this user to a database that is empty, in one transaction, and verifies every row.",
    ],
  },
  config: {
    summary: "Show each setting, its value and where it came from",
    flags: [...settingFlags, "format", "json"],
    examples: ["config explain", "config explain --model offline --format json"],
  },
  doctor: {
    summary: "Check this machine, the model and its key, and suggest fixes",
    flags: ["json", "format", "model", "base-url", "api-key", "header", "workspace", "sandbox"],
    examples: ["doctor", "doctor --json"],
  },
  completion: {
    summary: "Print the completion script of a shell",
    flags: [],
    examples: [
      "completion bash > ~/.local/share/bash-completion/completions/sheaf",
      'completion zsh > "${fpath[1]}/_sheaf"',
      "completion fish > ~/.config/fish/completions/sheaf.fish",
    ],
  },
  "install-alias": {
    summary: "Create programs that start Sheaf as cursor-agent (profile cursor-2026)",
    flags: ["overwrite"],
    examples: ["install-alias ~/bin", "install-alias ~/bin cursor-agent"],
    notes: ["Only programs that this command made are replaced, unless you pass --overwrite."],
  },
  hooks: {
    summary: "List the hooks of a run, trust those of a repository, or try them",
    flags: ["tool", "input", "remove", "digest", "workspace", "trust", "sandbox", "format", "json"],
    examples: ["hooks ls", `hooks test PreToolUse --tool Bash --input '{"command":"rm -r build"}'`, "hooks trust"],
    notes: [
      "hooks test runs the hooks of the event as a run would, and shows what each would do.",
      "hooks trust shows the hooks of this repository's .claude/settings.json, .claude/settings.local.json or .sheaf/hooks.json, and asks whether runs may use them. What changes needs a new yes.",
    ],
  },
  mcp: {
    summary: "Show, add, remove or trust servers of the Model Context Protocol",
    flags: [
      "format",
      "json",
      "url",
      "header",
      "env",
      "timeout",
      "start-timeout",
      "digest",
      "remove",
      "no-browser",
      "workspace",
    ],
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
    summary: "Speak the Agent Client Protocol on stdin and stdout, for editors",
    // The editor names the folder, and shows the run.
    flags: settingFlags.filter((name) => name !== "workspace" && name !== "heartbeat"),
    examples: ["acp --model anthropic/claude-sonnet-4-5"],
    notes: [
      "The editor names the folder of each session. Calls that need consent are asked in the editor.",
      "sheaf acp login PROVIDER is sheaf login PROVIDER, for editors that open a terminal to log in.",
    ],
  },
  help: {
    summary: "Show the common flags, all of them, all commands, or one command",
    flags: [],
    examples: ["help", "help flags", "help commands", "help export"],
  },
};

/** Further words that `sheaf help` takes. */
export const helpTopics = ["commands", "flags"] as const;

export type HelpTopic = (typeof helpTopics)[number];
