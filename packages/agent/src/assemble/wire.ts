/** The composition root: the only file that names concrete models and stores. Each is loaded when it is asked for. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CodeSearch } from "../workspace/codebase/code-search.ts";
import type { TokenPrice } from "@sheaf/protocol";
import type { FallbackChoice, ModelChoice } from "../config/endpoints.ts";
import type { Environment } from "../base/paths.ts";
import { hookFiles } from "../config/hook-settings.ts";
import { readTrusted } from "../config/trust.ts";
import { chooseProxy, findProxy } from "../config/proxy.ts";
import type { ServerChoice, ServerPlaces } from "../config/workspace-servers.ts";
import type { ModelFamily } from "../config/provider-presets.ts";
import { SheafError } from "../base/errors.ts";
import type { FindRegistryHosts } from "../guard/permissions/decide-network.ts";
import type { Surroundings } from "../guard/sandbox/find/registries.ts";
import type { PageFetcher } from "../network/fetch-page.ts";
import {
  defaultRequestLimits,
  type PackageEndpoint,
  type LivePorts,
  type ProviderEndpoint,
  type RequestLimits,
} from "../model/endpoint.ts";
import type { CreateLanguageModel } from "../model/live/live-model.ts";
import type { ServerFolders, ServerPorts } from "../tools/mcp/server-connection.ts";
import type { ServerPrompt } from "../tools/mcp/server-prompts.ts";
import type { KeeperLimits, LeaseOrder, ServerKeeper, ServerLease } from "../tools/mcp/server-keeper.ts";
import type { Hooks } from "../tools/hooks/hooks.ts";
import type { HookOrder, OpenedHooks } from "./open-hooks.ts";
import type { LanguageModel } from "../model/language-model.ts";
import type { Model } from "../model/provider.ts";
import type { AnswerCheck } from "../run/final-answer.ts";
import { createMessageProjection, type ProjectionOptions } from "../output/create-message-projection.ts";
import type { OutputFormat, Projection } from "../output/projection.ts";
import type { Recording } from "../recording/recording.ts";
import type { AgentPlaces } from "../config/agent-kinds.ts";
import { agentToolName, type CallableTool } from "../tools/registry.ts";
import type { AgentToolPorts } from "./agent-tool.ts";
import type * as ServerLoginModule from "./run-server-login.ts";
import type { RunOrder } from "./run-order.ts";
import type { Telemetry } from "./telemetry.ts";
import type { SchemaState } from "../store/migrations/migrate-postgres.ts";
import type { StoreDump, TableName, TableSum } from "../store/store-tables.ts";
import { isPostgresAddress, type SharedStore } from "../store/store.ts";

/**
 * The model that was chosen; never another one. The signal ends the wait for a script from a pipe.
 * @throws SheafError CONFIG_INVALID for a script that is none.
 */
async function createModel(choice: ModelChoice, signal?: AbortSignal): Promise<Model> {
  switch (choice.kind) {
    case "offline":
      return (await import("../model/offline/offline.ts")).createOfflineModel();
    case "scripted":
      return (await import("../model/scripted.ts")).createScriptedModel(choice.file, signal);
    case "endpoint":
      return createEndpointModel(choice.family, choice.endpoint, choice.limits);
    case "package":
      return createPackageModel(choice.endpoint, choice.limits);
  }
}

/** The model that was chosen, and those that the user named to answer in its place (C59). */
export async function createModels(
  choice: ModelChoice,
  fallbacks: readonly FallbackChoice[],
  prices: ReadonlyMap<string, TokenPrice>,
  signal?: AbortSignal,
): Promise<Model> {
  const model = await createModel(choice, signal);
  if (fallbacks.length === 0) return model;
  const { createFallbackModel } = await import("../model/fallback.ts");
  const open = fallbacks.map(async (one) => ({
    model: await createModel(one.choice, signal),
    price: prices.get(one.name),
  }));
  return createFallbackModel(model, await Promise.all(open));
}

