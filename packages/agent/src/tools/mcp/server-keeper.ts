/** Keeps the tool servers of a conversation from one response to the next (C51). */
import { isDeepStrictEqual } from "node:util";
import { isHeld, type McpServerSettings, type McpServers } from "../../config/mcp-settings.ts";
import { offerTools, type OfferedTools } from "./offer-tools.ts";
import { listResources } from "./resource-tools.ts";
import { createServerPrompts, type ServerPrompt } from "./server-prompts.ts";
import type { ServerPorts } from "./server-connection.ts";
import { createToolServer, type ToolServer } from "./tool-server.ts";

/** Time that a person waits for a list. Milliseconds. */
const LIST_MS = 2000;

/** The servers of one response. */
export interface ServerLease extends OfferedTools {
  /** Keeps the servers for the next response of the conversation, within the keeper's limits. */
  release(): Promise<void>;
}

/** The facts that decide which servers a response has. */
export interface LeaseRequest {
  readonly conversationId: string;
  readonly servers: McpServers;
}

export interface KeeperLimits {
  /** Most conversations that keep servers while no response runs; those that rest longest end first. */
  readonly maxResting: number;
  /** Milliseconds that such servers stay; undefined: as long as the keeper. */
  readonly restMs?: number | undefined;
}

export interface ServerKeeper {
  /** Reuses running servers, starts new ones, and ends those that `servers` lacks. Never rejects. */
  lease(request: LeaseRequest, ports: ServerPorts, signal: AbortSignal): Promise<ServerLease>;
  /** Lists the prompts of a conversation's running servers (C111). Starts no server. Never rejects. */
  listPrompts(conversationId: string): Promise<readonly ServerPrompt[]>;
  /** Lists addresses of a server's resources, for a person who types one (C110). Starts nothing. Never rejects. */
  listAddresses(conversationId: string, server: string): Promise<readonly string[]>;
  end(conversationId: string): Promise<void>;
  /** Ends all servers, and starts no more. */
  close(): Promise<void>;
}

interface Kept {
  readonly ports: ServerPorts;
  readonly server: ToolServer;
}

interface ConversationServers {
  readonly kept: Map<string, Kept>;
  /** Responses that use these servers. */
  users: number;
  stopClock: () => void;
}

/** Creates a keeper. `startTimer` calls once, later; its result stops the timer. */
export function createServerKeeper(
  { maxResting, restMs }: KeeperLimits,
  startTimer: (milliseconds: number, run: () => void) => () => void,
): ServerKeeper {
  /** Sorted by the time that they rest, longest first. */
  const conversations = new Map<string, ConversationServers>();
  let isClosed = false;

  const end = async (conversationId: string): Promise<void> => {
    const own = conversations.get(conversationId);
    conversations.delete(conversationId);
    own?.stopClock();
    await Promise.all([...(own?.kept.values() ?? [])].map(({ server }) => server.close()));
  };

  const enter = (conversationId: string): ConversationServers => {
    const own = conversations.get(conversationId) ?? { kept: new Map(), users: 0, stopClock: () => undefined };
    own.stopClock();
    own.users += 1;
    conversations.set(conversationId, own);
    return own;
  };

  const leave = async (conversationId: string, own: ConversationServers): Promise<void> => {
    own.users -= 1;
    if (own.users > 0 || conversations.get(conversationId) !== own) return;
    conversations.delete(conversationId);
    conversations.set(conversationId, own);
    if (restMs !== undefined) own.stopClock = startTimer(restMs, () => void end(conversationId));
    const resting = [...conversations].filter(([, { users }]) => users === 0).map(([id]) => id);
    await Promise.all(resting.slice(0, Math.max(0, resting.length - maxResting)).map(end));
  };

  return {
    async lease({ conversationId, servers }, ports, signal) {
      const own = enter(conversationId);
      const chosen = await fit(own.kept, isClosed ? {} : servers, ports);
      return { ...(await offerTools(chosen, signal)), release: () => leave(conversationId, own) };
    },
    async listPrompts(conversationId) {
      const kept = conversations.get(conversationId)?.kept.values() ?? [];
      return createServerPrompts(Array.from(kept, ({ server }) => server)).listAll();
    },
    async listAddresses(conversationId, name) {
      const server = conversations.get(conversationId)?.kept.get(name)?.server;
      if (!server?.capabilities?.resources) return [];
      const listed = await listResources(server, AbortSignal.timeout(LIST_MS)).catch(() => []);
      return listed.filter(({ isTemplate }) => !isTemplate).map(({ uri }) => uri);
    },
    end,
    async close() {
      isClosed = true;
      await Promise.all([...conversations.keys()].map(end));
    },
  };
}

/** Ends servers that the settings lack or changed, and adds new ones. Returns all in the order of the settings. */
async function fit(kept: Map<string, Kept>, servers: McpServers, ports: ServerPorts): Promise<readonly ToolServer[]> {
  const toFacts = (settings: McpServerSettings | undefined, { workspace, addedFolders, held }: ServerPorts) => [
    settings,
    workspace,
    addedFolders,
    settings && isHeld(settings) ? held?.rules : undefined,
  ];
  const isSame = (entry: Kept): boolean =>
    isDeepStrictEqual(toFacts(entry.server.settings, entry.ports), toFacts(servers[entry.server.name], ports));
  const outdated = [...kept.values()].filter((entry) => !isSame(entry));
  for (const { server } of outdated) kept.delete(server.name);
  await Promise.all(outdated.map(({ server }) => server.close()));
  return Object.entries(servers).map(([name, settings]) => {
    const entry = kept.get(name) ?? { ports, server: createToolServer(name, settings, ports) };
    kept.set(name, entry);
    return entry.server;
  });
}
