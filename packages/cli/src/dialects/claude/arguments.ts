/** Turns the arguments of `claude` into Sheaf's (C200). A loss causes a notice, and a loss of safety a refusal. */
import { resolve } from "node:path";
import type { Notice } from "@sheaf/protocol";
import { isJsonObject, parseJson } from "@sheaf/protocol/check-value";
import type { McpServers } from "@sheaf/agent/config/mcp-settings";
import { parseServerEntry } from "@sheaf/agent/config/server-list";
import { SheafError } from "@sheaf/base/errors";
import { readOrdinaryFile } from "@sheaf/base/read-ordinary-file";
import { flags as sheafFlags, mapSpellings, parseFlags, type FlagValues } from "../../flags.ts";
import { ignoreUnknown } from "../ignore-unknown.ts";
import { toDenials, toGrants, toOffered } from "./rules.ts";

const log = "the log of the session has the details";

/** The meaning of each flag: a flag of Sheaf, the reason why it has no effect, or "" if the code below handles it. */
const known = mapSpellings(
  parseFlags({
    "-p, --print": "--print",
    "-c, --continue": "--continue",
    "-r, --resume [ID]": "--resume",
    "-h, --help": "--help",
    "-v, --version": "--version",
    "--verbose": "--verbose",
    "--include-partial-messages": "--stream-partial-output",
    "--no-session-persistence": "--no-save",
    "--model <MODEL>": "--model",
    "--fallback-model <MODEL>": "--fallback-model",
    "--max-turns <COUNT>": "--max-turns",
    "--max-budget-usd <AMOUNT>": "--max-cost-usd",
    "--session-id <ID>": "--session-id",
    "--input-format <FORMAT>": "--input-format",
    "--output-format <FORMAT>": "--output-format",
    "--json-schema <SCHEMA>": "--output-schema",
    "--system-prompt <TEXT>": "--system-prompt",
    "--append-system-prompt <TEXT>": "--append-system-prompt",
    "--append-system-prompt-file <FILE>": "--append-system-prompt-file",
    "--allowedTools, --allowed-tools <RULE>...": "",
    "--disallowedTools, --disallowed-tools <RULE>...": "",
    "--tools <TOOL>...": "",
    "--add-dir <FOLDER>...": "",
    "--mcp-config <SERVERS>...": "",
    "--settings <SETTINGS>": "",
    "--permission-mode <MODE>": "",
    "--permission-prompt-tool <TOOL>": "",
    "--dangerously-skip-permissions": "",
    "--effort <EFFORT>": "",
    "--thinking <MODE>": "",
    "--max-thinking-tokens <COUNT>": "",
    "--allow-dangerously-skip-permissions, --await-initialize": "",
    "--compat <DIALECT>": "",
    "--ide, --chrome, --no-chrome, --replay-user-messages, --include-hook-events": "only lines are shown",
    "-d, --debug, --debug-to-stderr [FILTER]": log,
    "--debug-file <FILE>": log,
    "--betas <NAME>...": "Sheaf chooses the headers of its requests",
    "--setting-sources <SOURCES>": "Sheaf reads AGENTS.md, its configuration and trusted workspaces",
    "--plugin-dir, --plugin-dir-no-mcp <FOLDER>": "add tools with sheaf mcp add",
    "--agents, --agent <AGENT>": "files of .claude/agents are subagents, in a trusted workspace",
    "--thinking-display, --task-budget <VALUE>": "--effort decides how much the model thinks",
    "--disable-slash-commands, --exclude-dynamic-system-prompt-sections": "the prompt is Sheaf's",
    "--session-mirror, --channels <VALUE>": "sessions are in Sheaf's store alone",
  }),
);

export interface ClaudeArguments {
  readonly flags: FlagValues;
  readonly positionals: readonly string[];
  readonly notices: readonly Notice[];
  readonly state: ClaudeState;
}

/** The state of a run that requests on stdin can change. */
export interface ClaudeState {
  readonly permissionMode: string;
  /** True if a program answers questions about calls. */
  readonly asks: boolean;
  readonly mcpServers: McpServers;
}

