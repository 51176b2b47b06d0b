/** Keys, approvals, questions and conversations that break the contract. */
import {
  changeResponse,
  drop,
  isApproval,
  isChat,
  reply,
  setData,
  setHeader,
  setPath,
  setRequest,
  type BreakageCase,
  type Json,
} from "../breakage.ts";
import type { Breakage, ProxiedRequest } from "../breaking-fetch.ts";

export const interactiveBreakages: readonly BreakageCase[] = [
  ["keys that are not heard", ["idempotency-json", "idempotency-at-once"], { request: ({ headers }) => delete headers["idempotency-key"] }],
  ["keys that only count for JSON", ["idempotency-stream"],
    {
      request: ({ headers, body }) => {
        if ((body as Json)["stream"] === true) delete headers["idempotency-key"];
      },
    }],
  ["one key for everybody", ["idempotency-other-key"],
    {
      request: (request) => {
        if (isChat(request)) request.headers["idempotency-key"] = "one";
      },
    }],
  ["keys without a look at the message", ["idempotency-other-key"],
    {
      request: ({ headers, body }) => {
        if (String((body as Json)["message"]).startsWith("Another")) delete headers["idempotency-key"];
      },
    }],
  ["approvals that are not heard", ["approval-request", "approval-allow"], setRequest(() => ({ approvals: undefined }))],
  ["approvals for everybody", ["approval-deny-by-default"], setRequest(() => ({ approvals: "ask" }))],
  ["a decision that nobody hears", ["approval-allow"], drop("approval_resolved")],
  ["an approval that GET does not tell", ["approval-request"], changeResponse((response) => delete response["approvals"])],
  ["an approval that the snapshot does not tell", ["approval-request"],
    setData("snapshot", ({ response }) => ({ response: { ...(response as Json), approvals: undefined } }))],
  ["options without a way to reject", ["approval-request"],
    setData("approval_request", ({ options }) => ({
      options: (options as Json[]).filter(({ kind }) => !String(kind).startsWith("reject")),
    }))],
  ["an approval that has expired", ["approval-request"], setData("approval_request", () => ({ expiresAt: "2020-01-01T00:00:00Z" }))],
  ["every decision an allowance", ["approval-reject"],
    {
      request: ({ path, body }) => {
        if (isApproval({ path } as ProxiedRequest)) Object.assign(body as Json, { optionId: "allow_once" });
      },
    }],
  ["unknown approvals taken", ["approval-errors"],
    {
      reply: (request) =>
        request.path.endsWith("/no-such-approval")
          ? { status: 200, headers: { "content-type": "application/json" }, body: {} }
          : undefined,
    }],
  ["edited arguments that are not heard", ["approval-edit"],
    {
      request: ({ path, body }) => {
        if (isApproval({ path } as ProxiedRequest)) delete (body as Json)["editedArguments"];
      },
    }],
  ["any form taken", ["form-unknown"],
    setPath(({ path }) => path.includes("no-such-form"), (path) => path.replace("?format=no-such-form", ""))],
  ["forms that are refused after the run", ["form-unknown"],
    {
      request: (request) => {
        if (!request.path.startsWith("/v1/chat?format=")) return;
        request.path = "/v1/chat";
        Object.assign(request.headers, { accept: "application/json", "x-formed": "1" });
        Object.assign(request.body as Json, { stream: false });
      },
      answer: (answer, { headers }) => {
        if (headers["x-formed"] === undefined) return;
        const error = { errorCode: "USAGE", message: "no such form", source: "server", details: "" };
        Object.assign(answer, { status: 400, body: { error } });
      },
    }],
  ["forms that are not heard", ["form-stream-json", "form-ai-sdk-ui"],
    setPath(({ path }) => path.includes("format="), (path) => path.replace(/format=[a-z-]+&?/, ""))],
  ["a form without its place", ["form-stream-json"],
    setPath(({ path }) => path.includes("format=stream-json&"), (path) => path.replace(/&after=\d+/, ""))],
  ["a form without its header", ["form-ai-sdk-ui"], setHeader("x-vercel-ai-ui-message-stream")],
  ["a file that opens", ["attachments"], setHeader("content-disposition", "inline")],
  ["a file that is not listed", ["attachments"],
    {
      answer: ({ body }, { method, path }) =>
        void (method === "GET" && path === "/v1/attachments" && Object.assign(body as Json, { attachments: [] })),
    }],
  ["a file that its message loses", ["attachments"], setRequest(() => ({ attachments: undefined }))],
  ["a deleted file that stays", ["attachments"],
    {
      reply: ({ method, path }) =>
        method === "DELETE" && path.startsWith("/v1/attachments/")
          ? { status: 204, headers: {}, body: undefined }
          : undefined,
    }],
  ["no heartbeat", ["heartbeat"], { dropsComments: true }],
  ["an old OpenAPI", ["schemas"],
    { answer: ({ body }, { path }) => void (path === "/v1/openapi.json" && Object.assign(body as Json, { openapi: "3.0.0" })) }],
  ["no schema", ["schemas"], reply(({ path }) => path.startsWith("/v1/schema/"), { status: 404 })],
  ["answers that are not heard", ["clarification"],
    setRequest(() => ({ answers: undefined, conversationId: undefined, message: "Summarise" }))],
  ["every message a new conversation", ["conversation-turns"], setRequest(() => ({ conversationId: undefined }))],
  ["busy conversations that wait", ["busy-reject"], { ...setRequest(({ whenBusy }) => ({ whenBusy: whenBusy ?? "queue" })), hangs: true }],
  ["a queue that refuses", ["busy-queue"], setRequest(({ whenBusy }) => ({ whenBusy: whenBusy === "queue" ? "reject" : whenBusy }))],
  ["a whenBusy that cancels nothing", ["busy-cancel"],
    setRequest(({ whenBusy }) => ({ whenBusy: whenBusy === "cancel" ? "reject" : whenBusy }))],
  ["oldest first", ["conversation-list"],
    {
      answer: ({ body }, { path }) => {
        if (path.startsWith("/v1/conversations?")) (body as { conversations?: Json[] }).conversations?.reverse();
      },
    }],
  ["one page again and again", ["conversation-list"],
    setPath(({ path }) => path.includes("before="), (path) => path.replace(/&before=.*/, ""))],
  ["a search that finds everything", ["conversation-list"],
    setPath(({ path }) => path.includes("search="), (path) => path.replace(/search=.*/, ""))],
  ["turns backwards", ["conversation-history"],
    {
      answer: ({ body }) => {
        (body as { turns?: Json[] }).turns?.reverse();
      },
    }],
  ["a fork that is the conversation itself", ["conversation-fork"],
    {
      answer: ({ body }, { path }) => {
        if (path.endsWith("/fork")) Object.assign(body as Json, { id: path.split("/")[3] });
      },
    }],
  ["a revert that does nothing", ["conversation-revert"], reply(({ path }) => path.endsWith("/revert"), {})],
  ["no page too small", ["conversation-list"], setPath(() => true, (path) => path.replace("limit=0", "limit=1"))],
  ["pinned pages that all begin anew", ["conversation-pinned"],
    setPath(({ path }) => path.includes("pinned="), (path) => path.replace(/&before=.*/, ""))],
  ["changed arguments that nobody looks at", ["approval-edit"],
    reply(({ body }) => (body as { editedArguments?: { file?: string } })?.editedArguments?.file === "x", { status: 202 })],
  ["no form of export asked for", ["conversation-export"],
    setPath(({ path }) => path.endsWith("/export"), (path) => `${path}?format=json`)],
  ["a delete that does nothing", ["conversation-delete"], reply(({ method }) => method === "DELETE", { status: 204 })],
  ["a mode that is forgotten", ["conversation-settings"],
    setRequest(({ mode, conversationId }) => (conversationId && !mode ? { mode: "agent" } : {}))],
  ["a PATCH that does nothing", ["conversation-settings", "conversation-pinned"], reply(isPatch, {})],
  ["usage of the last response only", ["conversation-usage"], changeConversation((each) => halveUsage(each))],
  ["a conversation that does not say what waits", ["conversation-waiting"], changeConversation((each) => delete each["approvals"])],
  ["pins that order nothing", ["conversation-pinned"],
    setPath(({ path }) => path.includes("pinned=first"), (path) => path.replace("&pinned=first", ""))],
  ["a match without its place", ["conversation-match"],
    changeConversation((each) => {
      if (each["match"]) Object.assign(each["match"], { ranges: [] });
    })],
  ["an export that is shown", ["conversation-export"], setHeader("content-disposition", "inline")],
  ["one form of export", ["conversation-export"],
    setPath(({ path }) => path.includes("/export"), (path) => path.replace(/format=\w+/, "format=markdown"))],
  ["an option that does not say what it covers", ["approval-request"],
    setData("approval_request", ({ options }) => ({ options: (options as Json[]).map((option) => ({ ...option, rules: undefined })) }))],
]; // prettier-ignore

function isPatch({ method }: ProxiedRequest): boolean {
  return method === "PATCH";
}

/** Changes a conversation, alone and in lists. */
function changeConversation(change: (conversation: Json) => unknown): Breakage {
  return {
    answer: ({ body }, { path }) => {
      if (!path.startsWith("/v1/conversations") || typeof body !== "object" || body === null) return;
      const { conversations = [body] } = body as { conversations?: unknown[] };
      for (const each of conversations) change(each as Json);
    },
  };
}

function halveUsage(conversation: Json): void {
  const usage = conversation["usage"] as Record<string, number> | undefined;
  for (const [name, value] of Object.entries(usage ?? {})) usage![name] = Math.floor(value / 2);
}
