/** Opens the event stream of a request: counted, shown to live, closed for all who are too many. */
import type { Context } from "hono";
import { openEventSink, type EventSink } from "./event-sink.ts";
import type { ServerContext, ServerEnvironment } from "./server-context.ts";

/** A stream that counts already, and has sent nothing. Exactly one of the two ends that. */
export interface ReservedStream {
  open(headers: Readonly<Record<string, string>>): EventSink;
  giveUp(): void;
}

/** @throws HttpError LIMIT_REACHED. */
export function reserveStream(
  request: Context<ServerEnvironment>,
  { meter, metrics, heartbeat }: ServerContext,
): ReservedStream {
  const release = meter.openStream(request.get("owner"));
  return {
    giveUp: release,
    open(headers) {
      const sink = openEventSink(request.env.outgoing, headers);
      heartbeat.add(sink);
      sink.closed.addEventListener("abort", () => {
        release();
        if (sink.wasSlow) metrics.countSlowReader();
      });
      return sink;
    },
  };
}

/** @throws HttpError LIMIT_REACHED, before anything is sent. */
export function openStream(
  request: Context<ServerEnvironment>,
  context: ServerContext,
  headers: Readonly<Record<string, string>>,
): EventSink {
  return reserveStream(request, context).open(headers);
}
