/** Rules for every request: its host, its origin, its form (S-50, S-52). */
import type { IncomingMessage } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { HonoRequest, MiddlewareHandler } from "hono";
import { listOperations } from "@sheaf/agent/output/operations";
import type { Client, FindClient } from "./client-of.ts";
import { HttpError, toErrorResponse } from "./http-error.ts";
import type { Log, Metrics } from "./metrics.ts";
import type { ServerEnvironment } from "./server-context.ts";

/** Longest address. UTF-16 units. */
const MAX_URL = 8192;

/** Headers that would be ambiguous if a request had them twice. */
const singleHeaders = new Set(["host", "authorization", "content-type", "content-length", "cookie", "origin"]);

/** Decides if a host name, with its port, is a name of this server. */
export type IsOwnHost = (host: string) => boolean;

interface OriginRules {
  readonly isOwnHost: IsOwnHost;
  readonly findClient: FindClient;
  /** Origins of other pages that may send requests (X24). */
  readonly allowedOrigins: ReadonlySet<string>;
}

/** Refuses requests to the wrong host name (DNS rebinding), or from the page of another origin. @throws HttpError. */
export function createRequestRules({
  isOwnHost,
  findClient,
  allowedOrigins,
}: OriginRules): MiddlewareHandler<ServerEnvironment> {
  return async (context, next) => {
    const { req } = context;
    const incoming = (context.env as Partial<ServerEnvironment["Bindings"]> | undefined)?.incoming;
    if (incoming) checkForm(incoming);
    const client = findClient(incoming);
    context.set("client", client);
    const host = req.header("host") ?? new URL(req.url).host;
    // Both names are checked, since a page in a browser next to the proxy could write the second one.
    for (const name of [host, client.forwardedHost ?? host]) if (!isOwnHost(name)) throw createHostError(name);
    const origin = req.header("origin");
    if (origin !== undefined && allowedOrigins.has(origin) && !isOwnOrigin(origin, isOwnHost, client)) {
      context.set("foreignOrigin", origin);
      if (req.method === "OPTIONS") return answerPreflight(req, origin);
      // A thrown error would have no CORS headers, so the page couldn't read it.
      if (req.path === "/v1/session") context.res = toErrorResponse(createSessionError());
      else await next();
      for (const [name, value] of Object.entries(toCorsHeaders(origin))) {
        if (context.res !== RESPONSE_ALREADY_SENT) context.res.headers.set(name, value);
      }
      return undefined;
    }
    if (origin !== undefined && !isOwnOrigin(origin, isOwnHost, client)) {
      throw new HttpError(
        "FORBIDDEN",
        `this server refuses requests from the page ${JSON.stringify(origin.slice(0, 100))}: start it with --allow-origin and this origin`,
      );
    }
    const site = req.header("sec-fetch-site");
    if (site !== undefined && site !== "same-origin" && site !== "none") {
      throw new HttpError("FORBIDDEN", "no other page may call this server: use --allow-origin");
    }
    return next();
  };
}

function createSessionError(): HttpError {
  return new HttpError("FORBIDDEN", "only the server's own page signs in here");
}

/** CORS headers of answers to a page of another origin, which sends the token and no cookie (X24). */
export function toCorsHeaders(foreignOrigin: string | undefined): Readonly<Record<string, string>> {
  if (foreignOrigin === undefined) return {};
  return {
    "Access-Control-Allow-Origin": foreignOrigin,
    "Access-Control-Expose-Headers":
      "Content-Disposition, Location, Retry-After, X-Response-Id, X-Conversation-Id, X-Should-Retry",
    Vary: "Origin",
  };
}

/** Answers a browser that asks before it sends a page's request. @throws HttpError for a private network (S-52). */
function answerPreflight(req: HonoRequest, origin: string): Response {
  if (req.header("access-control-request-private-network") !== undefined) {
    throw new HttpError("FORBIDDEN", "this server refuses pages of public networks: call it from a program");
  }
  const asked = req.header("access-control-request-headers") ?? "";
  const headers = {
    ...toCorsHeaders(origin),
    "Access-Control-Allow-Methods": [...new Set(patterns.flatMap((route) => route.methods))].join(", "),
    "Access-Control-Max-Age": "600",
    ...(/^[\w-]+(,\s*[\w-]+)*$/.test(asked) && { "Access-Control-Allow-Headers": asked }),
  };
  return new Response(null, { status: 204, headers });
}

