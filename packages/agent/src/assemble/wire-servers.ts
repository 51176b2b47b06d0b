/** Opens the tool servers of conversations. Loads their code when a response has a server. */
import type { Environment } from "@sheaf/base/paths";
import { chooseProxy, findProxy } from "../config/proxy.ts";
import type { ServerChoice, ServerPlaces } from "../config/workspace-servers.ts";
import type { ServerFolders, ServerPorts } from "../tools/mcp/server-connection.ts";
import type { KeeperLimits, LeaseRequest, ServerKeeper, ServerLease } from "../tools/mcp/server-keeper.ts";
import type { Hooks } from "../tools/hooks/hooks.ts";
import type * as ServerLoginModule from "./run-mcp-login.ts";
import { livePorts } from "./wire-models.ts";

/** The servers of a run. Loads the code for lists if there may be one. @throws SheafError CONFIG_INVALID. */
export async function chooseServers(places: ServerPlaces): Promise<ServerChoice> {
  const { trusted, cursorFile, mcpServers } = places;
  const mayHaveServers = trusted || cursorFile !== undefined || Object.keys(mcpServers).length > 0;
  if (!mayHaveServers) return { servers: {}, leftOut: [], own: new Set() };
  return (await import("../config/workspace-servers.ts")).chooseServers(places);
}

/**
 * Hooks of sessions that outlive a response, by conversation. With `runs`, a session is a run. With `conversations`, it
 * starts with a conversation, and does not end.
 */
export type Sessions = Map<string, Hooks> | "runs" | "conversations";

/** Longest time that hooks may delay an end. Milliseconds. */
const SESSION_END_MS = 5000;

async function endSession(sessions: Sessions, conversationId: string): Promise<void> {
  if (typeof sessions === "string") return;
  const hooks = sessions.get(conversationId);
  sessions.delete(conversationId);
  await hooks?.run({ event: "SessionEnd" }, AbortSignal.timeout(SESSION_END_MS));
  await hooks?.end();
}

/** Owns the tool servers of one door's conversations. Its code loads when a response has a server. */
export interface ToolServers extends Omit<ServerKeeper, "lease"> {
  /** Undefined if the response has no servers, and none stayed for it. */
  lease(request: LeaseRequest, folders: ServerFolders, signal: AbortSignal): Promise<ServerLease | undefined>;
  /** The moments at which hooks see a session start and end (C87). */
  readonly sessions: Sessions;
}

/** Ports of connections to servers. The code of logins loads for a server with an address. */
function createServerPorts(environment: Environment): Omit<ServerPorts, keyof ServerFolders> {
  return {
    environment,
    async openFetch() {
      const proxy = findProxy(environment);
      return proxy && (await import("@sheaf/models/live/proxied-fetch")).createProxiedFetch(proxy);
    },
    async openAuthorization(server) {
      const [{ createServerAuthorization }, { createServerLogins }, { createCheckedFetch }] = await Promise.all([
        import("../tools/mcp/server-authorization.ts"),
        import("../config/server-logins.ts"),
        import("../network/checked-fetch.ts"),
      ]);
      return createServerAuthorization(server, {
        logins: createServerLogins(environment),
        // Hosts may move while a server is used: each request looks for them.
        fetch: (...request) =>
          createCheckedFetch(server.url, { findProxy: (url) => chooseProxy(findProxy(environment), url) })(...request),
        now: Date.now,
      });
    },
  };
}

/** Loads the code of `sheaf mcp login` and `logout`. */
export async function openServerLogin(): Promise<typeof ServerLoginModule> {
  return import("./run-mcp-login.ts");
}

/** Tool servers that end with their response by default. `environment` has the user's proxy. */
export function createToolServers(
  environment: Environment,
  limits: KeeperLimits = { maxResting: 0 },
  sessions: Sessions = "runs",
  openTransport?: ServerPorts["openTransport"],
): ToolServers {
  let loading: Promise<ServerKeeper> | undefined;
  const ports = createServerPorts(environment);
  return {
    sessions,
    async lease(request, folders, signal) {
      if (!loading && Object.keys(request.servers).length === 0) return undefined;
      loading ??= import("../tools/mcp/server-keeper.ts").then((module) =>
        module.createServerKeeper(limits, livePorts.startTimer),
      );
      return (await loading).lease(request, { ...folders, ...ports, openTransport }, signal);
    },
    listAddresses: async (conversationId, server) => (await loading)?.listAddresses(conversationId, server) ?? [],
    listPrompts: async (conversationId) => (await loading)?.listPrompts(conversationId) ?? [],
    async end(conversationId) {
      await endSession(sessions, conversationId);
      await (await loading)?.end(conversationId);
    },
    async close() {
      for (const conversationId of typeof sessions === "string" ? [] : [...sessions.keys()]) {
        await endSession(sessions, conversationId);
      }
      await (await loading)?.close();
    },
  };
}
