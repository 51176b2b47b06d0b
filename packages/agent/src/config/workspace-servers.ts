/** The tool servers that a workspace names in its `.mcp.json`, and which of them a run may use (S-87, S-88). */
import { createHash } from "node:crypto";
import { isAbsolute, join } from "node:path";
import type { McpServerState } from "@sheaf/protocol";
import { formatProblem, isJsonObject, parseValue } from "@sheaf/protocol/check-value";
import { SheafError } from "../base/errors.ts";
import { readSmallFile } from "../workspace/open-file.ts";
import { findRepository, isSameRepository, readStats, toRealPlace } from "../workspace/repository.ts";
import { isBelow } from "../workspace/workspace.ts";
import { isServerName, mcpServer, serverNameRule, type McpServers, type McpServerSettings } from "./mcp-settings.ts";
import { readTrust } from "./trust.ts";

/** Largest `.mcp.json` that is read. Bytes. */
const MAX_BYTES = 1024 * 1024;

/** Longest entry that a person reads before saying yes. UTF-16 units, as JSON. */
const MAX_ENTRY = 4000;

/** A server that a workspace names. */
export type WorkspaceServer = { readonly name: string } & (
  | {
      readonly settings: McpServerSettings;
      /** What a yes is bound to: SHA-256 of the name and all settings, hex. */
      readonly digest: string;
      readonly state: "trusted" | "changed" | "not_trusted";
    }
  /** It is never started. */
  | { readonly state: "unusable"; readonly problem: string }
);

/** What decides about the servers of a workspace. */
export interface WorkspacePlaces {
  /** Absolute root, links resolved. */
  readonly workspace: string;
  /** Further folders that commands can write. */
  readonly addedFolders: readonly string[];
  /** Where the user's list of trust is; undefined: nowhere, so that no server has a yes. */
  readonly dataFolder: string | undefined;
}

/** The servers of a run. */
export interface ServerChoice {
  /** To be started, or reached. */
  readonly servers: McpServers;
  /** With the reason. */
  readonly leftOut: readonly McpServerState[];
}

/**
 * The servers of a run, for every door: the user's own, and those of a trusted workspace that have a yes. One of the user's
 * takes precedence over one of the workspace with the same name (S-06).
 * @throws SheafError CONFIG_INVALID for a `.mcp.json` or a list of trust that cannot be read.
 */
export function chooseServers(
  places: WorkspacePlaces & { readonly trusted: boolean; readonly mcpServers: McpServers },
): ServerChoice {
  const { trusted, mcpServers } = places;
  const servers: Record<string, McpServerSettings> = {};
  const leftOut: McpServerState[] = [];
  for (const [name, settings] of Object.entries(mcpServers)) {
    if (trusted || !("cwd" in settings) || settings.cwd !== ".") servers[name] = settings;
    else leftOut.push(toLeftOut(name, "failed", 'it works in the workspace (cwd "."), which is not trusted'));
  }
  for (const server of trusted ? readWorkspaceServers(places) : []) {
    const { name, state } = server;
    if (Object.hasOwn(mcpServers, name)) continue;
    if (state === "trusted") servers[name] = server.settings;
    else leftOut.push(toLeftOut(name, state === "unusable" ? "failed" : state, formatReason(server)));
  }
  return { servers, leftOut };
}

function toLeftOut(name: string, status: McpServerState["status"], problem: string): McpServerState {
  return { name, status, tools: [], problem };
}

function formatReason(server: WorkspaceServer): string {
  switch (server.state) {
    case "trusted":
      return "";
    case "not_trusted":
      return `not trusted: look at it with sheaf mcp trust ${server.name}`;
    case "changed":
      return `changed since you trusted it: look at it with sheaf mcp trust ${server.name}`;
    case "unusable":
      return server.problem;
  }
}

