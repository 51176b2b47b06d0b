/** No answer shows a key (S-41). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createModelServer, type ModelAnswer, type ModelServer } from "../../../../test/support/model-server.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { canaryKey, createErrorAnswer, createLiveSetup, formatEvent, readOutcome, shortAnswers } from "./live-setup.ts";

let server: ModelServer;

beforeAll(async () => {
  server = await createModelServer();
});

afterAll(() => server.close());

describe("keys", () => {
  const echoes: readonly [string, ModelAnswer][] = [
    ["a message", createErrorAnswer(401, { message: `Incorrect API key provided: ${canaryKey}.` })],
    ["a plain body", { status: 400, chunks: [`x-api-key: ${canaryKey}`] }],
    ["a long body", { status: 500, chunks: ["x".repeat(290), canaryKey, "y".repeat(70_000)] }],
    ["a body with control characters", createErrorAnswer(400, `CAN\u0000ARY\u200b${canaryKey.slice(6)}\u001B[31m`)],
    ["a stream", { chunks: [formatEvent({ error: { message: `no ${canaryKey}`, key: canaryKey } })] }],
    ["a code", { chunks: [formatEvent({ error: { code: canaryKey, type: canaryKey } })] }],
    ["a content type", { headers: { "content-type": `text/html; x=${canaryKey}` } }],
    ["a redirect", { status: 302, headers: { location: `http://${canaryKey}.example/?k=${canaryKey}` } }],
    ["a request id", createErrorAnswer(400, "no", { "request-id": canaryKey })],
    ["a finish reason", { chunks: [formatEvent({ choices: [{ delta: {}, finish_reason: "error" }] })] }],
  ];
  test.each(echoes)(verifies(["S-41", "C21"], "%s that echoes the key shows none of it"), async (_, answer) => {
    server.answer(answer);
    const { model } = createLiveSetup("openai-chat", server.url, { limits: { maxTries: 1 } });
    const { error } = await readOutcome(model);
    const shown = JSON.stringify([error?.message, error?.details, error?.stack, error?.cause]);
    expect(error).toBeDefined();
    expect(shown.toLowerCase()).not.toContain(canaryKey.toLowerCase());
    expect(shown).not.toContain(canaryKey.slice(0, 12));
    expect(error?.message).not.toMatch(/\p{Cc}/u);
    expect(error?.message.length).toBeLessThan(700);
    expect(error?.details.length).toBeLessThanOrEqual(2000);
  });

  test.each([
    ["openai-chat", createErrorAnswer(401, { message: "Incorrect API key provided: sk-proj-CANARYother0123456789." })],
    ["anthropic-messages", { status: 403, chunks: ["upstream said: Authorization: Bearer CANARYother0123456789"] }],
    [
      "gemini",
      { status: 400, chunks: ["https://upstream/v1?key=AIzaCANARYother0123456789CANARYother0123456789 failed"] },
    ],
  ] as const)(
    verifies("S-41", "%s: a key that is not the endpoint's is not shown either"),
    async (protocol, answer) => {
      server.answer(answer);
      const { error } = await readOutcome(createLiveSetup(protocol, server.url, { limits: { maxTries: 1 } }).model);
      expect(error?.message).toContain("[key]");
      expect(JSON.stringify([error?.message, error?.details])).not.toContain("CANARY");
    },
  );

  test(verifies("S-41", "a header of the user's and a password in the address are keys too"), async () => {
    server.answer({ status: 400, chunks: ["Bearer CANARY-header-1 and CANARY-word-22"] });
    const endpoint = { headers: { Authorization: "Bearer CANARY-header-1", "X-Other": "CANARY-word-22" } };
    const { error } = await readOutcome(createLiveSetup("openai-chat", server.url, { endpoint }).model);
    expect(`${error?.message} ${error?.details}`).not.toContain("CANARY");
    const withPassword = { baseUrl: "http://me:CANARY-password@127.0.0.1:1/v1" };
    const other = await readOutcome(createLiveSetup("openai-chat", server.url, { endpoint: withPassword }).model);
    expect(other.error?.code).toBe("CONFIG_INVALID");
    expect(`${other.error?.message} ${other.error?.details}`).not.toContain("CANARY");
  });

  test.each(["CANARY\nkey", "CANARY key", "CANARYé", "CANARY\u{1F511}", ""])(
    verifies("S-41", "a key that no header can hold is not shown: %j"),
    async (apiKey) => {
      const { error } = await readOutcome(createLiveSetup("openai-chat", server.url, { endpoint: { apiKey } }).model);
      expect(error?.code).toBe("AUTH_REJECTED");
      expect(error?.message).not.toContain("CANARY");
    },
  );

  test(verifies("S-41", "a header that is none is a fault of the configuration"), async () => {
    const endpoint = { headers: { "X-Key": "CANARY\nvalue" } };
    const { error } = await readOutcome(createLiveSetup("openai-chat", server.url, { endpoint }).model);
    expect(error?.code).toBe("CONFIG_INVALID");
    expect(error?.message).toContain("X-Key");
    expect(error?.message).not.toContain("CANARY");
  });

  test.each([301, 302, 303, 307, 308])(
    verifies(["S-42", "R-10"], "a redirect (%i) to another host gets neither key nor request"),
    async (status) => {
      const other = await createModelServer({ chunks: shortAnswers["openai-chat"] });
      const location = `${other.url.replace("127.0.0.1", "localhost")}/v1/chat/completions`;
      server.answer({ status, headers: { location } });
      const { error } = await readOutcome(createLiveSetup("openai-chat", server.url).model);
      expect(error?.code).toBe("PROVIDER_REJECTED");
      expect(error?.message).toContain(location);
      expect(error?.message).toMatch(/: if you trust that address, use --base-url http:\/\/localhost:\d+\/v1$/);
      expect(other.requests).toEqual([]);
      await other.close();
    },
  );

  test.each([
    ["https://login.example/start?back=1#top", "a redirect to https://login.example/start, which is not followed"],
    ["/elsewhere", "/elsewhere, which is not followed"],
    ["", "a redirect to nowhere"],
    ["http://[", "a redirect to nowhere"],
  ])(
    verifies(["S-42", "C21"], "the error names a redirect to %j, and no base URL is made of it"),
    async (location, reason) => {
      server.answer({ status: 302, headers: location === "" ? {} : { location } });
      const { error } = await readOutcome(createLiveSetup("openai-chat", server.url).model);
      expect(error?.message).toContain(reason);
      expect(error?.message).toMatch(/: correct the base URL; if it is right, a proxy or a login page is in between$/);
    },
  );
});
