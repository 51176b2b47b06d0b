/** `sheaf convert` and a live run read the same bytes: they end the same way (C20). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEnd, RunEvent } from "@sheaf/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeWithFixtures } from "../../../test/support/fixtures.ts";
import { createModelServer, type ModelServer } from "../../../test/support/model-server.ts";
import { endingAnswers, readBody } from "../../../test/support/recorded-bodies.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { readModelRun } from "../src/commands/convert.ts";
import { createLiveSetup, protocols } from "../../models/test/live/live-setup.ts";
import { createFakeTools, ok, runModel } from "../../agent/test/run/fake-ports.ts";

type Protocol = (typeof protocols)[number];

/** Whatever the model calls, works. */
const tools = { ...createFakeTools({}), execute: async () => ok() };

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

function findEnd(events: readonly RunEvent[]): Pick<RunEnd, "reason"> & { readonly code: string | undefined } {
  const end = events.at(-1);
  if (end?.type !== "run_end") throw new Error("the run has no end");
  return { reason: end.reason, code: end.error?.code };
}

/** The body is the first answer, `count` times; after tool calls the model ends. */
async function runLive(protocol: Protocol, body: Buffer, count = 1): Promise<readonly RunEvent[]> {
  const isJson = /^\s*[{[]/.test(body.toString("utf8", 0, 100));
  const headers = { "content-type": isJson ? "application/json" : "text/event-stream" };
  server.answer(...Array.from({ length: count }, () => ({ chunks: [body], headers })), {
    chunks: [endingAnswers[protocol]![1]],
  });
  const { model } = createLiveSetup(protocol, server.url, { limits: { maxTries: 1 } });
  return (await runModel(model, { tools })).flat();
}

async function convert(from: Parameters<typeof readModelRun>[0], body: Buffer): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const group of readModelRun(from, toChunks(body), { cwd: "/w" }).groups) events.push(...group);
  return events;
}

/** How often a live run asks for such an answer (C185). */
function countTries(code: string | undefined): number {
  if (code === "EMPTY_ANSWER") return 2;
  return code === "MAX_TOKENS" ? 3 : 1;
}

async function* toChunks(body: Buffer): AsyncGenerator<Uint8Array> {
  yield body;
}

describeWithFixtures("providers", (folder) => {
  const lines = readFileSync(join(folder, "expected.jsonl"), "utf8").trim().split("\n");
  const rows = lines.flatMap((line) => {
    const { file, protocol: name } = JSON.parse(line) as { readonly file: string; readonly protocol: string };
    const protocol = protocols.find((known) => known === name);
    return protocol ? [{ file, protocol, body: readBody(folder, file) }] : [];
  });

  test.each(rows)(verifies(["C20", "C33"], "$file"), async ({ protocol, body }) => {
    const end = findEnd(await convert(protocol, body));
    expect(end).toEqual(findEnd(await runLive(protocol, body, countTries(end.code))));
  });

  test.each(protocols)(
    verifies(["C20", "C33", "R-11"], "every recording of %s, cut in the middle"),
    async (protocol) => {
      for (const { file, body } of rows.filter((row) => row.protocol === protocol)) {
        const half = body.subarray(0, Math.floor(body.length / 2));
        expect({ file, ...findEnd(await convert(protocol, half)) }).toEqual({
          file,
          // A run asks again as long as it has shown no text.
          ...findEnd(await runLive(protocol, half, 3)),
        });
      }
    },
  );
});

describe("bodies that are known to fail", () => {
  const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
  const text = event({ choices: [{ index: 0, delta: { content: "Half" } }] });
  const chatError = (error: object) => event({ error });
  test.each<[string, Protocol, string, string | undefined]>([
    ["no finish reason, but an end marker", "openai-chat", `${text}data: [DONE]\n\n`, undefined],
    ["no end at all", "openai-chat", text, "STREAM_TRUNCATED"],
    [
      "a finish reason that is unknown",
      "openai-chat",
      text + event({ choices: [{ finish_reason: "odd" }] }),
      undefined,
    ],
    ["quota", "openai-chat", chatError({ code: "insufficient_quota", message: "pay" }), "RATE_LIMITED"],
    ["quota in mid-stream", "openai-chat", text + chatError({ code: 429, message: "slow down" }), "RATE_LIMITED"],
    ["a bad key", "openai-chat", chatError({ code: "invalid_api_key", message: "no" }), "AUTH_REJECTED"],
    ["context", "openai-chat", chatError({ code: "context_length_exceeded", message: "too long" }), "CONTEXT_LENGTH"],
    ["a web page", "openai-chat", "<html>Log in</html>", "PROVIDER_REJECTED"],
    ["nothing", "openai-chat", "", "STREAM_TRUNCATED"],
    ["no word", "openai-chat", event({ choices: [{ finish_reason: "stop", delta: {} }] }), "EMPTY_ANSWER"],
    [
      "a hole and a limit",
      "openai-chat",
      `${text}data: {"cho\n\n${event({ choices: [{ finish_reason: "length" }] })}`,
      "STREAM_TRUNCATED",
    ],
    ["a failed finish", "openai-chat", text + event({ choices: [{ finish_reason: "error" }] }), "OVERLOADED"],
    [
      "overloaded_error",
      "anthropic-messages",
      event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
      "OVERLOADED",
    ],
    [
      "a stop reason without message_stop",
      "anthropic-messages",
      event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Half" } }) +
        event({ type: "message_delta", delta: { stop_reason: "end_turn" } }),
      undefined,
    ],
    [
      "resource exhausted",
      "gemini",
      event({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Quota exceeded" } }),
      "RATE_LIMITED",
    ],
    [
      "a malformed call",
      "gemini",
      event({ candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }] }),
      "PROVIDER_REJECTED",
    ],
  ])(verifies(["C20", "C33", "R-10"], "%s"), async (_, protocol, body, code) => {
    const converted = await convert(protocol, Buffer.from(body));
    const live = await runLive(protocol, Buffer.from(body), countTries(code));
    expect(findEnd(live).code).toBe(code);
    expect(findEnd(converted)).toEqual(findEnd(live));
    const errors = [converted, live].map((events) => {
      const end = events.at(-1);
      return end?.type === "run_end" && end.error;
    });
    if (errors[0] && errors[1]) {
      expect([errors[0].retryable, errors[0].resetsAt]).toEqual([errors[1].retryable, errors[1].resetsAt]);
    }
  });
});
