/** Gives stream events their ids and documents their places. */
import type { DocumentType, PartialMetadata, StreamEvent, StreamEventBody } from "@sheaf/protocol";
import { toDocumentId } from "./document-ids.ts";
import { toPayloadPieces } from "./payload-limits.ts";

export interface StreamWriter {
  /** Appends an event with the next id (X1). */
  write(body: StreamEventBody): void;
  /** Uses up an id for an event that this reader did not ask for, so that ids are the same for all readers (X1). */
  skip(): void;
  /** Starts a document at the next place and gives its id (N9, N10). */
  startDocument(type: DocumentType, metadata: PartialMetadata): string;
  /** Appends a delta; a large one as several events (N55). */
  writeDelta(event: "content_delta" | "arguments_delta", documentId: string, delta: string): void;
  /** The events since the last call. */
  take(): StreamEvent[];
}

export function createStreamWriter(): StreamWriter {
  return new Writer();
}

class Writer implements StreamWriter {
  #events: StreamEvent[] = [];
  #lastId = 0;
  #documents = 0;

  write(body: StreamEventBody): void {
    this.#lastId += 1;
    this.#events.push({ id: this.#lastId, ...body });
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

  writeDelta(event: "content_delta" | "arguments_delta", documentId: string, delta: string): void {
    for (const piece of toPayloadPieces(delta)) this.write({ event, data: { documentId, delta: piece } });
  }

  take(): StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
