/** Checks of a conversation's state: settings, pins, usage, waiting approvals, search excerpts, exports. */
import type { Conversation, ConversationChangeKind, ConversationSummary, ConversationUpdate } from "@sheaf/protocol";
import { atLevel } from "../check.ts";
import type { Context } from "../context.ts";
import { demandEqual } from "../difference.ts";
import type { EventStream } from "../event-stream.ts";
import { demand, show } from "../violation.ts";
import { checkPages, getConversation, listPage, say } from "./read-conversations.ts";

export const conversationStateChecks = atLevel("interactive", [
  ["conversation-settings", "X25 X26", "a message without a mode has the conversation's, which PATCH changes",
    checkSettings],
  ["conversation-usage", "X35", "the usage of a conversation is the sum over its responses", checkUsage],
  ["conversation-waiting", "X35", "a conversation lists its running response and its waiting approvals",
    checkWaiting],
  ["user-events", "C230", "one stream shows starts, waits and ends of all conversations, and resumes after an event",
    checkUserEvents],
  ["conversation-pinned", "X26 X35 X36", "pinned conversations are first if a request wants them first", checkPinned],
  ["conversation-match", "X36", "a search shows the place of its words, in any case", checkMatch],
  ["conversation-export", "X37", "a conversation is exported as Markdown and as JSON", checkExport],
]); // prettier-ignore

async function patch(context: Context, id: string, body: Readonly<Record<string, unknown>>): Promise<Conversation> {
  await context.http.expect([200, 204], "X26", "PATCH", `/v1/conversations/${id}`, { body });
  return getConversation(context, id);
}

async function checkSettings(context: Context): Promise<void> {
  const { conversationId } = await say(context, { mode: "plan" });
  const next = await say(context, { mode: undefined, conversationId });
  demand(next.mode === "plan", "X25", `a message without a mode was answered in ${next.mode}, not in plan mode`);
  const { title, mode } = await patch(context, conversationId, { mode: "ask", title: "A new title" });
  demand(title === "A new title" && mode === "ask", "X26", `PATCH left ${show({ title, mode })}`);
  const last = await say(context, { mode: undefined, conversationId });
  demand(last.mode === "ask", "X26", `the mode of PATCH is ask, and the next response has ${last.mode}`);
  const path = `/v1/conversations/${conversationId}`;
  await context.http.expectError(400, "PATCH", path, { body: { mode: "no-such-mode" } });
  await context.http.expectError(404, "PATCH", "/v1/conversations/conv_x", { body: { title: "none" } });
}

async function checkUsage(context: Context): Promise<void> {
  const first = await say(context, {});
  const second = await say(context, { conversationId: first.conversationId });
  const { usage } = await getConversation(context, first.conversationId);
  for (const field of ["promptTokens", "completionTokens", "totalTokens"] as const) {
    const sum = first.usage[field] + second.usage[field];
    demandEqual(usage?.[field], sum, "X35", `${field} of the conversation and the sum over its responses`);
  }
}

async function checkWaiting(context: Context): Promise<void> {
  const { stream, responseId, conversationId, approvalId } = await context.startApproval();
  const open = await getConversation(context, conversationId);
  const { conversations } = await listPage(context, "?limit=50");
  for (const each of [open, conversations.find(({ id }) => id === conversationId)]) {
    demand(each?.runningResponseId === responseId, "X35", `runningResponseId is ${show(each?.runningResponseId)}`);
    const waiting = each.approvals?.map((approval) => [approval.approvalId, approval.responseId]);
    demandEqual(waiting, [[approvalId, responseId]], "X35", "the approvals that wait");
  }
  await context.cancel(responseId);
  await stream.readToEnd();
  const { runningResponseId, approvals } = await getConversation(context, conversationId);
  demand(runningResponseId === undefined, "X35", "a conversation lists a response that has ended as running");
  demand((approvals ?? []).length === 0, "X35", "an approval waits for a response that has ended");
}

