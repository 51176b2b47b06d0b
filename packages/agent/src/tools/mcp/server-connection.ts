/** The connection to one server: a program, or an address. */
import { setTimeout as wait } from "node:timers/promises";
import {
  Client,
  StreamableHTTPClientTransport,
  type jsonSchemaValidator,
  type JsonSchemaValidator,
  type RequestOptions,
} from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { isFolder } from "../../base/make-folder.ts";
import { findHome } from "../../base/paths.ts";
import { markerName, toFixedPath, withoutInnerFolders } from "../../guard/sandbox/environment.ts";
import { createProcessTree } from "../../guard/sandbox/follow/process-tree.ts";
import { createReaper } from "../../guard/sandbox/follow/reaper.ts";
import { sheafVersion } from "../../base/version.ts";
import { toRealPlace } from "../../workspace/repository.ts";
import { isBelow } from "../../workspace/workspace.ts";
import type { HttpServerSettings, McpServerSettings, StdioServerSettings } from "../../config/mcp-settings.ts";

/** How long a server may take to disconnect. Milliseconds. */
const LEAVE_MS = 300;

export interface ServerConnection {
  readonly client: Client;
  /** @throws if the server cannot be reached, or does not speak MCP. */
  connect(options: RequestOptions): Promise<void>;
  /** Ends the connection, and a program with all its processes. Never rejects. */
  close(): Promise<void>;
}

/** What commands can write: no program of a server comes from there by itself (S-88). */
export interface ServerFolders {
  /** Absolute root, links resolved. */
  readonly workspace: string;
  readonly addedFolders: readonly string[];
}

/** What a connection needs. */
export interface ServerPorts extends ServerFolders {
  /** Opens a `fetch` through the user's proxy; undefined: no proxy. @throws SheafError CONFIG_INVALID. */
  readonly openFetch: () => Promise<typeof globalThis.fetch | undefined>;
}

/** Not connected yet. */
export function createServerConnection(settings: McpServerSettings, ports: ServerPorts): ServerConnection {
  return "url" in settings ? createHttpConnection(settings, ports.openFetch) : createProgramConnection(settings, ports);
}

/**
 * Schemas of servers are foreign text, and Sheaf uses the text of a result alone: their patterns are never matched (S-89).
 */
const withoutValidation: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (input) => ({ valid: true, data: input as Value, errorMessage: undefined });
  },
};

function createClient(): Client {
  return new Client({ name: "sheaf", version: sheafVersion }, { jsonSchemaValidator: withoutValidation });
}

function createHttpConnection(
  { url, headers = {} }: HttpServerSettings,
  openFetch: ServerPorts["openFetch"],
): ServerConnection {
  const client = createClient();
  return {
    client,
    async connect(options) {
      // Headers may contain a key: a redirect to another host does not get them (S-42).
      const fetch = await openFetch();
      const settings = {
        requestInit: { headers: { ...headers } },
        redirectPolicy: "same-origin",
        ...(fetch && { fetch }),
      } as const;
      await client.connect(new StreamableHTTPClientTransport(new URL(url), settings), options);
    },
    close: () => leave(client),
  };
}

function createProgramConnection(settings: StdioServerSettings, folders: ServerFolders): ServerConnection {
  const { command, args = [], env = {}, cwd = findOuterFolder(folders) } = settings;
  const client = createClient();
  // This mark finds its processes again, even those detached from their parents.
  const reaper = createReaper();
  const marker = reaper.createMarker();
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...createOuterEnvironment(folders), ...env, [markerName]: marker },
    cwd: cwd === "." ? folders.workspace : cwd,
    // The server's stderr is ignored: stderr of Sheaf stays empty (C15).
    stderr: "ignore",
  });
  let leader: number | null = null;
  return {
    client,
    async connect(options) {
      const connected = client.connect(transport, options);
      leader = transport.pid;
      await connected;
      leader = transport.pid;
    },
    async close() {
      leader ??= transport.pid;
      await leave(client);
      if (leader !== null) await createProcessTree(leader, marker).end();
      reaper.dismiss();
    },
  };
}

/**
 * Where a program starts: npx, uv and the like look in their folder for settings and for packages that stand in for what
 * was named.
 */
function findOuterFolder({ workspace, addedFolders }: ServerFolders): string {
  const isOuter = (folder: string): boolean =>
    isFolder(folder) && ![workspace, ...addedFolders].some((inner) => isBelow(toRealPlace(folder), inner));
  try {
    const home = findHome();
    if (isOuter(home)) return home;
  } catch {
    // A user without a home folder may have servers.
  }
  return "/";
}

/** The few variables that every program gets (S-40). A program of a writable folder must not stand in for one of the system. */
function createOuterEnvironment({ workspace, addedFolders }: ServerFolders): Record<string, string> {
  const environment: Record<string, string> = getDefaultEnvironment();
  const { PATH } = [workspace, ...addedFolders].reduce(withoutInnerFolders, { PATH: environment.PATH });
  return { ...environment, PATH: toFixedPath(PATH) };
}

async function leave(client: Client): Promise<void> {
  const timer = new AbortController();
  const closed = client.close().catch(() => undefined);
  await Promise.race([closed, wait(LEAVE_MS, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}
