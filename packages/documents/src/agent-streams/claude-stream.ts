/** Reads the `stream-json` of Claude Code and Qwen Code, and the sessions that Claude Code stores, as run logs. */
import type { RunEnd, Usage } from "@sheaf/protocol";
import {
  isJsonObject,
  readFirstString,
  readObject,
  readObjects,
  readString,
  type JsonObject,
} from "../model-streams/read-json.ts";
import { toAnthropicUsage } from "../model-streams/usage.ts";
import { noUsage, toErrorEnd, type AgentRun, type NamedCall, type Outcome } from "./agent-run.ts";
import type { AgentReader, AgentStreamNotes } from "./agent-stream.ts";
import { formatHunks, toCommandOutcome, toEditOutcome, toFailure, toNamedCall, toSuccess } from "./agent-tools.ts";

/** Lines about the state of the program, without any part of the answer. */
const silentTypes: ReadonlySet<string> = new Set(["status", "thinking_tokens", "task_started", "task_progress"]);

/**
 * Creates a reader. It ignores lines of subagents, since the stream lacks whole events for them. A session is one run:
 * prompts in its middle do not start another one, and it ends with its last line.
 */
export function createClaudeReader(run: AgentRun, notes: AgentStreamNotes): AgentReader {
  const deltas = { text_delta: "", thinking_delta: "" };
  let isSession = false;
  let isOfSubagent: boolean | undefined;

  function write(kind: keyof typeof deltas, text: string): void {
    if (text !== "") run.write({ type: kind === "text_delta" ? "text_delta" : "reasoning_delta", text });
  }

  /** Writes a whole text, of which deltas may have contained a part. */
  function writeWhole(kind: keyof typeof deltas, text: string): void {
    const shown = deltas[kind];
    deltas[kind] = "";
    if (!text.startsWith(shown)) notes.differences += 1;
    else write(kind, text.slice(shown.length));
  }

  function readPartial(event: JsonObject): boolean {
    const { type, text, thinking } = readObject(event.delta);
    if (event.type === "content_block_delta" && (type === "text_delta" || type === "thinking_delta")) {
      const piece = readFirstString(text, thinking);
      deltas[type] += piece;
      write(type, piece);
    }
    return true;
  }

  function readAssistant(line: JsonObject): boolean {
    const message = readObject(line.message);
    if (typeof message.content === "string") writeWhole("text_delta", message.content);
    else if (!Array.isArray(message.content)) return false;
    run.findResponse(message.id);
    run.facts = { model: readString(message.model), ...run.facts };
    if (isSession && isJsonObject(message.usage)) run.turnUsage = toAnthropicUsage(message.usage);
    for (const block of readObjects(message.content)) {
      if (block.type === "text") writeWhole("text_delta", readString(block.text));
      else if (block.type === "thinking") writeWhole("thinking_delta", readString(block.thinking));
      else if (block.type === "tool_use")
        run.startCall(readString(block.id), toNamedCall(readString(block.name), readObject(block.input)));
    }
    return true;
  }

  function readUser(line: JsonObject): boolean {
    const { content } = readObject(line.message);
    const results = readObjects(content).filter(({ type }) => type === "tool_result");
    for (const block of results) {
      const id = readString(block.tool_use_id);
      // A stream joined late has results of calls that it never started.
      if (!run.hasCall(id)) run.startCall(id, { toolName: "", arguments: {} });
      run.endCall(id, toOutcome(block, line.tool_use_result ?? line.toolUseResult, run.findCall(id)!, run.workspace));
    }
    if (results.length > 0) return true;
    if (run.isStarted || run.facts.prompt !== undefined) return false;
    run.facts = { ...run.facts, prompt: toText(content) };
    return true;
  }

  function readSession({ sessionId, cwd }: JsonObject): void {
    isSession = true;
    run.facts = { session: readString(sessionId), workspace: readString(cwd), ...run.facts };
  }

  return {
    read(line) {
      const { type, subtype } = line;
      if (typeof line.sessionId === "string" && typeof line.cwd === "string") readSession(line);
      // Lines of subagents are not the session's, unless the whole session is a subagent's.
      if (type === "user" || type === "assistant") isOfSubagent ??= line.isSidechain === true;
      const isOther = line.isSidechain === true && isOfSubagent !== true;
      if (readString(line.parent_tool_use_id) !== "" || isOther) return false;
      if (type === "stream_event") return readPartial(readObject(line.event));
      if (type === "assistant") return readAssistant(line);
      if (type === "user" && line.isMeta !== true) return readUser(line);
      if (type === "system" && subtype === "init") {
        run.facts = {
          session: readString(line.session_id),
          model: readString(line.model),
          workspace: readString(line.cwd),
          ...(run.facts.prompt !== undefined && { prompt: run.facts.prompt }),
        };
        return true;
      }
      if (type === "result") {
        readResult(line);
        return true;
      }
      return type === "system" && silentTypes.has(readString(subtype));
    },
    end() {
      if (isSession && run.isStarted) endRun({ type: "run_end", reason: "end_turn" }, run.turnUsage, {});
    },
  };

  function readResult(line: JsonObject): void {
    const end = toEnd(line);
    // An answer that no message has is the output of the program's own command.
    if (!run.isStarted && end.error === undefined) write("text_delta", readString(line.result));
    endRun(end, isJsonObject(line.usage) ? toAnthropicUsage(line.usage) : noUsage, line);
  }

  function endRun(end: RunEnd, total: Usage, line: JsonObject): void {
    run.end(end, total, line);
    deltas.text_delta = "";
    deltas.thinking_delta = "";
  }
}

