import type { ModelEvent, ToolCallArguments } from "@sheaf/protocol";
import { toDocumentType } from "../tool-names.ts";
import { createJsonEndFinder } from "./json-end-finder.ts";
import { readJsonObject } from "../read-literal.ts";
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
  /** "" until it is known. */
  readonly providerCallId: string;
  /** "" until it is known. */
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
  /** `provider`: it runs the call itself. */
  readonly origin?: "provider";
  readonly newCallId: () => string;
  readonly emit: (event: ModelEvent) => void;
}

/**
 * The call starts with its name, which decides the type of its document; earlier input is held back.
 * A call that never gets a name starts at its end with "", so that nothing is lost; one without name, id and input is
 * dropped.
 */
export function createToolCallWriter(options: ToolCallWriterOptions): ToolCallWriter {
  return new EventWriter(options);
}

class EventWriter implements ToolCallWriter {
  callId: string | undefined;
  providerCallId = "";
  toolName = "";
  isComplete = false;
  readonly #options: ToolCallWriterOptions;
  readonly #endFinder = createJsonEndFinder();
  /** All input so far, as sent by the provider. */
  #text = "";
  #isEnded = false;

  constructor(options: ToolCallWriterOptions) {
    this.#options = options;
  }

  get hasInput(): boolean {
    return this.#text !== "";
  }

  describe(providerCallId: unknown, toolName: unknown): void {
    this.providerCallId ||= readString(providerCallId);
    this.toolName ||= readString(toolName);
    if (this.callId === undefined && this.toolName !== "" && !this.#isEnded) this.#start();
  }

  append(delta: string): void {
    if (this.#isEnded || delta === "") return;
    this.#text += delta;
    if (this.#options.input === "json" && this.#endFinder.findEnd(delta) !== -1) this.isComplete = true;
    this.#emitDelta(this.#toDelta(delta));
  }

  end(whole = ""): void {
    if (this.#isEnded) return;
    if (!this.hasInput) this.append(whole);
    this.#isEnded = true;
    const isUnknown = this.providerCallId === "" && !this.hasInput;
    if (this.callId === undefined && isUnknown) return;
    const callId = this.callId ?? this.#start();
    if (this.#options.input === "text") this.#emitDelta('"}');
    this.#options.emit({ type: "tool_call_arguments", callId, ...this.#toArguments(whole) });
  }

  #start(): string {
    const callId = this.#options.newCallId();
    const { toolName, providerCallId } = this;
    this.callId = callId;
    this.#options.emit({
      type: "tool_call_start",
      callId,
      toolName,
      // A name of the provider may be one of ours, and means another tool.
      documentType: this.#options.origin ? "tool_call" : toDocumentType(toolName),
      ...(providerCallId === "" ? {} : { providerCallId }),
      ...(this.#options.origin && { origin: this.#options.origin }),
    });
    if (this.#options.input === "text") this.#emitDelta('{"input":"');
    this.#emitDelta(this.#toDelta(this.#text));
    return callId;
  }

  #emitDelta(delta: string): void {
    const { callId } = this;
    if (callId !== undefined && delta !== "") this.#options.emit({ type: "tool_call_arguments_delta", callId, delta });
  }

  /** Pieces of free text become pieces of a JSON string. */
  #toDelta(piece: string): string {
    return this.#options.input === "json" ? piece : JSON.stringify(piece).slice(1, -1);
  }

  #toArguments(whole: string): ParsedToolArguments {
    const said = whole === "" ? this.#text : whole;
    if (this.#options.input === "text") return { arguments: { input: said } };
    const parsed = parseToolArguments(said);
    if (parsed.rawArguments === undefined || said === this.#text) return parsed;
    const joined = parseToolArguments(this.#text);
    return joined.rawArguments === undefined && this.hasInput ? joined : parsed;
  }
}

/** Arguments of a tool call, the last fields of its event (N30). */
type ParsedToolArguments = Pick<ToolCallArguments, "arguments" | "rawArguments" | "mended">;

/**
 * Parses the JSON text of a call's arguments (N30).
 * Blank text and `null` mean no arguments: providers send them for tools without parameters.
 */
export function parseToolArguments(text: string): ParsedToolArguments {
  if (/^\s*(?:null\s*)?$/.test(text)) return { arguments: {} };
  const read = readJsonObject(text);
  if ("isCut" in read) return { arguments: {}, rawArguments: text };
  return { arguments: read.value, ...(read.mended.length > 0 && { mended: read.mended }) };
}
