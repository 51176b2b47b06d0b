/** `sheaf mcp list`, `list-tools`, `add`, `remove`, `trust` and others: servers of the Model Context Protocol. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { McpServerState } from "@sheaf/protocol";
import { toJsonObject } from "@sheaf/protocol/check-value";
import { createConfig, type Config } from "@sheaf/agent/config/config";
import { changeUserConfig } from "@sheaf/agent/config/config-file";
import { isHeld, isServerName, serverNameRule, type McpServerSettings } from "@sheaf/agent/config/mcp-settings";
import { toUserFiles, type Environment } from "@sheaf/base/paths";
import { SheafError } from "@sheaf/base/errors";
import {
  chooseServers,
  readWorkspaceServers,
  serverFiles,
  type WorkspaceServer,
} from "@sheaf/agent/config/workspace-servers";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import { preparePolicy, toCommandOptions } from "@sheaf/agent/assemble/prepare-policy";
import { createToolServers } from "@sheaf/agent/assemble/wire-servers";
import type { ServerLease } from "@sheaf/agent/tools/mcp/server-keeper";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { readConfigFile, toRawSettings } from "../run-config.ts";
import { printJson, printText } from "../standard-output.ts";
import { forgetLogin, runMcpLogin, runMcpLogout } from "./mcp-login.ts";
import type { ListedResource } from "@sheaf/agent/tools/mcp/resource-tools";
import type { ServerPrompt } from "@sheaf/agent/tools/mcp/server-prompts";
import { quoteVisible, runTrustContents, type Trustable } from "./trust-contents.ts";

/** Runs the chosen action. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runMcp(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [action = "list", ...words] = parsed.positionals;
  switch (action) {
    case "list":
      return listServers(parsed, io, words);
    case "add":
      return addServer(parsed.flags, io, words);
    case "remove":
      return removeServer(io, words);
    case "trust":
      return runMcpTrust(parsed, io, words);
    case "list-prompts":
    case "list-resources":
      return listFurther(parsed, io, action, toServerName(action, words));
    case "login":
      return runMcpLogin(parsed, io, toServerName(action, words));
    case "logout":
      return runMcpLogout(parsed, io, toServerName(action, words));
    case "list-tools":
      return listTools(parsed, io, toServerName(action, words));
    case "enable":
    case "disable":
      return switchServer(parsed, io, action, toServerName(action, words));
    default: {
      const known =
        "list, list-tools, list-prompts, list-resources, add, remove, trust, login, logout, enable or disable";
      throw new SheafError("USAGE", `mcp "${action}" is unknown: use ${known}`);
    }
  }
}

/** Connects to each server that a run would use, so that the list shows a run's view. */
async function listServers(parsed: ParsedArguments, io: CommandIo, words: readonly string[]): Promise<number> {
  if (words.length > 0)
    throw new SheafError("USAGE", `mcp list takes no words, but got "${words.join(" ")}": write sheaf mcp list`);
  const isJson = toCommandFormat(parsed) === "json";
  const { states, unread } = await connectServers(parsed, io);
  if (isJson) return printJson(io, states);
  const list = states.length === 0 ? noServers : states.map(formatServer).join("");
  return printText(io, `${list}${unread.map(formatUnread).join("")}`);
}

/** Prints the tools of one server with their arguments, in the form of `cursor-agent` (C43). */
async function listTools(parsed: ParsedArguments, io: CommandIo, name: string): Promise<number> {
  const isJson = toCommandFormat(parsed) === "json";
  const { states, tools } = await connectServers(parsed, io, name);
  checkReady(name, states);
  if (isJson) {
    return printJson(
      io,
      tools.map(({ mcp, description, schema }) => ({ name: mcp!.tool, description, schema })),
    );
  }
  const lines = tools.map(({ mcp, schema }) => {
    const names = Object.keys(schema.properties ?? {});
    return `- ${toVisibleLine(`${mcp!.tool} (${names.join(", ")})`)}\n`;
  });
  return printText(io, `Tools for ${toVisibleLine(name)} (${tools.length}):\n${lines.join("")}`);
}

