/** The tool servers in a workspace's `.mcp.json` and `.cursor/mcp.json`, and a run's choice (S-87, S-88, S-107). */
import { hash } from "node:crypto";
import { isAbsolute, join } from "node:path";
import type { McpServerState } from "@sheaf/protocol";
import { isJsonObject } from "@sheaf/protocol/check-value";
import { readStats, toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import { type CursorPlaces, readCursorServers } from "./cursor-servers.ts";
import { fillEntry, type FillPlaces } from "./fill-entry.ts";
import type { McpServers, McpServerSettings } from "./mcp-settings.ts";
import { parseServerEntry, readServerList } from "./server-list.ts";
import { toSorted } from "./to-sorted.ts";
import { readTrusted, toTrustState, type TrustState } from "./trust.ts";

/** Longest entry that a person reads before approving it. UTF-16 units, as JSON. */
const MAX_ENTRY = 4000;

export type WorkspaceServer = { readonly name: string; readonly file: ServerFile } & (
  | {
      /** The settings with their words filled in. */
      readonly settings: McpServerSettings;
      /** The settings as the file has them. */
      readonly written: McpServerSettings;
      /** Variables of the user that it gets. */
      readonly variables: readonly string[];
      /** The content that the user approves: SHA-256 of the name and all settings as they are written, hex. */
      readonly digest: string;
      readonly state: TrustState;
    }
  /** A server that never starts. */
  | { readonly state: "unusable"; readonly problem: string }
);

/** Files with servers. If two servers share a name, the first one applies. */
export const serverFiles = [".mcp.json", ".cursor/mcp.json"] as const;

type ServerFile = (typeof serverFiles)[number];

/** Facts that decide about the servers of a workspace. */
export interface WorkspacePlaces extends FillPlaces {
  /** Further folders that commands can write. */
  readonly addedFolders: readonly string[];
  /** Folder of the user's list of trust; undefined: no server is approved. */
  readonly dataFolder: string | undefined;
}

/** Facts that decide about the servers of a run. */
export interface ServerPlaces extends WorkspacePlaces, CursorPlaces {
  readonly mcpServers: McpServers;
}

export interface ServerChoice {
  /** Servers to start, or to reach. */
  readonly servers: McpServers;
  /** Servers that the run lacks, with the reason. */
  readonly leftOut: readonly McpServerState[];
  /** Names of servers that the user named, and no workspace. */
  readonly own: ReadonlySet<string>;
}

/**
 * The servers of a run, for every door: the user's own, and the approved ones of a trusted workspace. A server of the
 * user takes precedence over one of the workspace with the same name (S-06).
 * @throws SheafError CONFIG_INVALID for a file of the workspace or a list of trust that cannot be read.
 */
export function chooseServers(places: ServerPlaces): ServerChoice {
  const { trusted, mcpServers } = places;
  const own = new Set(Object.keys(mcpServers));
  const servers: Record<string, McpServerSettings> = {};
  const leftOut: McpServerState[] = [];
  const addOwn = (name: string, settings: McpServerSettings): void => {
    if (trusted || !("cwd" in settings) || settings.cwd !== ".") servers[name] = settings;
    else leftOut.push(toLeftOut(name, "failed", 'it works in the workspace (cwd "."), which is not trusted'));
  };
  for (const [name, settings] of Object.entries(mcpServers)) addOwn(name, settings);
  for (const { name, settings, problem } of readCursorServers(places)) {
    if (own.has(name)) continue;
    own.add(name);
    if (settings) addOwn(name, settings);
    else leftOut.push(toLeftOut(name, "failed", problem));
  }
  for (const server of trusted ? readWorkspaceServers(places) : []) {
    const { name, state } = server;
    if (own.has(name)) continue;
    if (state === "trusted") servers[name] = server.settings;
    else leftOut.push(toLeftOut(name, state === "unusable" ? "failed" : state, formatReason(server)));
  }
  return { servers, leftOut, own };
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

/** Servers in the order of the files; empty without one. @throws SheafError CONFIG_INVALID for an unreadable file. */
export function readWorkspaceServers(places: WorkspacePlaces): readonly WorkspaceServer[] {
  const found = serverFiles.flatMap((file) =>
    readServerList(join(places.workspace, file), untrustAdvice).map(([name, value]) => ({ name, file, value })),
  );
  const entries = found.filter(({ name }, index) => found.findIndex((other) => other.name === name) === index);
  if (entries.length === 0) return [];
  const trusted = readTrusted("servers", places);
  return entries.map(({ name, file, value }) => {
    const entry = file === ".mcp.json" ? parseEntry(name, value, places) : parseFilled(name, value, places);
    if (typeof entry === "string") return { name, file, state: "unusable", problem: entry };
    const digest = toDigest(name, entry.written, file);
    return { name, file, ...entry, digest, state: toTrustState({ name, digest }, trusted) };
  });
}

type ParsedEntry = Pick<Extract<WorkspaceServer, { digest: string }>, "settings" | "written" | "variables">;

/** An entry of Cursor's file. The check sees the text that would start. */
function parseFilled(name: string, value: unknown, places: WorkspacePlaces): ParsedEntry | string {
  const { url, envFile } = isJsonObject(value) ? value : {};
  if (typeof url === "string" && toLeader(url, "a") !== toLeader(url, "b")) {
    return "its address has ${…} before the path, which hides its server";
  }
  if (envFile !== undefined) return `it has an envFile, which a repository cannot set for a server: ${addAdvice}`;
  const filled = fillEntry(value, places);
  if (!filled.ok) return filled.problem;
  return parseEntry(name, filled.value, places, { entry: value, variables: filled.variables });
}

/** The server of an address with this text for its words, as programs read it with any slashes. */
function toLeader(url: string, text: string): string {
  const filled = url.replaceAll(/\$\{[^}]*\}?/g, text);
  const { protocol = "", username = "", password = "", host = filled } = URL.parse(filled) ?? {};
  return [protocol, username, password, host].join(" ");
}

/** The settings of an entry, or the reason why it is unused. `source`: the entry before Sheaf filled in its words. */
function parseEntry(
  name: string,
  value: unknown,
  places: WorkspacePlaces,
  source?: { readonly entry: unknown; readonly variables: readonly string[] },
): ParsedEntry | string {
  const settings = parseServerEntry(name, value);
  if (typeof settings === "string") return settings;
  // The filled entry differs in texts only, so both have the same form.
  const written = source ? (source.entry as McpServerSettings) : settings;
  const { length } = JSON.stringify(written);
  if (length > MAX_ENTRY) {
    return `its entry has ${length} characters, more than a person reads (${MAX_ENTRY}): ${addAdvice}`;
  }
  const word = findInnerWord(settings, places);
  if (word === undefined) return { settings, written, variables: source?.variables ?? [] };
  // A filled word may be a key, so the message hides it.
  const named = source ? "" : ` (${JSON.stringify(word)})`;
  return `it points into the workspace${named}, where commands can change what starts: ${addAdvice}`;
}

const untrustAdvice = "fix it, or revoke the trust with sheaf trust --remove";

const addAdvice = "if you want it, add it to your own servers with sheaf mcp add";

/** The first word that points to something a command can write. A program there would leave the sandbox. */
function findInnerWord(settings: McpServerSettings, { workspace, addedFolders }: WorkspacePlaces): string | undefined {
  if ("url" in settings) return undefined;
  const { command, args = [], env = {}, cwd = "" } = settings;
  const folders = [workspace, ...addedFolders.map(toRealPlace)];
  const leadsInto = (path: string): boolean => {
    if (isAbsolute(path)) return folders.some((folder) => isBelow(toRealPlace(path), folder));
    // A server starts in another folder, where such a path would point elsewhere.
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

/** True if a text contains a folder's path, but not just as the start of a longer name. */
function names(text: string, folder: string): boolean {
  return text
    .split(folder)
    .slice(1)
    .some((rest) => !/^[\p{L}\p{N}_.-]/u.test(rest));
}

/** Includes the file, because the same words mean something else in the other one. */
function toDigest(name: string, settings: McpServerSettings, file: ServerFile): string {
  return hash("sha256", JSON.stringify([name, toSorted(settings), ...(file === ".mcp.json" ? [] : [file])]), "hex");
}
