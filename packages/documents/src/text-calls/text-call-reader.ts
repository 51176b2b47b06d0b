/** Turns calls that a model wrote as text at the end of its turn into calls like any other. */
import type { ModelEvent } from "@sheaf/protocol";
import { toDocumentType } from "../tool-names.ts";
import { createToolFinder, type TextCall } from "./read-call-value.ts";
import { findOpeners, scanTextCalls } from "./scan-text-calls.ts";

export interface TextCallOptions {
  /** The tools that the model was offered. */
  readonly toolNames: readonly string[];
  /** Makes the ids of calls, unique in the conversation (N29). */
  readonly newCallId: () => string;
  /** Returns false if the text must not run, since the model may only quote it. Default: it runs. */
  readonly mayRun?: (text: string) => boolean;
}

export interface TextCallReader {
  /** Takes an event of the turn, and returns what is known by now. The last is `turn_end`, as it came in. */
  push(event: ModelEvent): ModelEvent[];
  /** The text that is held, for a turn that broke off. */
  flush(): ModelEvent[];
  /** The tools of calls that `mayRun` held back: their text is part of the answer. */
  readonly heldBack: readonly string[];
}

/** By then a text has shown that it is something else. UTF-16 units. */
const longestUndecided = 400;

/** Holds text back only while it can still become a call at the end of the turn. */
export function createTextCallReader(options: TextCallOptions): TextCallReader {
  const findTool = createToolFinder(options.toolNames);
  const heldBack: string[] = [];
  let held = "";
  /** The held text is open: only a sign that closes something decides. */
  let isOpen = false;
  let hasCalls = options.toolNames.length === 0;

  function release(end = held.length): ModelEvent[] {
    const text = held.slice(0, end);
    held = held.slice(end);
    return text === "" ? [] : [{ type: "text_delta", text }];
  }

  /** The place from which the text may be calls up to its end. */
  function findStart(isWhole: boolean): number {
    for (const at of findOpeners(held)) {
      const scan = scanTextCalls(held, at, { isWhole, findTool });
      isOpen = scan === "open";
      if (scan !== undefined) return at;
    }
    isOpen = false;
    return held.length;
  }

  function endTurn(event: Extract<ModelEvent, { type: "turn_end" }>): ModelEvent[] {
    const before = release(findStart(true));
    const scan = scanTextCalls(held, 0, { isWhole: true, findTool });
    const isEnd =
      event.finishReason === "stop" || event.finishReason === "unknown" || event.finishReason === "tool_calls";
    if (scan === undefined || scan === "open" || !isEnd) return [...before, ...release(), event];
    if (options.mayRun?.(held.trim()) === false) {
      heldBack.push(...scan.calls.map(({ toolName }) => toolName));
      return [...before, ...release(), event];
    }
    held = "";
    const calls = scan.calls.flatMap((call) => toEvents(call, options.newCallId()));
    return [...before, ...calls, { ...event, finishReason: "tool_calls" }];
  }

  return {
    push(event) {
      if (event.type === "text_delta") {
        held += event.text;
        if (isOpen && !/[}>\])`|｜]/.test(event.text) && held.length > longestUndecided) return [];
        return hasCalls ? release() : release(findStart(false));
      }
      if (event.type === "tool_call_start" && event.origin !== "provider") hasCalls = true;
      if (hasCalls) return [...release(), event];
      return event.type === "turn_end" ? endTurn(event) : [event];
    },
    flush: () => release(),
    heldBack,
  };
}

function toEvents({ toolName, arguments: args }: TextCall, callId: string): ModelEvent[] {
  const documentType = toDocumentType(toolName);
  return [
    { type: "tool_call_start", callId, toolName, documentType, origin: "text" },
    { type: "tool_call_arguments_delta", callId, delta: JSON.stringify(args) },
    { type: "tool_call_arguments", callId, arguments: args },
  ];
}
