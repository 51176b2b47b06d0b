/** Approvals by a person (X8). */
import { reduce, type ApprovalRequestData, type StreamEvent } from "@sheaf/protocol";
import { atLevel } from "../check.ts";
import type { Context } from "../context.ts";
import { demandEqual } from "../difference.ts";
import { checkCancelled } from "./cancel.ts";
import { demand, show, Skip } from "../violation.ts";

export const approvalChecks = atLevel("interactive", [
  ["approval-request", "X8 X45", "a request for approval has its fields, and is part of every snapshot while it is open",
    checkRequest],
  ["approval-allow", "X8", "an allowed call runs, and every reader learns who decided", (context) => checkDecision(context, true)],
  ["approval-reject", "X8 N36 N39", "a rejected call does not run, and the run continues to its end",
    (context) => checkDecision(context, false)],
  ["approval-edit", "X8", "a call allowed with edited arguments runs with these, and its document shows them", checkEdited],
  ["approval-deny-by-default", "X8", 'without `approvals: "ask"` no approval is requested, and the run ends', checkDefault],
  ["approval-errors", "X8 N52", "an unknown approval is 404, an unknown option 400; a decision is final", checkErrors],
  ["approval-cancel", "X8 X7", "a run that waits for approval can be cancelled",
    async (context) => {
      const { stream, responseId } = await context.startApproval();
      await context.http.expect(202, "X7", "POST", `/v1/responses/${responseId}/cancel`, { body: {} });
      await stream.readToEnd();
      checkCancelled(await context.waitForEnd(responseId), "X7");
    }],
]); // prettier-ignore

async function findRequest(context: Context) {
  const run = await context.startApproval();
  const request = run.stream.events.find(({ event }) => event === "approval_request")!.data as ApprovalRequestData;
  const path = `/v1/responses/${run.responseId}/approvals/${run.approvalId}`;
  const { options } = request;
  const [allow, reject] = [/^allow_once$/, /^reject/].map((kinds) => options.find(({ kind }) => kinds.test(kind)));
  demand(allow !== undefined, "X8", `no option has the kind allow_once: ${show(options)}`);
  demand(reject !== undefined, "X8", `no option rejects: ${show(options)}`);
  const decide = (body: object): Promise<unknown> => context.http.expect([200, 202, 204], "X8", "POST", path, { body });
  return { ...run, request, path, allow, reject, decide };
}

async function checkRequest(context: Context): Promise<void> {
  const { stream, request, responseId } = await findRequest(context);
  const { documentId, options, expiresAt, subject } = request;
  const isOpen = stream.events.some(({ event, data }) => event === "document_start" && data.id === documentId);
  demand(isOpen, "X8", `the approval is for ${documentId}, which did not start`);
  demand(["command", "file_edit", "tool_call"].includes(subject.type), "X8", `the subject is ${show(subject)}`);
  demand(new Set(options.map(({ id }) => id)).size === options.length, "X8", "two options have the same id");
  const vague = options.find(({ kind, rules }) => kind.endsWith("_always") && !Array.isArray(rules));
  demand(vague === undefined, "X45", `the option ${show(vague)} does not have the rules that it makes`);
  demand(Date.parse(expiresAt) > Date.now() && expiresAt.endsWith("Z"), "X8", `expiresAt is ${show(expiresAt)}`);
  const { approvals = [] } = await context.getResponse(responseId);
  demandEqual(approvals, [request], "X8", "the open approval in GET /v1/responses/{id}");
  const snapshot = await context.http.open("GET", `/v1/responses/${responseId}/events?snapshot=1`);
  const first = await snapshot.find(({ event }) => event === "snapshot", "the snapshot");
  const inSnapshot = first.event === "snapshot" ? (first.data.response.approvals ?? []) : [];
  demandEqual(inSnapshot, [request], "X8", "the open approval in the snapshot");
  snapshot.close();
  const after = await context.cancel(responseId);
  await stream.readToEnd();
  demand(after.approvals === undefined, "X8", "a finished response has open approvals");
}

