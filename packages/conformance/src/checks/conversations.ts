/** Checks of conversations: several turns, questions, one writer; list, fork, revert, delete. */
import type { ChatResponse } from "@sheaf/protocol";
import { atLevel, type Check } from "../check.ts";
import { readIds, type Context, type Run } from "../context.ts";
import { demandEqual } from "../difference.ts";
import { checkCancelled } from "./cancel.ts";
import { checkPages, getConversation, listPage, say } from "./read-conversations.ts";
import { demand, show, Skip } from "../violation.ts";

export const conversationChecks: readonly Check[] = [
  ...atLevel("base", [
    ["conversation-turns", "R2", "a message with a conversationId continues the conversation", checkTurns],
  ]),
  ...atLevel("interactive", [
    ["clarification", "N42 R11", "a question ends the response, and its answer starts the next one", checkClarification],
    ["clarification-free-answer", "N42", "a plain message answers a question too",
      async (context) => {
        const { conversationId } = await findQuestion(context);
        await say(context, { message: "I cannot say.", conversationId });
      }],
    ["busy-reject", "§7 N52", "a second message while a response streams is 409 CONVERSATION_BUSY", checkReject],
    ["busy-queue", "§7 N52", 'with whenBusy "queue" it waits for the end of the first', checkQueue],
    ["busy-cancel", "§7 X7", 'with whenBusy "cancel" it ends the first', checkBusyCancel],
    ["conversation-list", "§7 N52", "conversations are listed newest first, page by page, and can be searched", checkList],
    ["conversation-history", "§7 N53", "a conversation has its messages and responses in order", checkHistory],
    ["conversation-fork", "§7 N53", "a fork has the turns up to a response, and leaves the first conversation alone", checkFork],
    ["conversation-revert", "§7 N53", "a revert removes a response and everything after it", checkRevert],
    ["conversation-delete", "§7 S-53 N52", "deleting removes the conversation, its responses and their events", checkDelete],
  ]),
]; // prettier-ignore

async function checkTurns(context: Context): Promise<void> {
  const first = await say(context, {});
  const second = await say(context, { conversationId: first.conversationId });
  demand(first.id !== second.id, "R2", "two messages have one response id");
  const isSame = first.conversationId === second.conversationId;
  demand(isSame, "R2", "a message with a conversationId started another conversation");
}

async function findQuestion(context: Context): Promise<ChatResponse> {
  const response = await say(context, { ...context.toRequest("question") });
  const last = response.documents.at(-1);
  if (last?.type !== "clarification") throw new Skip('the run of the prompt "question" did not ask a question');
  return response;
}

async function checkClarification(context: Context): Promise<void> {
  const { id, status, metadata, documents, conversationId } = await findQuestion(context);
  demand(status === "completed", "N42", `${id} asks a question, and has the status ${status}`);
  const { finishReason = "clarification" } = metadata;
  demand(finishReason === "clarification", "N42", `${id} asks a question, and has the finishReason ${finishReason}`);
  const last = documents.at(-1)!;
  const questions = last.type === "clarification" ? last.metadata.questions : [];
  demand(questions.length > 0, "R11", `${last.id} has no question`);
  const answers = questions.map((question) => ({
    documentId: last.id,
    questionId: question.id,
    optionIds: question.options.slice(0, 1).map((option) => option.id),
    text: question.options.length === 0 ? "README.md" : "",
  }));
  const next = await say(context, { message: "", conversationId, answers });
  demand(next.conversationId === conversationId, "N42", "an answer started another conversation");
  const repeated = next.documents.at(-1);
  const isSame = repeated?.type === "clarification" && repeated.content === last.content;
  demand(!isSame, "N42", "the same question came again after its answer: the model did not get it");
}

/** Starts a run that stays open until the check ends it. */
async function startOpen(context: Context): Promise<Run> {
  try {
    return await context.startApproval();
  } catch (error) {
    if (!(error instanceof Skip)) throw error;
    return context.start("long");
  }
}

async function checkReject(context: Context): Promise<void> {
  const run = await startOpen(context);
  const body = context.toRequest("text", { conversationId: run.conversationId });
  for (const extra of [{}, { whenBusy: "reject" }]) {
    const code = await context.http.expectError(409, "POST", "/v1/chat", { body: { ...body, ...extra } });
    demand(code === "CONVERSATION_BUSY", "§7", `the errorCode is ${code}, not CONVERSATION_BUSY`);
  }
  const { status } = await context.getResponse(run.responseId);
  demand(status === "streaming", "§7", "a refused message ended the response that streams");
  await context.cancel(run.responseId);
  await say(context, { conversationId: run.conversationId });
}