/** Lists prompts or resources of one server (C111). */
async function listFurther(
  parsed: ParsedArguments,
  io: CommandIo,
  action: "list-prompts" | "list-resources",
  name: string,
): Promise<number> {
  const isJson = toCommandFormat(parsed) === "json";
  const { states, further } = await connectServers(parsed, io, name, async (lease, signal) =>
    action === "list-prompts"
      ? { prompts: await lease.prompts.list(name, signal) }
      : { resources: await lease.listResources(name, signal) },
  );
  checkReady(name, states);
  const { prompts = [], resources = [] } = { prompts: undefined, resources: undefined, ...further };
  if (isJson) return printJson(io, action === "list-prompts" ? prompts : resources);
  return printText(io, action === "list-prompts" ? formatPrompts(name, prompts) : formatResources(name, resources));
}

/** Checks that a server works. @throws SheafError USAGE, CONFIG_INVALID. */
function checkReady(name: string, [state]: readonly ListedServer[]): void {
  if (!state) throw new SheafError("USAGE", `there is no MCP server "${name}": see sheaf mcp list`);
  if (state.status === "ready") return;
  throw new SheafError("CONFIG_INVALID", `the MCP server ${name} is not ready: ${state.problem ?? state.status}`);
}

/** Enables or disables a server for clients of `cursor-agent`. A workspace's server needs `mcp trust` (S-87). */
function switchServer(
  parsed: ParsedArguments,
  io: CommandIo,
  action: "enable" | "disable",
  name: string,
): Promise<number> {
  const { file, settings } = readConfigFile(io);
  if (!Object.hasOwn(settings.mcpServers ?? {}, name)) {
    const flags = action === "enable" ? parsed.flags : { ...parsed.flags, remove: true as const };
    return runMcpTrust({ ...parsed, flags }, io, [name]);
  }
  if (action === "enable") return printText(io, `${name} is enabled, because it is in ${file}.\n`);
  throw new SheafError("USAGE", `a server in ${file} is always enabled: run sheaf mcp remove ${name} to remove it`);
}

function toServerName(action: string, [name, ...rest]: readonly string[]): string {
  if (name !== undefined && rest.length === 0) return name;
  throw new SheafError("USAGE", `mcp ${action} takes the name of one server: see sheaf mcp list`);
}

/** Connects to all servers that a run would use, or to one of them, and closes the connections again. */
async function connectServers<Further>(
  { flags }: ParsedArguments,
  io: CommandIo,
  only?: string,
  read?: (lease: ServerLease, signal: AbortSignal) => Promise<Further>,
) {
  const { environment } = io;
  const raw = { ...toRawSettings(flags), ...io.settings };
  const config = createConfig(raw, environment, io.cwd, readConfigFile(io).found);
  const { workspace, addedFolders } = config;
  const trusted = config.findTrust();
  const places = { ...config, trusted, environment };
  const { servers, leftOut, own } = chooseServers(places);
  const files = new Map((trusted ? readWorkspaceServers(places) : []).map(({ name, file }) => [name, file]));
  const isChosen = (name: string): boolean => only === undefined || name === only;
  const chosen = Object.fromEntries(Object.entries(servers).filter(([name]) => isChosen(name)));
  const { signal } = new AbortController();
  const order = { conversationId: "", servers: chosen };
  const policy = Object.values(chosen).some(isHeld)
    ? await preparePolicy({ ...config, trusted, environment, sandboxMemory: undefined, now: Date.now })
    : undefined;
  const held = policy && { commandOptions: toCommandOptions(policy, trusted, undefined), rules: undefined };
  const lease = await createToolServers(environment).lease(order, { workspace, addedFolders, held }, signal);
  let further: Further | undefined;
  try {
    further = lease && (await read?.(lease, signal));
  } finally {
    await lease?.release();
  }
  const states = [...(lease?.servers ?? []), ...leftOut.filter(({ name }) => isChosen(name))].map(
    (state): ListedServer => ({
      ...state,
      ...(own.has(state.name) ? { source: "user" } : { source: "workspace", file: files.get(state.name) }),
    }),
  );
  return {
    states,
    tools: lease?.tools ?? [],
    further,
    unread: trusted ? [] : serverFiles.filter((file) => existsSync(join(workspace, file))),
  };
}

interface ListedServer extends McpServerState {
  /** Owner of the configuration that defines the server. */
  readonly source: "user" | "workspace";
  /** File in the workspace that defines the server. */
  readonly file?: string | undefined;
}

