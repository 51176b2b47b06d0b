/** A search of the web that the provider makes itself: a call with its result (N69). */
import type { ModelEvent, ToolResult } from "@sheaf/protocol";
import { notExecutedCode } from "../tool-document.ts";
import { readObjects, readString, type JsonObject } from "./read-json.ts";
import { createToolCallWriter } from "./tool-call-writer.ts";

/** Writes the events of one search. */
export interface ServerSearch {
  /** Takes the next piece of the arguments' JSON text. */
  append(delta: string): void;
  /** The arguments are complete. `whole`: their JSON text, where the provider says it at once. Returns what they are. */
  endArguments(whole?: string): JsonObject;
  /**
   * What it found: objects with `url` and `title`, as received; a text is the provider's code of a failure. Without, the
   * answer ended first. Later calls do nothing.
   */
  end(found?: unknown): void;
}

/** Sources that are kept, and the longest address and title. UTF-16 units. */
const maximumSources = 100;
const longestUrl = 2000;
const longestTitle = 300;

export function createServerSearch(
  providerCallId: unknown,
  options: { readonly newCallId: () => string; readonly emit: (event: ModelEvent) => void },
): ServerSearch {
  let asked: JsonObject = {};
  const emit = (event: ModelEvent): void => {
    if (event.type === "tool_call_arguments") asked = event.arguments;
    options.emit(event);
  };
  const call = createToolCallWriter({ ...options, emit, input: "json", origin: "provider" });
  call.describe(providerCallId, "web_search");
  const callId = call.callId!;
  let isEnded = false;
  return {
    append: (delta) => call.append(delta),
    endArguments(whole) {
      call.end(whole);
      return asked;
    },
    end(found) {
      if (isEnded) return;
      isEnded = true;
      call.end();
      options.emit({ type: "tool_result", callId, ...toOutcome(found), durationMs: 0 });
    },
  };
}

function toOutcome(found: unknown): Pick<ToolResult, "status" | "output" | "error"> {
  if (Array.isArray(found)) return { status: "success", output: formatSources(found) };
  const error =
    typeof found === "string"
      ? {
          code: "WEB_SEARCH_FAILED",
          message: `the provider's search failed: ${found.slice(0, longestTitle)}`,
          details: "",
        }
      : { code: notExecutedCode, message: "The answer ended before the search had a result.", details: "" };
  return { status: "error", output: "", error };
}

/** A line for each: the address, a blank, the title. Other addresses than those of the web are left out. */
function formatSources(found: readonly unknown[]): string {
  const lines = readObjects(found).flatMap(({ url: given, title }) => {
    const url = readString(given);
    if (!/^https?:\/\/\S+$/.test(url) || url.length > longestUrl) return [];
    return [`${url} ${readString(title).replaceAll(/\s+/g, " ").trim().slice(0, longestTitle)}`.trimEnd()];
  });
  return [...new Set(lines)].slice(0, maximumSources).join("\n");
}