async function checkUserEvents(context: Context): Promise<void> {
  const path = "/v1/events";
  const events = await context.http.open("GET", path, { isOther: true });
  await events.readUntil(({ messages }) => messages.some(({ event }) => event === "snapshot"), "a snapshot");
  const { stream, responseId, conversationId } = await context.startApproval();
  const has =
    (change: ConversationChangeKind) =>
    ({ messages }: Pick<EventStream, "messages">): boolean =>
      messages.some(({ event, data }) => {
        if (event !== "conversation") return false;
        const { changes, conversation } = JSON.parse(data) as ConversationUpdate;
        return conversation.id === conversationId && changes.includes(change);
      });
  await events.readUntil(has("response_started"), `response_started of ${conversationId} in ${path}`);
  await events.readUntil(has("approval_waiting"), `approval_waiting of ${conversationId} in ${path}`);
  const after = events.messages.at(-1)!.id;
  events.close();
  await context.cancel(responseId);
  await stream.readToEnd();
  const again = await context.http.open("GET", path, { isOther: true, headers: { "Last-Event-ID": after } });
  await again.readUntil(
    (seen) => has("response_ended")(seen) || seen.messages.some(({ event }) => event === "snapshot"),
    `response_ended of ${conversationId}, or a snapshot, after event ${after} of ${path}`,
  );
  again.close();
}

async function checkPinned(context: Context): Promise<void> {
  const old = await say(context, {});
  const recent = await say(context, {});
  const { pinned } = await patch(context, old.conversationId, { pinned: true });
  demand(pinned === true, "X35", "a conversation that PATCH pinned is not pinned");
  const isFirst = (list: readonly ConversationSummary[]): boolean => {
    const places = [old, recent].map(({ conversationId }) => list.findIndex(({ id }) => id === conversationId));
    return places[0]! < places[1]!;
  };
  const plain = await listPage(context, "?limit=50");
  demand(!isFirst(plain.conversations), "X36", "a pin changes the order of a list that does not ask for it");
  const sorted = await listPage(context, "?limit=50&pinned=first");
  demand(isFirst(sorted.conversations), "X36", "with pinned=first a pinned conversation is after a newer one");
  await checkPages(context, "?limit=1&pinned=first", "X36");
  await context.http.expectError(400, "GET", "/v1/conversations?pinned=last");
  await patch(context, old.conversationId, { pinned: false });
}

async function checkMatch(context: Context): Promise<void> {
  const word = `Heron${Date.now()}`;
  const { conversationId, id } = await say(context, { message: `${context.toRequest("text").message} (${word})` });
  // A title may have the words of the message.
  await patch(context, conversationId, { title: "Something else" });
  const { conversations } = await listPage(context, `?search=${word.toUpperCase()}`);
  const found = conversations.find((each) => each.id === conversationId)?.match;
  demand(found !== undefined, "X36", `a search for ${word.toUpperCase()} does not show the place of ${word}`);
  const isPlace = found.where === "message" && (found.responseId ?? id) === id;
  demand(isPlace, "X36", `the words of a message were found in ${show(found)}`);
  const parts = found.ranges.map(({ start, end }) => found.text.slice(start, end));
  demandEqual(parts, [word], "X36", "the ranges of the match");
}

async function checkExport(context: Context): Promise<void> {
  const { conversationId, id } = await say(context, {});
  await patch(context, conversationId, { title: "Räume / Zimmer" });
  const path = `/v1/conversations/${conversationId}/export`;
  const markdown = await context.http.expect(200, "X37", "GET", `${path}?format=markdown`);
  const { message } = context.toRequest("text");
  demand(markdown.text.includes(message.split("\n")[0]!), "X37", "the Markdown does not have the message");
  for (const format of ["markdown", "json"]) {
    const { headers } = await context.http.expect(200, "X37", "GET", `${path}?format=${format}`);
    const disposition = headers.get("content-disposition") ?? "none";
    const isFile = /^attachment\b.*filename/i.test(disposition);
    demand(isFile, "X37", `the Content-Disposition of ${format} is ${disposition}`);
  }
  const { json } = await context.http.expect(200, "X37", "GET", `${path}?format=json`);
  const exported = json as Partial<Conversation> | undefined;
  const ids = exported?.turns?.map(({ response }) => response.id);
  demandEqual(ids, [id], "X37", "the responses of the export");
  for (const query of ["", "?format=", "?format=docx", "?format=__proto__"]) {
    await context.http.expectError(400, "GET", `${path}${query}`);
  }
}