/** In the order of the file; none without one. @throws SheafError CONFIG_INVALID for a file that cannot be read as one. */
export function readWorkspaceServers(places: WorkspacePlaces): readonly WorkspaceServer[] {
  const entries = readEntries(toServerFile(places.workspace));
  if (entries.length === 0) return [];
  const repository = findRepository(places.workspace);
  const list = places.dataFolder === undefined ? [] : readTrust(places.dataFolder).servers;
  const digests = new Map(
    list
      .filter((server) => isSameRepository(server.repository, repository))
      .map(({ name, digest }) => [name, digest] as const),
  );
  return entries.map(([name, value]) => {
    const entry = parseEntry(name, value, places);
    if (typeof entry === "string") return { name, state: "unusable", problem: entry };
    const digest = toDigest(name, entry);
    const known = digests.get(name);
    const state = known === digest ? "trusted" : known === undefined ? "not_trusted" : "changed";
    return { name, settings: entry, digest, state };
  });
}

/** Where a workspace names its servers. */
export function toServerFile(workspace: string): string {
  return join(workspace, ".mcp.json");
}

function readEntries(file: string): readonly (readonly [name: string, entry: unknown])[] {
  const text = readSmallFile(file, MAX_BYTES);
  if (text === undefined) {
    if (!readStats(file)) return [];
    throw createFault(file, `cannot be read as a file of at most ${MAX_BYTES} bytes`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw createFault(file, "is not JSON");
  }
  const servers = isJsonObject(value) ? (value["mcpServers"] ?? {}) : undefined;
  if (isJsonObject(servers)) return Object.entries(servers);
  throw createFault(file, 'is not a list of servers ({"mcpServers": {…}})');
}

/** The settings of an entry, or why it is not used. */
function parseEntry(name: string, value: unknown, places: WorkspacePlaces): McpServerSettings | string {
  if (!isServerName(name)) return `its name is not ${serverNameRule}`;
  const parsed = parseValue(mcpServer, value);
  if (!parsed.ok) {
    const [problem] = parsed.problems;
    return `Sheaf does not know entries of this form${problem ? ` (${formatProblem(problem)})` : ""}`;
  }
  const length = JSON.stringify(parsed.value).length;
  if (length > MAX_ENTRY) {
    return `its entry has ${length} characters, more than a person reads (${MAX_ENTRY}): ${addAdvice}`;
  }
  const word = findInnerWord(parsed.value, places);
  if (word === undefined) return parsed.value;
  return `it leads into the workspace (${JSON.stringify(word)}), where commands can change what starts: ${addAdvice}`;
}

const addAdvice = "if you want it, add it to your own servers with sheaf mcp add";

/** The first word that leads to what a command can write. Whatever starts there would leave the sandbox with it. */
function findInnerWord(settings: McpServerSettings, { workspace, addedFolders }: WorkspacePlaces): string | undefined {
  if ("url" in settings) return undefined;
  const { command, args = [], env = {}, cwd = "" } = settings;
  const folders = [workspace, ...addedFolders.map(toRealPlace)];
  const leadsInto = (path: string): boolean => {
    if (isAbsolute(path)) return folders.some((folder) => isBelow(toRealPlace(path), folder));
    // It starts elsewhere: there such a path would lead to something else.
    if (/^\.{1,2}(\/|$)/.test(path)) return true;
    const stats = readStats(join(workspace, path));
    return stats !== undefined && (stats.isFile() || /[./]/.test(path));
  };
  return [cwd, command, ...args, ...Object.values(env)].find(
    (word) =>
      folders.some((folder) => names(word, folder)) ||
      // `--config=PATH`, `-v PATH:PATH`
      [word, word.slice(word.indexOf("=") + 1), ...word.split(/[=:,]/)].some((path) => path !== "" && leadsInto(path)),
  );
}

/** Whether a text contains a folder's path, and not only the beginning of a longer name. */
function names(text: string, folder: string): boolean {
  return text
    .split(folder)
    .slice(1)
    .some((rest) => !/^[\p{L}\p{N}_.-]/u.test(rest));
}

function toDigest(name: string, settings: McpServerSettings): string {
  return createHash("sha256")
    .update(JSON.stringify([name, toSorted(settings)]))
    .digest("hex");
}

/** The same value whatever the order of its fields, so that another layout of the file needs no new yes. */
function toSorted(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([field, item]) => [field, toSorted(item)]);
}

function createFault(file: string, problem: string): SheafError {
  return new SheafError("CONFIG_INVALID", `${file} ${problem}: fix it, or revoke the trust with sheaf trust --remove`);
}
