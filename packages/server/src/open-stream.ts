/** Opens the event stream of a request: counts it, adds signs of life, refuses streams above the limit. */
import type { Context } from "hono";
import { openEventSink, type EventSink } from "./event-sink.ts";
import { HttpError } from "./http-error.ts";
import { toCorsHeaders } from "./request-rules.ts";
import { wireForms, type WireForm } from "./reader-view.ts";
import type { ServerContext, ServerEnvironment } from "./server-context.ts";

/**
 * Counts a stream that has sent no data yet. Call exactly one of `open` and `giveUp`.
 * @throws HttpError LIMIT_REACHED.
 */
export function reserveStream(request: Context<ServerEnvironment>, { meter, heartbeat }: ServerContext) {
  const release = meter.openStream(request.get("owner"));
  return {
    giveUp: release,
    open(headers: Readonly<Record<string, string>>): EventSink {
      const sink = openEventSink(request.env.outgoing, { ...toCorsHeaders(request.get("foreignOrigin")), ...headers });
      heartbeat.add(sink);
      sink.closed.addEventListener("abort", release);
      return sink;
    },
  };
}

/** Reads the reader's position. The header wins: on a reconnect, the address still has the old position. */
export function readPosition(request: Context<ServerEnvironment>): number {
  const header = request.req.header("last-event-id");
  const [name, text] = header ? ["the header Last-Event-ID", header] : ["after", request.req.query("after") ?? "0"];
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HttpError(
    "USAGE",
    `${name} is ${JSON.stringify(text.slice(0, 100))}: send the id of the last event that you have`,
  );
}

/** True if a switch in the address is on. */
export function isSet(value: string | undefined): boolean {
  return value === "1" || value === "true";
}

/** The wire form of a stream (X17). @throws HttpError USAGE. */
export function readForm(request: Context<ServerEnvironment>): WireForm {
  const text = request.req.query("format") ?? "documents";
  const form = wireForms.find((known) => known === text);
  if (form !== undefined) return form;
  const message = `format is ${JSON.stringify(text.slice(0, 100))}: use one of ${wireForms.join(", ")}`;
  throw new HttpError("USAGE", message);
}