async function checkQueue(context: Context): Promise<void> {
  const run = await startOpen(context);
  const body = context.toRequest("text", { conversationId: run.conversationId, whenBusy: "queue" });
  const second = context.http.send("POST", "/v1/chat", { body });
  const early = await Promise.race([second, sleep(300)]);
  demand(early === undefined, "§7", `a queued message was answered with ${early?.status} while the first streams`);
  await context.cancel(run.responseId);
  const answer = await second;
  demand(answer.status === 200, "§7", `a queued message gives ${answer.status}: ${show(answer.text)}`);
  const { conversationId } = readIds(answer.headers);
  demand(conversationId === run.conversationId, "§7", "a queued message started another conversation");
}

async function sleep(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), milliseconds));
}

async function checkBusyCancel(context: Context): Promise<void> {
  const run = await startOpen(context);
  const response = await say(context, { conversationId: run.conversationId, whenBusy: "cancel" });
  demand(response.id !== run.responseId, "§7", "the second message got the first response");
  checkCancelled(await context.waitForEnd(run.responseId), "X7");
}

async function checkList(context: Context): Promise<void> {
  const word = `zebra${Date.now()}`;
  const old = await say(context, { message: `${context.toRequest("text").message} (${word})` });
  const recent = await say(context, {});
  const { conversations: all } = await listPage(context, "?limit=50");
  const places = [recent, old].map(({ conversationId }) => all.findIndex(({ id }) => id === conversationId));
  demand(!places.includes(-1), "§7", "a conversation that just started is not in the list");
  demand(places[0]! < places[1]!, "§7", "the newer conversation is listed after the older one");
  await checkPages(context, "?limit=1", "§7");
  const { conversations: found } = await listPage(context, `?search=${word}`);
  const isFound = found.length === 1 && found[0]?.id === old.conversationId;
  demand(isFound, "§7", `a search for a word of one conversation gives ${found.length}`);
  for (const query of ["limit=x", "limit=0", "before=x"]) {
    await context.http.expectError(400, "GET", `/v1/conversations?${query}`);
  }
}

/** Makes a conversation with two turns. */
async function makeConversation(context: Context): Promise<readonly [ChatResponse, ChatResponse]> {
  const first = await say(context, {});
  return [first, await say(context, { conversationId: first.conversationId })];
}

/** Lists the ids of a conversation's responses. */
async function listTurns(context: Context, conversationId: string): Promise<readonly string[]> {
  return (await getConversation(context, conversationId)).turns.map(({ response }) => response.id);
}

async function checkHistory(context: Context): Promise<void> {
  const responses = await makeConversation(context);
  const { id, turns } = await getConversation(context, responses[0].conversationId);
  demand(id === responses[0].conversationId, "§7", `the conversation has the id ${show(id)}`);
  const { message } = context.toRequest("text");
  const told = turns.map((turn) => ({ message: turn.message, response: turn.response }));
  const expected = responses.map((response) => ({ message, response }));
  demandEqual(told, expected, "§7", "the turns of the conversation");
}

async function checkFork(context: Context): Promise<void> {
  const [first, second] = await makeConversation(context);
  const path = `/v1/conversations/${first.conversationId}/fork`;
  const { json } = await context.http.expect([200, 201], "§7", "POST", path, { body: { responseId: first.id } });
  const fork = (json as { readonly id?: string } | undefined)?.id ?? "";
  demand(fork.startsWith("conv_") && fork !== first.conversationId, "§7", `the fork has the id ${show(fork)}`);
  const forked = (await getConversation(context, fork)).turns.map(({ response }) => response.documents);
  demandEqual(forked, [first.documents], "§7", "the documents of a fork at the first response");
  await say(context, { conversationId: fork });
  const turns = await listTurns(context, first.conversationId);
  demandEqual(turns, [first.id, second.id], "§7", "the fork changed the first conversation");
  await context.http.expectError(404, "POST", path, { body: { responseId: "chat_x" } });
}

async function checkRevert(context: Context): Promise<void> {
  const [first, second] = await makeConversation(context);
  const path = `/v1/conversations/${first.conversationId}/revert`;
  await context.http.expect([200, 204], "§7", "POST", path, { body: { responseId: second.id } });
  demandEqual(await listTurns(context, first.conversationId), [first.id], "§7", "the turns after a revert");
  await say(context, { conversationId: first.conversationId });
  await context.http.expectError(404, "POST", path, { body: { responseId: "chat_x" } });
}

async function checkDelete(context: Context): Promise<void> {
  const { id, conversationId } = await say(context, {});
  await context.http.expect([200, 202, 204], "S-53", "DELETE", `/v1/conversations/${conversationId}`);
  for (const path of [`/v1/conversations/${conversationId}`, `/v1/responses/${id}`, `/v1/responses/${id}/events`]) {
    await context.http.expectError(404, "GET", path);
  }
  const { conversations } = await listPage(context, "?limit=50");
  const isListed = conversations.some((each) => each.id === conversationId);
  demand(!isListed, "S-53", "a deleted conversation is in the list");
  await context.http.expectError(404, "DELETE", `/v1/conversations/${conversationId}`);
  await context.http.expectError(404, "POST", "/v1/chat", { body: context.toRequest("text", { conversationId }) });
}