/** Milliseconds since 1970, by a clock that a change of the system's time does not move. */
export const now = (): number => Math.round(performance.timeOrigin + performance.now());

/** What live models take from outside. */
const livePorts: LivePorts = {
  now: Date.now,
  random: Math.random,
  startTimer(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
};

/** A package of the user's is code that the user installed; a workspace cannot name one (S-06). */
async function createPackageModel(endpoint: PackageEndpoint, limits: RequestLimits): Promise<Model> {
  const [packages, { findPackage }] = await Promise.all([
    import("../model/packages/package-model.ts"),
    import("../model/packages/create-language-model.ts"),
  ]);
  const exported = await loadPackage(findPackage(endpoint), endpoint);
  return packages.createPackageModel(endpoint, exported, limits, livePorts);
}

/**
 * A model that a program made with a package of the AI SDK.
 * @throws SheafError USAGE for a version of the interface that is not understood.
 */
export async function createLanguageModelAdapter(languageModel: LanguageModel): Promise<Model> {
  const [{ createSdkModel }, { isLanguageModel }] = await Promise.all([
    import("../model/packages/package-model.ts"),
    import("../model/packages/create-language-model.ts"),
  ]);
  if (isLanguageModel(languageModel)) return createSdkModel(languageModel, defaultRequestLimits, livePorts);
  const { specificationVersion, modelId } = languageModel;
  const message = `the model "${modelId}" has version ${specificationVersion} of the AI SDK's interface: use v2, v3 or v4`;
  throw new SheafError("USAGE", message);
}

/** Only the adapter of the family that is used is loaded. */
async function createEndpointModel(
  family: ModelFamily,
  endpoint: ProviderEndpoint,
  limits: RequestLimits,
): Promise<Model> {
  const [{ createLiveModel }, createLanguageModel] = await Promise.all([
    import("../model/live/live-model.ts"),
    loadLanguageModel(family),
  ]);
  return createLiveModel(endpoint, createLanguageModel, limits, livePorts);
}

async function loadPackage(
  address: string,
  { provider, settings }: PackageEndpoint,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(address)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `the package "${settings.package}" of the provider ${provider} cannot be loaded (${reason}): install it again`;
    throw new SheafError("CONFIG_INVALID", message, { cause });
  }
}

async function loadLanguageModel(family: ModelFamily): Promise<CreateLanguageModel> {
  switch (family) {
    case "openai":
      return (await import("../model/live/openai.ts")).createOpenAiLanguageModel;
    case "anthropic":
      return (await import("../model/live/anthropic.ts")).createAnthropicLanguageModel;
    case "google":
      return (await import("../model/live/google.ts")).createGoogleLanguageModel;
    case "openai-compatible":
      return (await import("../model/live/openai-compatible.ts")).createOpenAiCompatibleLanguageModel;
  }
}

/** The servers of a run. What reads their lists is loaded where there may be one. @throws SheafError CONFIG_INVALID. */
export async function chooseServers(places: ServerPlaces): Promise<ServerChoice> {
  const { trusted, cursorFile, mcpServers } = places;
  const mayHaveServers = trusted || cursorFile !== undefined || Object.keys(mcpServers).length > 0;
  if (!mayHaveServers) return { servers: {}, leftOut: [], own: new Set() };
  return (await import("../config/workspace-servers.ts")).chooseServers(places);
}

/** The hooks of a run. Loaded where there may be some. @throws SheafError CONFIG_INVALID for a file that cannot be read. */
export async function openHooks(order: HookOrder): Promise<OpenedHooks> {
  const { sources, trustedWorkspace } = order;
  const isThere = (file: string): boolean => existsSync(join(trustedWorkspace!.workspace, file));
  const mayHave = trustedWorkspace && (hookFiles.some(isThere) || readTrusted("hooks", trustedWorkspace).size > 0);
  if (!sources && !mayHave) return { hooks: undefined, notices: [] };
  return (await import("./open-hooks.ts")).openHooks(order);
}

