/** Checks the grammar of a stream (X13). */
import { createDocumentTracker, type DocumentTracker, type GrammarProblem } from "./document-tracker.ts";
import { isJsonObject } from "./json-object.ts";
import type { StreamEvent, StreamEventPayloads } from "./stream-events.ts";

/** A problem of a stream. */
export interface Violation {
  /** Number of the clause, for instance `N48`. */
  readonly clause: string;
  readonly message: string;
  /** Id of the event; of the last one if something is missing at the end. */
  readonly eventId: number;
}

export interface VerifierOptions {
  /**
   * True to require the parts that Sheaf sends and a base stream lacks: `response_start` or `snapshot` first (N49, X3),
   * complete metadata at the end of documents (N46), a rich `done` (N50), only known document types (N13).
   */
  readonly requireExtensions?: boolean;
}

export interface Verifier {
  /** Takes the next event; returns its problem, if it has one. */
  push(event: StreamEvent): Violation | undefined;
  /** Ends the stream; returns the missing part (N51), if one is missing. */
  end(): Violation | undefined;
}

/**
 * Checks a stream while it arrives: X1, N2, N6, N9, N10, N13, N44 to N51. Accepts base streams and streams that start
 * with a `snapshot`. Keeps the text of open documents, so use it in tests and for diagnosis, not in production.
 */
export function createVerifier(options: VerifierOptions = {}): Verifier {
  return new StreamVerifier(options.requireExtensions ?? false);
}

/** Returns the first violation of a whole stream, or undefined for a valid stream. */
export function verify(events: Iterable<StreamEvent>, options: VerifierOptions = {}): Violation | undefined {
  const verifier = createVerifier(options);
  for (const event of events) {
    const violation = verifier.push(event);
    if (violation !== undefined) return violation;
  }
  return verifier.end();
}

class StreamVerifier implements Verifier {
  readonly #requireExtensions: boolean;
  readonly #documents: DocumentTracker;
  #lastId = 0;
  #events = 0;
  #items = 0;
  #ended = false;

  constructor(requireExtensions: boolean) {
    this.#requireExtensions = requireExtensions;
    this.#documents = createDocumentTracker(requireExtensions);
  }

  push(event: StreamEvent): Violation | undefined {
    const problem = this.#checkPlace(event) ?? this.#checkId(event) ?? this.#checkEvent(event);
    this.#lastId = Number.isSafeInteger(event.id) ? event.id : this.#lastId;
    this.#events += 1;
    if (event.event !== "response_start" && event.event !== "done") this.#items += 1;
    if (event.event === "done") this.#ended = true;
    return problem === undefined ? undefined : { ...problem, eventId: event.id };
  }

  end(): Violation | undefined {
    if (this.#ended) return undefined;
    return { clause: "N51", message: "the stream ends without done: it is broken", eventId: this.#lastId };
  }

  #checkId({ id, event }: StreamEvent): GrammarProblem | undefined {
    if (!Number.isSafeInteger(id) || id < 1)
      return { clause: "X1", message: `id ${id} is not an integer of at least 1` };
    if (id <= this.#lastId)
      return { clause: "X1", message: `id ${id} is not greater than the one before it, ${this.#lastId}` };
    if (event === "response_start" && id !== 1) return { clause: "X1", message: `the first event has id ${id}, not 1` };
    return undefined;
  }

  #checkPlace({ event }: StreamEvent): GrammarProblem | undefined {
    if (this.#ended) return { clause: "N50", message: `${event} follows done` };
    if (event === "response_start") {
      return this.#events === 0 ? undefined : { clause: "N49", message: "response_start is not the first event" };
    }
    if (this.#events > 0 || event === "snapshot" || !this.#requireExtensions) return undefined;
    return { clause: "N49", message: `the first event is ${event}, not response_start` };
  }

  #checkEvent(event: StreamEvent): GrammarProblem | undefined {
    if (!isJsonObject(event.data)) return { clause: "N43", message: `the payload of ${event.event} is not an object` };
    if (event.event === "done") return this.#checkDone(event.data);
    if (event.event === "response_start") return checkResponseStart(event.data);
    return this.#documents.push(event);
  }

  #checkDone(data: StreamEventPayloads["done"]): GrammarProblem | undefined {
    if (this.#items === 0) return { clause: "N44", message: "done without a document or another item before it" };
    const open = this.#documents.open();
    if (open !== undefined) return { clause: "N48", message: `done while ${open} is open` };
    return checkUsage(data) ?? this.#checkStatus(data);
  }

  #checkStatus({ id, status, metadata }: StreamEventPayloads["done"]): GrammarProblem | undefined {
    if (this.#requireExtensions && (id === undefined || status === undefined || metadata === undefined)) {
      return { clause: "N50", message: "done lacks id, status or metadata" };
    }
    if (status !== "error" || this.#documents.lastType() === "error") return undefined;
    return { clause: "N2", message: `the status is error, but the last document is ${this.#documents.lastType()}` };
  }
}

const identity = [
  "id",
  "conversationId",
  "model",
  "mode",
  "created",
] as const satisfies readonly (keyof StreamEventPayloads["response_start"])[];

function checkResponseStart(data: StreamEventPayloads["response_start"]): GrammarProblem | undefined {
  const missing = identity.find((field) => typeof data[field] !== "string");
  return missing === undefined ? undefined : { clause: "N49", message: `response_start lacks ${missing}` };
}

function checkUsage({ usage }: StreamEventPayloads["done"]): GrammarProblem | undefined {
  if (!isJsonObject(usage)) return { clause: "N50", message: "done has no usage" };
  const { promptTokens, completionTokens, totalTokens } = usage;
  if (totalTokens === promptTokens + completionTokens) return undefined;
  return { clause: "N6", message: `totalTokens ${totalTokens} is not ${promptTokens} + ${completionTokens}` };
}
