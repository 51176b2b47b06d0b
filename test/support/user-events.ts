/** Reads `GET /v1/events`, as a client does. */
import { createSseDecoder, type UserEvent } from "@sheaf/protocol";
import { toJsonSchema } from "@sheaf/protocol/schemas";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";
import type { Api } from "./api.ts";

/** An event with its id. */
export type SeenEvent = UserEvent & { readonly id: string };

export interface UserEvents {
  /** Everything so far. */
  readonly seen: readonly SeenEvent[];
  /** What happened, in short: `response_started conv_1`. */
  readonly words: () => readonly string[];
  /** Waits for an event of which this is true, in those that were not waited for. */
  next(isWanted: (event: SeenEvent) => boolean): Promise<SeenEvent>;
  close(): void;
}

const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
  toJsonSchema("user-events", { closed: true }),
);

/** Opens the stream. `after`: as its header Last-Event-ID. */
export async function openUserEvents(server: Pick<Api, "fetch">, after?: string): Promise<UserEvents> {
  const ending = new AbortController();
  const response = await server.fetch("/v1/events", {
    headers: after === undefined ? {} : { "Last-Event-ID": after },
    signal: ending.signal,
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const seen: SeenEvent[] = [];
  const read = async (): Promise<void> => {
    const decoder = createSseDecoder();
    const text = new TextDecoder();
    for await (const chunk of response.body!) {
      for (const { id, event, data } of decoder.push(text.decode(chunk, { stream: true }))) {
        const message: unknown = { id, event, data: JSON.parse(data) };
        expect(check(message), JSON.stringify(check.errors)).toBe(true);
        seen.push(message as SeenEvent);
      }
    }
  };
  void read().catch(() => undefined);
  let from = 0;
  return {
    seen,
    words: () => seen.flatMap(toWords),
    async next(isWanted) {
      let at = -1;
      await expect
        .poll(() => (at = seen.findIndex((event, index) => index >= from && isWanted(event))), { timeout: 10_000 })
        .toBeGreaterThan(-1);
      from = at + 1;
      return seen[at]!;
    },
    close: () => ending.abort(),
  };
}

function toWords({ event, data }: SeenEvent): string[] {
  if (event === "snapshot") return [`snapshot ${data.conversations.length}`];
  if (event === "conversation_deleted") return [`deleted ${data.conversationId}`];
  return data.changes.map((change) => `${change} ${data.conversation.id}`);
}

/** Whether something of this kind happened. */
export function has(change: string): (event: SeenEvent) => boolean {
  return ({ event, data }) => event === "conversation" && data.changes.some((kind) => kind === change);
}
