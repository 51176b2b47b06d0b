/** `/v1/responses/{id}`: a response, its events, its end. */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context, Hono } from "hono";
import { SheafError } from "@sheaf/base/errors";
import type { ResponseRecord, Store } from "@sheaf/store/store";
import { approvalAnswer } from "@sheaf/protocol/schemas";
import { toBegun, toResponseHeaders } from "../answer-request.ts";
import { awaitStart } from "../await-start.ts";
import { isSet, readForm, readPosition, reserveStream } from "../open-stream.ts";
import { followResponse, type FollowPorts } from "../follow-response.ts";
import { createNotFoundError, HttpError } from "../http-error.ts";
import { readJsonBody } from "../json-body.ts";
import { readCurrentResponse, readState } from "../log-reader.ts";
import { createReaderView, toFormHeaders, type WireForm } from "../reader-view.ts";
import { findQueued, findTold, toQueuedSnapshot } from "../queued-responses.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";

export function addResponseRoutes(app: Hono<ServerEnvironment>, context: ServerContext): void {
  const portsOf = (owner: string) => ({
    store: context.storeOf(owner),
    live: context.live,
    tails: context.tails,
    wire: context.settings.wire,
  });

  const findRecord = async (request: Context<ServerEnvironment>, id: string): Promise<ResponseRecord> => {
    const record = await context.storeOf(request.get("owner")).getResponse(id);
    if (!record) throw createNotFoundError("response", id);
    return record;
  };

  app.get("/v1/responses/:id", async (request) => {
    const store = context.storeOf(request.get("owner"));
    const asked = request.req.param("id");
    const queued = await findQueued(store, asked);
    if (queued) return request.json(toQueuedSnapshot(queued, context.settings.wire, context.now()));
    const { id } = await findRecord(request, (await findTold(store, asked)) ?? asked);
    const response = await readCurrentResponse(store, id, context);
    if (!response) throw createNotFoundError("response", id);
    return request.json(response);
  });

  app.get("/v1/responses/:id/events", async (request) => {
    const after = readPosition(request);
    const ports = portsOf(request.get("owner"));
    const snapshot = isSet(request.req.query("snapshot"));
    const form = readForm(request);
    const includesReasoning = isSet(request.req.query("reasoning"));
    const responseId = request.req.param("id");
    const queued = await findQueued(ports.store, responseId);
    // The message with this id may have joined a running response (C242).
    const told = queued ? undefined : await findTold(ports.store, responseId);
    const record = queued ? undefined : await findRecord(request, told ?? responseId);
    // An EventSource that has every event would reconnect forever; this status makes it stop.
    if (record?.ended && after > 0 && !snapshot && after >= (await findLastId(record, form, ports))) {
      return request.body(null, 204);
    }
    const { conversationId } = queued ?? record!;
    const headers = {
      ...toResponseHeaders({ responseId: told ?? responseId, conversationId }),
      ...toFormHeaders(form),
    };
    const sink = reserveStream(request, context).open(headers);
    const options = { responseId, after, snapshot, includesReasoning, form };
    const reader = { store: ports.store, sink, view: createReaderView(options, ports.wire), ...context };
    const begun = queued ? await awaitStart(queued, reader) : (told ?? responseId);
    if (begun !== undefined) await followResponse(sink, toBegun(options, begun), ports);
    return RESPONSE_ALREADY_SENT;
  });

  app.post("/v1/responses/:id/cancel", async (request) => {
    const store = context.storeOf(request.get("owner"));
    const asked = request.req.param("id");
    // A message that starts at this moment becomes a response.
    if (await store.waiting.remove(asked)) return request.json({ id: asked, status: "cancelling" }, 202);
    const { id, ended } = await findRecord(request, asked);
    await cancelRunning(id, store, context);
    return request.json({ id, status: ended ? "ended" : "cancelling" }, 202);
  });

  app.post("/v1/responses/:id/approvals/:approvalId", async (request) => {
    const { id } = await findRecord(request, request.req.param("id"));
    const { optionId, ...words } = await readJsonBody(request.req, approvalAnswer);
    const approvalId = request.req.param("approvalId");
    const answer = { optionId, by: toPersonName(request.get("owner")), ...words };
    const store = context.storeOf(request.get("owner"));
    const outcome = await context.approvals.answer(store, id, { approvalId, answer });
    switch (outcome.kind) {
      case "accepted":
        return request.json({ approvalId, optionId }, 202);
      case "resolved":
        throw new HttpError("APPROVAL_RESOLVED", "this question was already answered, or no longer needs an answer");
      case "elsewhere":
        throw new HttpError(
          "FORBIDDEN",
          `the ${outcome.place} that runs ${id} asks this question: answer it there, or cancel the response`,
        );
      case "unknown":
        throw createNotFoundError("approval", approvalId);
      case "unknown_option":
        throw new HttpError("USAGE", `optionId: ${JSON.stringify(optionId)} is not an option of this question`);
      case "bad_arguments":
        throw new HttpError("USAGE", `the body is not valid at editedArguments: ${outcome.problem}`);
    }
  });
}

/** Ends a response, wherever it runs (X7). */
export async function cancelRunning(
  id: string,
  store: Store,
  { runner }: Pick<ServerContext, "runner">,
): Promise<void> {
  const running = runner.find(id);
  if (running) running.abort(new SheafError("CANCELLED", "cancelled by the user", { source: "user" }));
  else await store.requestCancel(id);
}

/** The name of the person who answered, which readers see; a token without a name stays anonymous. */
export function toPersonName(owner: string): string {
  return owner.startsWith("user:") ? owner.slice("user:".length) : "user";
}

/** Ids number either the documents' events or the log's events, by the form. */
async function findLastId({ id, lastSeq }: ResponseRecord, form: WireForm, ports: FollowPorts): Promise<number> {
  return form === "documents" ? (await readState(ports.store, id, ports.wire)).lastId : lastSeq;
}
