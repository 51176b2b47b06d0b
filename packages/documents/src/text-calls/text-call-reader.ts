/** Turns calls that a model wrote as text at the end of its turn into calls like any other. */
import type { ModelEvent } from "@sheaf/protocol";
import { toDocumentType } from "../tool-names.ts";
import { createToolFinder, type TextCall } from "./read-call-value.ts";
import { findOpeners, mayBeUnread, scanTextCalls, type Scan } from "./scan-text-calls.ts";

export interface TextCallOptions {
  /** The tools in the model's request. */
  readonly toolNames: readonly string[];
  /** Makes the ids of calls, unique in the conversation (N29). */
  readonly newCallId: () => string;
  /** Returns false if the text must not run, since the model may only quote it. Default: it runs. */
  readonly mayRun?: (text: string) => boolean;
}

export interface TextCallReader {
  /** Takes an event of the turn, and returns the events known so far. The last is `turn_end`, unchanged. */
  push(event: ModelEvent): ModelEvent[];
  /** Returns the held text, for a turn that broke off. */
  flush(): ModelEvent[];
  /** The tools of calls that were unreadable, incomplete or refused by `mayRun`: their text is part of the answer. */
  readonly heldBack: readonly string[];
}

/** Most UTF-16 units of undecided text: by then, a text has shown that it is not a call. */
const longestUndecided = 400;

/** Creates a reader. It holds text only while the text can still become a call at the end of the turn. */
export function createTextCallReader(options: TextCallOptions): TextCallReader {
  const findTool = createToolFinder(options.toolNames);
  const heldBack: string[] = [];
  let held = "";
  /** True if the held text is open: only a closing sign decides. */
  let isOpen = false;
  /** True if the held text is at the start of a line. */
  let isLine = true;
  /** The tools of a form at the end of the text that cannot be read as calls. */
  let unread: readonly string[] = [];
  let hasCalls = options.toolNames.length === 0;

  function release(end = held.length): ModelEvent[] {
    const text = held.slice(0, end);
    held = held.slice(end);
    isLine = /\n[ \t]*$/.test(text) || (isLine && text.trim() === "");
    return text === "" ? [] : [{ type: "text_delta", text }];
  }

  /** Returns the place after which the text may be calls up to its end. */
  function findStart(isWhole: boolean): { readonly at: number; readonly scan?: Scan } {
    for (const at of findOpeners(held, isLine)) {
      const scan = scanTextCalls(held, at, { isWhole, findTool });
      isOpen = scan === "open";
      if (scan !== undefined) return { at, scan };
      if (mayBeUnread(held.slice(at), isWhole, findTool)) unread = listTools(held.slice(at));
    }
    isOpen = false;
    return { at: held.length };
  }

  function listTools(text: string): readonly string[] {
    return options.toolNames.filter((name) => text.slice(0, longestUndecided).includes(name));
  }

  function endTurn(event: Extract<ModelEvent, { type: "turn_end" }>): ModelEvent[] {
    const { at, scan } = findStart(true);
    const before = release(at);
    const calls = typeof scan === "object" ? scan.calls : [];
    const mayRun = /^(?:stop|unknown|tool_calls)$/.test(event.finishReason) && options.mayRun?.(held.trim()) !== false;
    if (calls.length === 0 || !mayRun) {
      heldBack.push(...(calls.length === 0 ? unread : calls.map(({ toolName }) => toolName)));
      return [...before, ...release(), event];
    }
    held = "";
    const events = calls.flatMap((call) => toEvents(call, options.newCallId()));
    return [...before, ...events, { ...event, finishReason: "tool_calls" }];
  }

  return {
    push(event) {
      if (event.type === "text_delta") {
        held += event.text;
        if (event.text.trim() !== "") unread = [];
        if (isOpen && !/[}>\])`|｜]/.test(event.text) && held.length > longestUndecided) return [];
        return hasCalls ? release() : release(findStart(false).at);
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
