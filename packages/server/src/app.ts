/** The Chat API as an app on web standards; listen.ts connects it to sockets. */
import { setTimeout as sleep } from "node:timers/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { schemaNames, toJsonSchema } from "@sheaf/protocol/schemas";
import { localOwner, type SharedStore } from "@sheaf/store/store";
import { sheafVersion } from "@sheaf/base/version";
import { createOpenApiDocument } from "@sheaf/agent/output/openapi";
import { createAuthentication, type Doors } from "./authenticate.ts";
import type { FindClient } from "./client-of.ts";
import { HttpError, toClientError, toErrorResponse } from "./http-error.ts";
import { createRequestRules, findRoute, type IsOwnHost, createRequestObserver } from "./request-rules.ts";
import type { Log } from "./metrics.ts";
import type { PageFiles } from "./page-files.ts";
import { addAttachmentRoutes } from "./routes/attachments.ts";
import { addChatRoute } from "./routes/chat.ts";
import { addConversationRoutes } from "./routes/conversations.ts";
import { addEventRoute } from "./routes/events.ts";
import { addOpenAiRoutes, completionsPath, responsesPath } from "./routes/openai.ts";
import { addPageRoutes, addSessionRoutes } from "./routes/page.ts";
import { addWorkspaceRoutes } from "./routes/workspaces.ts";
import { addResponseRoutes } from "./routes/responses.ts";
import { addUiRoutes, uiPath } from "./routes/ui.ts";
import { securityHeaders } from "./security-headers.ts";
import type { ServerContext, ServerEnvironment } from "./server-context.ts";

export interface AppOptions extends Doors {
  readonly isOwnHost: IsOwnHost;
  readonly findClient: FindClient;
  readonly allowedOrigins: ReadonlySet<string>;
  readonly pageFiles: PageFiles;
  readonly log: Log;
}

/** Routes that read many bytes, of files or of the store (S-55). */
const readPaths = [
  "/v1/workspaces/:name/files/*",
  "/v1/conversations/:id/changes/*",
  "/v1/attachments/:id/content",
  "/v1/responses/:id/attachments/*",
];

/** Creates the app with every route of section 7, after its checks. */
export function createApp(context: ServerContext, options: AppOptions): Hono<ServerEnvironment> {
  const app = new Hono<ServerEnvironment>();
  app.use(createRequestObserver(context.metrics, options.log));
  app.use(createRequestRules(options));
  app.use(async (request, next) => {
    const { method, path } = request.req;
    const route = findRoute(path);
    if (route && !route.methods.includes(method)) throw createMethodError(method, route.methods);
    if (!route && method !== "GET" && method !== "HEAD") throw createNothingError();
    for (const [name, value] of Object.entries(securityHeaders)) request.header(name, value);
    if (route) request.header("Cache-Control", "no-store");
    await next();
  });
  app.get("/healthz", (request) =>
    context.runner.isClosing ? request.json({ status: "closing" }, 503) : request.json({ status: "ok" }),
  );
  const readReadiness = createReadiness(context.storeOf(localOwner), () => context.runner.isClosing);
  app.get("/readyz", async (request) => {
    const status = await readReadiness();
    return request.json({ status }, status === "ready" ? 200 : 503);
  });
  addPageRoutes(app, options.pageFiles);
  addSessionRoutes(app, options);

  const authenticate = createAuthentication(options);
  app.use("/v1/*", authenticate);
  app.get("/metrics", authenticate, async (request) => {
    const gauges = {
      runningResponses: context.runner.running.length,
      openStreams: context.meter.openStreams,
      isReady: (await readReadiness()) === "ready",
      shared: await context
        .storeOf(localOwner)
        .cluster?.readLoad()
        .catch(() => undefined),
    };
    return request.text(context.metrics.format(gauges), 200, { "Content-Type": "text/plain; version=0.0.4" });
  });
  for (const path of readPaths) {
    app.use(path, async (request, next) => {
      const end = context.meter.startRead(request.get("owner"));
      await next().finally(end);
    });
  }
  addDescriptionRoutes(app);
  addChatRoute(app, context);
  addResponseRoutes(app, context);
  addEventRoute(app, context);
  addConversationRoutes(app, context);
  addOpenAiRoutes(app, context);
  addUiRoutes(app, context);
  addWorkspaceRoutes(app, context);
  addAttachmentRoutes(app, context);

  app.notFound(() => {
    throw createNothingError();
  });
  app.onError((error, request) => {
    if (!(error instanceof HttpError) && toClientError(error).isForLog) context.onDefect(error);
    const { outgoing } = (request.env ?? {}) as Partial<ServerEnvironment["Bindings"]>;
    if (!outgoing?.headersSent) return toErrorResponse(error, findErrorForm(request.req.path));
    // The stream is already open: its reader connects again (N51).
    outgoing.destroy();
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}

function findErrorForm(path: string) {
  if (path === completionsPath || path === responsesPath) return "openai";
  return path.startsWith(`${uiPath}/`) || path === uiPath ? "text" : "sheaf";
}

function createNothingError(): HttpError {
  return new HttpError("NOT_FOUND", "nothing is at this address: see /v1/openapi.json");
}

function createMethodError(method: string, allowed: readonly string[]): HttpError {
  const message = `the method ${JSON.stringify(method.slice(0, 20))} is not allowed here: use ${allowed.join(" or ")}`;
  return new HttpError("METHOD_NOT_ALLOWED", message, { allowed });
}

/** Longest time for an answer of the store. Milliseconds. */
const PATIENCE_MS = 2000;

/** Lifetime of an answer, since any client may ask often. Milliseconds. */
const KEPT_MS = 500;

type Readiness = "ready" | "closing" | "store_unavailable";

/** Creates the check behind `/readyz`, which remembers its last answer for a moment. */
function createReadiness(store: Pick<SharedStore, "checkReady">, isClosing: () => boolean) {
  let last: { readonly at: number; readonly answer: Promise<Readiness> } | undefined;

  const ask = (): Promise<Readiness> =>
    Promise.race([
      store.checkReady().then(
        () => "ready" as const,
        () => "store_unavailable" as const,
      ),
      sleep(PATIENCE_MS, "store_unavailable" as const, { ref: false }),
    ]);

  return async (): Promise<Readiness> => {
    if (isClosing()) return "closing";
    const now = performance.now();
    if (!last || now - last.at > KEPT_MS) last = { at: now, answer: ask() };
    return last.answer;
  };
}

function addDescriptionRoutes(app: Hono<ServerEnvironment>): void {
  app.get("/v1/openapi.json", (request) => request.json(createOpenApiDocument(sheafVersion)));

  app.get("/v1/schema/:name", (request) => {
    const name = schemaNames.find((known) => `${known}.json` === request.req.param("name"));
    if (name !== undefined) return request.json(toJsonSchema(name));
    const names = schemaNames.map((known) => `${known}.json`).join(", ");
    throw new HttpError("NOT_FOUND", `there is no such schema: use one of ${names}`);
  });
}
