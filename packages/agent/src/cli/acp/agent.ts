/** Sheaf as an agent of the Agent Client Protocol: sessions of an editor are conversations of the store. */
import { randomUUID } from "node:crypto";
import {
  PROTOCOL_VERSION,
  RequestError,
  agent,
  methods,
  type AgentApp,
  type AgentContext,
  type ContentBlock,
  type InitializeResponse,
  type McpServer,
  type PromptRequest,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionModeState,
} from "@agentclientprotocol/sdk";
import type { RunEnd, RunStart } from "@sheaf/protocol";
import { createStore } from "../../assemble/wire.ts";
import { SheafError, toSheafError } from "../../base/errors.ts";
import { sheafVersion } from "../../base/version.ts";
import { isUuid } from "../session-id.ts";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { createPromptRun } from "../prompt-run.ts";
import { toConfig } from "../run-config.ts";
import type { McpServerSettings, McpServers } from "../../config/mcp-settings.ts";
import { createAcpProjection, toStopReason } from "../../output/acp-updates.ts";
import { toBareId } from "../../output/result-line.ts";
import type { Store } from "../../store/store.ts";
import type { Approver } from "../../tools/approval.ts";
import { toMessageAttachments } from "../../workspace/attachment.ts";

/** Sessions of one page of the list. */
const PAGE = 50;

/** One session that the editor has open. */
interface OpenSession {
  /** Flags of the command line, with the session's own settings. */
  flags: FlagValues;
  /** Servers of the Model Context Protocol that the editor brought. */
  readonly mcpServers: McpServers;
  /** Defined while a prompt runs. */
  running: AbortController | undefined;
}

/** The agent, not connected yet. `flags` apply to all of its sessions. */
export function createAcpAgent(flags: FlagValues, io: CommandIo): AgentApp {
  const sessions = new Map<string, OpenSession>();
  const open = (sessionId: string, cwd: string, servers: readonly McpServer[]): SessionModeState => {
    const own = { ...flags, workspace: [cwd], resume: sessionId };
    const { mode } = toConfig(own, io);
    sessions.set(sessionId, { flags: own, mcpServers: toMcpServers(servers), running: undefined });
    return toModes(mode);
  };
  const find = (sessionId: string): OpenSession => {
    const session = sessions.get(sessionId);
    if (session) return session;
    throw RequestError.invalidParams({ sessionId }, `the session ${sessionId} is not open: create or load it`);
  };

  return agent({ name: "sheaf" })
    .onRequest(methods.agent.initialize, () => toCapabilities())
    .onRequest(methods.agent.authenticate, () => ({}))
    .onRequest(methods.agent.session.new, ({ params }) =>
      translate(() => {
        const sessionId = randomUUID();
        return { sessionId, modes: open(sessionId, params.cwd, params.mcpServers) };
      }),
    )
    .onRequest(methods.agent.session.load, ({ params, client }) =>
      translate(async () => {
        const { sessionId, cwd, mcpServers } = params;
        const modes = open(toKnownId(sessionId), cwd, mcpServers);
        await withStore(find(sessionId).flags, io, (store) => tellHistory(store, sessionId, client));
        return { modes };
      }),
    )
    .onRequest(methods.agent.session.resume, ({ params }) =>
      translate(() => ({ modes: open(toKnownId(params.sessionId), params.cwd, params.mcpServers ?? []) })),
    )
    .onRequest(methods.agent.session.list, ({ params }) =>
      translate(() => withStore(flags, io, (store) => listSessions(store, params.cwd ?? undefined))),
    )
    .onRequest(methods.agent.session.close, ({ params }) => {
      sessions.get(params.sessionId)?.running?.abort(createCancelError());
      sessions.delete(params.sessionId);
      return {};
    })
    .onRequest(methods.agent.session.setMode, ({ params }) =>
      translate(() => {
        const session = find(params.sessionId);
        const { plan: _, ...rest } = session.flags;
        const changed = { ...rest, mode: params.modeId };
        toConfig(changed, io);
        session.flags = changed;
        return {};
      }),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => {
      sessions.get(params.sessionId)?.running?.abort(createCancelError());
    })
    .onRequest(methods.agent.session.prompt, ({ params, client, signal }) =>
      translate(() => runPrompt(find(params.sessionId), params, client, signal, io)),
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
      sessionCapabilities: { list: {}, resume: {}, close: {} },
    },
    authMethods: [],
  };
}

