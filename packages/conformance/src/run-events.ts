/** Readers of a run, and runs to examine while they are in progress. */
import type { ChatRequest, StreamEvent } from "@sheaf/protocol";
import type { Context, Run } from "./context.ts";
import type { EventStream } from "./event-stream.ts";
import { Skip } from "./violation.ts";

/** Opens a stream that starts after an event, by `?after=3` or a header. */
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

/** Starts a run that stays in progress. @throws Skip if it is too short to examine. */
export async function startLong(context: Context, fields: Partial<ChatRequest> = {}): Promise<Run> {
  const run = await context.start("long", fields);
  await run.stream.find(({ event }) => event === "document_start", "the first document");
  const { status } = await context.getResponse(run.responseId);
  if (status !== "streaming") throw new Skip('the run of the prompt "long" ended before it could be examined');
  return run;
}