function toText(content: unknown): string {
  if (typeof content === "string") return content;
  return readObjects(content)
    .map(({ text }) => readString(text))
    .join("\n");
}

/** Subtypes of runs that their own limits ended. */
const limits: Readonly<Record<string, string>> = {
  error_max_turns: "BUDGET_TURNS",
  error_max_budget_usd: "BUDGET_COST",
  error_max_structured_output_retries: "OUTPUT_INVALID",
};

/** Makes the end of a run. `is_error` decides: a failed request ends with the subtype `success`. */
function toEnd({ subtype, is_error: isError, result, errors }: JsonObject): RunEnd {
  if (isError !== true && subtype === "success") return { type: "run_end", reason: "end_turn" };
  const [error] = Array.isArray(errors) ? errors.map(String) : [];
  const message = readFirstString(result, error) || `the run ended with "${readString(subtype)}"`;
  return toErrorEnd({ code: limits[readString(subtype)] ?? "PROVIDER_REJECTED", message });
}

/** Makes the outcome of a call. `details` is the tool's report, which newer versions write next to the model's text. */
function toOutcome(block: JsonObject, details: unknown, call: NamedCall, workspace: string): Outcome {
  const output = toText(block.content).replace(/^<tool_use_error>(.*)<\/tool_use_error>$/s, "$1");
  const given = readObject(details);
  if (call.toolName === "run_terminal_cmd") {
    const [, code] = /^(?:Error: )?Exit code (\d+)/.exec(output) ?? [];
    if (block.is_error !== true || code !== undefined) {
      const { stdout, stderr, interrupted } = given;
      const text = code === undefined ? output : output.replace(/^.*\n?/, "");
      const ran = {
        command: readString(call.arguments.command),
        exitCode: Number(code ?? 0),
        output: text,
        ...(typeof stdout === "string" && { stdout, stderr: readString(stderr) }),
        ...(interrupted === true && { timedOut: true }),
      };
      return toCommandOutcome(ran, call.arguments, workspace);
    }
  }
  if (block.is_error === true) return toFailure(output, isRefusal(output) ? "rejected" : "error");
  if (call.toolName !== "edit_file" && call.toolName !== "write_file") return toSuccess(output);
  const { filePath, originalFile, structuredPatch, content } = given;
  const edited = {
    before: originalFile,
    after: typeof content === "string" ? content : toAfter(originalFile, given),
    patch: formatHunks(readString(filePath), readObjects(structuredPatch)),
  };
  return toEditOutcome(output, call, { edited, workspace }) ?? toSuccess(output);
}

function toAfter(before: unknown, { oldString, newString, replaceAll }: JsonObject): string | undefined {
  if (typeof before !== "string" || typeof oldString !== "string" || typeof newString !== "string") return undefined;
  return replaceAll === true
    ? before.replaceAll(oldString, () => newString)
    : before.replace(oldString, () => newString);
}

/** True for a refusal, which the program marks by its text alone. */
function isRefusal(output: string): boolean {
  return /^(permission to use|the user doesn't want|claude requested permissions|\S+ permission)/i.test(output);
}
