/** The responses of a session as a test has them: a projection of the log. */
import { SheafError } from "@sheaf/base/errors";
import type { RunEvent, OwnEventBody, RunEventBody, RunStart, ToolResult } from "@sheaf/protocol";
import type { TestCall, TestResponse, TestTurn } from "./test-response.ts";

type Open<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** Checks that a test can play the log. @throws SheafError USAGE with the reason if not. */
export function checkPlayable(events: readonly RunEvent[]): void {
  if (!events.some((event) => event.type === "agent_event" && event.event.type === "compaction")) return;
  const reason = "a subagent of the session was summarised, which a test cannot play";
  throw new SheafError("USAGE", `${reason}: choose another session`);
}

/** Turns a log into a test's response. `keepsUsage`: with the tokens, which determine summaries of the conversation. */
export function toTestResponse(events: readonly RunEventBody[], keepsUsage = false): TestResponse {
  const turns: Open<TestTurn>[] = [];
  const calls = new Map<string, Open<TestCall>>();
  const agents = new Map<string, OwnEventBody[]>();
  let response: Open<TestResponse> = { prompt: "", turns };
  for (const event of events) {
    switch (event.type) {
      case "run_start":
        response = { ...toStart(event, keepsUsage), turns };
        break;
      case "turn_start":
        // The model does not see a turn that broke off.
        if (event.repeats) turns[turns.length - 1] = { breaks: true };
        turns.push({});
        break;
      case "text_delta": {
        const turn = turns.at(-1)!;
        turn.text = (turn.text ?? "") + event.text;
        break;
      }
      case "tool_call_start": {
        if (event.origin === "provider" || event.origin === "agent") break;
        const call: Open<TestCall> = { tool: event.toolName };
        calls.set(event.callId, call);
        const turn = turns.at(-1)!;
        turn.calls = [...(turn.calls ?? []), call];
        break;
      }
      case "tool_call_arguments": {
        const call = calls.get(event.callId);
        if (call) call.arguments = event.rawArguments ?? event.arguments;
        break;
      }
      case "tool_result": {
        const call = calls.get(event.callId);
        if (call) Object.assign(call, toOutcome(event));
        break;
      }
      case "turn_end": {
        const { finishReason } = event;
        const isTold = finishReason === "max_tokens" || finishReason === "content_filter" || finishReason === "refusal";
        if (isTold) turns.at(-1)!.finish = finishReason;
        const { promptTokens, completionTokens } = event.usage;
        if (keepsUsage) turns.at(-1)!.usage = { promptTokens, completionTokens };
        break;
      }
      case "compaction":
        if (event.reason === "refused") turns.at(-1)!.fails = "CONTEXT_LENGTH";
        turns.push({ summary: event.summary });
        break;
      case "agent_event":
        agents.set(event.callId, [...(agents.get(event.callId) ?? []), event.event]);
        break;
      case "run_end":
        if (event.reason !== "end_turn") response.end = event.error?.code ?? event.reason;
        if (event.error?.source === "provider" && turns.length > 0) turns.at(-1)!.fails = event.error.code;
        break;
      default:
        break;
    }
  }
  for (const [callId, inner] of agents) Object.assign(calls.get(callId) ?? {}, { turns: toTestResponse(inner).turns });
  return response;
}

function toStart({ prompt, mode, attachments, shortens, context }: RunStart, keepsUsage: boolean) {
  return {
    prompt,
    ...(attachments && { attachments: attachments.map(({ name, data }) => ({ name, base64: data })) }),
    ...(shortens && { shortens }),
    ...(mode !== "agent" && { mode }),
    ...(keepsUsage && context && { window: context.windowTokens }),
  };
}

function toOutcome({ status, shown, output, note, error }: ToolResult): Pick<TestCall, "status" | "returns"> {
  const failure = error && `${error.code}: ${error.message}`;
  const seen = [failure, shown ?? output, note].filter((part) => part !== undefined && part !== "");
  return { ...(status !== "success" && { status }), returns: seen.join("\n") };
}