/** The subagents of a run, if the user wants them; what they need is loaded then (C96). */
export async function openAgents({
  hasAgents = false,
  toolChoice,
  ...order
}: AgentPlaces & Pick<RunOrder, "hasAgents" | "toolChoice" | "modelName" | "agentModels" | "limits">) {
  if (!hasAgents && !toolChoice?.only?.includes(agentToolName)) return undefined;
  const [{ createAgentTool }, { findAgentKinds }, { chooseAgents }] = await Promise.all([
    import("./agent-tool.ts"),
    import("../config/agent-kinds.ts"),
    import("./agent-models.ts"),
  ]);
  const { notices, ...chosen } = await chooseAgents(findAgentKinds(order), order, now());
  return {
    notices,
    createTool: (ports: Omit<AgentToolPorts, "kinds" | "models" | "openModel">): CallableTool =>
      createAgentTool({ ...ports, ...chosen, openModel: ({ choice }) => createModel(choice) }),
  };
}

/** What runs were, for a collector; undefined: the environment names none. */
export async function openTelemetry(
  environment: Environment,
  { hasParent }: { readonly hasParent: boolean },
): Promise<Telemetry | undefined> {
  if (!hasTelemetry(environment)) return undefined;
  const { findTelemetrySettings } = await import("../config/telemetry-settings.ts");
  const settings = findTelemetrySettings(hasParent ? environment : { ...environment, TRACEPARENT: undefined });
  if (!settings) return undefined;
  const { createTelemetry } = await import("./telemetry.ts");
  return createTelemetry(settings, { fetch, now, instanceId: randomUUID() });
}

