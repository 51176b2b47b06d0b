/** Readers of a run, and runs that can be looked at while they go on. */
import type { ChatRequest, StreamEvent } from "@sheaf/protocol";
import type { Context, Run } from "./context.ts";
import type { EventStream } from "./event-stream.ts";
import { Skip } from "./violation.ts";

/** Behind which event to begin: `?after=3`, or a header. */
export async function openEvents(
  context: Context,
  responseId: string,
  query: string,
  lastEventId?: number,
): Promise<EventStream> {
  const headers = { "last-event-id": lastEventId === undefined ? undefined : `${lastEventId}` };
  return context.http.open("GET", `/v1/responses/${responseId}/events${query}`, { headers });
}

export async function readEvents(
  context: Context,
  responseId: string,
  query: string,
  lastEventId?: number,
): Promise<readonly StreamEvent[]> {
  const stream = await openEvents(context, responseId, query, lastEventId);
  return stream.readToEnd();
}

/** A run that has begun and has not ended. @throws Skip when it is too short to look at. */
export async function startLong(context: Context, fields: Partial<ChatRequest> = {}): Promise<Run> {
  const run = await context.start("long", fields);
  await run.stream.find(({ event }) => event === "document_start", "the first document");
  const { status } = await context.getResponse(run.responseId);
  if (status !== "streaming") throw new Skip('the run of the prompt "long" ended before it could be looked at');
  return run;
}
