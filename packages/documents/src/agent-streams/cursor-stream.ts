/** Reads the `stream-json` of `cursor-agent`, and of Sheaf, as a run log. */
import type { RunEnd, Usage } from "@sheaf/protocol";
import {
  isJsonObject,
  readCount,
  readObject,
  readObjects,
  readString,
  type JsonObject,
} from "../model-streams/read-json.ts";
import { noUsage, toErrorEnd, type AgentRun } from "./agent-run.ts";
import type { AgentReader, AgentStreamNotes } from "./agent-stream.ts";
import { readCall, readOutcome, type CursorCall } from "./cursor-tools.ts";

export function createCursorReader(run: AgentRun, notes: AgentStreamNotes): AgentReader {
  const open = new Map<string, CursorCall>();
  /** Deltas since the last segment. */
  let deltas = "";

  /** Reads a text: with a time and no request a delta, otherwise a whole segment, which deltas may precede. */
  function readAssistant(line: JsonObject): void {
    const text = toText(line);
    if (line.timestamp_ms !== undefined && line.model_call_id === undefined) {
      deltas += text;
      run.write({ type: "text_delta", text });
      return;
    }
    const shown = deltas;
    deltas = "";
    if (shown !== "" && !text.startsWith(shown)) notes.differences += 1;
    const rest = text.startsWith(shown) ? text.slice(shown.length) : "";
    if (rest !== "") run.write({ type: "text_delta", text: rest });
  }

  function readToolCall(line: JsonObject): boolean {
    const id = readString(line.call_id);
    const { call, result } = readCall(readObject(line.tool_call));
    deltas = "";
    if (line.subtype === "started" && !run.hasCall(id)) {
      open.set(id, call);
      run.startCall(id, call);
      return true;
    }
    if (line.subtype !== "completed") return false;
    // A stream joined late has results of calls that it never started.
    if (!run.hasCall(id)) run.startCall(id, call);
    const started = open.get(id) ?? call;
    open.delete(id);
    // Some versions have the arguments in one of the two lines only.
    const known = { ...started, args: { ...started.args, ...call.args } };
    run.endCall(id, readOutcome(known, result, run.workspace));
    return true;
  }

  function readInit(line: JsonObject): boolean {
    if (run.isStarted || run.facts.session !== undefined) return false;
    run.facts = {
      ...run.facts,
      session: readString(line.session_id),
      model: readString(line.model),
      workspace: readString(line.cwd),
      version: readString(line.sheaf_version),
    };
    return true;
  }

  function readResult(line: JsonObject): void {
    run.end(toRunEnd(line), isJsonObject(line.usage) ? toUsage(line.usage) : noUsage, line);
    run.facts = {};
    open.clear();
    deltas = "";
  }

  return {
    read(line) {
      run.findResponse(line.model_call_id);
      switch (line.type) {
        case "system":
          return line.subtype === "init" && readInit(line);
        case "user":
          if (run.isStarted || run.facts.prompt !== undefined) return false;
          run.facts = { ...run.facts, prompt: toText(line) };
          return true;
        case "thinking":
          if (line.subtype === "delta") run.write({ type: "reasoning_delta", text: readString(line.text) });
          return true;
        case "assistant":
          readAssistant(line);
          return true;
        case "tool_call":
          return readToolCall(line);
        case "result":
          // A second such line of the same run has no news.
          if (!run.isStarted && run.runs > 0 && run.facts.session === undefined) return false;
          readResult(line);
          return true;
        default:
          return false;
      }
    },
  };
}

function toText(line: JsonObject): string {
  const parts = readObjects(readObject(line.message).content);
  return parts.map((part) => (part.type === "text" ? readString(part.text) : "")).join("");
}

function toUsage(usage: JsonObject): Usage {
  const promptTokens = readCount(usage.inputTokens) ?? 0;
  const completionTokens = readCount(usage.outputTokens) ?? 0;
  const cachedPromptTokens = readCount(usage.cacheReadTokens);
  const cacheWriteTokens = readCount(usage.cacheWriteTokens);
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(cachedPromptTokens !== undefined && { cachedPromptTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
}

/** Makes the end of the run. `is_error` decides, with any subtype. */
function toRunEnd({ subtype, is_error: isError, error, result }: JsonObject): RunEnd {
  if (isError !== true && subtype === "success") return { type: "run_end", reason: "end_turn" };
  if (isError !== true && subtype === "needs_input") return { type: "run_end", reason: "clarification" };
  const { code, message, retryable } = readObject(error);
  return toErrorEnd({
    code: readString(code) || "PROVIDER_REJECTED",
    message: readString(message) || readString(result) || "the run failed without a reason",
    retryable: retryable === true,
  });
}