const noServers = "No MCP servers configured (sheaf mcp add NAME -- COMMAND …)\n";
const formatUnread = (file: string): string =>
  `The ${file} of this workspace is not read: the workspace is not trusted (sheaf trust).\n`;

function formatServer({ name, file, status, tools, problem = "" }: ListedServer): string {
  const subject = toVisibleLine(file === undefined ? name : `${name} (${file})`);
  if (status === "ready") return `${subject}: ready (${tools.length} ${tools.length === 1 ? "tool" : "tools"})\n`;
  return `${subject}: ${status === "failed" ? `failed (${toVisibleLine(problem)})` : toVisibleLine(problem)}\n`;
}

async function addServer(flags: FlagValues, io: CommandIo, words: readonly string[]): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined) throw createAddError();
  // The check of the file alone would miss a name such as __proto__.
  if (!isServerName(name)) {
    throw new SheafError("USAGE", `an MCP server cannot have the name "${name}": expected ${serverNameRule}`);
  }
  const server = { ...toSettings(flags, rest, io), ...toServerLimits(flags) };
  const file = toUserFiles(io.environment).config;
  changeUserConfig(file, (config) => {
    const servers = toJsonObject(config.mcpServers);
    if (Object.hasOwn(servers, name)) {
      throw new SheafError("USAGE", `the MCP server "${name}" exists already: remove it with sheaf mcp remove ${name}`);
    }
    return { ...config, mcpServers: { ...servers, [name]: server } };
  });
  return printText(io, `Added the MCP server ${name} to ${file}.\n`);
}

function toSettings(
  { url, header = [], env = [] }: FlagValues,
  words: readonly string[],
  { environment }: CommandIo,
): McpServerSettings {
  const [command, ...args] = words;
  if (url !== undefined) {
    if (command !== undefined) throw createAddError();
    if (env.length > 0)
      throw new SheafError("USAGE", "--env is for a program, but this server has an address: use --header");
    const headers = header.map((line) => {
      const colon = line.indexOf(":");
      if (colon < 1) throw new SheafError("USAGE", '--header needs the form "NAME: VALUE"');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const;
    });
    return { url, ...(headers.length > 0 && { headers: Object.fromEntries(headers) }) };
  }
  if (command === undefined) throw createAddError();
  const relative = words.find((word) => /^\.{1,2}(\/|$)/.test(word));
  if (relative !== undefined) {
    const advice = "a server does not start in this folder: write an absolute path";
    throw new SheafError("USAGE", `"${relative}" is a relative path, and ${advice}`);
  }
  const variables = env.length > 0 && { env: toServerEnvironment(env, environment) };
  return { command, ...(args.length > 0 && { args }), ...variables };
}

function createAddError(): SheafError {
  const forms =
    'sheaf mcp add NAME [-e NAME=VALUE] -- COMMAND ARGS…, or sheaf mcp add NAME --url URL [-H "NAME: VALUE"]';
  return new SheafError("USAGE", `mcp add takes a name and a command or an address: write ${forms}`);
}

async function removeServer(io: CommandIo, words: readonly string[]): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined || rest.length > 0) {
    throw new SheafError("USAGE", `mcp remove takes the name of one server: see sheaf mcp list`);
  }
  const file = toUserFiles(io.environment).config;
  changeUserConfig(file, (config) => {
    const { [name]: found, ...others } = toJsonObject(config.mcpServers);
    if (found === undefined) {
      throw new SheafError("USAGE", `there is no MCP server "${name}" in ${file}: see sheaf mcp list`);
    }
    return { ...config, mcpServers: others };
  });
  const isForgotten = await forgetLogin(io, name);
  return printText(io, `Removed the MCP server ${name} from ${file}${isForgotten ? ", and its login" : ""}.\n`);
}

/** Reads the time limits of a server. @throws SheafError USAGE. */
export function toServerLimits(
  flags: Pick<FlagValues, "timeout" | "start-timeout">,
): Pick<McpServerSettings, "timeoutSeconds" | "startTimeoutSeconds"> {
  const [call, start] = [toSeconds("timeout", flags.timeout), toSeconds("start-timeout", flags["start-timeout"])];
  return {
    ...(call !== undefined && { timeoutSeconds: call }),
    ...(start !== undefined && { startTimeoutSeconds: start }),
  };
}

