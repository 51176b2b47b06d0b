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
import { markerName } from "../../guard/sandbox/environment.ts";
import { createProcessTree } from "../../guard/sandbox/follow/process-tree.ts";
import { createReaper } from "../../guard/sandbox/follow/reaper.ts";
import { sheafVersion } from "../../base/version.ts";
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

/** What a connection needs. */
export interface ServerPorts {
  /** Folder of programs. */
  readonly cwd: string;
  /** Opens a `fetch` through the user's proxy; undefined: no proxy. @throws SheafError CONFIG_INVALID. */
  readonly openFetch: () => Promise<typeof globalThis.fetch | undefined>;
}

/** Not connected yet. */
export function createServerConnection(settings: McpServerSettings, { cwd, openFetch }: ServerPorts): ServerConnection {
  return "url" in settings ? createHttpConnection(settings, openFetch) : createProgramConnection(settings, cwd);
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

function createProgramConnection(settings: StdioServerSettings, workspace: string): ServerConnection {
  const { command, args = [], env = {}, cwd = workspace } = settings;
  const client = createClient();
  // This mark finds its processes again, even those detached from their parents.
  const reaper = createReaper();
  const marker = reaper.createMarker();
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...env, [markerName]: marker },
    cwd,
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

async function leave(client: Client): Promise<void> {
  const timer = new AbortController();
  const closed = client.close().catch(() => undefined);
  await Promise.race([closed, wait(LEAVE_MS, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}
