/** A model that plays a file: for tests, demonstrations and the development of clients. */
import { basename } from "node:path";
import { toDocumentType } from "@sheaf/documents";
import { parseToolArguments } from "@sheaf/documents/model-streams";
import type { ModelEvent, TurnFinishReason, Usage } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { readNamedFile } from "@sheaf/base/read-named-file";
import { estimateUsage } from "./estimated-usage.ts";
import type { Model, ModelRequest } from "./provider.ts";
import {
  parseScript,
  parseScriptText,
  type Script,
  type ScriptedCall,
  type ScriptedEvent,
  type ScriptedTurn,
} from "./scripted-format.ts";

type Group = readonly ModelEvent[];
type TextEvent = Extract<ScriptedEvent, { text: unknown } | { reasoning: unknown }>;

/**
 * Creates a model from a script file, which it reads once.
 * @throws SheafError CONFIG_INVALID with the file, the place in it and the expected value.
 */
export async function createScriptedModel(file: string, signal?: AbortSignal): Promise<Model> {
  let text: string;
  try {
    text = await readNamedFile(file, signal);
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const reason = (error as Error).message;
    const message = `the scripted model ${file} cannot be read: ${reason}; check the path after scripted:`;
    throw new SheafError("CONFIG_INVALID", message, { cause: error });
  }
  return toModel(parseScriptText(text, file), file);
}

/** Creates a model from a script, checked like a file. `name` is for errors. @throws SheafError CONFIG_INVALID */
export function createScriptedModelFrom(script: unknown, name: string): Model {
  return toModel(parseScript(script, name), name);
}

function toModel(script: Script, origin: string): Model {
  const label = basename(origin).replace(/\.json$/, "");
  const source: ScriptSource = { script, origin: basename(origin) };
  return {
    id: script.model ?? `scripted:${label}`,
    name: script.name ?? `Scripted ${label}`,
    apiKeySource: "none",
    stream: (request, signal) => streamTurn(source, request, signal),
  };
}

interface ScriptSource {
  readonly script: Script;
  /** Name of the file, for messages: clients of a server do not learn its place (S-136). */
  readonly origin: string;
}

/** Finds the turn by the number of answers in the history, so that a resumed conversation continues. */
function findTurn({ script, origin }: ScriptSource, request: ModelRequest): ScriptedTurn {
  const turns = script.agents?.[request.agent ?? ""] ?? script.turns;
  const index = request.messages.filter(({ role }) => role === "assistant").length;
  const last = turns.length - 1;
  const place =
    script.after === "loop" ? index % turns.length : script.after === "repeat_last" ? Math.min(index, last) : index;
  const turn = turns[place];
  if (turn) return turn;
  throw new SheafError(
    "CONFIG_INVALID",
    `the scripted model ${origin} has ${turns.length} ${turns.length === 1 ? "turn" : "turns"}, but the run asks for turn ${index + 1}: ` +
      `add turns, or set "after" to "repeat_last" or "loop"`,
  );
}

async function* streamTurn(source: ScriptSource, request: ModelRequest, signal: AbortSignal): AsyncGenerator<Group> {
  if (signal.aborted) return;
  const turn = findTurn(source, request);
  const written: Written = { bytes: 0, calls: 0 };
  for (const event of turn.events) {
    if ("end" in event) return;
    if ("error" in event) throw toScriptedError(event.error);
    if ("stall" in event) await runPause(undefined, signal);
    else if ("wait_ms" in event) await runPause(event.wait_ms, signal);
    else {
      for (const group of toGroups(event, request, written)) {
        yield group;
        if (signal.aborted) return;
      }
    }
    if (signal.aborted) return;
  }
  const finishReason: TurnFinishReason = turn.finish ?? (written.calls > 0 ? "tool_calls" : "stop");
  const usage = turn.usage ? toUsage(turn.usage) : estimateUsage(request, written.bytes);
  yield [{ type: "turn_end", finishReason, rawFinishReason: turn.finish ?? "", usage, modelMs: 0 }];
}

/** The size of the turn so far, for its usage. */
interface Written {
  bytes: number;
  calls: number;
}

function toGroups(
  event: Extract<ScriptedEvent, { text: unknown } | { reasoning: unknown } | { call: unknown } | { calls: unknown }>,
  request: ModelRequest,
  written: Written,
): Iterable<Group> {
  if ("call" in event) return toCallGroups([event.call], request, written);
  if ("calls" in event) return toCallGroups(event.calls, request, written);
  return toTextGroups(event, written);
}

