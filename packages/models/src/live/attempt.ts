/** Tries a request once: sends it, then reads the answer with Sheaf's own decoder. */
import {
  createModelStreamDecoder,
  findAnswerFailure,
  type ModelStreamDecoder,
  type ModelStreamReport,
} from "@sheaf/documents/model-streams";
import type { ModelEvent } from "@sheaf/protocol";
import type { ProviderEndpoint, RequestLimits, LivePorts } from "../endpoint.ts";
import type { BodyTap } from "../provider.ts";
import { createConnection, type Connection } from "./connection.ts";
import {
  isRestedConnectionError,
  type BodyReader,
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
} from "./http-client.ts";
import { toHttpFailure, toWrongTypeFailure, toStreamFailure } from "./http-error.ts";
import { toNetworkFailure, createStallFailure, type ProviderFailure } from "./provider-failure.ts";
import { toOrigin } from "./provider-data.ts";
import { listSecrets, createSecretMask, type SecretMask } from "./secrets.ts";

export interface AttemptContext {
  readonly endpoint: ProviderEndpoint;
  readonly limits: RequestLimits;
  readonly ports: LivePorts;
  readonly newCallId: () => string;
  readonly http: HttpClient;
  readonly tap?: BodyTap | undefined;
  /** True if the request has images or PDF files. */
  readonly hasAttachments?: boolean;
}

/** Groups of events as they arrive. The final value is undefined if the answer is whole or the run was aborted. */
export type Attempt = AsyncGenerator<readonly ModelEvent[], ProviderFailure | undefined>;

/** Most bytes of an error's body. */
const longestErrorBody = 65_536;
/** Shortest value of a header that is masked: shorter ones are words that can occur in an answer. */
const shortestKey = 16;

/**
 * Sends the request once. A failure before the first group yields no group, so that the request can be sent again
 * . A later failure yields a last group that ends the turn with the known usage.
 */
export async function* runAttempt(request: HttpRequest, context: AttemptContext, signal: AbortSignal): Attempt {
  const { endpoint, limits, ports } = context;
  const connection = createConnection(signal, limits.silenceMs, ports);
  try {
    const response = await context.http.send(request, connection.signal);
    const { status, headers } = response;
    if (status < 200 || status >= 300) {
      const body = await readErrorBody(response);
      return signal.aborted
        ? undefined
        : toHttpFailure(
            endpoint,
            { status, headers, body, url: request.url, hasAttachments: context.hasAttachments === true },
            ports.now(),
          );
    }
    const type = headers.get("content-type") ?? "";
    if (/html/i.test(type)) return toWrongTypeFailure(endpoint, type);
    return yield* readAnswer(response, connection, context, signal);
  } catch (error) {
    return signal.aborted ? undefined : toLostFailure(error, connection, context);
  } finally {
    connection.close();
  }
}

/** Creates the tap of an answer. The decoder gets the recorded bytes, which contain no key that a server repeats. */
function createChunkTap(tap: BodyTap, endpoint: ProviderEndpoint, origin: string): SecretMask {
  const mask = createSecretMask(listSecrets(endpoint).filter(({ length }) => length >= shortestKey));
  tap.begin({ format: endpoint.protocol, origin });
  return (chunk) => {
    const masked = mask(chunk);
    tap.push(masked);
    return masked;
  };
}

/** Returns the failure for silence, or for a lost connection. */
function toLostFailure(
  error: unknown,
  connection: Connection,
  { endpoint, limits, http }: AttemptContext,
): ProviderFailure {
  if (connection.isStalled) return createStallFailure(endpoint, limits, connection);
  const { maxTries, ...failure } = toNetworkFailure(endpoint, error);
  // The address is right, since a server has answered in this run.
  if (maxTries !== undefined && !http.hasAnswered) return { ...failure, maxTries };
  return isRestedConnectionError(error) ? { ...failure, isRested: true } : failure;
}

async function* readAnswer(
  response: HttpResponse,
  connection: Connection,
  context: AttemptContext,
  signal: AbortSignal,
): Attempt {
  const { endpoint, newCallId } = context;
  const origin = toOrigin(endpoint);
  const decoder = createModelStreamDecoder(endpoint.protocol, { newCallId, origin, endsWhereBroken: true });
  const body = createPatientReader(response, connection, decoder);
  const tapChunk = context.tap && createChunkTap(context.tap, endpoint, origin);
  let hasYielded = false;
  let lost: ProviderFailure | undefined;
  let held: readonly ModelEvent[] = [];
  let progress = 0;
  try {
    for (let chunk = await body.read(); chunk; chunk = await body.read()) {
      const events = decoder.push(tapChunk ? tapChunk(chunk) : chunk);
      const before = progress;
      progress = countReported(decoder.report);
      if (events.length > 0 || progress > before) connection.noteProgress();
      // These events wait for the end of the turn: one group, stored in one step.
      if (response.body.isEnded) {
        connection.noteEnd();
        held = events;
        break;
      }
      if (events.length > 0) yield events;
      hasYielded ||= events.length > 0;
      if (decoder.report.errors.length > 0 || decoder.report.broken > 0) break;
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    lost = toLostFailure(error, connection, context);
  }
  if (signal.aborted) return undefined;
  const rest = [...held, ...decoder.end()];
  const failure = lost ?? toAnswerFailure(endpoint, decoder.report, rest.at(-1), context.ports.now());
  if (failure && !hasYielded && rest.length === 1) return failure;
  yield failure ? rest.map(toFailedEnd) : rest;
  return failure;
}

/** Counts a body's facts other than events, each once: pings, comments and empty deltas do not add any. */
function countReported({ payloads, refusal, serverItems, finish, ended }: ModelStreamReport): number {
  return [payloads > 0, finish !== null, ended !== null].filter(Boolean).length + refusal.length + serverItems.length;
}

/**
 * Creates a reader. An answer with its end marker, or with the reason of its end, is whole, even if its connection
 * breaks. Usage may follow the reason, so the server gets a moment for it only once it has sent some.
 */
function createPatientReader(
  { body }: HttpResponse,
  connection: Connection,
  { report }: ModelStreamDecoder,
): Pick<BodyReader, "read"> {
  return {
    async read() {
      if (report.ended !== null || (report.finish !== null && report.usage !== null)) connection.expectEnd();
      try {
        connection.setWaiting(true);
        const chunk = await body.read();
        if (!chunk) connection.noteEnd();
        return chunk;
      } catch (error) {
        if ((report.ended ?? report.finish) !== null && report.errors.length === 0) return undefined;
        throw error;
      } finally {
        connection.setWaiting(false);
      }
    },
  };
}

export function toFailedEnd(event: ModelEvent): ModelEvent {
  return event.type === "turn_end" ? { ...event, finishReason: "error" } : event;
}

/** Reads the first bytes of an error's body, as far as they arrived. */
async function readErrorBody({ body }: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    while (size < longestErrorBody) {
      const chunk = await body.read();
      if (!chunk) break;
      chunks.push(chunk);
      size += chunk.length;
    }
  } catch {
    // The status alone is enough.
  }
  return Buffer.concat(chunks).subarray(0, longestErrorBody).toString();
}

/** Returns the failure of a body that has ended; undefined for a whole answer. `end` is its last event. */
function toAnswerFailure(
  endpoint: ProviderEndpoint,
  report: ModelStreamReport,
  end: ModelEvent | undefined,
  now: number,
): ProviderFailure | undefined {
  const failure = end?.type === "turn_end" ? findAnswerFailure(report, end, now) : undefined;
  return failure && toStreamFailure(endpoint, failure);
}
