/** Masks the events of a log before a projection, a collector or an export reads them (S-256). */
import type { OwnEventBody, RunEvent, ToolCallStart } from "@sheaf/protocol";
import { createTextMask, type MaskedPieces, type TextMask } from "@sheaf/base/text-mask";

/**
 * Takes the next event of a log and returns masked events with its number and time: mostly one. It returns no event
 * while a text may be part of a secret, and two if the event ends such a text. A pure function of the log.
 */
export type EventMask = (event: RunEvent) => readonly RunEvent[];

export interface EventMaskOptions {
  readonly mask?: TextMask;
  /** Also masks the file contents of edits. People must see them, collectors need not. Default: false. */
  readonly masksEdits?: boolean;
  /** Leaves approval requests as they are, because a person must see the whole call (S-16). Default: false. */
  readonly keepsQuestions?: boolean;
}

/** Creates the mask of one log, for all its events from the first one on. */
export function createEventMask({ mask = createTextMask(), ...options }: EventMaskOptions = {}): EventMask {
  const runs = new Map<string, RunMask>();
  return (event) => {
    const { seq, time } = event;
    const agent = event.type === "agent_event" ? event.callId : "";
    const run = runs.get(agent) ?? new RunMask({ mask, ...options });
    runs.set(agent, run);
    if (event.type !== "agent_event") return run.push(event).map((own) => ({ ...own, seq, time }));
    return run.push(event.event).map((own) => ({ ...event, event: own }));
  };
}

/** Masks a whole log and numbers its events again. */
export function maskLog(events: readonly RunEvent[], options?: EventMaskOptions): RunEvent[] {
  return events.flatMap(createEventMask(options)).map((event, index) => ({ ...event, seq: index + 1 }));
}

/** Copies a value with its texts masked. A field such as `apiKey` also masks a text without a known shape. */
export function maskValue<Value>(value: Value, mask: TextMask): Value {
  return maskField(value, mask, "") as Value;
}

function maskField(value: unknown, mask: TextMask, name: string): unknown {
  if (typeof value === "string") return maskNamed(value, mask, name);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => maskField(item, mask, name));
  // A file has Base64 here, not text.
  const isFile = "mediaType" in value && "data" in value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, isFile && key === "data" ? item : maskField(item, mask, key)]),
  );
}

function maskNamed(text: string, mask: TextMask, name: string): string {
  const head = `"${name}": "`;
  const masked = mask.mask(head + text);
  // The mask may find a secret in the name itself.
  return masked.startsWith(head) ? masked.slice(head.length) : mask.mask(text);
}

type WordsType = "text_delta" | "reasoning_delta";

interface OpenCall {
  readonly isEdit: boolean;
  readonly arguments: MaskedPieces;
  readonly output: Readonly<Record<"stdout" | "stderr", MaskedPieces>>;
}

/** The events of one run, or of one subagent. */
class RunMask {
  readonly #options: EventMaskOptions & { readonly mask: TextMask };
  readonly #calls = new Map<string, OpenCall>();
  #words: { readonly type: WordsType; readonly pieces: MaskedPieces } | undefined;

  constructor(options: EventMaskOptions & { readonly mask: TextMask }) {
    this.#options = options;
  }

  push(event: OwnEventBody): OwnEventBody[] {
    switch (event.type) {
      case "text_delta":
      case "reasoning_delta":
        return this.#pushWords(event.type, event.text);
      // These stand between the pieces of one text.
      case "provider_data":
      case "provider_wait":
      case "reference_check":
        return [event];
      case "tool_call_start":
        this.#openCall(event);
        return [...this.#endWords(), event];
      case "tool_call_arguments_delta": {
        const { callId, delta } = event;
        const call = this.#calls.get(callId);
        return call?.isEdit ? [event] : toDelta(event, call?.arguments.push(delta) ?? "");
      }
      case "tool_output_delta": {
        const { callId, stream, delta } = event;
        return toDelta(event, this.#calls.get(callId)?.output[stream].push(delta) ?? "");
      }
      case "tool_call_arguments": {
        const { callId } = event;
        const call = this.#calls.get(callId);
        if (call?.isEdit) return [event];
        const rest = call?.arguments.end() ?? "";
        return [...toDelta({ type: "tool_call_arguments_delta", callId, delta: "" }, rest), this.#maskAll(event)];
      }
      case "tool_result": {
        const { effect, ...result } = event;
        const isEdit = effect?.kind === "file_edit" && this.#options.masksEdits !== true;
        const masked = isEdit ? { ...this.#maskAll(result), effect } : this.#maskAll(event);
        return [...this.#endCall(event.callId), masked];
      }
      case "approval_request":
        return this.#options.keepsQuestions ? [event] : [this.#maskAll(event)];
      case "turn_end":
        // A text that was cut continues in the next turn.
        return [...(event.cut ? [] : this.#endWords()), this.#maskAll(event)];
      case "turn_start":
        return [this.#maskAll(event)];
      default:
        return [...this.#endWords(), this.#maskAll(event)];
    }
  }

  #maskAll<Value>(value: Value): Value {
    return maskValue(value, this.#options.mask);
  }

  #pushWords(type: WordsType, text: string): OwnEventBody[] {
    const before = this.#words?.type === type ? [] : this.#endWords();
    this.#words ??= { type, pieces: this.#options.mask.openPieces() };
    const masked = this.#words.pieces.push(text);
    return masked === "" && text !== "" ? before : [...before, { type, text: masked }];
  }

  #endWords(): OwnEventBody[] {
    if (!this.#words) return [];
    const { type, pieces } = this.#words;
    this.#words = undefined;
    const text = pieces.end();
    return text === "" ? [] : [{ type, text }];
  }

  #openCall({ callId, documentType }: ToolCallStart): void {
    const { mask, masksEdits = false } = this.#options;
    const output = { stdout: mask.openPieces(), stderr: mask.openPieces() };
    const isEdit = documentType === "file_edit" && !masksEdits;
    this.#calls.set(callId, { isEdit, arguments: mask.openPieces(), output });
  }

  #endCall(callId: string): OwnEventBody[] {
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    return (["stdout", "stderr"] as const).flatMap((stream) =>
      toDelta({ type: "tool_output_delta", callId, stream, delta: "" }, call?.output[stream].end() ?? ""),
    );
  }
}

type PieceEvent = Extract<OwnEventBody, { type: "tool_call_arguments_delta" | "tool_output_delta" }>;

function toDelta(event: PieceEvent, delta: string): OwnEventBody[] {
  return delta === "" ? [] : [{ ...event, delta }];
}
