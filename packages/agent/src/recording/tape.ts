/**
 * The records of a cassette on their way back into a run, in the order in which they happened.
 * What the run asks for must be the next record of its kind; what came from outside is given as soon as everything
 * before it was asked for. The first difference ends the run: its reason says where, what was expected, what came.
 */
import type { RunEventBody } from "@sheaf/protocol";
import { SheafError } from "../base/errors.ts";
import {
  toEventDigests,
  toLineNumber,
  type AskedRecord,
  type Cassette,
  type CassetteRecord,
  type EventsRecord,
  type GivenRecord,
} from "./cassette.ts";

/** Takes a record that came from outside; false: not yet, nobody waits for it. */
export type Receiver = (record: GivenRecord) => boolean;

export interface Tape {
  /** The last reading of the clock. Milliseconds since 1970. */
  readonly time: number;
  /** Time of the events that the log takes. Milliseconds since 1970. */
  readonly logTime: number;
  /** Why the cassette ends before the run, or differs from it; undefined: it does not, or not yet. */
  readonly failure: SheafError | undefined;
  /** Grows with each record that was used. */
  readonly progress: number;
  /** The next record, if the run may ask for this type now; undefined after a failure. `came` tells what it asks for. */
  takeAsked<Type extends AskedRecord["type"]>(
    type: Type,
    came: () => string,
  ): Extract<AskedRecord, { type: Type }> | undefined;
  /** Ends the replay because the record that was taken last differs. */
  failAtLast(came: string): void;
  /** Ends the replay because the run does something else than the next record. */
  failAtNext(came: string): void;
  /** How many events the log takes in the next step; undefined: as they come. */
  readonly nextGroupSize: number | undefined;
  /** Compares what the log takes with what it took. */
  takeEvents(events: readonly RunEventBody[]): void;
  /** A failure of the store, if it is the next record. */
  takeStoreError(): Extract<GivenRecord, { type: "store_error" }> | undefined;
  /** Gives everything that is due. */
  pump(): void;
  /** Whether something may still be given. */
  readonly isScheduled: boolean;
  /** Gives what is due once the run has come to rest. */
  schedule(): void;
  /** Whether what comes next from outside is of one of these types. */
  isNext(types: readonly CassetteRecord["type"][]): boolean;
}

const givenTypes: ReadonlySet<CassetteRecord["type"]> = new Set<GivenRecord["type"]>([
  "provider_response",
  "provider_bytes",
  "model_events",
  "model_end",
  "model_error",
  "tool_output",
  "tool_outcome",
  "tool_error",
  "quote_check",
  "approval_answer",
  "store_error",
  "abort",
]);

/** A tape at its beginning. `receive` gets what comes from outside, `onFailure` must end the run. */
export function createTape(cassette: Cassette, receive: Receiver, onFailure: (error: SheafError) => void): Tape {
  return new CassetteTape(cassette, receive, onFailure);
}

class CassetteTape implements Tape {
  readonly #cassette: Cassette;
  readonly #records: readonly CassetteRecord[];
  readonly #receive: Receiver;
  readonly #onFailure: (error: SheafError) => void;
  /** Index of the next record that is not one of the log. */
  #at = 0;
  /** Index of the next record of the log. */
  #logAt = 0;
  /** Number of events that the log took. */
  #logged = 0;
  #isPumping = false;
  /** Index of the record that was asked for last. */
  #last = 0;
  time = 0;
  logTime = 0;
  progress = 0;
  isScheduled = false;
  failure: SheafError | undefined;

  constructor(cassette: Cassette, receive: Receiver, onFailure: (error: SheafError) => void) {
    this.#cassette = cassette;
    this.#records = cassette.records;
    this.#receive = receive;
    this.#onFailure = onFailure;
    this.#skip();
  }

