/**
 * Plays the records of a cassette back into a run, in their original order.
 * What the run asks for must be the next record; what came from outside is delivered as soon as the run has asked for
 * everything before it. The first difference ends the run, with an error that says where, what was expected, what came.
 */
import type { RunEventBody } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { toOneLine } from "@sheaf/base/to-one-line";
import {
  toEventDigests,
  toLineNumber,
  type AskedRecord,
  type Cassette,
  type CassetteRecord,
  type EventsRecord,
  type GivenRecord,
} from "./cassette.ts";

/** Accepts a record that came from outside; false: nothing waits for it yet. */
export type Receiver = (record: GivenRecord) => boolean;

const askedTypes: ReadonlySet<CassetteRecord["type"]> = new Set<AskedRecord["type"]>([
  "clock",
  "model_request",
  "tool_access",
  "tool_call",
  "tool_review",
  "approval_id",
  "answer_check",
  "hook_run",
  "end",
]);

/** Plays the records of a cassette, from the first to the last. */
export class Tape {
  readonly #cassette: Cassette;
  readonly #records: readonly CassetteRecord[];
  readonly #receive: Receiver;
  readonly #onFailure: (error: SheafError) => void;
  /** Index of the next record that is not one of the log. */
  #at = 0;
  /** Index of the next record of the log. */
  #logAt = 0;
  /** Number of events that the log has stored. */
  #logged = 0;
  #isPumping = false;
  /** Index of the last record that was asked for. */
  #last = 0;
  /** The last reading of the clock. Milliseconds since 1970. */
  time = 0;
  /** Time of the events that the log stores. Milliseconds since 1970. */
  logTime = 0;
  /** Grows with each record that was used. */
  progress = 0;
  /** Whether something may still be delivered. */
  isScheduled = false;
  /** Why the replay failed: the cassette ends before the run, or the run differs from it. */
  failure: SheafError | undefined;

  /** `receive` gets what comes from outside; `onFailure` must end the run. */
  constructor(cassette: Cassette, receive: Receiver, onFailure: (error: SheafError) => void) {
    this.#cassette = cassette;
    this.#records = cassette.records;
    this.#receive = receive;
    this.#onFailure = onFailure;
    this.#skip();
  }

  /** The next record, if the run may ask for this type now; undefined after a failure. `came` describes the request. */
  takeAsked<Type extends AskedRecord["type"]>(
    type: Type,
    came: () => string,
  ): Extract<AskedRecord, { type: Type }> | undefined {
    if (this.failure) return undefined;
    // The run may be a few steps ahead of what is due.
    if (this.#at < this.#records.length && isGiven(this.#records[this.#at]!)) this.pump();
    const record = this.#records[this.#at];
    if (record?.type !== type) {
      this.failAtNext(came());
      return undefined;
    }
    if (record.type === "clock") this.time = record.time;
    this.#last = this.#at;
    this.#advance();
    this.schedule();
    return record as Extract<AskedRecord, { type: Type }>;
  }

  /** How many events the log stores in the next step; undefined: as they come. */
  get nextGroupSize(): number | undefined {
    const size = this.failure ? undefined : this.#logRecord?.types.length;
    return size === undefined ? undefined : Math.max(1, size);
  }

  /** Compares what the log stores with what it stored in the recorded run. */
  takeEvents(events: readonly RunEventBody[]): void {
    if (this.failure) return;
    const record = this.#logRecord;
    if (!record) {
      // After a store failure nothing is stored, but the clock is still read.
      const reading = this.takeAsked("clock", () => `the run produces ${events.map(({ type }) => type).join(", ")}`);
      this.logTime = reading?.time ?? this.time;
      return;
    }
    const index = this.#logAt;
    this.#logAt += 1;
    this.#skip();
    this.logTime = record.time;
    const place = findDifference(record, events);
    if (place === undefined) this.schedule();
    else this.#differ(index, formatDifference(record, events, place, this.#logged));
    this.#logged += events.length;
    this.progress += 1;
  }

  /** A failure of the store, if it is the next record. */
  takeStoreError(): Extract<GivenRecord, { type: "store_error" }> | undefined {
    const record = this.#records[this.#at];
    if (this.failure || record?.type !== "store_error" || this.#logAt < this.#at) return undefined;
    this.#advance();
    return record;
  }

  /** Whether the next record has one of these types. */
  isNext(types: readonly CassetteRecord["type"][]): boolean {
    const record = this.#records[this.#at];
    return record !== undefined && types.includes(record.type);
  }

  /** Delivers everything that is due. */
  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      while (!this.failure && this.#at < this.#records.length && this.#logAt >= this.#at) {
        const record = this.#records[this.#at]!;
        if (!isGiven(record) || !this.#receive(record)) return;
        this.#advance();
      }
    } finally {
      this.#isPumping = false;
    }
  }

  /** Delivers what is due once the run is idle. */
  schedule(): void {
    if (this.isScheduled || this.failure) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.pump();
    });
  }

  /** Ends the replay because the last record that was taken differs. */
  failAtLast(came: string): void {
    this.#differ(this.#last, came);
  }

  /** Ends the replay because the run does something else than the next record. */
  failAtNext(came: string): void {
    if (this.#at < this.#records.length) this.#differ(this.#at, came);
    else this.#failAtEnd();
  }

  get #logRecord(): EventsRecord | undefined {
    const record = this.#records[this.#logAt];
    return record?.type === "events" ? record : undefined;
  }

  #advance(): void {
    this.#at += 1;
    this.progress += 1;
    this.#skip();
  }

  #skip(): void {
    while (this.#records[this.#at]?.type === "events") this.#at += 1;
    while (this.#logAt < this.#records.length && !this.#logRecord) this.#logAt += 1;
  }

  #differ(index: number, came: string): void {
    const record = this.#records[index]!;
    const place = `record ${toLineNumber(index)} of ${this.#cassette.file}`;
    const message = `the replay differs at ${place}: expected ${formatRecord(record)}, but ${came}`;
    this.#fail(new SheafError("INTERNAL", toOneLine(message), { details: JSON.stringify(record) }));
  }

  #failAtEnd(): void {
    const line = this.#records.length + 1;
    const message = `the cassette ${this.#cassette.file} ends at line ${line}, before its run: the recording was cut short; record again with --record`;
    this.#fail(new SheafError("CONFIG_INVALID", message));
  }

  #fail(error: SheafError): void {
    if (this.failure) return;
    this.failure = error;
    this.#onFailure(error);
  }
}