/** Whether the environment names a collector at all. */
function hasTelemetry(environment: Environment): boolean {
  return ["", "TRACES_", "METRICS_"].some((signal) => environment[`OTEL_EXPORTER_OTLP_${signal}ENDPOINT`]);
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
export interface ToolServers {
  /** Undefined: the response has none, and none is kept for it. */
  lease(order: LeaseOrder, folders: ServerFolders, signal: AbortSignal): Promise<ServerLease | undefined>;
  /** Prompts of those that run for a conversation (C111). Starts none, and never rejects. */
  listPrompts(conversationId: string): Promise<readonly ServerPrompt[]>;
  /** Addresses of resources of one of them, in the same way (C110). */
  listAddresses(conversationId: string, server: string): Promise<readonly string[]>;
  /** When hooks see a session begin and end (C87). */
  readonly sessions: Sessions;
  /** Ends those of a conversation. */
  end(conversationId: string): Promise<void>;
  /** Ends all. */
  close(): Promise<void>;
}

/** What connections to servers use. The code of logins is loaded for a server with an address. */
function createServerPorts(environment: Environment): Omit<ServerPorts, keyof ServerFolders> {
  return {
    async openFetch() {
      const proxy = findProxy(environment);
      return proxy && (await import("../model/live/proxied-fetch.ts")).createProxiedFetch(proxy);
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
  return import("./run-server-login.ts");
}

/** By default they end with their response. The `environment` names the user's proxy. */
export function createToolServers(
  environment: Environment,
  limits: KeeperLimits = { maxResting: 0 },
  sessions: Sessions = "runs",
): ToolServers {
  let loading: Promise<ServerKeeper> | undefined;
  const ports = createServerPorts(environment);
  return {
    sessions,
    async lease(order, folders, signal) {
      if (!loading && Object.keys(order.servers).length === 0) return undefined;
      loading ??= import("../tools/mcp/server-keeper.ts").then((module) =>
        module.createServerKeeper(limits, livePorts.startTimer),
      );
      return (await loading).lease(order, { ...folders, ...ports }, signal);
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

/** The store of a file; `":memory:"` is one that lives as long as the process. */
export async function createStore(file: string): Promise<SharedStore> {
  const { createSqliteStore } = await import("../store/sqlite.ts");
  return createSqliteStore(file);
}

/** The store of a file, or of a PostgreSQL database, for a process that runs many responses at once. */
export async function createServerStore(place: string): Promise<SharedStore> {
  if (isPostgresAddress(place)) return (await import("../store/postgres.ts")).createPostgresStore(place);
  return (await import("../store/threaded-sqlite.ts")).createThreadedSqliteStore(place);
}

/** All rows of a store as they are now; `place` as in `createServerStore`. A file is migrated first. */
export async function openStoreDump(place: string): Promise<StoreDump> {
  if (isPostgresAddress(place)) return (await import("../store/postgres-dump.ts")).openPostgresDump(place);
  return (await import("../store/sqlite-dump.ts")).openSqliteDump(place);
}

/** Gives the schema that was there. */
export async function migrateStore(place: string): Promise<SchemaState> {
  if (isPostgresAddress(place)) {
    return (await import("../store/postgres.ts")).preparePostgres(place, { migrates: true });
  }
  return (await import("../store/sqlite-dump.ts")).migrateSqlite(place);
}

export async function vacuumStore(place: string): Promise<void> {
  if (isPostgresAddress(place)) await (await import("../store/postgres-dump.ts")).vacuumPostgres(place);
  else (await import("../store/sqlite-dump.ts")).vacuumSqlite(place);
}

/** Copies the store of a file to an empty database, and verifies it. @throws SheafError USAGE, STORAGE_… */
export async function copyStore(file: string, address: string): Promise<Readonly<Record<TableName, TableSum>>> {
  await migrateStore(address);
  const { fillPostgres } = await import("../store/postgres-dump.ts");
  const source = await openStoreDump(file);
  try {
    return await fillPostgres(address, source);
  } finally {
    await source.close();
  }
}

/** The web, by the user's proxies. It is loaded when a page is asked for. */
export function createPageFetcher(environment: Environment): PageFetcher {
  let loading: Promise<PageFetcher> | undefined;
  return {
    async fetchPage(url, signal) {
      loading ??= import("../network/fetch-page.ts").then((module) =>
        module.createPageFetcher({ findProxy: (page) => chooseProxy(findProxy(environment), page) }),
      );
      return (await loading).fetchPage(url, signal);
    },
  };
}

/** The indexes of folders. One is opened when something is looked for in its folder. */
export function createCodeSearch(dataFolder: string | undefined): CodeSearch {
  let loading: Promise<CodeSearch> | undefined;
  return {
    async search(query, scope, signal) {
      loading ??= import("../workspace/codebase/code-search.ts").then((module) => module.createCodeSearch(dataFolder));
      return (await loading).search(query, scope, signal);
    },
  };
}

/** Loaded when a command connects to a host that only a rule about registries may allow. */
export function createRegistryFinder(surroundings: Surroundings): FindRegistryHosts {
  let loading: Promise<FindRegistryHosts> | undefined;
  return async (name, isDenial) => {
    loading ??= import("../guard/sandbox/find/registries.ts").then((module) =>
      module.createRegistryFinder(surroundings),
    );
    return (await loading)(name, isDenial);
  };
}

/** The check of a final answer against a schema file; undefined without one. @throws SheafError CONFIG_INVALID. */
export async function createAnswerCheck(
  file: string | undefined,
  signal: AbortSignal,
  onClose: (close: () => void) => void,
): Promise<AnswerCheck | undefined> {
  if (file === undefined) return undefined;
  return (await import("../run/answer-schema.ts")).createAnswerCheck(file, signal, onClose);
}

/** A fresh projection of one run. */
export async function openProjection(format: OutputFormat, options: ProjectionOptions): Promise<Projection> {
  if (format !== "documents" && format !== "documents-stream") return createMessageProjection(format, options);
  return (await import("../output/create-projection.ts")).createProjection(format, options);
}

/** The recording into a file; undefined without one. @throws SheafError USAGE when the file cannot be written. */
export async function openRecording(file: string | undefined): Promise<Recording | undefined> {
  return file === undefined ? undefined : (await import("../recording/recording.ts")).createRecording(file);
}
