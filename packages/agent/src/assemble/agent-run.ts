/** One run as a program reads it: any number of readers, each from the first event on, in any form. */
import { createAssembler, toResponse } from "@sheaf/documents";
import type { ChatResponse, RunEvent, StreamEvent } from "@sheaf/protocol";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import type { ProjectionOptions } from "../output/create-message-projection.ts";
import { createEventMask, maskLog } from "../output/event-mask.ts";
import { createProjection } from "../output/create-projection.ts";
import { outputFormats, type OutputFormat } from "../output/projection.ts";

/**
 * A run. It is an async iterable of the documents' stream events.
 *
 * It starts at once, and ends with or without readers. It keeps its log in memory, and every reader has its own place
 * in it: readers start at the first event at any time, miss nothing, and never slow down the run or each other.
 */
export interface AgentRun extends AsyncIterable<StreamEvent> {
  /** `chat_<uuid>`. */
  readonly responseId: string;
  /** `conv_<uuid>`: the `conversation` of the next run that continues this one. */
  readonly conversation: string;
  /**
   * The whole response, once the run has ended and its tools are gone. A run that fails also resolves: its `status` is
   * `error`, its `metadata.finishReason` is the kind of its end (`cancelled`, `budget`, …), and its last document has
   * the reason. Rejects only for a defect in Sheaf (INTERNAL).
   */
  readonly result: Promise<ChatResponse>;
  /** The log: everything that happened, in order. Here alone secrets are not masked. */
  readonly events: AsyncIterable<RunEvent>;
  /** The lines of an output format of the command line, each with its line end. @throws SheafError USAGE. */
  format(format: OutputFormat, options?: Partial<ProjectionOptions>): AsyncIterable<string>;
}

/** A run's events and end, described here so that the library's types need no other part of a run. */
interface RunSource {
  events(): AsyncIterable<readonly RunEvent[]>;
  close(): Promise<void>;
}

/** Starts to run. `includeReasoning`: the stream events bring the model's reasoning. */
export function startAgentRun(
  run: RunSource,
  ids: Pick<AgentRun, "responseId" | "conversation">,
  { includeReasoning }: { readonly includeReasoning: boolean },
): AgentRun {
  const log = createGrowingLog();
  const record = async (): Promise<ChatResponse> => {
    try {
      for await (const events of run.events()) log.push(events);
      await run.close();
    } catch (error) {
      const defect = toSheafError(error);
      log.end(defect);
      await run.close();
      throw defect;
    }
    log.end();
    return toResponse(maskLog(log.events));
  };
  const result = record();
  // A program that does not ask for the result need not handle its failure.
  result.catch(() => undefined);
  return {
    ...ids,
    result,
    events: { [Symbol.asyncIterator]: () => log.read() },
    async *[Symbol.asyncIterator]() {
      const assembler = createAssembler({ includeReasoning });
      for await (const event of log.readMasked()) yield* assembler.push(event);
    },
    format(format, options = {}) {
      if (!outputFormats.includes(format)) {
        const known = outputFormats.join(", ");
        throw new SheafError("USAGE", `the format ${JSON.stringify(format)} is unknown: use one of ${known}`);
      }
      return {
        async *[Symbol.asyncIterator]() {
          const projection = createProjection(format, { locale: "en", includeThinking: includeReasoning, ...options });
          for await (const event of log.readMasked()) yield* projection.push(event);
        },
      };
    },
  };
}

/** Events that may be read while they come, from the first one on, as often as wanted. */
function createGrowingLog() {
  const events: RunEvent[] = [];
  let isOver = false;
  let failure: SheafError | undefined;
  let arrival = Promise.withResolvers<void>();
  const wake = (): void => {
    arrival.resolve();
    arrival = Promise.withResolvers<void>();
  };
  return {
    events: events as readonly RunEvent[],
    push(added: readonly RunEvent[]): void {
      events.push(...added);
      wake();
    },
    end(error?: SheafError): void {
      isOver = true;
      failure = error;
      wake();
    },
    async *readMasked(): AsyncGenerator<RunEvent> {
      const mask = createEventMask();
      for await (const event of this.read()) yield* mask(event);
    },
    async *read(): AsyncGenerator<RunEvent> {
      for (let next = 0; ;) {
        const event = events[next];
        if (event) {
          next += 1;
          yield event;
        } else if (isOver) {
          if (failure) throw failure;
          return;
        } else {
          await arrival.promise;
        }
      }
    },
  };
}