function isGiven(record: CassetteRecord): record is GivenRecord {
  return record.type !== "events" && !askedTypes.has(record.type);
}

/** Place of the first event that differs from the record; undefined: none does, as far as the record can tell. */
function findDifference({ types, digests }: EventsRecord, events: readonly RunEventBody[]): number | undefined {
  const made = digests && toEventDigests(events);
  const count = Math.max(types.length, events.length);
  for (let place = 0; place < count; place += 1) {
    if (types[place] !== events[place]?.type || digests?.[place] !== made?.[place]) return place;
  }
  return undefined;
}

/** `before`: number of events already in the log. */
function formatDifference(
  { types }: EventsRecord,
  events: readonly RunEventBody[],
  place: number,
  before: number,
): string {
  const event = events[place];
  const came = event ? `produces ${event.type} ${shortenValue(JSON.stringify(event))}` : "produces nothing";
  const expected = types[place] === event?.type ? "a different one" : (types[place] ?? "nothing");
  return `the run ${came} as event ${before + place + 1}, where ${expected} was recorded`;
}

/** Longest value in a message. UTF-16 units. */
const MAX_VALUE = 300;

/** For instance `the call read_file {"target_file":"a"}`. */
function formatRecord(record: CassetteRecord): string {
  switch (record.type) {
    case "clock":
      return "a reading of the clock";
    case "model_request":
      return `model request ${record.turn}`;
    case "tool_access":
      return `a check of what ${record.toolName} may access`;
    case "tool_call":
      return formatCall(record);
    case "tool_review":
      return `a check of whether ${record.callId} may run`;
    case "approval_id":
      return `the approval ${record.id}`;
    case "answer_check":
      return "a check of the answer";
    case "end":
      return "the end of the run";
    case "events":
      return `the log to store ${record.types.join(", ")}`;
    case "quote_check":
      return `a check of the quote ${record.filePath}:${record.startLine}-${record.endLine}`;
    default:
      return `${record.type.replaceAll("_", " ")} from outside`;
  }
}

/** Describes a tool call for a message. */
export function formatCall(
  call: Pick<Extract<AskedRecord, { type: "tool_call" }>, "toolName" | "arguments" | "rawArguments">,
): string {
  return `the call ${call.toolName} ${shortenValue(call.rawArguments ?? JSON.stringify(call.arguments))}`;
}

/** The beginning of a long text. */
export function shortenValue(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
