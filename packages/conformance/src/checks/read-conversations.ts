/** Messages and conversations, as the checks of conversations need them. */
import type { ChatResponse, Conversation, ConversationPage } from "@sheaf/protocol";
import { readResponse, type Context } from "../context.ts";
import { demand, show } from "../violation.ts";

/** Sends a message and waits for the whole response. */
export async function say(context: Context, body: Readonly<Record<string, unknown>>): Promise<ChatResponse> {
  const answer = await context.http.expect(200, "R2", "POST", "/v1/chat", {
    body: { ...context.toRequest("text"), ...body },
  });
  return readResponse(answer, "POST /v1/chat");
}

export async function listPage(context: Context, query: string): Promise<ConversationPage> {
  const { json, text } = await context.http.expect(200, "§7", "GET", `/v1/conversations${query}`);
  const page = json as ConversationPage | undefined;
  const isPage = Array.isArray(page?.conversations) && page.conversations.every(({ id }) => typeof id === "string");
  demand(isPage, "§7", `GET /v1/conversations${query} gives no conversations: ${show(text)}`);
  return page;
}

export async function getConversation(context: Context, id: string): Promise<Conversation> {
  const { json, text } = await context.http.expect(200, "§7", "GET", `/v1/conversations/${id}`);
  const conversation = json as Conversation | undefined;
  demand(Array.isArray(conversation?.turns), "§7", `GET /v1/conversations/${id} gives no turns: ${show(text)}`);
  return conversation;
}

/** Checks two pages with one conversation each. */
export async function checkPages(context: Context, query: string, clause: string): Promise<void> {
  const first = await listPage(context, query);
  demand(first.conversations.length === 1, clause, `${query} gives ${first.conversations.length} conversations`);
  demand(first.next !== undefined, clause, `${query}: the first page of several has no next one`);
  const second = await listPage(context, `${query}&before=${encodeURIComponent(first.next)}`);
  const isOther = second.conversations[0]?.id !== first.conversations[0]?.id;
  demand(second.conversations.length === 1 && isOther, clause, `${query}: the second page is not the next one`);
}
