/** Ids of sessions and responses, as people and scripts write them. */
import { afterAll, describe, expect, test } from "vitest";
import { toConversationId } from "../src/session-id.ts";
import { findConversation, findResponse } from "../src/session-words.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { verifies } from "../../../test/support/verifies.ts";

const first = "5e0c2f64-8f0b-4f6e-9d1a-3b7c2a90d411";
const second = "5e0c2f64-ffff-4f6e-9d1a-3b7c2a90d411";
const third = "abcd2f64-8f0b-4f6e-9d1a-3b7c2a90d411";
const unknown = "00000000-0000-4000-8000-000000000000";
const response = "b1f7d0c2-6a0e-4c55-8a43-90f2f1c7e6aa";
const store = createSqliteStore(":memory:");
afterAll(() => store.close());
for (const [index, session] of [first, second, third].entries()) {
  const id = `chat_${index === 0 ? response : session}`;
  await store.createResponse({ id, conversationId: `conv_${session}`, workspace: "/w", title: "t", createdAt: index });
}
const usage = (message: RegExp): unknown =>
  expect.objectContaining({ code: "USAGE", message: expect.stringMatching(message) as string });

test(verifies(["C5", "C14"], "a whole id has conv_ or not, in any case"), () => {
  expect(toConversationId(first.toUpperCase())).toBe(`conv_${first}`);
  expect(toConversationId(`conv_${first}`)).toBe(`conv_${first}`);
  for (const word of ["", "null", first.slice(1), `chat_${first}`]) expect(toConversationId(word)).toBeUndefined();
});

describe("a stored session", () => {
  test.each([
    [first, first],
    [`conv_${first}`, first],
    [third.slice(0, 4), third],
    [third.slice(0, 4).toUpperCase(), third],
    [`conv_${third.slice(0, 9)}`, third],
    [first.slice(0, 12), first],
    [response, first],
    [`chat_${response}`, first],
  ])(verifies("C14", "%s is %s"), async (word, session) => {
    expect(await findConversation(store, word)).toBe(`conv_${session}`);
    expect(await findConversation(store, word, { isResumed: true })).toBe(`conv_${session}`);
  });

  test.each([
    ["5e0c", /5e0c starts more than one session \(5e0c2f64-\S+, 5e0c2f64-\S+\): write more of the id/],
    ["0000", /a session whose id starts with 0000 is not stored: run sheaf ls --all/],
    ["abc", /"abc" is not the id of a session: write one that sheaf ls --all shows/],
    ["null", /"null" is not the id of a session/],
    ["conv_", /"conv_" is not the id of a session/],
    ["conv_x", /"conv_x" is not the id of a session/],
    ["%", /"%" is not the id of a session/],
    [`chat_${unknown}`, new RegExp(`the session ${unknown} is not stored`)],
    ["go on", /"go on" is not the id of a session/],
  ])(verifies(["C14", "C20"], "%s is none, for --resume too"), async (word, message) => {
    await expect(findConversation(store, word)).rejects.toThrow(usage(message));
    await expect(findConversation(store, word, { isResumed: true })).rejects.toThrow(usage(message));
  });

  test(verifies("C14", "a whole id that is not stored begins a session after --resume, and there only"), async () => {
    expect(await findConversation(store, unknown, { isResumed: true })).toBe(`conv_${unknown}`);
    await expect(findConversation(store, unknown)).rejects.toThrow(usage(/is not stored.*SHEAF_HOME/));
  });
});

test(verifies("C14", "a response of a session is found by its beginning, too"), async () => {
  const find = async (word: string) => (await findResponse(store, `conv_${first}`, word)).id;
  expect(await find(response)).toBe(`chat_${response}`);
  expect(await find("chat_b1f7")).toBe(`chat_${response}`);
  await expect(find(third)).rejects.toThrow(usage(/a response of 5e0c2f64.*is not stored/));
  await expect(find("last")).rejects.toThrow(usage(/"last" is not a response id: use the request_id/));
});