function createHostError(host: string): HttpError {
  const name = JSON.stringify(host.slice(0, 100));
  const message = `the host ${name} is not served here: use the address that sheaf serve printed, or start it with --allow-host`;
  return new HttpError("FORBIDDEN", message);
}

/** True for this server's origin. If the request came over https, a page over http has another origin (S-118). */
function isOwnOrigin(origin: string, isOwnHost: IsOwnHost, { isSecure }: Client): boolean {
  if (isSecure && !origin.startsWith("https:")) return false;
  const [, host] = /^https?:\/\/([^/?#@\s]+)$/.exec(origin) ?? [];
  return host !== undefined && isOwnHost(host);
}

function checkForm({ url = "", httpVersion, rawHeaders }: IncomingMessage): void {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    throw new HttpError("USAGE", `HTTP/${httpVersion} is not supported here: use HTTP/1.1`);
  }
  if (!url.startsWith("/")) throw new HttpError("USAGE", "the request names no path: send the path alone");
  if (url.length > MAX_URL)
    throw new HttpError(
      "URI_TOO_LONG",
      `the address has ${url.length} characters, at most ${MAX_URL} are allowed: shorten it`,
    );
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    if (!singleHeaders.has(name)) continue;
    if (seen.has(name)) throw new HttpError("USAGE", `the header ${name} was sent twice: send it once`);
    seen.add(name);
  }
}

/** A route of the API. */
export interface KnownRoute {
  /** The path in the description of the API: `/v1/responses/{id}`. */
  readonly path: string;
  readonly methods: readonly string[];
}

const patterns: (KnownRoute & { readonly pattern: RegExp })[] = [];
for (const [path, methods] of listOperations()) {
  // Names of models have slashes.
  const word = path.startsWith("/v1/models/") ? ".+" : "[^/]+";
  const pattern = new RegExp(`^${path.replaceAll(".", String.raw`\.`).replaceAll(/\{\w+\}/g, word)}$`);
  patterns.push({ path, methods, pattern });
}

/** Returns undefined if the path isn't a route of the API; it may be one of the page. */
export function findRoute(path: string): KnownRoute | undefined {
  return patterns.find(({ pattern }) => pattern.test(path));
}

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** Creates the check. `others`: host names from the operator; a name without a port matches every port. */
export function createOwnHosts(host: string, port: number, others: readonly string[]): IsOwnHost {
  const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  const own = new Set([...loopbackNames, name].map((known) => `${known}:${port}`.toLowerCase()));
  // Browsers leave out the default port.
  if (port === 80) for (const known of [...loopbackNames, name]) own.add(known.toLowerCase());
  const given = new Set(others.map((other) => other.toLowerCase()));
  return (candidate) => {
    const lower = candidate.toLowerCase();
    return own.has(lower) || given.has(lower) || given.has(lower.replace(/:\d{1,5}$/, ""));
  };
}

/** Methods that have their own counters; a client can send any word. */
const methods = new Set(["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"]);

/** Counts each request, and logs it. */
export function createRequestObserver(metrics: Metrics, log: Log): MiddlewareHandler<ServerEnvironment> {
  return async (context, next) => {
    const startedAt = performance.now();
    const outgoing = (context.env as Partial<ServerEnvironment["Bindings"]> | undefined)?.outgoing;
    const observe = (status: number): void => {
      const seconds = (performance.now() - startedAt) / 1000;
      const { method, path } = context.req;
      const route = findRoute(path)?.path ?? "other";
      metrics.countRequest(methods.has(method) ? method : "other", route, status, seconds);
      if (route === "/healthz" || route === "/readyz" || route === "/metrics") return;
      const owner = context.get("owner") as string | undefined;
      const client = (context.get("client") as Client | undefined)?.address;
      log({ level: "info", event: "request", method, path, status, ms: Math.round(seconds * 1000), owner, client });
    };
    // A stream ends when its connection closes.
    outgoing?.on("close", () => observe(outgoing.statusCode));
    await next();
    if (!outgoing) observe(context.res.status);
  };
}
