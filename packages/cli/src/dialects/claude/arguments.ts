/** The arguments of `claude` as Sheaf's own (C200): a loss is a notice, and a loss of safety a refusal. */
import { resolve } from "node:path";
import type { Notice } from "@sheaf/protocol";
import { isJsonObject, parseJson } from "@sheaf/protocol/check-value";
import type { McpServers } from "@sheaf/agent/config/mcp-settings";
import { parseServerEntry } from "@sheaf/agent/config/server-list";
import { SheafError } from "@sheaf/base/errors";
import { readOrdinaryFile } from "@sheaf/base/read-ordinary-file";
import type { FlagName, FlagValues } from "../../flags.ts";
import { ignoreUnknown, readForeignArguments, type Arity, type ForeignFlag } from "../foreign-arguments.ts";
import { toDenials, toGrants, toOffered } from "./rules.ts";

/** Flags of Sheaf by the first name that they have in `claude`. */
const same: Readonly<Record<string, FlagName>> = {
  "--print": "print",
  "--continue": "continue",
  "--verbose": "verbose",
  "--help": "help",
  "--version": "version",
  "--include-partial-messages": "stream-partial-output",
  "--no-session-persistence": "no-save",
  "--model": "model",
  "--fallback-model": "fallback-model",
  "--max-turns": "max-turns",
  "--max-budget-usd": "max-cost-usd",
  "--session-id": "session-id",
  "--resume": "resume",
  "--input-format": "input-format",
  "--output-format": "output-format",
  "--json-schema": "output-schema",
  "--system-prompt": "system-prompt",
  "--append-system-prompt": "append-system-prompt",
  "--append-system-prompt-file": "append-system-prompt-file",
};

const toFlags = (arity: Arity, spellings: string, loss?: string): ForeignFlag[] =>
  spellings.split(", ").map((names) => ({ spellings: names, arity, ...(loss !== undefined && { loss }) }));

const flags: readonly ForeignFlag[] = [
  ...toFlags("switch", "--print -p, --continue -c, --verbose, --help -h, --version -v, --include-partial-messages"),
  ...toFlags("switch", "--no-session-persistence, --dangerously-skip-permissions"),
  ...toFlags("switch", "--allow-dangerously-skip-permissions, --await-initialize"),
  ...toFlags(
    "value",
    "--compat, --model, --fallback-model, --max-turns, --max-budget-usd, --session-id, --input-format",
  ),
  ...toFlags("value", "--output-format, --json-schema, --system-prompt, --append-system-prompt, --effort, --thinking"),
  ...toFlags("value", "--append-system-prompt-file, --max-thinking-tokens, --permission-mode, --settings"),
  ...toFlags("value", "--permission-prompt-tool"),
  ...toFlags("optional", "--resume -r"),
  ...toFlags("list", "--allowedTools --allowed-tools, --disallowedTools --disallowed-tools, --tools, --add-dir"),
  ...toFlags("list", "--mcp-config"),
  ...toFlags(
    "switch",
    "--ide, --chrome, --no-chrome, --replay-user-messages, --include-hook-events",
    "only lines are shown",
  ),
  ...toFlags("optional", "--debug -d, --debug-to-stderr", "the log of the session has the details"),
  ...toFlags("value", "--debug-file", "the log of the session has the details"),
  ...toFlags("list", "--betas", "Sheaf chooses the headers of its requests"),
  ...toFlags("value", "--setting-sources", "Sheaf reads AGENTS.md, its configuration and trusted workspaces"),
  ...toFlags("value", "--plugin-dir, --plugin-dir-no-mcp", "add tools with sheaf mcp add"),
  ...toFlags("value", "--agents, --agent", "files of .claude/agents are subagents, in a trusted workspace"),
  ...toFlags("value", "--thinking-display, --task-budget", "--effort decides how much the model thinks"),
  ...toFlags("switch", "--disable-slash-commands, --exclude-dynamic-system-prompt-sections", "the prompt is Sheaf's"),
  ...toFlags("value", "--session-mirror, --channels", "sessions are in Sheaf's store alone"),
];

export interface ClaudeArguments {
  readonly flags: FlagValues;
  readonly positionals: readonly string[];
  readonly notices: readonly Notice[];
  readonly state: ClaudeState;
}

/** What requests on stdin may change between runs. */
export interface ClaudeState {
  readonly permissionMode: string;
  /** A program answers questions about calls. */
  readonly asks: boolean;
  readonly mcpServers: McpServers;
}

