import type { ModelEvent, ToolCallArguments } from "@sheaf/protocol";
import { toDocumentType } from "../tool-names.ts";
import { createJsonEndFinder } from "./json-end-finder.ts";
import { parseToolArguments } from "./parse-tool-arguments.ts";
import { readString } from "./read-json.ts";

/** What a tool takes: a JSON object, or free text, which becomes `{"input": "…"}` (N30). */
export type ToolInput = "json" | "text";

/** Writes the events of one tool call. */
export interface ToolCallWriter {
  /** Takes the id and the name that a delta gives; of each the first one counts. */
  describe(providerCallId: unknown, toolName: unknown): void;
  /** Takes the next piece of the input. */
  append(delta: string): void;
  /**
   * The input is complete. `whole` = all of it, where the provider says it again; it wins over the pieces,
   * but not over pieces that parse when it does not. Later calls do nothing.
   */
  end(whole?: string): void;
  /** "" as long as there is none. */
  readonly providerCallId: string;
  /** "" as long as there is none. */
  readonly toolName: string;
  /** Some of the input has come. */
  readonly hasInput: boolean;
  /** The input is a JSON object that has been closed: nothing that could follow belongs to it. */
  readonly isComplete: boolean;
  /** The id that Sheaf gave, once the call has started (N29). */
  readonly callId: string | undefined;
}

export interface ToolCallWriterOptions {
  readonly input: ToolInput;
  readonly newCallId: () => string;
  readonly emit: (event: ModelEvent) => void;
}

/**
 * The call starts with its name, since the kind of its document hangs on it; input that comes earlier is held back.
 * A call that never gets a name starts at its end with "", so that nothing of it is lost; one of which nothing at all
 * is known is dropped.
 */
export function createToolCallWriter({ input, newCallId, emit }: ToolCallWriterOptions): ToolCallWriter {
  const endFinder = createJsonEndFinder();
  let callId: string | undefined;
  let providerCallId = "";
  let toolName = "";
  let text = "";
  let isComplete = false;
  let isEnded = false;

  function emitDelta(delta: string): void {
    if (callId !== undefined && delta !== "") emit({ type: "tool_call_arguments_delta", callId, delta });
  }

  function start(): void {
    callId = newCallId();
    const documentType = toDocumentType(toolName);
    emit({
      type: "tool_call_start",
      callId,
      toolName,
      documentType,
      ...(providerCallId === "" ? {} : { providerCallId }),
    });
    if (input === "text") emitDelta('{"input":"');
    emitDelta(toDelta(text));
  }

  /** Pieces of free text become pieces of a JSON string. */
  function toDelta(piece: string): string {
    return input === "json" ? piece : JSON.stringify(piece).slice(1, -1);
  }

  function append(delta: string): void {
    if (isEnded || delta === "") return;
    text += delta;
    if (input === "json" && endFinder.findEnd(delta) !== -1) isComplete = true;
    emitDelta(toDelta(delta));
  }

  function toArguments(id: string, whole: string): ToolCallArguments {
    const type = "tool_call_arguments";
    if (input === "text") return { type, callId: id, arguments: { input: whole === "" ? text : whole } };
    const said = parseToolArguments(whole === "" ? text : whole);
    const joined = parseToolArguments(text);
    const isJoinedBetter = said.rawArguments !== undefined && joined.rawArguments === undefined && text !== "";
    return { type, callId: id, ...(isJoinedBetter ? joined : said) };
  }

  return {
    describe(id, name) {
      providerCallId ||= readString(id);
      toolName ||= readString(name);
      if (callId === undefined && toolName !== "" && !isEnded) start();
    },
    append,
    end(whole = "") {
      if (isEnded) return;
      if (text === "") append(whole);
      isEnded = true;
      if (callId === undefined && providerCallId === "" && text === "") return;
      if (callId === undefined) start();
      if (callId === undefined) return;
      if (input === "text") emitDelta('"}');
      emit(toArguments(callId, whole));
    },
    get providerCallId() {
      return providerCallId;
    },
    get toolName() {
      return toolName;
    },
    get hasInput() {
      return text !== "";
    },
    get isComplete() {
      return isComplete;
    },
    get callId() {
      return callId;
    },
  };
}
