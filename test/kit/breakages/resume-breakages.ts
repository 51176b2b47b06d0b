/** Streams that cannot be joined again as they should, and runs that do not end as they should. */
import {
  changeDocuments,
  changeEvents,
  changeResponse,
  isCancel,
  isChat,
  isEvents,
  renumber,
  reply,
  setData,
  setHeader,
  setPath,
  setRequest,
  type BreakageCase,
  type Json,
} from "../breakage.ts";

export const resumeBreakages: readonly BreakageCase[] = [
  ["a Last-Event-ID that is not heard", ["resume-at-every-id"], { request: ({ headers }) => delete headers["last-event-id"] }],
  ["an ?after that is not heard", ["resume-at-every-id"], setPath(isEvents, (path) => path.replace(/after=\d+/, ""))],
  ["an event too few", ["resume-at-every-id", "resume-at-every-byte"],
    setPath(isEvents, (path) => path.replace(/after=(\d+)/, (_, id) => `after=${Number(id) + 1}`))],
  ["an event too many", ["resume-at-every-id"],
    setPath(isEvents, (path) => path.replace(/after=(\d+)/, (_, id) => `after=${Math.max(0, Number(id) - 1)}`))],
  ["only the end after a place", ["resume-at-every-byte"], setPath(isEvents, (path) => path.replace(/after=[1-9]\d*/, "after=5"))],
  ["ids from 1 for every reader", ["resume-at-every-id"], renumber],
  ["other ids on replay", ["resume-replay"],
    { createEvents: (request) => (event) => [isChat(request) ? event : { ...event, id: `${Number(event.id) + 1}` }] }],
  ["a replay that lacks a document", ["resume-replay"],
    { createEvents: (request) => (event) => (isChat(request) || event.data["id"] !== "doc_001" ? [event] : []) }],
  ["any place taken", ["resume-header-wins"], setPath(isEvents, (path) => path.replace(/after=(?!\d+$).*/, "after=0"))],
  ["a slow reader that loses what waits for it", ["resume-slow-reader"],
    {
      createEvents: (request) => {
        let count = 0;
        return (event) => ((count += 1) > 100 && count < 200 && isEvents(request) ? [] : [event]);
      },
    }],
  ["no retry", ["resume-headers"], { dropsComments: true }],
  ["streams that are kept by caches", ["resume-headers"], setHeader("cache-control")],
  ["?snapshot that is not heard", ["snapshot-of-ended"], setPath(isEvents, (path) => path.replace("snapshot=1", ""))],
  ["a snapshot without its documents", ["snapshot-of-ended"],
    setData("snapshot", ({ response }) => ({ response: { ...(response as Json), documents: [] } }))],
  ["a snapshot with another id", ["snapshot-of-ended"], changeEvents("snapshot", (event) => [{ ...event, id: `${Number(event.id) - 1}` }])],
  ["a running response without its place", ["snapshot-while-running"],
    changeResponse(({ metadata }) => delete (metadata as Json)["lastEventId"])],
  ["a running response with a place too far", ["snapshot-while-running"],
    changeResponse(
      ({ metadata, status }) =>
        status === "streaming" &&
        Object.assign(metadata as Json, { lastEventId: Number((metadata as Json)["lastEventId"]) + 1 }),
    )],
  ["a run that ends with its reader", ["disconnect-continues"],
    { onLeave: (id) => ({ method: "POST", path: `/v1/responses/${id}/cancel` }) }],
  ["onDisconnect that is not heard", ["disconnect-cancels"], setRequest(() => ({ onDisconnect: undefined }))],
  ["a cancel that does nothing", ["cancel"], reply(isCancel, { status: 202 })],
  ["a cancel with the wrong status", ["cancel"], { answer: (answer, request) => void (isCancel(request) && (answer.status = 200)) }],
  ["a cancelled run that looks completed", ["cancel"],
    changeResponse((response) => response["status"] === "error" && Object.assign(response, { status: "completed" }))],
  ["a cancelled run without a reason", ["cancel"],
    changeDocuments("error", (_, metadata) => Object.assign(metadata, { errorCode: "INTERNAL" }))],
]; // prettier-ignore