/** @throws SheafError USAGE for a flag or a setting that is unknown and may limit the run, and for values that cannot be used. */
export function readClaudeArguments(words: readonly string[], cwd: string): ClaudeArguments {
  const { given, positionals, notices: ignored } = readForeignArguments(words, flags);
  const notices = [...ignored];
  const last = (name: string): string | undefined => given.get(name)?.at(-1);
  const settings = readSettings(last("--settings"), cwd, notices);
  const own = Object.entries(same).flatMap(([name, flag]) => {
    const value = last(name);
    if (value === undefined) return [];
    return [[flag, value === "" && flag !== "resume" && !name.includes("prompt") ? true : value] as const];
  });
  const tool = last("--permission-prompt-tool");
  if (tool !== undefined && tool !== "stdio") {
    const message = `--permission-prompt-tool ${tool} would ask a tool server, which Sheaf does not do`;
    throw new SheafError("USAGE", `${message}: use stdio, or leave it out`);
  }
  const allow = [...(given.get("--allowedTools") ?? []), ...settings.allow];
  const deny = [...(given.get("--disallowedTools") ?? []), ...settings.deny];
  const grants = toGrants(splitRules(allow));
  const denials = toDenials(splitRules(deny));
  const offered = given.has("--tools") ? toOffered(given.get("--tools")!) : undefined;
  const dirs = [...(given.get("--add-dir") ?? []), ...settings.addDir];
  const thinking = last("--thinking") ?? (last("--max-thinking-tokens") === "0" ? "disabled" : undefined);
  const effort = last("--effort")?.replace("xhigh", "max").replace("minimal", "low");
  const isSkipping = given.has("--dangerously-skip-permissions");
  return {
    flags: {
      ...(settings.model !== undefined && { model: settings.model }),
      ...Object.fromEntries(own),
      ...(thinking === "disabled" ? { effort: "off" } : effort !== undefined && { effort }),
      ...((thinking ?? last("--max-thinking-tokens")) !== undefined &&
        thinking !== "disabled" && { "include-thinking": true }),
      ...(grants.length > 0 && { allow: grants }),
      ...(denials.rules.length > 0 && { deny: denials.rules }),
      ...(settings.ask.length > 0 && { ask: toGrants(settings.ask) }),
      ...(offered !== undefined && { tools: offered.join(",") }),
      // Questions end a run of Sheaf: the model asks in its answer, as programs for `claude -p` expect.
      "exclude-tools": ["ask_question", ...denials.tools].join(","),
      ...(dirs.length > 0 && { "add-dir": dirs }),
    },
    positionals,
    notices,
    state: {
      permissionMode: isSkipping ? "bypassPermissions" : (last("--permission-mode") ?? settings.mode ?? "default"),
      asks: tool === "stdio",
      mcpServers: Object.assign(
        {},
        ...(given.get("--mcp-config") ?? []).map((text) => readServers(text, cwd)),
      ) as McpServers,
    },
  };
}

/** Rules are separated by commas or blanks outside of brackets. */
function splitRules(lists: readonly string[]): string[] {
  return lists.flatMap((text) => text.match(/[^\s,(]+(\([^)]*\))?/g) ?? []);
}

interface ClaudeSettings {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  readonly addDir: readonly string[];
  readonly mode: string | undefined;
  readonly model: string | undefined;
}

/** Settings without an effect here. */
const idleSettings =
  /^(\$schema|includeCoAuthoredBy|cleanupPeriodDays|outputStyle|statusLine|spinner.*|theme|language|env|apiKeyHelper)$/;

/** @throws SheafError USAGE for a setting that may limit the run. */
function readSettings(text: string | undefined, cwd: string, notices: Notice[]): ClaudeSettings {
  const { permissions, model, ...others } = text === undefined ? {} : readJson("--settings", text, cwd);
  for (const name of Object.keys(others)) {
    const message = `the setting ${name} is ignored: Sheaf runs no helper and reads keys from its own places (sheaf doctor)`;
    notices.push(idleSettings.test(name) ? { code: "FLAG_IGNORED", message } : ignoreUnknown(`the setting ${name}`));
  }
  const { allow, ask, deny, additionalDirectories, defaultMode, ...unknown } = isJsonObject(permissions)
    ? permissions
    : {};
  for (const name of Object.keys(unknown)) notices.push(ignoreUnknown(`the setting permissions.${name}`));
  const toWords = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
  return {
    allow: toWords(allow),
    ask: toWords(ask),
    deny: toWords(deny),
    addDir: toWords(additionalDirectories),
    mode: typeof defaultMode === "string" ? defaultMode : undefined,
    model: typeof model === "string" ? model : undefined,
  };
}

/** @throws SheafError USAGE for a server that Sheaf cannot use. */
function readServers(text: string, cwd: string): McpServers {
  const { mcpServers = {} } = readJson("--mcp-config", text, cwd);
  const servers = Object.entries(isJsonObject(mcpServers) ? mcpServers : {}).map(([name, entry]) => {
    // Such a server is in the program, which lists it in `initialize`.
    if (isJsonObject(entry) && entry["type"] === "sdk") return [];
    const settings = parseServerEntry(name, entry);
    if (typeof settings !== "string") return [[name, settings] as const];
    throw new SheafError("USAGE", `--mcp-config: the server ${name} cannot be used: ${settings}`);
  });
  return Object.fromEntries(servers.flat());
}

/** Longest file of settings. Bytes. */
const MAX_BYTES = 1024 * 1024;

/** JSON itself, or the name of a file with it. @throws SheafError USAGE for anything else. */
function readJson(flag: string, text: string, cwd: string): Readonly<Record<string, unknown>> {
  const isText = text.trimStart().startsWith("{");
  const read = isText ? undefined : readOrdinaryFile(resolve(cwd, text), MAX_BYTES);
  const value = parseJson(read?.ok ? read.bytes.toString() : text);
  if (isJsonObject(value)) return value;
  const problem = read && !read.ok ? `${text} ${read.problem}` : "its value is not a JSON object";
  throw new SheafError("USAGE", `${flag}: ${problem}: give JSON, or the name of a file with JSON`);
}
