/** Every recorded body, over HTTP. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createModelStreamDecoder } from "@sheaf/documents/model-streams";
import type { ModelEvent } from "@sheaf/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeWithFixtures } from "../../../../test/support/fixtures.ts";
import { createModelServer, type ModelServer } from "../../../../test/support/model-server.ts";
import { readBody } from "../../../../test/support/recorded-bodies.ts";
import { splitThought } from "../../../../test/support/split-thought.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { toOrigin } from "../../src/live/provider-data.ts";
import { createEndpoint, createLiveSetup, protocols, readOutcome } from "./live-setup.ts";

interface Row {
  readonly file: string;
  readonly protocol: string;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string | null }[];
  readonly errors: readonly unknown[];
  readonly ended: string | null;
  readonly finish: string | null;
}

/** Bytes written one by one at each end of a body. The decoders' own tests cut every body at every byte. */
const longestInBytes = 2000;

/** Pieces of 1, 2, 3 … bytes: no line and no character is spared. */
function cutOddly(body: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let start = 0, size = 1; start < body.length; start += size, size = (size * 7 + 3) % 311) {
    size = Math.max(1, size);
    pieces.push(body.subarray(start, start + size));
  }
  return pieces;
}

/** Single bytes; of a long body those of its beginning and its end. */
function cutEverywhere(body: Buffer): Buffer[] {
  const toBytes = (part: Buffer) => Array.from(part, (_, index) => part.subarray(index, index + 1));
  if (body.length <= 2 * longestInBytes) return toBytes(body);
  const [first, last] = [body.subarray(0, longestInBytes), body.subarray(-longestInBytes)];
  return [...toBytes(first), body.subarray(longestInBytes, -longestInBytes), ...toBytes(last)];
}

function joinText(events: readonly ModelEvent[], type: "text_delta" | "reasoning_delta"): string {
  return events.map((event) => (event.type === type ? event.text : "")).join("");
}

function listCalls(events: readonly ModelEvent[]): { name: string; arguments: string }[] {
  return events.flatMap((start) => {
    // What the provider ran itself is not a call for the agent (N69).
    if (start.type !== "tool_call_start" || start.origin === "provider") return [];
    // The index lists calls under names of the protocol with the server items.
    if (start.toolName === "local_shell") return [];
    const deltas = events.map((event) =>
      event.type === "tool_call_arguments_delta" && event.callId === start.callId ? event.delta : "",
    );
    return [{ name: start.toolName, arguments: deltas.join("") }];
  });
}

/** The events with neighbouring deltas joined: how a body is cut must not show in them. */
function joinDeltas(events: readonly ModelEvent[]): unknown[] {
  const joined: Record<string, unknown>[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    const key = event.type === "tool_call_arguments_delta" ? "delta" : "text";
    const isSame = last?.["type"] === event.type && last["callId"] === ("callId" in event ? event.callId : undefined);
    if (isSame && last && key in event) last[key] = `${String(last[key])}${event[key as keyof typeof event]}`;
    else joined.push({ ...event });
  }
  return joined;
}

function decode(protocol: (typeof protocols)[number], body: Buffer): ModelEvent[] {
  let calls = 0;
  const decoder = createModelStreamDecoder(protocol, {
    newCallId: () => `call_${(calls += 1)}`,
    origin: toOrigin(createEndpoint(protocol, "")),
  });
  return [...decoder.push(body), ...decoder.end()];
}

describeWithFixtures("providers", (folder) => {
  const lines = readFileSync(join(folder, "expected.jsonl"), "utf8").trim().split("\n");
  const rows = lines.map((line): Row => JSON.parse(line));
  const covered = rows.flatMap((row) => {
    const protocol = protocols.find((known) => known === row.protocol);
    return protocol === undefined ? [] : [{ row, protocol, body: readBody(folder, row.file), file: row.file }];
  });
  let server: ModelServer;
  beforeAll(async () => {
    server = await createModelServer();
  });
  afterAll(() => server.close());

  test("the four protocols have their recordings", () => {
    expect(covered.length).toBeGreaterThanOrEqual(109);
  });

  describe.each([
    ["whole", (body: Buffer) => [body]],
    ["in odd cuts", cutOddly],
    ["in one-byte writes", cutEverywhere],
  ])("%s", (_, cut) => {
    test.each(covered)(
      verifies(["N25", "R-10", "R-11"], "text and calls of $file"),
      async ({ row, protocol, body }) => {
        const isJson = body.toString().trimStart().startsWith("{");
        const headers = { "content-type": isJson ? "application/json" : "text/event-stream; charset=utf-8" };
        server.answer({ chunks: cut(body), headers });
        const { model } = createLiveSetup(protocol, server.url, { limits: { maxTries: 1 } });
        const { events, error } = await readOutcome(model);
        const expected = decode(protocol, body);

        const isBroken = row.errors.length > 0 || (row.ended === null && row.finish === null);
        expect(error !== undefined, error?.message).toBe(isBroken);
        // An answer that holds nothing but its failure gives no event.
        if (isBroken && events.length === 0) return;
        const { thought, text } = splitThought(row.text);
        expect(joinText(events, "text_delta")).toBe(text);
        expect(joinText(events, "reasoning_delta")).toBe(row.reasoning + thought);
        const calls = row.toolCalls.filter((call) => call.arguments !== null);
        if (calls.length === row.toolCalls.length) {
          expect(listCalls(events).map(({ name }) => name)).toEqual(calls.map(({ name }) => name));
        }
        if (!isBroken) expect(joinDeltas(events)).toEqual(joinDeltas(expected));
        expect(events.filter(({ type }) => type === "turn_end")).toHaveLength(1);
        expect(events.at(-1)?.type).toBe("turn_end");
      },
    );
  });
});