async function checkDecision(context: Context, isAllowed: boolean): Promise<void> {
  const { stream, request, allow, reject, decide, responseId } = await findRequest(context);
  const other = await context.http.open("GET", `/v1/responses/${responseId}/events`);
  const option = isAllowed ? allow : reject;
  await decide({ optionId: option.id });
  const [events, others] = await Promise.all([stream.readToEnd(), other.readToEnd()]);
  for (const each of [events, others]) checkResolved(each, request.approvalId, option.id);
  const stored = await context.waitForEnd(responseId);
  demandEqual(reduce(events), stored, "N53", "the stream with an approval differs from GET");
  const document = stored.documents.find(({ id }) => id === request.documentId)!;
  const isDone =
    document.type === "terminal_command" ? document.metadata.exitCode === 0 : !hasError(events, document.id);
  const wrong = isAllowed ? "allowed and did not run" : "rejected and ran";
  demand(isDone === isAllowed, "X8", `${document.id} was ${wrong}: ${show(document.metadata)}`);
  if (!isAllowed)
    demand(hasError(events, document.id), "N39", `no error document names ${document.id}, which was rejected`);
}

async function checkEdited(context: Context): Promise<void> {
  const { stream, request, path, allow, decide, responseId } = await findRequest(context);
  if (request.subject.type !== "command") {
    await context.cancel(responseId);
    throw new Skip(`the approval is for a ${request.subject.type}, not for a command`);
  }
  const command = "touch sheaf-conformance-edited.tmp";
  const body = { optionId: allow.id, editedArguments: { command } };
  for (const editedArguments of [{ command: 7 }, { file: "x" }, {}]) {
    await context.http.expectError(400, "POST", path, { body: { ...body, editedArguments } });
  }
  await decide(body);
  await stream.readToEnd();
  const { documents } = await context.waitForEnd(responseId);
  const { metadata } = documents.find(({ id }) => id === request.documentId)!;
  const ran = (metadata as { readonly command?: unknown }).command;
  demand(ran === command, "X8", `the command was edited to ${show(command)}, and ${show(ran)} ran`);
}

function hasError(events: readonly StreamEvent[], documentId: string): boolean {
  const { documents } = reduce(events);
  return documents.some(({ type, metadata }) => type === "error" && metadata.relatedDocumentId === documentId);
}

function checkResolved(events: readonly StreamEvent[], approvalId: string, optionId: string): void {
  const resolved = events.find(({ event }) => event === "approval_resolved");
  demand(resolved !== undefined, "X8", "a reader got no approval_resolved");
  const data = resolved.event === "approval_resolved" ? resolved.data : undefined;
  const isSame = data?.approvalId === approvalId && data.optionId === optionId;
  demand(isSame && data.by !== "", "X8", `approval_resolved is ${show(data)}`);
}

async function checkDefault(context: Context): Promise<void> {
  for (const approvals of [undefined, "deny"] as const) {
    const { stream, responseId } = await context.start("approval", approvals ? { approvals } : {});
    const isNext = ({ event }: StreamEvent): boolean => event === "approval_request" || event === "done";
    const { event } = await stream.find(isNext, "the end of a run without approvals");
    if (event === "approval_request") await context.cancel(responseId);
    demand(event === "done", "X8", `approval_request arrived with approvals ${show(approvals ?? "left out")}`);
  }
}

async function checkErrors(context: Context): Promise<void> {
  const { request, path, allow, reject, decide, responseId, stream } = await findRequest(context);
  const { http } = context;
  const body = { optionId: reject.id };
  await http.expectError(404, "POST", `/v1/responses/${responseId}/approvals/no-such-approval`, { body });
  await http.expectError(404, "POST", `/v1/responses/chat_x/approvals/${request.approvalId}`, { body });
  await http.expectError(400, "POST", path, { body: { optionId: "no-such-option" } });
  await http.expectError(400, "POST", path, { body: {} });
  const { approvals = [] } = await context.getResponse(responseId);
  demand(approvals.length === 1, "X8", "a refused decision closed the approval");
  await decide(body);
  await stream.readToEnd();
  const late = await http.send("POST", path, { body: { optionId: allow.id } });
  demand(late.status >= 400, "X8", `another decision about a closed approval gives ${late.status}`);
}
