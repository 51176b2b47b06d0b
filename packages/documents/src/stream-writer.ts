/** Gives stream events their ids and documents their places. */
import type { DocumentType, PartialMetadata, StreamEvent, StreamEventBody } from "@sheaf/protocol";
import { toDocumentId } from "./document-ids.ts";
import { isShortPayload, toPayloadPieces } from "./payload-limits.ts";

export interface StreamWriter {
  /** Appends an event with the next id (X1). */
  write(body: StreamEventBody): void;
  /** Uses up an id for an event that this reader did not ask for, so that ids are the same for all readers (X1). */
  skip(): void;
  /** Starts a document at the next place and gives its id (N9, N10). */
  startDocument(type: DocumentType, metadata: PartialMetadata): string;
  /** Appends a delta; a large one as several events (N55). */
  writeDelta(event: DeltaEventName, documentId: string, delta: string): void;
  /** What `writeDelta` would append, for a caller that hands it on at once while nothing else waits to be taken. */
  createDeltas(event: DeltaEventName, documentId: string, delta: string): StreamEvent[];
  /** The events since the last call. */
  take(): StreamEvent[];
}

type DeltaEventName = "content_delta" | "arguments_delta";

export function createStreamWriter(): StreamWriter {
  return new Writer();
}

class Writer implements StreamWriter {
  /** Nearly always there is one; an array literal of one takes the least memory. */
  #events: StreamEvent[] | undefined;
  #lastId = 0;
  #documents = 0;

  write(body: StreamEventBody): void {
    this.#lastId += 1;
    // Field by field, since a copy with spread takes several times as long.
    this.#append({ id: this.#lastId, event: body.event, data: body.data } as StreamEvent);
  }

  skip(): void {
    this.#lastId += 1;
  }

  startDocument(type: DocumentType, metadata: PartialMetadata): string {
    this.#documents += 1;
    const id = toDocumentId(this.#documents);
    this.write({ event: "document_start", data: { id, type, sequence: this.#documents, metadata } });
    return id;
  }

  writeDelta(event: DeltaEventName, documentId: string, delta: string): void {
    if (isShortPayload(delta)) this.#append(this.#createDelta(event, documentId, delta));
    else for (const piece of toPayloadPieces(delta)) this.#append(this.#createDelta(event, documentId, piece));
  }

  createDeltas(event: DeltaEventName, documentId: string, delta: string): StreamEvent[] {
    if (isShortPayload(delta)) return [this.#createDelta(event, documentId, delta)];
    return toPayloadPieces(delta).map((piece) => this.#createDelta(event, documentId, piece));
  }

  take(): StreamEvent[] {
    const events = this.#events ?? [];
    this.#events = undefined;
    return events;
  }

  #createDelta(event: DeltaEventName, documentId: string, delta: string): StreamEvent {
    this.#lastId += 1;
    return { id: this.#lastId, event, data: { documentId, delta } };
  }

  #append(event: StreamEvent): void {
    if (this.#events === undefined) this.#events = [event];
    else this.#events.push(event);
  }
}
