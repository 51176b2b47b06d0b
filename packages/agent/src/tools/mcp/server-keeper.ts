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
  /** They are kept for the next response of the conversation, as far as the keeper's limits go. */
  release(): Promise<void>;
}

/** What decides which servers a response has. */
export interface LeaseRequest {
  readonly conversationId: string;
  readonly servers: McpServers;
}

export interface KeeperLimits {
  /** Conversations whose servers are kept while nothing runs in them; those that rest longest end first. */
  readonly maxResting: number;
  /** Time that they are kept then. Milliseconds; undefined: as long as the keeper. */
  readonly restMs?: number | undefined;
}

export interface ServerKeeper {
  /** Servers that run already are used again, new ones started, and those that are no longer named ended. Never rejects. */
  lease(request: LeaseRequest, ports: ServerPorts, signal: AbortSignal): Promise<ServerLease>;
  /** Prompts of those that run for a conversation (C111). Starts none, and never rejects. */
  listPrompts(conversationId: string): Promise<readonly ServerPrompt[]>;
  /** Addresses of resources of one of them, for a person who types one (C110). Starts nothing, and never rejects. */
  listAddresses(conversationId: string, server: string): Promise<readonly string[]>;
  /** Ends those of a conversation. */
  end(conversationId: string): Promise<void>;
  /** Ends all, and starts none any more. */
  close(): Promise<void>;
}

interface Kept {
  readonly ports: ServerPorts;
  readonly server: ToolServer;
}

interface ConversationServers {
  readonly kept: Map<string, Kept>;
  /** Responses that use it. */
  users: number;
  stopClock: () => void;
}

/** `startTimer` calls once, later; its result stops it. */
export function createServerKeeper(
  { maxResting, restMs }: KeeperLimits,
  startTimer: (milliseconds: number, run: () => void) => () => void,
): ServerKeeper {
  /** The one that rests longest first. */
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

/** Ends what is not named any more, or named otherwise, and adds what is new. In the order of the settings. */
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