/** Reads the arguments. @throws SheafError USAGE for a bad value, and for an unknown flag that may limit the run. */
export function readClaudeArguments(words: readonly string[], cwd: string): ClaudeArguments {
  const { given, positionals, notices } = readWords(words);
  const last = (name: string): string | undefined => given.get(name)?.at(-1);
  const settings = readSettings(last("--settings"), cwd, notices);
  const own = [...given].flatMap(([name, values]) => {
    const flag = sheafFlags.get(known.get(name)?.help ?? "");
    return flag ? [[flag.name, flag.kind === "switch" ? true : values.at(-1)] as const] : [];
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

interface Words {
  /** Values by the first long spelling, in the order of the words; a switch has "". */
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
  readonly notices: Notice[];
}

/** Reads the words. @throws SheafError USAGE for a missing value, and as `ignoreUnknown`. */
function readWords(words: readonly string[]): Words {
  const given = new Map<string, string[]>();
  const notices = new Map<string, Notice>();
  const end = words.indexOf("--");
  const rest = words.slice(0, end < 0 ? undefined : end);
  const positionals: string[] = [];
  const takeWord = (): string | undefined => (rest[0] === undefined || /^-./.test(rest[0]) ? undefined : rest.shift());
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!/^-./.test(word)) {
      // Some programs write an empty value after a switch.
      if (word !== "") positionals.push(word);
      continue;
    }
    const [, spelling = word, attached] = /^(-[^=]*)=([\s\S]*)$/.exec(word) ?? [];
    const flag = known.get(spelling);
    if (!flag) {
      notices.set(spelling, ignoreUnknown(spelling));
      continue;
    }
    const { name, kind, help } = flag;
    const isLost = help !== "" && !sheafFlags.has(help);
    if (isLost) notices.set(spelling, { code: "FLAG_IGNORED", message: `${spelling} is ignored: ${help}` });
    const values = given.get(`--${name}`) ?? [];
    given.set(`--${name}`, values);
    if (attached !== undefined || kind === "switch") values.push(attached ?? "");
    else if (kind === "list") for (let next = takeWord(); next !== undefined; next = takeWord()) values.push(next);
    else {
      const value = takeWord();
      if (value === undefined && kind === "value") {
        throw new SheafError("USAGE", `${spelling} needs a value: write ${spelling}=VALUE`);
      }
      values.push(value ?? "");
    }
  }
  return {
    given,
    positionals: [...positionals, ...(end < 0 ? [] : words.slice(end + 1))],
    notices: [...notices.values()],
  };
}

/** Divides lists of rules at commas or blanks outside of brackets. */
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

/** Matches settings without an effect here. */
const idleSettings =
  /^(\$schema|includeCoAuthoredBy|cleanupPeriodDays|outputStyle|statusLine|spinner.*|theme|language|env|apiKeyHelper)$/;

/** Reads settings. @throws SheafError USAGE for a setting that may limit the run. */
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

/** Reads tool servers. @throws SheafError USAGE for a server that Sheaf cannot use. */
function readServers(text: string, cwd: string): McpServers {
  const { mcpServers = {} } = readJson("--mcp-config", text, cwd);
  const servers = Object.entries(isJsonObject(mcpServers) ? mcpServers : {}).map(([name, entry]) => {
    // The program has this server inside, and lists it in `initialize`.
    if (isJsonObject(entry) && entry["type"] === "sdk") return [];
    const settings = parseServerEntry(name, entry);
    if (typeof settings !== "string") return [[name, settings] as const];
    throw new SheafError("USAGE", `--mcp-config: the server ${name} cannot be used: ${settings}`);
  });
  return Object.fromEntries(servers.flat());
}

/** Size of the largest accepted file of settings, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** Reads JSON, or a file of JSON by its name. @throws SheafError USAGE for anything else. */
function readJson(flag: string, text: string, cwd: string): Readonly<Record<string, unknown>> {
  const isText = text.trimStart().startsWith("{");
  const read = isText ? undefined : readOrdinaryFile(resolve(cwd, text), MAX_BYTES);
  const value = parseJson(read?.ok ? read.bytes.toString() : text);
  if (isJsonObject(value)) return value;
  const problem = read && !read.ok ? `${text} ${read.problem}` : "its value is not a JSON object";
  throw new SheafError("USAGE", `${flag}: ${problem}: give JSON, or the name of a file with JSON`);
}
