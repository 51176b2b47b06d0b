/** One line of the log and one count for each request; never a body, a header or a query. */
import type { MiddlewareHandler } from "hono";
import { findRoute } from "./known-routes.ts";
import type { Metrics } from "./metrics.ts";
import type { ServerEnvironment } from "./server-context.ts";

/** Writes one line of the log. */
export type Log = (entry: Readonly<Record<string, unknown>>) => void;

/** Methods that are counted by their name; a client can send any word. */
const methods = new Set(["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"]);

export function createRequestObserver(metrics: Metrics, log: Log): MiddlewareHandler<ServerEnvironment> {
  return async (context, next) => {
    const startedAt = performance.now();
    const outgoing = (context.env as Partial<ServerEnvironment["Bindings"]> | undefined)?.outgoing;
    const observe = (status: number): void => {
      const seconds = (performance.now() - startedAt) / 1000;
      const { method, path } = context.req;
      const route = findRoute(path)?.path ?? "other";
      metrics.countRequest(methods.has(method) ? method : "other", route, status, seconds);
      if (route === "/healthz" || route === "/metrics") return;
      const owner = context.get("owner") as string | undefined;
      log({ level: "info", event: "request", method, path, status, ms: Math.round(seconds * 1000), owner });
    };
    // A stream is over when its connection is.
    outgoing?.on("close", () => observe(outgoing.statusCode));
    await next();
    if (!outgoing) observe(context.res.status);
  };
}
