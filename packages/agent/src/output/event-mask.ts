/** Masks the events of a log before a projection, a collector or an export reads them (S-256). */
import type { OwnEventBody, RunEvent } from "@sheaf/protocol";
import type { Environment } from "@sheaf/base/paths";
import { createTextMask, type MaskedPieces, type TextMask } from "@sheaf/base/text-mask";
import { createKnownMask } from "../config/known-secrets.ts";

/**
 * Takes the next event of a log and returns masked events with its number and time: mostly one. It returns no event
 * while a text may be part of a secret, and two if the event ends such a text. A pure function of the log.
 */
export type EventMask = (event: RunEvent) => readonly RunEvent[];

export interface EventMaskOptions {
  readonly mask?: TextMask;
  /** True to mask the file contents of edits. People must see them, collectors need not. Default: false. */
  readonly masksEdits?: boolean;
  /** Leaves approval requests as they are, because a person must see the whole call (S-16). Default: false. */
  readonly keepsQuestions?: boolean;
}

/** Creates the mask of one log. It needs all events from the first one on. */
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

/** Creates the mask of one log, for readers of this process. */
export function createOutputMask(environment: Environment): EventMask {
  return createEventMask({ mask: createKnownMask(environment) });
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

interface OpenText {
  readonly pieces: MaskedPieces;
  /** Makes an event of a piece. */
  toEvent: (text: string) => OwnEventBody;
}

/** The events of one run or one subagent. */
class RunMask {
  readonly #options: EventMaskOptions & { readonly mask: TextMask };
  /** Open texts by type, or by call and stream. */
  readonly #texts = new Map<string, OpenText>();
  readonly #edits = new Set<string>();

  constructor(options: EventMaskOptions & { readonly mask: TextMask }) {
    this.#options = options;
  }

  push(event: OwnEventBody): OwnEventBody[] {
    switch (event.type) {
      case "text_delta":
      case "reasoning_delta": {
        const other = event.type === "text_delta" ? "reasoning_delta" : "text_delta";
        const masked = this.#push(event.type, event.text, (text) => ({ ...event, text }));
        return [...this.#end(other), ...masked];
      }
      // These stand between the pieces of one text.
      case "provider_data":
      case "provider_wait":
      case "reference_check":
        return [event];
      case "tool_call_start":
        if (event.documentType === "file_edit" && !this.#options.masksEdits) this.#edits.add(event.callId);
        return [...this.#end("text_delta", "reasoning_delta"), event];
      case "tool_call_arguments_delta":
        if (this.#edits.has(event.callId)) return [event];
        return this.#push(event.callId, event.delta, (delta) => ({ ...event, delta }));
      case "tool_call_arguments":
        return this.#edits.has(event.callId) ? [event] : [...this.#end(event.callId), this.#maskAll(event)];
      case "tool_output_delta":
        return this.#push(`${event.callId} ${event.stream}`, event.delta, (delta) => ({ ...event, delta }));
      case "tool_result": {
        const { effect, ...result } = event;
        const isEdit = effect?.kind === "file_edit" && !this.#options.masksEdits;
        const masked = isEdit ? { ...this.#maskAll(result), effect } : this.#maskAll(event);
        return [...this.#end(`${event.callId} stdout`, `${event.callId} stderr`), masked];
      }
      case "approval_request":
        return [this.#options.keepsQuestions ? event : this.#maskAll(event)];
      default: {
        // A text whose turn ended early continues in the next turn.
        const isCut = event.type === "turn_start" || (event.type === "turn_end" && event.cut);
        return [...(isCut ? [] : this.#end("text_delta", "reasoning_delta")), this.#maskAll(event)];
      }
    }
  }

  #maskAll<Value>(value: Value): Value {
    return maskValue(value, this.#options.mask);
  }

  #push(name: string, piece: string, toEvent: OpenText["toEvent"]): OwnEventBody[] {
    const open = this.#texts.get(name) ?? { pieces: this.#options.mask.openPieces(), toEvent };
    this.#texts.set(name, open);
    open.toEvent = toEvent;
    const text = open.pieces.push(piece);
    return text === "" ? [] : [toEvent(text)];
  }

  #end(...names: readonly string[]): OwnEventBody[] {
    return names.flatMap((name) => {
      const open = this.#texts.get(name);
      this.#texts.delete(name);
      const rest = open?.pieces.end() ?? "";
      return open && rest !== "" ? [open.toEvent(rest)] : [];
    });
  }
}
