/** One try of a request: sent, then read with our own decoder. */
import { createModelStreamDecoder, type ModelStreamDecoder } from "@sheaf/documents";
import type { ModelEvent } from "@sheaf/protocol";
import type { ProviderEndpoint, RequestLimits } from "../endpoint.ts";
import { toAnswerFailure } from "./answer-failure.ts";
import { createConnection, type Connection } from "./connection.ts";
import { toHttpFailure, toNetworkFailure, toWrongTypeFailure } from "./http-error.ts";
import type { LivePorts } from "./live-ports.ts";
import { createProviderError, type ProviderFailure } from "./provider-failure.ts";
import { createReasoningReader, type ReasoningReader } from "./reasoning-reader.ts";
import type { TurnMemory } from "./turn-memory.ts";
import type { WireRequest } from "./wire-request.ts";

export interface AttemptContext {
  readonly endpoint: ProviderEndpoint;
  readonly limits: RequestLimits;
  readonly ports: LivePorts;
  readonly memory: TurnMemory;
  readonly newCallId: () => string;
}

/** Groups of events as they came; undefined at the end: the answer is whole, or the run was aborted. */
export type Attempt = AsyncGenerator<readonly ModelEvent[], ProviderFailure | undefined>;

/** Of an error's body, in bytes. */
const longestErrorBody = 65_536;
const blank = 0x20;
/** What begins with it, is neither an event stream nor JSON. */
const lessThan = 0x3c;

/**
 * Sends the request once. A failure before the first group yields nothing, so the request may be sent again;
 * one behind it comes with a last group that ends the turn with the usage that is known.
 */
export async function* runAttempt(request: WireRequest, context: AttemptContext, signal: AbortSignal): Attempt {
  const { endpoint, limits, ports } = context;
  const connection = createConnection(signal, limits.silenceMs, ports);
  try {
    const response = await sendRequest(request, connection.signal);
    if (!response.ok) {
      const { status, headers } = response;
      const body = await readErrorBody(response);
      return signal.aborted ? undefined : toHttpFailure(endpoint, { status, headers, body }, ports.now());
    }
    const type = response.headers.get("content-type") ?? "";
    if (/html/i.test(type)) return toWrongTypeFailure(endpoint, type);
    return yield* readAnswer(response, connection, context, signal);
  } catch (error) {
    return signal.aborted ? undefined : toLostFailure(error, connection, context);
  } finally {
    connection.close();
  }
}

function sendRequest({ url, headers, body }: WireRequest, signal: AbortSignal): Promise<Response> {
  return fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
}

/** Silence, or a lost connection. Undici's own limits (300 s) are silence too. */
function toLostFailure(
  error: unknown,
  { isStalled }: Connection,
  { endpoint, limits }: AttemptContext,
): ProviderFailure {
  const failure = toNetworkFailure(endpoint, error);
  if (!isStalled && !/UND_ERR_(HEADERS|BODY)_TIMEOUT/.test(failure.error.message)) return failure;
  const reason = `no byte for ${Math.round(limits.silenceMs / 100) / 10} s`;
  return { error: createProviderError(endpoint, { code: "STREAM_STALLED", reason }), isRetryable: false };
}

async function* readAnswer(
  response: Response,
  connection: Connection,
  context: AttemptContext,
  signal: AbortSignal,
): Attempt {
  const { endpoint, newCallId } = context;
  const decoder = createModelStreamDecoder(endpoint.protocol, { newCallId });
  const reasoning = createReasoningReader(endpoint.protocol);
  const body = createBodyReader(response, connection, decoder);
  let firstCallId: string | undefined;
  let hasYielded = false;
  let first: number | undefined;
  let lost: ProviderFailure | undefined;
  try {
    for (let chunk = await body.read(); chunk; chunk = await body.read()) {
      first ??= chunk.find((byte) => byte > blank);
      if (first === lessThan) return toWrongTypeFailure(endpoint, "a web page");
      reasoning?.push(chunk);
      const events = decoder.push(chunk);
      firstCallId ??= findFirstCall(events);
      if (events.length > 0) yield events;
      hasYielded ||= events.length > 0;
      if (decoder.report.errors.length > 0) break;
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    lost = toLostFailure(error, connection, context);
  }
  if (signal.aborted) return undefined;
  const rest = decoder.end();
  const failure = lost ?? toAnswerFailure(endpoint, decoder.report, rest, context.ports.now());
  if (failure && !hasYielded && rest.length === 1) return failure;
  firstCallId ??= findFirstCall(rest);
  if (firstCallId !== undefined) keepTurn(firstCallId, decoder, reasoning?.parts ?? [], context);
  yield failure ? rest.map(toFailedEnd) : rest;
  return failure;
}

interface BodyReader {
  /** What one read of the socket brought; undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
}

/** An answer that has shown its end is whole, whatever becomes of its connection. */
function createBodyReader({ body }: Response, connection: Connection, { report }: ModelStreamDecoder): BodyReader {
  const reader = body?.getReader();
  return {
    async read() {
      if (report.ended !== null) connection.expectEnd();
      try {
        connection.setWaiting(true);
        const step = await reader?.read();
        return step?.value;
      } catch (error) {
        if (report.ended !== null && report.errors.length === 0) return undefined;
        throw error;
      } finally {
        connection.setWaiting(false);
      }
    },
  };
}

function findFirstCall(events: readonly ModelEvent[]): string | undefined {
  return events.find((event) => event.type === "tool_call_arguments")?.callId;
}

function toFailedEnd(event: ModelEvent): ModelEvent {
  return event.type === "turn_end" ? { ...event, finishReason: "error" } : event;
}

function keepTurn(
  firstCallId: string,
  { report }: ModelStreamDecoder,
  reasoning: ReasoningReader["parts"],
  { memory }: AttemptContext,
): void {
  const signatures = new Map(
    report.signatures.flatMap(({ callId, value }) => (callId === undefined ? [] : [[callId, value]])),
  );
  if (reasoning.length > 0 || signatures.size > 0) memory.keep(firstCallId, { reasoning, signatures });
}

/** The first bytes of an error's body; what came before the connection broke. */
async function readErrorBody({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    while (size < longestErrorBody) {
      const step = await reader?.read();
      if (!step?.value) break;
      chunks.push(step.value);
      size += step.value.length;
    }
  } catch {
    // The status says enough.
  }
  void reader?.cancel().catch(() => undefined);
  return Buffer.concat(chunks).subarray(0, longestErrorBody).toString();
}
