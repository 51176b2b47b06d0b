/** Sheaf as an agent of the Agent Client Protocol: sessions of an editor are conversations of the store. */
import { randomUUID } from "node:crypto";
import {
  agent,
  methods,
  PROTOCOL_VERSION,
  type AgentApp,
  type AgentContext,
  type AuthMethod,
  type ClientCapabilities,
  type InitializeResponse,
  type McpServer,
} from "@agentclientprotocol/sdk/unstable";
import type { ToolServers } from "@sheaf/agent/assemble/wire-servers";
import { SheafError } from "@sheaf/base/errors";
import { sheafVersion } from "@sheaf/base/version";
import type { McpServerSettings, McpServers } from "@sheaf/agent/config/mcp-settings";
import type { ConversationSettings } from "@sheaf/store/store";
import type { FlagValues } from "../flags.ts";
import { listOwnCommands, listServerCommands } from "../own-commands.ts";
import { listEditorCommands } from "../interactive/slash-commands.ts";
import type { CommandIo } from "../io.ts";
import { toConfig } from "../run-config.ts";
import { isUuid, toConversationId } from "../session-id.ts";
import { checkModel, toAuthMethods } from "./authentication.ts";
import { createModelNames } from "./model-choice.ts";
import { cancelPrompt, runEditorPrompt, type OpenSession } from "./editor-prompt.ts";
import { acknowledge, translate } from "./request-errors.ts";
import {
  adoptChoices,
  chooseOption,
  restoreChoices,
  toChoices,
  toConfigOptions,
  toModelState,
  toModes,
} from "./session-settings.ts";
import {
  deleteSession,
  forkSession,
  keepSettings,
  listSessions,
  readSettings,
  tellHistory,
} from "./stored-sessions.ts";

/** An editor's parameters for a session that it opens. */
interface SessionRequest {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[] | undefined;
  readonly additionalDirectories?: readonly string[] | undefined;
}