function toSeconds(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= 86_400) return seconds;
  throw new SheafError("USAGE", `--${flag} "${text}" is not a time: write seconds, more than 0 and at most 86400`);
}

/** Parses `NAME=VALUE`, or `NAME` for the value in this environment. @throws SheafError USAGE. */
export function toServerEnvironment(
  entries: readonly string[],
  environment: Environment,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    entries.map((entry) => {
      const [, name, value = name === undefined ? undefined : environment[name]] =
        /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(entry) ?? [];
      // An entry with a wrong form may be a key, so the message must not contain it.
      if (name === undefined) throw new SheafError("USAGE", "--env needs the form NAME=VALUE, or NAME alone");
      if (value !== undefined) return [name, value] as const;
      throw new SheafError("USAGE", `--env ${name}: the environment has no such variable; write ${name}=VALUE`);
    }),
  );
}

export function formatPrompts(server: string, prompts: readonly ServerPrompt[]): string {
  const lines = prompts.map(({ command, description, arguments: args }) => {
    const words = args.map(({ name, isRequired }) => (isRequired ? name : `[${name}]`));
    return formatLine([`/${command}`, ...words].join(" "), description);
  });
  return `Prompts of ${toVisibleLine(server)} (${prompts.length}):\n${lines.join("")}`;
}

export function formatResources(server: string, resources: readonly ListedResource[]): string {
  const lines = resources.map(({ uri, name, mimeType }) =>
    formatLine(uri, [name, mimeType ?? ""].filter((text) => text !== "").join(", ")),
  );
  return `Resources of ${toVisibleLine(server)} (${resources.length}):\n${lines.join("")}`;
}

function formatLine(subject: string, about: string): string {
  const [line = ""] = about.trim().split(/\r?\n/, 1);
  return `- ${toVisibleLine(line === "" ? subject : `${subject}: ${line}`)}\n`;
}

/** Trusts servers of the workspace, or only `names`. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runMcpTrust(
  { flags }: ParsedArguments,
  io: CommandIo,
  names: readonly string[],
): Promise<number> {
  const config = createConfig(toRawSettings(flags), io.environment, io.cwd);
  const readServers = (): Trustable[] =>
    readWorkspaceServers({ ...config, environment: io.environment }).map((server) =>
      server.state === "unusable" ? server : { ...server, lines: describe(server) },
    );
  const source = toServerFiles(config);
  const subject = { kind: "servers", command: "mcp trust", noun: "server", source } as const;
  return runTrustContents(readServers, subject, { names, flags, io, config });
}

/** Returns the existing files of servers, or otherwise the first possible one. */
function toServerFiles({ workspace }: Config): string {
  const [first] = serverFiles;
  const existing = serverFiles.filter((file) => existsSync(join(workspace, file)));
  return (existing.length === 0 ? [first] : existing).map((file) => join(workspace, file)).join(" or ");
}

/** Describes everything that an approval of the server covers, without the values of headers. */
function describe({ written: settings, variables }: Exclude<WorkspaceServer, { state: "unusable" }>): string[] {
  const lines =
    "url" in settings
      ? [
          "reached over the network",
          `address   ${quoteVisible(settings.url)} on ${quoteVisible(new URL(settings.url).host)}`,
          ...Object.keys(settings.headers ?? {}).map((header) => `header    ${quoteVisible(header)}`),
          ...Object.entries(settings.oauth ?? {}).map(([key, value]) => `login     ${key}=${toShown(key, value)}`),
        ]
      : [
          "a program that starts outside the sandbox, with your rights",
          `program   ${quoteVisible(settings.command)}`,
          ...(settings.args ?? []).map((word) => `argument  ${quoteVisible(word)}`),
          ...Object.entries(settings.env ?? {}).map(([name, value]) => `variable  ${name}=${quoteVisible(value)}`),
          ...(settings.cwd === undefined ? [] : [`folder    ${quoteVisible(settings.cwd)}`]),
        ];
  return [...lines, ...variables.map((variable) => `gets      your variable ${quoteVisible(variable)}`)];
}

function toShown(key: string, value: unknown): string {
  return key === "clientSecret" ? "…" : quoteVisible(String(value));
}