/** Yields groups of deltas. Repeated groups are the same objects, so that long streams are cheap. */
function* toTextGroups(event: TextEvent, written: Written): Generator<Group> {
  const type = "text" in event ? "text_delta" : "reasoning_delta";
  const content = "text" in event ? event.text : event.reasoning;
  const texts = typeof content === "string" ? [content] : content;
  const deltas = texts.flatMap((text) => splitText(text, event.chunk));
  const repeat = event.repeat ?? 1;
  written.bytes += repeat * texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const size = event.group ?? (typeof content === "string" ? 1 : deltas.length);
  const [first] = deltas;
  if (deltas.length === 1 && first !== undefined) yield* repeatDelta({ type, text: first }, size, repeat);
  else if (repeat === 1) yield* groupDeltas(type, deltas, size);
  else {
    const groups = [...groupDeltas(type, deltas, size)];
    for (let round = 0; round < repeat; round += 1) yield* groups;
  }
}

function* groupDeltas(
  type: "text_delta" | "reasoning_delta",
  deltas: readonly string[],
  size: number,
): Generator<Group> {
  for (let at = 0; at < deltas.length; at += size) {
    yield size === 1
      ? [{ type, text: deltas[at] ?? "" }]
      : deltas.slice(at, at + size).map((text): ModelEvent => ({ type, text }));
  }
}

/** Yields one delta repeatedly, in full groups. */
function* repeatDelta(delta: ModelEvent, size: number, repeat: number): Generator<Group> {
  const full = Array.from({ length: Math.min(size, repeat) }, () => delta);
  for (let done = size; done <= repeat; done += size) yield full;
  const rest = repeat % size;
  if (rest > 0) yield full.slice(0, rest);
}

/** Splits a text into pieces of `chunk` UTF-16 units; a surrogate pair stays whole. */
export function splitText(text: string, chunk: number | undefined): string[] {
  if (chunk === undefined || text.length <= chunk) return [text];
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + chunk, text.length);
    if (end < text.length && isInsidePair(text, end)) end -= end - at > 1 ? 1 : -1;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

function isInsidePair(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

/** Yields several calls like a provider with parallel calls: their pieces alternate. */
function* toCallGroups(calls: readonly ScriptedCall[], request: ModelRequest, written: Written): Generator<Group> {
  const open = calls.map((call) => {
    const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
    written.bytes += Buffer.byteLength(text) + Buffer.byteLength(call.tool);
    written.calls += 1;
    return { call, text, pieces: splitText(text, call.chunk), callId: request.newCallId() };
  });
  yield open.map(({ call, callId }): ModelEvent => ({
    type: "tool_call_start",
    callId,
    toolName: call.tool,
    documentType: toDocumentType(call.tool),
    ...(call.id !== undefined && { providerCallId: call.id }),
  }));
  const rounds = Math.max(...open.map(({ pieces }) => pieces.length));
  for (let round = 0; round < rounds; round += 1) {
    for (const { pieces, callId } of open) {
      const delta = pieces[round];
      if (delta !== undefined && delta !== "") yield [{ type: "tool_call_arguments_delta", callId, delta }];
    }
  }
  yield open.map(({ text, callId }) => ({ type: "tool_call_arguments", callId, ...parseToolArguments(text) }));
}

function toUsage(usage: NonNullable<ScriptedTurn["usage"]>): Usage {
  const { promptTokens, completionTokens, reasoningTokens, cachedPromptTokens, cacheWriteTokens } = usage;
  return {
    promptTokens,
    completionTokens,
    totalTokens: usage.totalTokens ?? promptTokens + completionTokens,
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(cachedPromptTokens !== undefined && { cachedPromptTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
}

/** Waits for a time, or for ever without one. An abort ends the wait at once. */
async function runPause(milliseconds: number | undefined, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  signal.addEventListener("abort", end, { once: true });
  // A stall keeps the process alive, as an open socket would.
  const timer = milliseconds === undefined ? setInterval(() => undefined, 60_000) : setTimeout(end, milliseconds);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

function toScriptedError(error: Extract<ScriptedEvent, { error: unknown }>["error"]): SheafError {
  return new SheafError(error.code, error.message, {
    source: "provider",
    ...(error.details !== undefined && { details: error.details }),
    ...(error.resets_at !== undefined && { resetsAt: error.resets_at }),
  });
}