/** Makes the agent, not connected yet. `flags` and `toolServers` are for all of its sessions (C51). */
export function createAcpAgent(flags: FlagValues, io: CommandIo, toolServers: ToolServers): AgentApp {
  const sessions = new Map<string, OpenSession>();
  const names = createModelNames(io);
  let editor: ClientCapabilities = {};
  let offered: readonly AuthMethod[] = [];

  const find = (sessionId: string): OpenSession => {
    const session = sessions.get(sessionId);
    if (session) return session;
    throw new SheafError("USAGE", `the session ${sessionId} is not open: create or load it`);
  };
  const forget = (sessionId: string): void => {
    sessions.delete(sessionId);
    void toolServers.end(toConversationId(sessionId) ?? "");
  };
  const open = (
    id: string,
    request: SessionRequest,
    client: AgentContext,
    stored: ConversationSettings | undefined,
  ) => {
    const { cwd, mcpServers = [], additionalDirectories = [] } = request;
    const folders = [...(flags["add-dir"] ?? []), ...additionalDirectories];
    const own = { ...flags, workspace: [cwd], ...(folders.length > 0 && { "add-dir": folders }), resume: id };
    const chosen = stored ? restoreChoices(own, stored, io) : own;
    toConfig(chosen, io);
    const session: OpenSession = {
      flags: chosen,
      mcpServers: toMcpServers(mcpServers),
      serverCommands: [],
      running: undefined,
      added: [],
      known: stored ?? {},
    };
    sessions.set(id, session);
    // The editor knows the session once it has the answer to its request.
    setImmediate(() => void announce(id, session, client));
    return toState(session);
  };
  const reopen = async (id: string, request: SessionRequest, client: AgentContext) =>
    open(id, request, client, await readSettings(id, io));
  const toState = (session: OpenSession) => {
    const config = toConfig(session.flags, io);
    return {
      modes: toModes(config),
      configOptions: toConfigOptions(config, names.known),
      models: toModelState(config, names.known),
    };
  };
  /** Announces commands and the models of reachable providers to the editor. */
  const announce = async (sessionId: string, session: OpenSession, client: AgentContext): Promise<void> => {
    try {
      await tellCommands(sessionId, session, client);
      const before = names.known.length;
      await names.ask();
      if (names.known.length > before && sessions.get(sessionId) === session) await tellSettings(sessionId, client);
    } catch {
      // The editor has gone, or the list of trusted workspaces is damaged: the next prompt reports that.
    }
  };
  const tellCommands = async (sessionId: string, session: OpenSession, client: AgentContext): Promise<void> => {
    const own = [...listOwnCommands(toConfig(session.flags, io), io), ...session.serverCommands];
    const availableCommands = listEditorCommands(own).map(({ name, usage, help }) => ({
      name,
      description: help,
      ...(usage !== "" && { input: { hint: usage } }),
    }));
    const update = { sessionUpdate: "available_commands_update", availableCommands } as const;
    await client.notify(methods.client.session.update, { sessionId, update });
  };
  /** Announces the prompts of the session's servers after a response has started these. */
  const announcePrompts = async (sessionId: string, session: OpenSession, client: AgentContext): Promise<void> => {
    if (session.serverCommands.length > 0) return;
    session.serverCommands = await listServerCommands(toolServers, sessionId);
    if (session.serverCommands.length === 0 || sessions.get(sessionId) !== session) return;
    // The editor may have gone.
    await tellCommands(sessionId, session, client).catch(() => undefined);
  };
  const tellSettings = async (sessionId: string, client: AgentContext): Promise<void> => {
    const { modes, configOptions } = toState(find(sessionId));
    for (const update of [
      { sessionUpdate: "current_mode_update", currentModeId: modes.currentModeId },
      { sessionUpdate: "config_option_update", configOptions },
    ] as const) {
      await client.notify(methods.client.session.update, { sessionId, update });
    }
  };
  const keepChoices = async (sessionId: string, client: AgentContext): Promise<void> => {
    const session = find(sessionId);
    session.known = toChoices(session.flags, io);
    await keepSettings(sessionId, session.known, io);
    await tellSettings(sessionId, client);
  };
  /** Takes over settings from another program that has opened the same session. */
  const adopt = async (sessionId: string, session: OpenSession, client: AgentContext): Promise<void> => {
    const stored = await readSettings(sessionId, io);
    const changed = stored ? adoptChoices(session.flags, session.known, stored, io) : session.flags;
    session.known = stored ?? session.known;
    if (changed === session.flags) return;
    session.flags = changed;
    await tellSettings(sessionId, client);
  };
  const choose = async (sessionId: string, option: string, value: string | boolean, client: AgentContext) => {
    const session = find(sessionId);
    session.flags = chooseOption(session.flags, option, value, io);
    await keepChoices(sessionId, client);
    return toState(session);
  };

  return agent({ name: "sheaf" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      editor = params.clientCapabilities ?? {};
      offered = toAuthMethods(flags, io, editor);
      return { ...toCapabilities(), authMethods: [...offered] };
    })
    .onRequest(methods.agent.authenticate, ({ params }) =>
      acknowledge(async () => {
        checkMethod(params.methodId, offered);
        await checkModel(flags, io, names);
      }),
    )
    .onRequest(methods.agent.session.new, ({ params, client }) =>
      translate(async () => {
        await checkModel({ ...flags, workspace: [params.cwd] }, io, names);
        const sessionId = randomUUID();
        return { sessionId, ...open(sessionId, params, client, undefined) };
      }),
    )
    .onRequest(methods.agent.session.load, ({ params, client }) =>
      translate(async () => {
        const state = await reopen(toKnownId(params.sessionId), params, client);
        await tellHistory(params.sessionId, client, io);
        return state;
      }),
    )
    .onRequest(methods.agent.session.resume, ({ params, client }) =>
      translate(async () => reopen(toKnownId(params.sessionId), params, client)),
    )
    .onRequest(methods.agent.session.fork, ({ params, client }) =>
      translate(async () => {
        const sessionId = await forkSession(toKnownId(params.sessionId), io);
        return { sessionId, ...(await reopen(sessionId, params, client)) };
      }),
    )
    .onRequest(methods.agent.session.list, ({ params }) => translate(() => listSessions(params, io)))
    .onRequest(methods.agent.session.delete, ({ params }) =>
      acknowledge(async () => {
        await deleteSession(toKnownId(params.sessionId), io);
        forget(params.sessionId);
      }),
    )
    .onRequest(methods.agent.session.close, ({ params }) => {
      cancelPrompt(sessions.get(params.sessionId));
      forget(params.sessionId);
      return {};
    })
    .onRequest(methods.agent.session.setMode, ({ params, client }) =>
      acknowledge(() => choose(params.sessionId, "mode", params.modeId, client)),
    )
    .onRequest(methods.agent.session.setConfigOption, ({ params, client }) =>
      translate(async () => {
        const { configOptions } = await choose(params.sessionId, params.configId, params.value, client);
        return { configOptions };
      }),
    )
    .onRequest("session/set_model", toModelRequest, ({ params, client }) =>
      acknowledge(() => choose(params.sessionId, "model", params.modelId, client)),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => cancelPrompt(sessions.get(params.sessionId)))
    .onRequest(methods.agent.session.prompt, ({ params, client, signal }) =>
      translate(async () => {
        const session = find(params.sessionId);
        await adopt(params.sessionId, session, client);
        const { flags: before } = session;
        const response = await runEditorPrompt(session, params, { client, editor, signal, io, toolServers });
        session.known = toChoices(before, io);
        void announcePrompts(params.sessionId, session, client);
        if (session.flags !== before) await keepChoices(params.sessionId, client);
        return response;
      }),
    );
}

