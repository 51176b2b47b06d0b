/** Reads the `stream-json` of Gemini CLI as a run log. */
import type { RunEnd, Usage } from "@sheaf/protocol";
import { readCount, readObject, readString, type JsonObject } from "../model-streams/read-json.ts";
import { createUsage } from "../model-streams/usage.ts";
import { noUsage, toErrorEnd, type AgentRun, type Outcome, type NamedCall } from "./agent-run.ts";
import type { AgentReader } from "./agent-stream.ts";
import { toCommandOutcome, toFailure, toNamedCall, toSuccess } from "./agent-tools.ts";

export function createGeminiCliReader(run: AgentRun): AgentReader {
  let error = "";

  function readMessage({ role, content }: JsonObject): boolean {
    if (role === "assistant") run.write({ type: "text_delta", text: readString(content) });
    else if (run.isStarted || run.facts.prompt !== undefined) return false;
    else run.facts = { ...run.facts, prompt: readString(content) };
    return true;
  }

  function endRun(line: JsonObject): boolean {
    run.end(toEnd(line, error), toUsage(readObject(line.stats)), line);
    error = "";
    return true;
  }

  return {
    read(line) {
      const id = readString(line.tool_id);
      switch (line.type) {
        case "init":
          run.facts = { session: readString(line.session_id), model: readString(line.model) };
          return true;
        case "message":
          return readMessage(line);
        case "tool_use":
          run.startCall(id, toNamedCall(readString(line.tool_name), readObject(line.parameters)));
          return true;
        case "tool_result":
          if (!run.hasCall(id)) run.startCall(id, { toolName: "", arguments: {} });
          run.endCall(id, toOutcome(line, run.findCall(id)!, run.workspace));
          return true;
        case "error":
          error = readString(line.message);
          // A warning isn't part of the answer.
          return line.severity === "error";
        case "result":
          return endRun(line);
        default:
          return false;
      }
    },
  };
}

function toOutcome(line: JsonObject, call: NamedCall, workspace: string): Outcome {
  const output = readString(line.output);
  if (line.status === "error") return toFailure(readString(readObject(line.error).message) || output);
  if (call.toolName !== "run_terminal_cmd") return toSuccess(output);
  const [, code = "0"] = /^Exit Code: (\d+)$/m.exec(output) ?? [];
  const ran = { command: readString(call.arguments.command), exitCode: Number(code), output };
  return toCommandOutcome(ran, call.arguments, workspace);
}

function toEnd({ status, error }: JsonObject, said: string): RunEnd {
  if (status === "success") return { type: "run_end", reason: "end_turn" };
  const { type, message } = readObject(error);
  const code = /turn/i.test(readString(type)) ? "BUDGET_TURNS" : "PROVIDER_REJECTED";
  return toErrorEnd({ code, message: readString(message) || said || "the run failed without a reason" });
}

function toUsage({ input_tokens, output_tokens, cached }: JsonObject): Usage {
  const prompt = readCount(input_tokens);
  if (prompt === undefined) return noUsage;
  return createUsage({ prompt, completion: readCount(output_tokens), reasoning: undefined, cached: readCount(cached) });
}
