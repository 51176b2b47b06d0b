/** `GET /v1/events` over any number of connections (C230). */
import { createSseDecoder, type UserEvent } from "@sheaf/protocol";
import { createConnection } from "./connection.ts";
import { isRetryable, toDelay, waitFor, type ReconnectOptions } from "./reconnect.ts";
import type { ConnectionState, StreamOptions } from "./response-stream.ts";
import type { Transport } from "./transport.ts";

/** An event with its id, after which another stream can start. */
export type NumberedUserEvent = UserEvent & { readonly id: string };

export interface UserEventOptions extends StreamOptions {
  /** Id of the last event that the caller has. Default: start with a snapshot. */
  readonly after?: string | undefined;
}

interface UserEventSettings {
  readonly transport: Transport;
  readonly reconnect: Required<ReconnectOptions>;
  readonly heartbeatMs: number;
}

const known: ReadonlySet<string> = new Set<UserEvent["event"]>(["snapshot", "conversation", "conversation_deleted"]);

/** Reads until the signal ends it, over any number of connections. @throws SheafApiError if the server refuses. */
export async function* readUserEvents(
  { transport, reconnect, heartbeatMs }: UserEventSettings,
  { after = "", signal, onConnection }: UserEventOptions = {},
): AsyncGenerator<NumberedUserEvent> {
  let last = after;
  const tell = (state: ConnectionState, reason?: unknown): void => onConnection?.(state, reason);
  for (let tries = 1; ; tries += 1) {
    let cause: unknown;
    const decoder = createSseDecoder();
    const connection = createConnection({ signal, silenceMs: () => heartbeatMs * 3 }, decoder);
    try {
      tell("connecting");
      const path = `/v1/events?after=${encodeURIComponent(last)}`;
      const answer = await connection.open(
        (own) => transport(path, { accept: "text/event-stream", signal: own }),
        false,
      );
      tell("open");
      for await (const messages of connection.read(answer)) {
        for (const { id, event, data } of messages) {
          tries = 0;
          last = id;
          // Later versions may have other events (X14).
          if (known.has(event)) yield { id, event, data: JSON.parse(data) as unknown } as NumberedUserEvent;
        }
      }
    } catch (error) {
      cause = error;
    }
    signal?.throwIfAborted();
    if (!isRetryable(cause, reconnect)) throw cause;
    tell("waiting", cause);
    await waitFor(toDelay(Math.max(tries, 1), decoder.retry ?? reconnect.delayMs, reconnect), [signal]);
    signal?.throwIfAborted();
  }
}