function toCapabilities(): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "sheaf", title: "Sheaf", version: sheafVersion },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true },
      mcpCapabilities: { http: true },
      sessionCapabilities: { list: {}, delete: {}, fork: {}, resume: {}, close: {}, additionalDirectories: {} },
    },
  };
}

/** Rejects an unknown method. @throws SheafError USAGE if `initialize` did not offer it. */
function checkMethod(chosen: string, offered: readonly AuthMethod[]): void {
  if (offered.some(({ id }) => id === chosen)) return;
  const names = offered.map(({ id }) => id).join(", ") || "none";
  throw new SheafError("USAGE", `the method ${JSON.stringify(chosen)} was not offered: choose one of ${names}`);
}

function toKnownId(sessionId: string): string {
  if (isUuid(sessionId)) return sessionId;
  throw new SheafError("USAGE", `the session id ${JSON.stringify(sessionId)} is not a UUID`);
}

/** Reads an editor's request for a model, from before the protocol had options. */
function toModelRequest(params: unknown): { readonly sessionId: string; readonly modelId: string } {
  const { sessionId, modelId } = (params ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof sessionId === "string" && typeof modelId === "string") return { sessionId, modelId };
  throw new SheafError("USAGE", "session/set_model takes sessionId and modelId");
}

/** Returns an editor's servers by name. @throws SheafError USAGE for an unsupported transport. */
export function toMcpServers(servers: readonly McpServer[]): McpServers {
  return Object.fromEntries(servers.map((server) => [server.name, toSettings(server)]));
}

function toSettings(server: McpServer): McpServerSettings {
  if (!("type" in server)) {
    const { command, args, env } = server;
    return { command, args, env: Object.fromEntries(env.map(({ name, value }) => [name, value])) };
  }
  if (server.type === "http") {
    const { url, headers } = server;
    return { url, headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) };
  }
  throw new SheafError("USAGE", `the MCP server "${server.name}" is reached by ${server.type}: use stdio or http`);
}
