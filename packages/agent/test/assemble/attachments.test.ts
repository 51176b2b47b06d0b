import { describe, expect, test } from "vitest";
import { createPng } from "../../../../test/support/images.ts";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createAgent } from "../../src/index.ts";
import { createFakeModel, end, text } from "../run/fake-ports.ts";

const folders = createTestFolder();

describe("attachments of a program", () => {
  test(verifies("N65", "reach the model with the prompt; a budget counts their pixels, not their bytes"), async () => {
    const silent = { ...end(), usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 } };
    const model = createFakeModel([[[text("I see it."), silent]]]);
    await using agent = createAgent({ workspace: folders.newFolder(), model, limits: { maxTokens: 20_000 } });
    const bytes = createPng(640, 480, 1_000_000);
    const { status } = await agent.run("Look", { attachments: [{ name: "a.png", bytes }] }).result;
    expect(status).toBe("completed");
    const message = model.requests[0]?.messages.at(-1);
    if (message?.role !== "user") throw new Error("the prompt is missing");
    const [attachment] = message.attachments ?? [];
    expect([message.text, attachment?.mediaType]).toEqual(["Look", "image/png"]);
    expect(attachment?.data === bytes.toString("base64")).toBe(true);
  });

  test(verifies("N126", "may be texts"), async () => {
    const model = createFakeModel([[[text("I see it."), end()]]]);
    await using agent = createAgent({ workspace: folders.newFolder(), model });
    await agent.run("Look", { attachments: [{ name: "a.csv", bytes: Buffer.from("a,b\n") }] }).result;
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({
      attachments: [{ name: "a.csv", mediaType: "text/plain" }],
    });
  });

  test(verifies("S-102", "what cannot be attached is refused"), () => {
    const agent = createAgent({ workspace: folders.newFolder(), model: "offline" });
    const run = (attachment: unknown): unknown => agent.run("Look", { attachments: [attachment as never] });
    expect(() => run({ name: "a.txt", bytes: Buffer.from("a\0b") })).toThrow("a.txt is not a PNG");
    expect(() => run({ name: "a.png", url: "https://example.org/a.png" })).toThrow("is not {name, bytes}");
  });
});