const modeTexts = {
  agent: ["Agent", "reads, writes and runs commands"],
  plan: ["Plan", "reads and plans, changes nothing"],
  ask: ["Ask", "reads and answers, changes nothing"],
  debug: ["Debug", "finds the cause of a fault by experiments"],
} as const;

function toModes(mode: keyof typeof modeTexts): SessionModeState {
  const availableModes = Object.entries(modeTexts).map(([id, [name, description]]) => ({ id, name, description }));
  return { currentModeId: mode, availableModes };
}

function toKnownId(sessionId: string): string {
  if (isUuid(sessionId)) return sessionId;
  throw RequestError.invalidParams({ sessionId }, `the session id ${JSON.stringify(sessionId)} is not a UUID`);
}

/** Runs one prompt; a session runs one at a time. Each update is sent after its event is stored. */
async function runPrompt(
  session: OpenSession,
  { sessionId, prompt }: PromptRequest,
  client: AgentContext,
  signal: AbortSignal,
  io: CommandIo,
): Promise<PromptResponse> {
  if (session.running) {
    throw new SheafError(
      "CONVERSATION_BUSY",
      `a prompt of the session ${sessionId} runs: wait for its end, or cancel it`,
    );
  }
  const controller = new AbortController();
  session.running = controller;
  const onAbort = (): void => controller.abort(createCancelError());
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const run = createPromptRun({
      message: toPromptMessage(prompt),
      config: toConfig(session.flags, io),
      flags: { ...session.flags, "include-thinking": true },
      environment: io.environment,
      mcpServers: session.mcpServers,
      control: { signal: controller.signal, abort: (reason) => controller.abort(reason) },
      approver: createEditorApprover(client, sessionId),
    });
    const projection = createAcpProjection();
    let end: RunEnd | undefined;
    for await (const events of run.events()) {
      for (const event of events) {
        if (event.type === "run_end") end = event;
        for (const update of projection.push(event)) {
          await client.notify(methods.client.session.update, { sessionId, update });
        }
      }
    }
    await run.close();
    return toPromptResponse(end);
  } finally {
    signal.removeEventListener("abort", onAbort);
    session.running = undefined;
  }
}

function toPromptResponse(end: RunEnd | undefined): PromptResponse {
  const stopReason = end && toStopReason(end);
  if (stopReason) return { stopReason };
  const { code = "INTERNAL", message = "the run has no end", retryable = false } = end?.error ?? {};
  if (code === "AUTH_REQUIRED" || code === "AUTH_REJECTED") throw RequestError.authRequired({ code }, message);
  throw RequestError.internalError({ code, retryable }, message);
}

/** Replays the responses of a session as updates. */
async function tellHistory(store: Store, sessionId: string, client: AgentContext): Promise<void> {
  const responses = await store.listResponses(`conv_${sessionId.toLowerCase()}`);
  if (responses.length === 0) {
    throw new SheafError("USAGE", `the session ${sessionId} is not stored: create a new one`);
  }
  for (const { id, reverted } of responses) {
    if (reverted) continue;
    const projection = createAcpProjection({ withPrompt: true });
    for (const event of await store.readEvents(id)) {
      for (const update of projection.push(event)) {
        await client.notify(methods.client.session.update, { sessionId, update });
      }
    }
  }
}

