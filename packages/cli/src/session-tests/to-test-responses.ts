/** The responses of a session as a test has them: a projection of the log. */
import type { RunEvent, ToolResult } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { TestCall, TestResponse, TestTurn } from "./test-file.ts";

type Open<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** Checks that a test can play the log. @throws SheafError USAGE with the reason if not. */
export function checkPlayable(events: readonly RunEvent[]): void {
  const [start] = events;
  const hasAttachments = start?.type === "run_start" && start.attachments && start.attachments.length > 0;
  const reason = hasAttachments
    ? "has attachments, which a test cannot play yet"
    : events.some(({ type }) => type === "compaction")
      ? "was summarised, and a test cannot play summaries yet"
      : events.some(({ type }) => type === "agent_event")
        ? "uses subagents, and a test cannot play their answers yet"
        : undefined;
  if (reason !== undefined) throw new SheafError("USAGE", `the session ${reason}: choose another one`);
}

export function toTestResponse(events: readonly RunEvent[]): TestResponse {
  const turns: Open<TestTurn>[] = [];
  const calls = new Map<string, Open<TestCall>>();
  let response: Open<TestResponse> = { prompt: "", turns };
  for (const event of events) {
    switch (event.type) {
      case "run_start":
        response = { prompt: event.prompt, ...(event.mode !== "agent" && { mode: event.mode }), turns };
        break;
      case "turn_start":
        // The model does not see a turn that broke off.
        if (event.repeats) turns.pop();
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
        break;
      }
      case "run_end":
        if (event.reason !== "end_turn") response.end = event.error?.code ?? event.reason;
        if (event.error?.source === "provider" && turns.length > 0) turns.at(-1)!.fails = event.error.code;
        break;
      default:
        break;
    }
  }
  return response;
}

function toOutcome({ status, shown, output, note, error }: ToolResult): Pick<TestCall, "status" | "returns"> {
  const failure = error && `${error.code}: ${error.message}`;
  const seen = [failure, shown ?? output, note].filter((part) => part !== undefined && part !== "");
  return { ...(status !== "success" && { status }), returns: seen.join("\n") };
}
