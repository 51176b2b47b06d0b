import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { createReasoningReader } from "../src/conversation-reasoning.ts";
import { openConversation, waitForEnd, waitForState } from "./open-conversation.ts";

const thoughtful = { events: [{ reasoning: ["The user ", "greets me."] }, { text: "Hello." }] };

describe("reasoning of a conversation", () => {
  test(verifies("N14", "comes with its turn if it is wanted, and is no part of the answer"), async () => {
    const { conversation, client, open } = await openConversation([thoughtful], { reasoning: true, now: () => 5 });
    await conversation.send({ message: "Hi" });
    await waitForEnd(conversation);
    const { id, turns } = conversation.getSnapshot();
    expect(turns[0]?.reasoning).toEqual({ text: "The user greets me.", isCut: false, isOpen: false, durationMs: 0 });
    expect(turns[0]?.response.documents.map(({ content }) => content)).toEqual(["Hello."]);
    expect(JSON.stringify(await client.getConversation(id ?? ""))).not.toContain("greets");
    await conversation.load();
    expect(conversation.getSnapshot().turns[0]?.reasoning?.text).toBe("The user greets me.");

    const plain = open({ id });
    await plain.load();
    expect(plain.getSnapshot().turns[0]?.reasoning).toBeUndefined();
    expect(await plain.loadReasoning(turns[0]?.response.id ?? "")).toBe(true);
    expect(plain.getSnapshot().turns[0]?.reasoning).toMatchObject({ text: "The user greets me.", isCut: false });
    expect(await plain.loadReasoning("chat_none")).toBe(false);
    expect(plain.getSnapshot().error).toBeDefined();
  });

  test("is no error if the conversation is closed before it came", async () => {
    const { conversation } = await openConversation([thoughtful]);
    await conversation.send({ message: "Hi" });
    await waitForEnd(conversation);
    const loading = conversation.loadReasoning(conversation.getSnapshot().turns[0]?.response.id ?? "");
    conversation.close();
    expect(await loading).toBe(false);
    expect(conversation.getSnapshot().error).toBeUndefined();
  });

  test("is shown while the model thinks", async () => {
    const thinking = { events: [{ reasoning: "Let me see." }, { wait_ms: 600_000 }] };
    const { conversation } = await openConversation([thinking], { reasoning: true });
    await conversation.send({ message: "Hi" });
    await waitForState(conversation, ({ turns }) => turns[0]?.reasoning?.isOpen === true);
    expect(conversation.getSnapshot().turns[0]?.reasoning?.text).toBe("Let me see.");
    await conversation.cancel();
    await waitForState(conversation, ({ turns }) => turns[0]?.reasoning?.isOpen === false);
  });

  test("does not come unless it is wanted", async () => {
    const { conversation } = await openConversation([thoughtful]);
    await conversation.send({ message: "Hi" });
    await waitForEnd(conversation);
    expect(conversation.getSnapshot().turns[0]).not.toHaveProperty("reasoning");
  });
});

describe("a reader of reasoning", () => {
  const think = (delta: string) => ({ id: 1, event: "reasoning_delta", data: { delta } }) as const;
  const answer = { id: 2, event: "provider_wait", data: {} } as never;

  test("keeps the end of long reasoning, in whole characters", () => {
    const reader = createReasoningReader({ isCut: false });
    for (let count = 0; count < 5; count += 1) reader.push(think("😀".repeat(20_000)));
    reader.push(think("x"));
    const { text = "", isCut } = reader.read() ?? {};
    expect([text.length, isCut, text.isWellFormed(), text.at(-1)]).toEqual([65_535, true, true, "x"]);
  });

  test("adds up the times of thinking, not those between", () => {
    let time = 0;
    const reader = createReasoningReader({ isCut: false, now: () => time });
    for (const [moment, event] of [
      [0, think("a")],
      [100, answer],
      [500, think("b")],
      [550, answer],
    ] as const) {
      time = moment;
      reader.push(event);
    }
    expect(reader.read()).toEqual({ text: "ab", isCut: false, isOpen: false, durationMs: 150 });
    expect(reader.read()).toBe(reader.read());
  });

  test("does not know how long it took what it read in part", () => {
    const reader = createReasoningReader({ isCut: true, now: () => 1 });
    expect(reader.read()).toBeUndefined();
    reader.push(think("b"));
    expect(reader.read()).toEqual({ text: "b", isCut: true, isOpen: true, durationMs: undefined });
  });
});
