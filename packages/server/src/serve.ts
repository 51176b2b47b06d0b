/** The whole server: store, runs, app and sockets, started and stopped together. */
import { createInProcessLive, createResponseRunner } from "@sheaf/agent/run/conversations/response-runner";
import type { Telemetry } from "@sheaf/agent/assemble/telemetry";
import { createPreparer } from "@sheaf/agent/assemble/preparer";
import { createResponseProcesses } from "@sheaf/agent/assemble/response-processes";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import type { SharedStore } from "@sheaf/store/store";
import { createApp } from "./app.ts";
import type { FindClient } from "./client-of.ts";
import { createConversationFeeds } from "./conversation-feed.ts";
import { createHeartbeat } from "./event-sink.ts";
import { createOwnerMeter, type OwnerLimits } from "./limits.ts";
import { listen } from "./listen.ts";
import { createMetrics, type Log } from "./metrics.ts";
import { createOwnHosts } from "./request-rules.ts";
import { createPageFiles } from "./page-files.ts";
import { createPendingApprovals } from "./pending-approvals.ts";
import { createGitTrees } from "./git-trees.ts";
import { createWorkspaceCommands } from "./workspace-commands.ts";
import { createWorkspaceFiles } from "./workspace-files.ts";
import { createStartTurns } from "./start-turns.ts";
import { startClaiming } from "./claim-messages.ts";
import { takeOverResponse } from "./take-over-response.ts";
import { startResponse } from "./start-response.ts";
import { startAttachmentSweep } from "./stored-attachments.ts";
import { startRecovery } from "./recovery.ts";
import { startRetention } from "./retention.ts";
import { createJwtUsers, type JwtSettings } from "./jwt-users.ts";
import { createRequestKeys } from "./request-keys.ts";
import { ResponseChannel } from "./response-channel.ts";
import type { ServerContext, ServerSettings } from "./server-context.ts";
import type { ServerModels } from "./server-models.ts";
import type { ServerToken } from "@sheaf/agent/config/server-tokens";
import { createSharedTails } from "./shared-tails.ts";
import { createSessionTable, createTokenTable } from "./sessions.ts";

export interface ServeOptions {
  readonly settings: ServerSettings;
  readonly models: ServerModels;
  readonly store: SharedStore;
  /** True to prepare responses in one process for each workspace (R-81). Default: in the server's process. */
  readonly isApart?: boolean | undefined;
  /** Exporter of telemetry; default: none (C67). */
  readonly telemetry?: Telemetry | undefined;
  readonly tokens: readonly ServerToken[];
  /** The identity provider of further users (S-270). */
  readonly jwt?: JwtSettings | undefined;
  readonly ownerLimits: OwnerLimits;
  /** Days after its last message after which Sheaf deletes a conversation (R-63); undefined: never. */
  readonly keepDays?: number | undefined;
  /** The folder of the built page. */
  readonly pageFolder: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Additional host names of the server. */
  readonly allowedHosts: readonly string[];
  /** Finds the client of a request behind the proxies that the operator trusts (S-116). */
  readonly findClient: FindClient;
  /** Origins of other pages that may call the API (X24). */
  readonly allowedOrigins: ReadonlySet<string>;
  /** Milliseconds since 1970; never falling. */
  readonly now: () => number;
  readonly log: Log;
}

export interface RunningServer {
  /** The URL of the server, such as `http://127.0.0.1:7433`. */
  readonly address: string;
  /** Returns the path that opens the page for an owner. It works once, within a minute. */
  createTicketPath(owner: string): string;
  /** Replaces the tokens. New requests need one of these; open streams continue. */
  replaceTokens(tokens: readonly ServerToken[]): void;
  /** Accepts no more requests, waits `graceMs` for runs to end, then ends them. Milliseconds. */
  close(graceMs: number): Promise<void>;
}

/**
 * Runs the server. `openListener` gives the app its requests: from sockets, or in a test from its own process.
 * @throws SheafError USAGE if the address can't be taken.
 */
