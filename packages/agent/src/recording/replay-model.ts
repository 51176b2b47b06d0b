/** The model of a replay: returns what was recorded, and compares each request with the recorded one (X11). */
import type { ModelEvent } from "@sheaf/protocol";
import type { Model, ModelRequest } from "@sheaf/models/provider";
import { fromRecordedError, toDigest, type BodyRecord, type CassetteHeader } from "./cassette.ts";
import { shortenValue, type Tape } from "./tape.ts";
import type { ReplayPort } from "./replay-ports.ts";
import { createReplayedBody, type ReplayedBody } from "./replayed-body.ts";

type ModelStep = IteratorResult<readonly ModelEvent[], undefined>;
const modelEnd: ModelStep = { done: true, value: undefined };

type ModelGiven = BodyRecord["type"] | "model_events" | "model_end" | "model_error";
const modelGiven: readonly ModelGiven[] = [
  "provider_response",
  "provider_bytes",
  "model_events",
  "model_end",
  "model_error",
];

/** Returns the recorded groups, errors and ends. Where the bytes were kept, they are decoded again. */
export function createReplayModel({ start, history = [] }: CassetteHeader, tape: Tape): ReplayPort<Model, ModelGiven> {
  let waiting: PromiseWithResolvers<ModelStep> | undefined;
  let known = history.length;
  let body: ReplayedBody | undefined;

  const next = (): Promise<ModelStep> => {
    if (tape.failure) return Promise.resolve(modelEnd);
    waiting = Promise.withResolvers();
    const { promise } = waiting;
    if (tape.isNext(modelGiven)) tape.pump();
    else if (tape.isNext(["abort"])) tape.schedule();
    else tape.failAtNext("the run waits for the model");
    return promise;
  };

  const port: Model = {
    id: start.model,
    name: start.modelName,
    apiKeySource: start.apiKeySource,
    stream(request) {
      const record = tape.takeAsked("model_request", () => "the run calls the model");
      const difference = record && findDifference(record.system, record.messages, request, known);
      known = request.messages.length;
      body = undefined;
      if (difference !== undefined) tape.failAtLast(difference);
      return { [Symbol.asyncIterator]: () => ({ next, return: async () => modelEnd }) };
    },
  };
  return {
    port,
    receive(record) {
      if (!waiting) return false;
      if (record.type === "provider_response") {
        body = createReplayedBody(record);
        return true;
      }
      if (record.type === "provider_bytes") {
        body?.push(record);
        return true;
      }
      // A wait between two attempts is not part of a body.
      const isWait = record.type === "model_events" && record.events.some(({ type }) => type === "provider_wait");
      const decoded = record.type === "model_events" && !isWait ? body?.decode(record.events) : undefined;
      if (decoded?.difference !== undefined) {
        tape.failAtNext(decoded.difference);
        return false;
      }
      const { resolve, reject } = waiting;
      waiting = undefined;
      if (record.type === "model_events") resolve({ done: false, value: decoded?.events ?? record.events });
      else if (record.type === "model_end") resolve(modelEnd);
      else reject(fromRecordedError(record.error));
      return true;
    },
    release: () => waiting?.resolve(modelEnd),
  };
}

/** How a request differs; undefined: not at all, as far as the record can tell. */
function findDifference(
  system: string | undefined,
  digests: readonly string[] | undefined,
  request: ModelRequest,
  known: number,
): string | undefined {
  if (system !== undefined && system !== toDigest(request.system)) {
    return `the run sends a different system prompt: ${shortenValue(request.system)}`;
  }
  if (!digests) return undefined;
  const added = request.messages.slice(known);
  const place = added.findIndex((message, index) => digests[index] !== toDigest(message));
  if (place !== -1) {
    const message = added[place]!;
    return `the run sends a different message ${known + place + 1} (${message.role}): ${shortenValue(JSON.stringify(message))}`;
  }
  if (added.length < digests.length) return `the run sends ${added.length} new messages, not ${digests.length}`;
  return undefined;
}