  takeAsked<Type extends AskedRecord["type"]>(
    type: Type,
    came: () => string,
  ): Extract<AskedRecord, { type: Type }> | undefined {
    if (this.failure) return undefined;
    // The run may be ahead by a few steps of what is due.
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

  get nextGroupSize(): number | undefined {
    const size = this.failure ? undefined : this.#logRecord?.types.length;
    return size === undefined ? undefined : Math.max(1, size);
  }

  takeEvents(events: readonly RunEventBody[]): void {
    if (this.failure) return;
    const record = this.#logRecord;
    if (!record) {
      // Behind a failure of the store nothing is stored; the clock is read all the same.
      const reading = this.takeAsked("clock", () => `the run makes ${formatTypes(events)}`);
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

  takeStoreError(): Extract<GivenRecord, { type: "store_error" }> | undefined {
    const record = this.#records[this.#at];
    if (this.failure || record?.type !== "store_error" || this.#logAt < this.#at) return undefined;
    this.#advance();
    return record;
  }

  isNext(types: readonly CassetteRecord["type"][]): boolean {
    const record = this.#records[this.#at];
    return record !== undefined && types.includes(record.type);
  }

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

  schedule(): void {
    if (this.isScheduled || this.failure) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.pump();
    });
  }

  failAtLast(came: string): void {
    this.#differ(this.#last, came);
  }

  failAtNext(came: string): void {
    if (this.#at < this.#records.length) this.#differ(this.#at, came);
    else this.#fail(this.#createEndError());
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
    while (this.#at < this.#records.length && isPassedOver(this.#records[this.#at]!)) this.#at += 1;
    while (this.#logAt < this.#records.length && this.#records[this.#logAt]!.type !== "events") this.#logAt += 1;
  }

  #differ(index: number, came: string): void {
    const record = this.#records[index]!;
    const place = `record ${toLineNumber(index)} of ${this.#cassette.file}`;
    this.#fail(
      new SheafError(
        "INTERNAL",
        toOneLine(`the replay differs at ${place}: expected ${formatRecord(record)}, but ${came}`),
        {
          details: JSON.stringify(record),
        },
      ),
    );
  }

  #createEndError(): SheafError {
    const line = this.#records.length + 1;
    const { file } = this.#cassette;
    const message = `the cassette ${file} ends at line ${line}, before its run: the recording was cut short; record again with --record`;
    return new SheafError("CONFIG_INVALID", message);
  }

  #fail(error: SheafError): void {
    if (this.failure) return;
    this.failure = error;
    this.#onFailure(error);
  }
}

/** Records that the run neither asks for nor is given. */
function isPassedOver({ type }: CassetteRecord): boolean {
  return type === "events";
}

function isGiven(record: CassetteRecord): record is GivenRecord {
  return givenTypes.has(record.type);
}

/** Place of the first event that differs from the record; undefined: none does, as far as the record tells. */
function findDifference({ types, digests }: EventsRecord, events: readonly RunEventBody[]): number | undefined {
  const made = digests && toEventDigests(events);
  const count = Math.max(types.length, events.length);
  for (let place = 0; place < count; place += 1) {
    if (types[place] !== events[place]?.type || digests?.[place] !== made?.[place]) return place;
  }
  return undefined;
}

/** `before`: how many events the log has. */
function formatDifference(
  { types }: EventsRecord,
  events: readonly RunEventBody[],
  place: number,
  before: number,
): string {
  const event = events[place];
  const came = event ? `makes ${event.type} ${shortenValue(JSON.stringify(event))}` : "makes nothing";
  const expected = types[place] === event?.type ? "another one" : (types[place] ?? "nothing");
  return `the run ${came} as event ${before + place + 1}, where ${expected} was recorded`;
}

function formatTypes(events: readonly RunEventBody[]): string {
  return events.map(({ type }) => type).join(", ");
}

function toOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ");
}

/** Longest value in a message. UTF-16 units. */
const MAX_VALUE = 300;

/** For instance `the call read_file {"target_file":"a"}`. */
function formatRecord(record: CassetteRecord): string {
  switch (record.type) {
    case "clock":
      return "a look at the clock";
    case "model_request":
      return `model request ${record.turn}`;
    case "tool_access":
      return `a question what ${record.toolName} does`;
    case "tool_call":
      return formatCall(record);
    case "tool_review":
      return `a question whether ${record.callId} may run`;
    case "approval_id":
      return `the approval ${record.id}`;
    case "answer_check":
      return "a check of the answer";
    case "end":
      return "the end of the run";
    case "events":
      return `the log to take ${record.types.join(", ")}`;
    case "quote_check":
      return `a look at ${record.filePath}:${record.startLine}-${record.endLine}`;
    default:
      return `${record.type.replaceAll("_", " ")} from outside`;
  }
}

/** A tool call as words. */
export function formatCall(
  call: Pick<Extract<AskedRecord, { type: "tool_call" }>, "toolName" | "arguments" | "rawArguments">,
): string {
  return `the call ${call.toolName} ${shortenValue(call.rawArguments ?? JSON.stringify(call.arguments))}`;
}

/** The beginning of a long text. */
export function shortenValue(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
