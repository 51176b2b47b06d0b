/** A step that the provider runs itself (a search, code, an image), as a call with its result (N69). */
import type { ModelEvent, ToolResult } from "@sheaf/protocol";
import { notExecutedCode } from "../tool-document.ts";
import { formatJson, isJsonObject, readFirstString, readObjects, readString, type JsonObject } from "./read-json.ts";
import { createToolCallWriter } from "./tool-call-writer.ts";

/** Writes the events of one such call. */
export interface ServerCall {
  /** Takes the next piece of the arguments' JSON text. */
  append(delta: string): void;
  /** Ends the arguments, and returns them. `whole` is their JSON text, if the provider sends it at once. */
  endArguments(whole?: string): JsonObject;
  /**
   * Ends the call with the result as received, of any shape: objects with `url` and `title`, output of a program, an
   * image, an error. Without one, the answer ended first. Later calls have no effect.
   */
  end(found?: unknown): void;
}

/** The tool name of every search of the web, and of every image. */
export const searchName = "web_search";
export const imageName = "image_generation";

/** Limits: the number of sources, then the length of an address, a title and an output. UTF-16 units. */
const maximumSources = 100;
const longestUrl = 2000;
const longestTitle = 300;
const longestOutput = 100_000;

export interface ServerCallOptions {
  readonly newCallId: () => string;
  readonly emit: (event: ModelEvent) => void;
}

export function createServerCall(toolName: string, providerCallId: unknown, options: ServerCallOptions): ServerCall {
  let asked: JsonObject = {};
  const emit = (event: ModelEvent): void => {
    if (event.type === "tool_call_arguments") asked = event.arguments;
    options.emit(event);
  };
  const call = createToolCallWriter({ ...options, emit, input: "json", origin: "provider" });
  call.describe(providerCallId, toolName);
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
      options.emit({ type: "tool_result", callId, ...toOutcome(toolName, found), durationMs: 0 });
    },
  };
}

function toOutcome(toolName: string, found: unknown): Pick<ToolResult, "status" | "output" | "error"> {
  const failure = findFailure(found);
  if (found !== undefined && failure === undefined) return { status: "success", output: formatFound(found) };
  const isSearch = toolName === searchName;
  const error =
    failure === undefined
      ? { code: notExecutedCode, message: "The answer ended before this call had a result.", details: "" }
      : {
          code: isSearch ? "WEB_SEARCH_FAILED" : "PROVIDER_TOOL_FAILED",
          message: `the provider's ${isSearch ? "search" : toolName} failed: ${failure.slice(0, longestTitle)}`,
          details: "",
        };
  return { status: "error", output: "", error };
}

/** Returns the provider's code or words of a failure. */
function findFailure(found: unknown): string | undefined {
  if (!isJsonObject(found)) return undefined;
  const { error_code: code, error, is_error: isError, outcome, status } = found;
  const words = readFirstString(code, error, isJsonObject(error) ? error.message : undefined);
  if (words !== "") return words;
  if (isError === true) return formatFound(found) || "error";
  if (status === "failed") return "failed";
  return typeof outcome === "string" && outcome !== "OUTCOME_OK" ? `${outcome} ${readString(found.output)}` : undefined;
}

/** Formats a list with sources, an image, or all text; anything else as JSON. */
function formatFound(found: unknown): string {
  if (typeof found === "string") return found.slice(0, longestOutput);
  if (Array.isArray(found)) {
    const isText = found.length > 0 && found.every((part) => isJsonObject(part) && findText(part) !== undefined);
    return isText
      ? found
          .map((part) => findText(part as JsonObject))
          .join("\n")
          .slice(0, longestOutput)
      : formatSources(found);
  }
  if (!isJsonObject(found)) return "";
  const { mimeType, data, content, output } = found;
  if (typeof mimeType === "string") return formatImage(mimeType, data);
  const text = findText(found) ?? (Array.isArray(content) ? formatFound(content) : undefined);
  return text ?? (output === undefined ? (formatJson(found) ?? "") : formatFound(output)).slice(0, longestOutput);
}

/** Returns the output of a program, or a text. */
function findText({ text, stdout, stderr, logs, output }: JsonObject): string | undefined {
  const texts = [text, stdout, stderr, logs, output].filter((value) => typeof value === "string");
  return texts.length === 0 ? undefined : texts.filter((value) => value !== "").join("\n");
}

/** Formats an image. `data` is base64. */
function formatImage(mimeType: string, data: unknown): string {
  const bytes = Math.floor((readString(data).replace(/=+$/, "").length * 3) / 4);
  return `${mimeType.slice(0, longestTitle)}, ${bytes} bytes`;
}

/** Formats a line for each source: the address, a blank, the title. Sheaf drops all but web addresses. */
function formatSources(found: readonly unknown[]): string {
  const lines = readObjects(found).flatMap(({ url: given, title }) => {
    const url = readString(given);
    if (!/^https?:\/\/\S+$/.test(url) || url.length > longestUrl) return [];
    return [`${url} ${readString(title).replaceAll(/\s+/g, " ").trim().slice(0, longestTitle)}`.trimEnd()];
  });
  return [...new Set(lines)].slice(0, maximumSources).join("\n");
}
