/** One model request: from the request to its end. */
import {
  type TextParser,
  type TextSegmentCodeReference,
  createTextParser,
  createWholeCharacters,
} from "@sheaf/documents/text";
import { createTextCallReader } from "@sheaf/documents/model-streams";
import type { ModelEvent, ProviderWait, RunEventBody, TurnEnd } from "@sheaf/protocol";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import { createGrowingText } from "@sheaf/base/growing-text";
import type { Model, ModelRequest } from "@sheaf/models/provider";
import type { EventGroup } from "./run-log.ts";
import { fixCallArguments, fixToolName } from "../tools/registry.ts";
import type { ToolInvocation } from "../tools/tool.ts";

/**
 * Longest answer of one turn: its text, reasoning and arguments together. No model writes a tenth of it; a server that
 * never stops writing must not exhaust the memory. UTF-16 units.
 */
const MAX_ANSWER = 16 * 1024 * 1024;

/** The state of a turn; complete when `runModelTurn` has returned. */
export interface TurnState {
  /** Calls whose arguments are complete, in order. */
  readonly calls: ToolInvocation[];
  /** Tool names of the calls that the model started and did not complete, by call id. */
  readonly openCalls: Map<string, string>;
  /** Calls that the provider runs itself (N69). */
  readonly foreignCalls: Set<string>;
  /** Tools of calls that the model wrote as text, and that must not run (N127). */
  heldBack: readonly string[];
  /** Text of this turn so far. */
  readonly text: string;
  readonly addText: (piece: string) => void;
  end: TurnEnd | undefined;
  /** A part of the answer has arrived. */
  hasBegun: boolean;
  /** The wait for another try, unless something followed it. */
  wait: ProviderWait | undefined;
  /** The reason why the turn failed; undefined if it ended normally. */
  error: SheafError | undefined;
}

export function createTurnState(): TurnState {
  const words = createGrowingText();
  return {
    calls: [],
    openCalls: new Map(),
    foreignCalls: new Set(),
    heldBack: [],
    get text() {
      return words.text;
    },
    addText: (piece) => words.push(piece),
    end: undefined,
    hasBegun: false,
    wait: undefined,
    error: undefined,
  };
}

export interface ModelTurnPorts {
  readonly model: Model;
  /** Milliseconds since 1970; never falling. */
  readonly now: () => number;
  /** True if quoted lines are in their file (N22). */
  readonly findQuote: QuoteFinder;
  /** The tools whose calls may be text (N127). Default: the tools of the request. */
  readonly toolNames?: readonly string[] | undefined;
}

/** Calls the model once, yields its groups as they come, and records them in `state`. A failure is in `state.error`. */
export async function* runModelTurn(
  request: ModelRequest,
  state: TurnState,
  { model, now, findQuote, toolNames }: ModelTurnPorts,
  signal: AbortSignal,
): AsyncGenerator<EventGroup> {
  let modelMs = 0;
  let length = 0;
  const references = createReferenceChecker(findQuote);
  const characters = createWholeCharacters<ModelEvent>();
  const offered = toolNames ?? request.tools.map(({ name }) => name);
  const textCalls = createTextCallReader({
    toolNames: offered,
    newCallId: request.newCallId,
    mayRun: (text) => !hasNativeCall(request.messages) && !isQuoted(request.messages, text),
  });
  const iterator = model.stream(request, signal)[Symbol.asyncIterator]();
  const reader = createInterruptibleReader(iterator, signal);
  try {
    while (!signal.aborted) {
      const askedAt = now();
      const step = await reader.read();
      modelMs += now() - askedAt;
      if (!step || step.done) break;
      const whole = step.value
        .flatMap((event) => characters.push(event))
        .flatMap((event) => textCalls.push(event))
        .map((event) => withMeantTool(event, offered));
      if (whole.length === 0) continue;
      const noted = whole.map((event) => noteModelEvent(event, state, modelMs));
      const events = (await references.check(noted)) ?? noted;
      yield { events, durability: state.end ? "synced" : "grouped" };
      length += step.value.reduce((sum, event) => sum + toLength(event), 0);
      if (length > MAX_ANSWER && !state.end) {
        state.error = createEndlessError(model);
        break;
      }
    }
    state.heldBack = textCalls.heldBack;
    const rest = textCalls.flush().map((event) => noteModelEvent(event, state, modelMs));
    if (rest.length > 0) yield { events: rest, durability: "grouped" };
    if (!state.end && !state.error && !signal.aborted) state.error = createTruncatedError(model);
  } catch (error) {
    if (!signal.aborted) state.error = toSheafError(error);
  } finally {
    reader.close();
    // Not awaited: a model that hangs in its clean-up must not hang the run.
    void iterator.return?.()?.catch(() => undefined);
  }
}

/** A model that calls tools in its protocol may show a call in its text, and mean no call. */
function hasNativeCall(messages: ModelRequest["messages"]): boolean {
  return messages.some(
    (message) =>
      message.role === "assistant" && message.content.some((part) => part.type === "tool_call" && !part.isText),
  );
}

/** True if the model has read the text in a message or a result. */
function isQuoted(messages: ModelRequest["messages"], text: string): boolean {
  return messages.some((message) => {
    if (message.role === "assistant") return false;
    return (message.role === "tool" ? message.output : message.text).includes(text);
  });
}

/**
 * Reads an iterator until the abort; then returns undefined.
 * One listener for the whole stream: a race of promises would keep a reaction for every delta.
 */