export async function serve(options: ServeOptions, openListener: typeof listen = listen): Promise<RunningServer> {
  const { now, host, log, store } = options;
  const tokens = createTokenTable(options.tokens);
  const sessions = createSessionTable(now, options.tokens);
  const jwtUsers = options.jwt && createJwtUsers(options.jwt, now, log);
  void jwtUsers?.prepare();
  const context = createContext(options);
  await context.trees.open();
  let isOwnHost = createOwnHosts(host, options.port, options.allowedHosts);
  const app = createApp(context, {
    tokens,
    sessions,
    jwtUsers,
    isOwnHost: (name) => isOwnHost(name),
    findClient: options.findClient,
    allowedOrigins: options.allowedOrigins,
    pageFiles: createPageFiles(options.pageFolder),
    log,
  });
  const recovery = startRecovery({
    store,
    runner: context.runner,
    now,
    takeOver:
      context.settings.onNodeLoss === "resume"
        ? (responseId, owner) => takeOverResponse(responseId, owner, context)
        : undefined,
    onRecovered: (responseId) => {
      context.metrics.countRecovered();
      log({ level: "warn", event: "response_recovered", responseId });
    },
    onFailure: context.onDefect,
  });
  const claiming = startClaiming({
    store,
    maxRunning: options.ownerLimits.running,
    begin: ({ responseId, owner }, { body, newConversationId, request }) =>
      startResponse(body, owner, context, {
        request,
        starting: new AbortController(),
        newConversationId,
        claimed: responseId,
      }),
    onFailure: context.onDefect,
  });
  /** Leaves running responses to another server (R-61). Without one, or without the store, they end here. */
  const handOver = async (): Promise<(() => Promise<void>) | undefined> => {
    const release = await store.cluster?.handOver().catch(context.onDefect);
    if (!release) return undefined;
    log({ level: "info", event: "handing_over", running: context.runner.running.length });
    return () => release().catch(context.onDefect);
  };
  const retention = startRetention({
    store,
    keepDays: options.keepDays,
    dataFolder: options.settings.dataFolder,
    forget: (id) => context.trees.forget(id),
    now,
    onDeleted: (count) => log({ level: "info", event: "old_conversations_deleted", count }),
    onFailure: context.onDefect,
  });
  const endSweep = startAttachmentSweep(store, options.ownerLimits.attachments, now, context.onDefect);
  const listener = await openListener(app, host, options.port);
  isOwnHost = createOwnHosts(host, listener.port, options.allowedHosts);
  const address = `http://${host.includes(":") ? `[${host}]` : host}:${listener.port}`;
  log({ level: "info", event: "listening", address });
  // Waiting messages start once the responses of dead servers have ended.
  void recovery.look().then(() => claiming.wake());
  return {
    address,
    // The ticket follows the hash, so no request and no log contains it.
    createTicketPath: (owner) => `/#ticket=${sessions.createTicket(owner)}`,
    replaceTokens(others) {
      tokens.replace(others);
      sessions.replaceTokens(others);
      log({ level: "info", event: "tokens_replaced", count: others.length });
    },
    async close(graceMs) {
      log({ level: "info", event: "closing", running: context.runner.running.length });
      const recovered = recovery.close();
      claiming.close();
      await endSweep();
      await retention.close();
      // The server still answers readers, and answers probes with `closing` (R-60).
      await context.runner.close(graceMs, context.settings.onNodeLoss === "resume" ? handOver : undefined);
      await recovered;
      await context.preparer.close();
      context.trees.close();
      await context.telemetry?.flush();
      context.feeds.close();
      context.heartbeat.close();
      await listener.close();
      log({ level: "info", event: "closed" });
    },
  };
}

function createContext({
  settings,
  isApart,
  models,
  store,
  telemetry,
  ownerLimits,
  now,
  log,
}: ServeOptions): ServerContext {
  const live = createInProcessLive(() => new ResponseChannel(settings.wire));
  const logDefect = (error: unknown, fields: Readonly<Record<string, unknown>> = {}): void => {
    const known = toSheafError(error);
    // The store hides its names from clients in the cause (R-34).
    const { code, message, stack, cause } = known.cause instanceof SheafError ? known.cause : known;
    const event = known.source === "storage" ? "store_failed" : "defect";
    // The log gets the place of the error, not the place that caught it.
    log({ level: "error", event, code, message, stack: cause instanceof Error ? cause.stack : stack, ...fields });
  };
  const context: ServerContext = {
    settings,
    models,
    live,
    tails: createSharedTails(settings.wire),
    feeds: createConversationFeeds(() => context),
    runner: createResponseRunner({ live, onDefect: (error, responseId) => logDefect(error, { responseId }) }),
    heartbeat: createHeartbeat(settings.wire.heartbeatMs),
    approvals: createPendingApprovals(logDefect),
    requestKeys: createRequestKeys(),
    meter: createOwnerMeter(ownerLimits, now),
    metrics: createMetrics(),
    takeStartTurn: createStartTurns(),
    preparer: (isApart ? createResponseProcesses : createPreparer)(settings.environment),
    telemetry,
    files: createWorkspaceFiles(settings, now),
    commands: createWorkspaceCommands(settings, now),
    trees: createGitTrees({ workspaces: settings.gitWorkspaces ?? [], environment: settings.environment, log, now }),
    storeOf: (owner) => store.forOwner(owner),
    now,
    log,
    onDefect: (error) => logDefect(error),
  };
  return context;
}