async function listSessions(store: Store, workspace: string | undefined) {
  const conversations = await store.listConversations({ limit: PAGE, ...(workspace !== undefined && { workspace }) });
  return {
    sessions: conversations.map(({ id, workspace: cwd, title, updatedAt }) => ({
      sessionId: toBareId(id),
      cwd,
      title,
      updatedAt: new Date(updatedAt).toISOString(),
    })),
  };
}

async function withStore<Result>(
  flags: FlagValues,
  io: CommandIo,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await createStore(toConfig(flags, io).storeFile);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Failures as errors of the protocol: a usage error becomes invalid parameters, the rest is passed on. */
async function translate<Result>(action: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof RequestError) throw error;
    const { code, message } = toSheafError(error);
    if (code === "USAGE") throw RequestError.invalidParams({ code }, message);
    throw RequestError.internalError({ code }, message);
  }
}

function createCancelError(): SheafError {
  return new SheafError("CANCELLED", "cancelled by the editor", { source: "user" });
}

/** Keyed by name. @throws SheafError USAGE for a transport that Sheaf did not offer. */
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

/** How long a question stays open. Milliseconds. */
const EXPIRES_AFTER_MS = 30 * 60 * 1000;

/** An editor that does not answer rejects the call. */
export function createEditorApprover(client: AgentContext, sessionId: string): Approver {
  return {
    expiresAfterMs: EXPIRES_AFTER_MS,
    async ask({ callId, title, description, subject, options }, signal) {
      const { type: _, ...rawInput } = subject;
      const shown = typeof subject.command === "string" ? subject.command : JSON.stringify(rawInput, undefined, 2);
      const text = `${title}\n\n${shown}\n\n${description}`;
      const params: RequestPermissionRequest = {
        sessionId,
        toolCall: { toolCallId: callId, rawInput, content: [{ type: "content", content: { type: "text", text } }] },
        options: options.map(({ id, label, kind }) => ({ optionId: id, name: label, kind })),
      };
      const { requestPermission } = methods.client.session;
      const { outcome } = await client.request(requestPermission, params, { cancellationSignal: signal });
      if (outcome.outcome === "selected") return { optionId: outcome.optionId, by: "editor" };
      throw new SheafError("CANCELLED", "the editor gave no answer", { source: "user" });
    },
  };
}

/**
 * Text unchanged, links by name and address, embedded text in full; images and other embedded files are attached.
 * @throws SheafError USAGE for audio, and for a file that is no image and no PDF (N65).
 */
export function toPromptMessage(content: readonly ContentBlock[]): Pick<RunStart, "prompt" | "attachments"> {
  const texts: string[] = [];
  const files: { readonly name: string; readonly bytes: Uint8Array }[] = [];
  for (const block of content) {
    const file = toFile(block, files.length + 1);
    if (file) files.push({ name: file.name, bytes: Buffer.from(file.data, "base64") });
    else texts.push(toBlockText(block));
  }
  const prompt = texts.join("\n\n");
  return files.length === 0 ? { prompt } : { prompt, attachments: toMessageAttachments(files) };
}

/** Bytes alone count: an address is never read (S-102). */
function toFile(block: ContentBlock, number: number): { readonly name: string; readonly data: string } | undefined {
  if (block.type === "image") return { name: block.uri || `image ${number}`, data: block.data };
  if (block.type !== "resource" || !("blob" in block.resource)) return undefined;
  return { name: block.resource.uri, data: block.resource.blob };
}

function toBlockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${block.name}](${block.uri})`;
    case "resource": {
      const { resource } = block;
      if (!("text" in resource)) return "";
      const longest = Math.max(2, ...[...resource.text.matchAll(/`+/g)].map(([run]) => run.length));
      const fence = "`".repeat(longest + 1);
      return `${resource.uri}\n${fence}\n${resource.text}\n${fence}`;
    }
    default:
      throw new SheafError("USAGE", `a prompt holds ${block.type}: send text, images, links or embedded files`);
  }
}
