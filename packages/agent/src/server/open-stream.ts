/** Opens the event stream of a request: counted, shown to live, closed for all who are too many. */
import type { Context } from "hono";
import { openEventSink, type EventSink } from "./event-sink.ts";
import type { ServerContext, ServerEnvironment } from "./server-context.ts";

/** @throws HttpError LIMIT_REACHED, before anything is sent. */
export function openStream(
  request: Context<ServerEnvironment>,
  { meter, metrics, heartbeat }: ServerContext,
  headers: Readonly<Record<string, string>>,
): EventSink {
  const release = meter.openStream(request.get("owner"));
  const sink = openEventSink(request.env.outgoing, headers);
  heartbeat.add(sink);
  sink.closed.addEventListener("abort", () => {
    release();
    if (sink.wasSlow) metrics.countSlowReader();
  });
  return sink;
}
