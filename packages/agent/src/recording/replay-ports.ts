/** Ports of a run that give what a cassette holds, and compare what the run asks for (X11). */
import type { ModelEvent } from "@sheaf/protocol";
import type { Model, ModelRequest } from "../providers/provider.ts";
import type { AnswerCheck } from "../run/final-answer.ts";
import type { Quote, QuoteCheck } from "../run/reference-checker.ts";
import { toCancelledOutcome } from "../tools/failure.ts";
import type { ToolAccess, ToolBox, ToolContext, ToolInvocation, ToolOutcome } from "../tools/tool.ts";
import { fromRecordedError, type CassetteHeader, type GivenRecord } from "./cassette.ts";
import { toDigest } from "./digest.ts";
import { formatCall, shortenValue } from "./format-record.ts";
import type { Tape } from "./tape.ts";

/** A port and the end of the tape that feeds it. */
interface ReplayPort<Port, Given extends GivenRecord["type"]> {
  readonly port: Port;
  /** False: nobody waits for it yet. */
  receive(record: Extract<GivenRecord, { type: Given }>): boolean;
  /** Lets go of everybody who waits. */
  release(): void;
}

type ModelStep = IteratorResult<readonly ModelEvent[], undefined>;
const modelEnd: ModelStep = { done: true, value: undefined };

/** The model: its groups, errors and ends. */
export function createReplayModel(
  { start }: CassetteHeader,
  tape: Tape,
): ReplayPort<Model, "model_events" | "model_end" | "model_error"> {
  let waiting: PromiseWithResolvers<ModelStep> | undefined;
  let known = 0;

  const next = (): Promise<ModelStep> => {
    if (tape.failure) return Promise.resolve(modelEnd);
    waiting = Promise.withResolvers();
    const { promise } = waiting;
    if (tape.isNext(["model_events", "model_end", "model_error"])) tape.pump();
    else if (tape.isNext(["abort"])) tape.schedule();
    else tape.failAtNext("the run waits for the model");
    return promise;
  };

  const port: Model = {
    id: start.model,
    name: start.modelName,
    apiKeySource: start.apiKeySource,
    stream(request) {
      const record = tape.takeAsked("model_request", () => "the run asks the model");
      const difference = record && findDifference(record.system, record.messages, request, known);
      known = request.messages.length;
      if (difference !== undefined) tape.failAtLast(difference);
      return { [Symbol.asyncIterator]: () => ({ next, return: async () => modelEnd }) };
    },
  };
  return {
    port,
    receive(record) {
      if (!waiting) return false;
      const { resolve, reject } = waiting;
      waiting = undefined;
      if (record.type === "model_events") resolve({ done: false, value: record.events });
      else if (record.type === "model_end") resolve(modelEnd);
      else reject(fromRecordedError(record.error));
      return true;
    },
    release: () => waiting?.resolve(modelEnd),
  };
}

/** What is different in a request; undefined: nothing, as far as the record tells. */
function findDifference(
  system: string | undefined,
  digests: readonly string[] | undefined,
  request: ModelRequest,
  known: number,
): string | undefined {
  if (system !== undefined && system !== toDigest(request.system)) {
    return `the run asks with another system prompt: ${shortenValue(request.system)}`;
  }
  if (!digests) return undefined;
  const added = request.messages.slice(known);
  const place = added.findIndex((message, index) => digests[index] !== toDigest(message));
  if (place !== -1) {
    const message = added[place]!;
    return `the run asks with another message ${known + place + 1} (${message.role}): ${shortenValue(JSON.stringify(message))}`;
  }
  if (added.length < digests.length) return `the run asks with ${added.length} new messages, not ${digests.length}`;
  return undefined;
}

type ToolGiven = "tool_output" | "tool_outcome" | "tool_error";

/** The tools: their live output and outcomes. Nothing runs. */
export function createReplayTools(tape: Tape): ReplayPort<ToolBox, ToolGiven> {
  const access = new Map<string, ToolAccess>();
  const open = new Map<string, PromiseWithResolvers<ToolOutcome> & Pick<ToolContext, "emitOutput">>();
  const ended = new Set<string>();

  const port: ToolBox = {
    definitions: [],
    accessOf(toolName) {
      const known = access.get(toolName);
      if (known) return known;
      const came = `the run asks what ${toolName} does`;
      const record = tape.takeAsked("tool_access", () => came);
      if (record && record.toolName !== toolName) tape.failAtLast(came);
      if (record) access.set(toolName, record.access);
      return record?.access ?? "read";
    },
    async execute(call, { emitOutput }) {
      const came = (): string => `the run makes ${formatCall(call)}`;
      const record = tape.takeAsked("tool_call", came);
      if (record && !isSameCall(record, call)) tape.failAtLast(came());
      if (tape.failure) return toCancelledOutcome();
      const waiting = Promise.withResolvers<ToolOutcome>();
      open.set(call.callId, { ...waiting, emitOutput });
      return waiting.promise;
    },
    async settle() {
      // Nothing runs.
    },
  };
  return {
    port,
    receive(record) {
      const call = open.get(record.callId);
      // What a tool says behind its outcome nobody hears.
      if (!call) return ended.has(record.callId);
      if (record.type === "tool_output") {
        call.emitOutput(record.stream, record.delta);
        return true;
      }
      open.delete(record.callId);
      ended.add(record.callId);
      if (record.type === "tool_outcome") call.resolve(record.outcome);
      else call.reject(new Error(record.message));
      return true;
    },
    release() {
      for (const { resolve } of open.values()) resolve(toCancelledOutcome());
    },
  };
}

function isSameCall(recorded: ToolInvocation, call: ToolInvocation): boolean {
  const toText = ({ callId, toolName, arguments: args, rawArguments }: ToolInvocation): string =>
    JSON.stringify([callId, toolName, args, rawArguments]);
  return toText(recorded) === toText(call);
}

/** Whether quoted lines stood in their file. */
export function createReplayQuotes({ redacted }: CassetteHeader, tape: Tape): ReplayPort<QuoteCheck, "quote_check"> {
  let waiting: { readonly quote: Quote; readonly resolve: (verified: boolean) => void } | undefined;
  const formatQuote = ({ filePath, startLine, endLine }: Omit<Quote, "content">): string =>
    `${redacted ? "" : filePath}:${startLine}-${endLine}`;

  return {
    async port(quote) {
      if (tape.failure) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting = { quote, resolve };
      if (tape.isNext(["quote_check", "abort"])) tape.schedule();
      else tape.failAtNext(`the run looks at ${formatQuote(quote)}`);
      return promise;
    },
    receive(record) {
      if (!waiting) return false;
      const { quote, resolve } = waiting;
      if (formatQuote(quote) !== formatQuote(record)) {
        tape.failAtNext(`the run looks at ${formatQuote(quote)}`);
        return false;
      }
      waiting = undefined;
      resolve(record.verified);
      return true;
    },
    release: () => waiting?.resolve(false),
  };
}

/** What the schema said of an answer. */
export function createReplayAnswers({ checksAnswer }: CassetteHeader, tape: Tape): AnswerCheck | undefined {
  if (!checksAnswer) return undefined;
  return () => {
    const record = tape.takeAsked("answer_check", () => "the run checks the answer");
    return record?.checked ?? { ok: false, problem: "the replay ended" };
  };
}
