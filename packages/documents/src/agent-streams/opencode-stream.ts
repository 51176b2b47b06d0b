/** Reads the output of `opencode run --format json` as a run log. */
import type { RunEnd, Usage } from "@sheaf/protocol";
import {
  isJsonObject,
  readCount,
  readFirstString,
  readObject,
  readString,
  type JsonObject,
} from "../model-streams/read-json.ts";
import { createUsage } from "../model-streams/usage.ts";
import { noUsage, toErrorEnd, type AgentRun, type NamedCall, type Outcome } from "./agent-run.ts";
import type { AgentReader } from "./agent-stream.ts";
import { toCommandOutcome, toEditOutcome, toFailure, toNamedCall, toSuccess } from "./agent-tools.ts";

/** Creates a reader. The last step without a call ends the run: the stream has no separate line for this. */
export function createOpencodeReader(run: AgentRun): AgentReader {
  /** Results of this step, which come earlier than its usage. */
  const ended = new Map<string, Outcome>();

  function endCalls(): void {
    for (const [id, outcome] of ended) run.endCall(id, outcome);
    ended.clear();
  }

  function endRun(line: JsonObject, end: RunEnd, usage = noUsage): void {
    endCalls();
    run.end(end, usage, line);
  }

  function readTool({ callID, tool, state }: JsonObject): boolean {
    const id = readString(callID);
    const { status, input } = readObject(state);
    const call = toNamedCall(readString(tool), readObject(input));
    if (!run.hasCall(id)) run.startCall(id, call);
    if (status === "completed" || status === "error") ended.set(id, toOutcome(readObject(state), call, run.workspace));
    return true;
  }

  function endStep(line: JsonObject, { reason, tokens }: JsonObject): boolean {
    const usage = toUsage(readObject(tokens));
    // Earlier versions write no reason: then a step without a call is the last one.
    const isNext = reason === undefined ? ended.size > 0 : reason === "tool-calls";
    if (ended.size > 0) run.endTurn("tool_calls", usage);
    endCalls();
    if (isNext) run.endTurn("tool_calls", usage);
    else endRun(line, toEnd(readString(reason ?? "stop")), usage);
    return true;
  }

  return {
    read(line) {
      const part = readObject(line.part);
      run.facts = { session: readString(line.sessionID), ...run.facts };
      switch (line.type) {
        case "text":
        case "reasoning":
          run.write({ type: line.type === "text" ? "text_delta" : "reasoning_delta", text: readString(part.text) });
          return true;
        case "tool_use":
          return readTool(part);
        case "step_finish":
          return endStep(line, part);
        case "error": {
          const { name, data, message } = readObject(line.error);
          const words = readFirstString(isJsonObject(data) ? data.message : undefined, message, name);
          endRun(line, toErrorEnd({ code: "PROVIDER_REJECTED", message: words || "the run failed without a reason" }));
          return true;
        }
        default:
          return line.type === "step_start";
      }
    },
    end: endCalls,
  };
}

function toEnd(reason: string): RunEnd {
  if (reason === "stop") return { type: "run_end", reason: "end_turn" };
  const code =
    reason === "length" ? "MAX_TOKENS" : reason === "content-filter" ? "CONTENT_FILTER" : "PROVIDER_REJECTED";
  return toErrorEnd({ code, message: `the answer ended with "${reason}"` });
}

function toUsage({ input, output, reasoning, cache }: JsonObject): Usage {
  const cached = readCount(readObject(cache).read) ?? 0;
  const cacheWrite = readCount(readObject(cache).write) ?? 0;
  const thoughts = readCount(reasoning) ?? 0;
  return createUsage({
    prompt: (readCount(input) ?? 0) + cached + cacheWrite,
    completion: (readCount(output) ?? 0) + thoughts,
    reasoning: thoughts,
    cached,
    cacheWrite,
  });
}

function toOutcome({ status, output, error, metadata }: JsonObject, call: NamedCall, workspace: string): Outcome {
  const text = readString(output);
  if (status === "error") {
    const words = readString(error);
    return toFailure(words, /reject|denied|permission/i.test(words) ? "rejected" : "error");
  }
  const { exit, diff, filediff } = readObject(metadata);
  if (call.toolName === "run_terminal_cmd") {
    const ran = { command: readString(call.arguments.command), exitCode: readCount(exit) ?? 0, output: text };
    return toCommandOutcome(ran, call.arguments, workspace);
  }
  if (call.toolName !== "edit_file" && call.toolName !== "write_file") return toSuccess(text);
  const { before, after } = readObject(filediff);
  const edited = {
    patch: diff,
    before,
    after: after ?? (call.toolName === "write_file" ? call.arguments.content : undefined),
  };
  return toEditOutcome(text, call, { edited, workspace }) ?? toSuccess(text);
}
