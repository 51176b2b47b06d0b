import type { ModelEvent, ToolCallArguments } from "@sheaf/protocol";
import { toDocumentType } from "../tool-names.ts";
import { createJsonEndFinder } from "./json-end-finder.ts";
import { readJsonObject } from "../read-literal.ts";
import { readString } from "./read-json.ts";

/** Input of a tool: a JSON object, or free text, which becomes `{"input": "…"}` (N30). */
export type ToolInput = "json" | "text";

export interface ToolCallWriter {
  /** Takes the id and the name in a delta. The first id and the first name stay. */
  describe(providerCallId: unknown, toolName: unknown): void;
  /** Takes the next piece of the input. */
  append(delta: string): void;
  /**
   * Ends the input. `whole` is the complete input, if the provider repeats it. It replaces the pieces, unless only the
   * pieces parse. Later calls have no effect.
   */
  end(whole?: string): void;
  /** The provider's id; "" until it is known. */
  readonly providerCallId: string;
  /** The tool's name; "" until it is known. */
  readonly toolName: string;
  /** True once a part of the input has arrived. */
  readonly hasInput: boolean;
  /** True if the input is a closed JSON object, which cannot grow. */
  readonly isComplete: boolean;
  /** Sheaf's id of the call, once it has started (N29). */
  readonly callId: string | undefined;
}

export interface ToolCallWriterOptions {
  readonly input: ToolInput;
  /** Set to `provider` if the provider runs the call itself. */
  readonly origin?: "provider";
  readonly newCallId: () => string;
  readonly emit: (event: ModelEvent) => void;
}

/**
 * Creates a writer. The call starts with its name, which decides the type of its document, and earlier input waits. A
 * call that never gets a name starts at its end with "", so that its input is not lost. A call without name, id and
 * input leaves no event.
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
  /** All input so far, unchanged. */
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
      // A provider's tool may have the name of a tool of Sheaf, but another meaning.
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

  /** Turns pieces of free text into pieces of a JSON string. */
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

/** Parses the JSON of a call's arguments (N30). Providers send blank text or `null` for tools without parameters. */
export function parseToolArguments(text: string): ParsedToolArguments {
  if (/^\s*(?:null\s*)?$/.test(text)) return { arguments: {} };
  const read = readJsonObject(text);
  if ("isCut" in read) return { arguments: {}, rawArguments: text };
  return { arguments: read.value, ...(read.mended.length > 0 && { mended: read.mended }) };
}