function createInterruptibleReader<Item>(
  iterator: AsyncIterator<Item>,
  signal: AbortSignal,
): { readonly read: () => Promise<IteratorResult<Item> | undefined>; readonly close: () => void } {
  let interrupt: (() => void) | undefined;
  const onAbort = (): void => interrupt?.();
  signal.addEventListener("abort", onAbort);
  return {
    read: () =>
      new Promise((resolve, reject) => {
        interrupt = () => resolve(undefined);
        iterator.next().then(resolve, reject);
      }),
    close: () => signal.removeEventListener("abort", onAbort),
  };
}

/** Tools that the provider runs keep their names. */
function withMeantTool(event: ModelEvent, offered: readonly string[]): ModelEvent {
  if (event.type !== "tool_call_start" || event.origin === "provider") return event;
  return { ...event, toolName: fixToolName(event.toolName, offered) };
}

function noteModelEvent(event: ModelEvent, state: TurnState, modelMs: number): ModelEvent {
  state.wait = event.type === "provider_wait" ? event : undefined;
  state.hasBegun ||= event.type !== "provider_wait" && event.type !== "turn_end";
  switch (event.type) {
    case "text_delta":
      state.addText(event.text);
      return event;
    case "tool_call_start":
      state.openCalls.set(event.callId, event.toolName);
      if (event.origin === "provider") state.foreignCalls.add(event.callId);
      return event;
    case "tool_result":
      state.openCalls.delete(event.callId);
      return event;
    case "tool_call_arguments": {
      if (state.foreignCalls.has(event.callId)) return event;
      const { callId, rawArguments, mended } = event;
      const toolName = state.openCalls.get(callId) ?? "";
      state.openCalls.delete(callId);
      // Before anything judges, shows or runs the call.
      const args = rawArguments === undefined ? fixCallArguments(toolName, event.arguments) : event.arguments;
      const raw = rawArguments === undefined ? {} : { rawArguments };
      state.calls.push({ callId, toolName, arguments: args, ...raw, ...(mended && { mended }) });
      return { ...event, arguments: args };
    }
    case "turn_end":
      state.end = { ...event, modelMs };
      // The token limit cut the answer before the arguments of its last call.
      if (event.finishReason === "max_tokens") state.calls.push(...state.calls.splice(-1).map(withoutArguments));
      return state.end;
    case "reasoning_delta":
    case "provider_data":
    case "provider_wait":
    case "tool_call_arguments_delta":
      return event;
  }
}

function withoutArguments(call: ToolInvocation): ToolInvocation {
  return Object.keys(call.arguments).length > 0 ? call : { rawArguments: "", ...call };
}

function toLength(event: ModelEvent): number {
  if (event.type === "text_delta" || event.type === "reasoning_delta") return event.text.length;
  return event.type === "tool_call_arguments_delta" ? event.delta.length : 0;
}

function createEndlessError(model: Model): SheafError {
  const message = `the answer of ${model.id} is longer than ${MAX_ANSWER} characters, so Sheaf ended it there: ask for less, or use another model`;
  return new SheafError("MAX_TOKENS", message, { source: "provider" });
}

function createTruncatedError(model: Model): SheafError {
  return new SheafError("STREAM_TRUNCATED", `the answer of ${model.id} broke off without its end marker: try again`, {
    source: "provider",
  });
}

export interface Quote extends Omit<TextSegmentCodeReference, "type" | "language"> {
  readonly content: string;
}

/** Finds the lines of a quote, there or elsewhere; undefined if none or several match (N22, N61). Never throws. */
export type QuoteFinder = (quote: Quote) => Promise<Pick<Quote, "startLine" | "endLine"> | undefined>;

/** Adds `reference_check` events before the events that close a reference. One per turn (N27). */
export interface ReferenceChecker {
  /** Undefined if these events close no reference; they are then passed on unchanged. */
  check(events: readonly ModelEvent[]): Promise<readonly RunEventBody[]> | undefined;
}

export function createReferenceChecker(findQuote: QuoteFinder): ReferenceChecker {
  let parser: TextParser = createTextParser();
  let open: TextSegmentCodeReference | undefined;
  let content = createGrowingText();
  let index = 0;

  /** The references that an event closes. */
  const takeQuotes = (event: ModelEvent): Quote[] => {
    const quotes: Quote[] = [];
    for (const part of readParts(event)) {
      if (part.type === "segment_start") {
        open = part.segment.type === "code_reference" ? part.segment : undefined;
        content = createGrowingText();
      } else if (part.type === "segment_delta") {
        if (open) content.push(part.delta);
      } else if (open) {
        quotes.push({
          filePath: open.filePath,
          startLine: open.startLine,
          endLine: open.endLine,
          content: content.text,
        });
        open = undefined;
      }
    }
    return quotes;
  };

  const readParts = (event: ModelEvent): ReturnType<TextParser["push"]> => {
    if (event.type === "text_delta") return parser.push(event.text);
    if (event.type !== "tool_call_start" && event.type !== "turn_end") return [];
    const parts = parser.end();
    parser = createTextParser();
    return parts;
  };

  return {
    check(events) {
      const quotes = events.map(takeQuotes);
      if (quotes.every((list) => list.length === 0)) return undefined;
      return addChecks(events, quotes);
    },
  };

  async function addChecks(events: readonly ModelEvent[], quotes: readonly Quote[][]): Promise<RunEventBody[]> {
    const result: RunEventBody[] = [];
    for (const [place, event] of events.entries()) {
      for (const quote of quotes[place]!) {
        const found = await findQuote(quote);
        const isCorrected = found && (found.startLine !== quote.startLine || found.endLine !== quote.endLine);
        const quoted = `${quote.startLine}:${quote.endLine}:${quote.filePath}`;
        const correction = isCorrected ? { correction: { quoted, ...found } } : {};
        result.push({ type: "reference_check", index, verified: found !== undefined, ...correction });
        index += 1;
      }
      result.push(event);
    }
    return result;
  }
}
