/** Numbers stream events and documents. */
import type {
  AgentOrigin,
  DocumentEndData,
  DocumentType,
  OutputDeltaData,
  PartialMetadata,
  StreamEvent,
  StreamEventName,
  StreamEventPayloads,
} from "@sheaf/protocol";
import { toPayloadPieces } from "./payload-limits.ts";

export interface StreamWriter {
  /** Appends an event with the next id (X1). */
  write<Name extends StreamEventName>(event: Name, data: StreamEventPayloads[Name]): void;
  /** Skips the id of an event that this reader did not request, so that ids are the same for all readers (X1). */
  skip(): void;
  /** Starts the next document and returns its id (N9, N10). */
  startDocument(type: DocumentType, metadata: PartialMetadata): string;
  /** Returns the sequence of the last document that started; 0 before the first. */
  lastSequence(): number;
  /** Appends a delta; a large one as several events (N55). */
  writeDelta(event: DeltaEventName, documentId: string, delta: string): void;
  /** Appends live output (X6); a large piece as several events (N55). */
  writeOutput(documentId: string, output: Pick<OutputDeltaData, "stream" | "delta">): void;
  /** Ends a document (N46, N47). */
  endDocument(documentId: string, metadata: PartialMetadata, content?: Partial<DocumentEndData>): void;
  /** Returns the events since the last call. */
  take(): StreamEvent[];
}

type DeltaEventName = "content_delta" | "arguments_delta";

export function createStreamWriter(): StreamWriter {
  return new Writer();
}

/** Returns a writer to the same stream whose documents have the subagent's name (N74). */
export function createAgentWriter(writer: StreamWriter, agent: AgentOrigin): StreamWriter {
  return {
    write: (event, data) => writer.write(event, data),
    skip: () => writer.skip(),
    startDocument: (type, metadata) => writer.startDocument(type, { ...metadata, agent }),
    lastSequence: () => writer.lastSequence(),
    writeDelta: (event, documentId, delta) => writer.writeDelta(event, documentId, delta),
    writeOutput: (documentId, output) => writer.writeOutput(documentId, output),
    endDocument: (documentId, metadata, content) => writer.endDocument(documentId, { ...metadata, agent }, content),
    take: () => writer.take(),
  };
}

class Writer implements StreamWriter {
  /** Events since the last call. Mostly there is one, and an array literal of one takes the least memory. */
  #events: StreamEvent[] | undefined;
  #lastId = 0;
  #documents = 0;

  write<Name extends StreamEventName>(event: Name, data: StreamEventPayloads[Name]): void {
    this.#lastId += 1;
    const streamEvent = { id: this.#lastId, event, data } as StreamEvent;
    if (this.#events === undefined) this.#events = [streamEvent];
    else this.#events.push(streamEvent);
  }

  skip(): void {
    this.#lastId += 1;
  }

  startDocument(type: DocumentType, metadata: PartialMetadata): string {
    this.#documents += 1;
    // N9.
    const id = `doc_${String(this.#documents).padStart(3, "0")}`;
    this.write("document_start", { id, type, sequence: this.#documents, metadata });
    return id;
  }

  lastSequence(): number {
    return this.#documents;
  }

  writeDelta(event: DeltaEventName, documentId: string, delta: string): void {
    for (const piece of toPayloadPieces(delta)) this.write(event, { documentId, delta: piece });
  }

  writeOutput(documentId: string, { stream, delta }: Pick<OutputDeltaData, "stream" | "delta">): void {
    for (const piece of toPayloadPieces(delta)) {
      this.write("output_delta", { documentId, stream, delta: piece });
    }
  }

  endDocument(documentId: string, metadata: PartialMetadata, content?: Partial<DocumentEndData>): void {
    this.write("document_end", { documentId, ...content, metadata });
  }

  take(): StreamEvent[] {
    const events = this.#events ?? [];
    this.#events = undefined;
    return events;
  }
}
