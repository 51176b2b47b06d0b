/** Opens the tool servers of conversations. What they need is loaded when a response names one. */
import type { Environment } from "@sheaf/base/paths";
import { chooseProxy, findProxy } from "../config/proxy.ts";
import type { ServerChoice, ServerPlaces } from "../config/workspace-servers.ts";
import type { ServerFolders, ServerPorts } from "../tools/mcp/server-connection.ts";
import type { KeeperLimits, LeaseRequest, ServerKeeper, ServerLease } from "../tools/mcp/server-keeper.ts";
import type { Hooks } from "../tools/hooks/hooks.ts";
import type * as ServerLoginModule from "./run-mcp-login.ts";
import { livePorts } from "./wire-models.ts";

/** The servers of a run. What reads their lists is loaded where there may be one. @throws SheafError CONFIG_INVALID. */
export async function chooseServers(places: ServerPlaces): Promise<ServerChoice> {
  const { trusted, cursorFile, mcpServers } = places;
  const mayHaveServers = trusted || cursorFile !== undefined || Object.keys(mcpServers).length > 0;
  if (!mayHaveServers) return { servers: {}, leftOut: [], own: new Set() };
  return (await import("../config/workspace-servers.ts")).chooseServers(places);
}

/**
 * Hooks of sessions that go on after a response, by conversation. `runs`: a session is a run; `conversations`: it begins
 * with a conversation, and does not end.
 */
export type Sessions = Map<string, Hooks> | "runs" | "conversations";

/** Longest time that hooks hold up an end. Milliseconds. */
const SESSION_END_MS = 5000;

async function endSession(sessions: Sessions, conversationId: string): Promise<void> {
  if (typeof sessions === "string") return;
  const hooks = sessions.get(conversationId);
  sessions.delete(conversationId);
  await hooks?.run({ event: "SessionEnd" }, AbortSignal.timeout(SESSION_END_MS));
  await hooks?.end();
}

/** Owns the tool servers of one door's conversations. Loaded when a response names a server. */
export interface ToolServers extends Omit<ServerKeeper, "lease"> {
  /** Undefined: the response has none, and none is kept for it. */
  lease(request: LeaseRequest, folders: ServerFolders, signal: AbortSignal): Promise<ServerLease | undefined>;
  /** When hooks see a session begin and end (C87). */
  readonly sessions: Sessions;
}

/** What connections to servers use. The code of logins is loaded for a server with an address. */
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

/** What `sheaf mcp login` and `logout` do. */
export async function openServerLogin(): Promise<typeof ServerLoginModule> {
  return import("./run-mcp-login.ts");
}

/** By default they end with their response. The `environment` names the user's proxy. */
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
