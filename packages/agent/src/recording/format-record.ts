/** What a record says, in a few words, for messages. */
import type { AskedRecord, CassetteRecord } from "./cassette.ts";

/** Longest value in a message. UTF-16 units. */
const MAX_VALUE = 300;

/** For instance `the call read_file {"target_file":"a"}`. */
export function formatRecord(record: CassetteRecord): string {
  switch (record.type) {
    case "clock":
      return "a look at the clock";
    case "model_request":
      return `model request ${record.turn}`;
    case "tool_access":
      return `a question what ${record.toolName} does`;
    case "tool_call":
      return formatCall(record);
    case "tool_review":
      return `a question whether ${record.callId} may run`;
    case "approval_id":
      return `the approval ${record.id}`;
    case "answer_check":
      return "a check of the answer";
    case "end":
      return "the end of the run";
    case "events":
      return `the log to take ${record.types.join(", ")}`;
    case "quote_check":
      return `a look at ${record.filePath}:${record.startLine}-${record.endLine}`;
    default:
      return `${record.type.replaceAll("_", " ")} from outside`;
  }
}

/** A tool call as words. */
export function formatCall(
  call: Pick<Extract<AskedRecord, { type: "tool_call" }>, "toolName" | "arguments" | "rawArguments">,
): string {
  return `the call ${call.toolName} ${shortenValue(call.rawArguments ?? JSON.stringify(call.arguments))}`;
}

/** The beginning of a long text. */
export function shortenValue(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
