/** Images and PDF in the body of a message (X19). */
import type { ChatResponse, Conversation } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { createPng, pdf } from "../../../test/support/images.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp } from "../../../test/support/open-app.ts";

const png = createPng(640, 480);
const image = { name: "shots/a.png", data: png.toString("base64") };

describe("attachments of a message", () => {
  test(verifies(["X19", "N66"], "are named without their bytes"), async () => {
    const server = await openApp();
    const answer = await server.chat({
      message: "",
      attachments: [image, { name: "b.pdf", data: pdf.toString("base64") }],
    });
    expect(answer.status).toBe(200);
    const { id, conversationId } = (await answer.json()) as ChatResponse;
    const read = await server.fetch(`/v1/conversations/${conversationId}`);
    const text = await read.text();
    const { turns, title } = JSON.parse(text) as Conversation;
    expect(title).toBe("a.png");
    expect(turns[0]?.attachments).toEqual([
      { name: "a.png", mediaType: "image/png", bytes: png.length, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { name: "b.pdf", mediaType: "application/pdf", bytes: pdf.length, sha256: expect.any(String) },
    ]);
    expect(text).not.toContain(image.data);
    const events = await (await server.fetch(`/v1/responses/${id}/events`)).text();
    expect(events).not.toContain(image.data);
  });

  test.each([
    [{ name: "a.png", url: "http://169.254.169.254/a.png" }, "attachments[0].data"],
    [{ name: "a.png", data: "https://evil.example/a.png" }, "attachments[0].data"],
    [{ name: "a.png", data: `data:image/png;base64,${image.data}` }, "attachments[0].data"],
    [{ name: "a.png", data: "" }, "attachments[0].data"],
    [{ name: "a.png", data: Buffer.from("<svg/>").toString("base64") }, "a.png is not a PNG"],
    [{ name: "a.png", data: createPng(9000, 1).toString("base64") }, "at most 8000 px a side"],
  ])(verifies(["X19", "S-102"], "%o is refused"), async (attachment, problem) => {
    const answer = await (await openApp()).chat({ message: "Look", attachments: [attachment] });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { errorCode: "USAGE", message: expect.stringContaining(problem) } },
    ]);
  });

  test(verifies(["X19", "N67"], "that the model does not take are refused, and nothing is stored"), async () => {
    const server = await openApp({ args: ["--offer", "offline"] });
    const answer = await server.chat({ message: "Look", model: "offline", attachments: [image] });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { errorCode: "USAGE", message: expect.stringContaining("does not take image/png") } },
    ]);
    const conversations = await server.listConversations();
    expect(conversations).toEqual([]);
  });

  test(verifies("S-55", "make a body larger, and nothing else does"), async () => {
    const server = await openApp();
    const large = { name: "a.png", data: createPng(1, 1, 3_900_000).toString("base64") };
    const taken = await server.chat({ message: "Look", attachments: [large, large] });
    expect([taken.status, taken.ok ? "" : server.log()]).toEqual([200, ""]);
    const words = "a".repeat(1024 * 1024);
    for (const body of [{ message: words }, { message: words, attachments: [large] }, { message: "a", x: words }]) {
      const answer = await server.chat(body);
      expect([answer.status, await answer.json()]).toMatchObject([413, { error: { errorCode: "PAYLOAD_TOO_LARGE" } }]);
    }
    expect((await server.chat({ message: "Look", attachments: [large, large, large] })).status).toBe(400);
    expect((await server.chat({ message: "Look", attachments: Array.from({ length: 4 }, () => large) })).status).toBe(
      413,
    );
  });
});
