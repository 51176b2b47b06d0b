import type { JsonObject } from "./read-json.ts";
import type { TurnWriter } from "./turn-writer.ts";

/** Knows one wire protocol: reads its payloads, in order, into a turn. Keeps what it must remember between them. */
export interface PayloadReader {
  /** `event` = name of the event that brought the payload, or "". */
  read(payload: JsonObject, event: string): void;
  /** The body has ended; for what must be done then, before the turn ends. */
  end?(): void;
}

export type CreatePayloadReader = (turn: TurnWriter) => PayloadReader;
