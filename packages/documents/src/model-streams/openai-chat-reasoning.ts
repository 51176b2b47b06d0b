import { readObjects, readString, type JsonObject } from "./read-json.ts";
import type { TurnWriter } from "./turn-writer.ts";

/** Gathers the reasoning that some servers want back in the message that called tools. */
export interface ChatReasoning {
  read(delta: JsonObject): void;
  /** The turn is over: hands it on, if the server needs it again. */
  end(hasCalls: boolean): void;
}

/**
 * `reasoning_content` (DeepSeek, Kimi, GLM) and `reasoning_details` (OpenRouter and other gateways), joined as they go
 * back. Details that are signed or encrypted go back without a call too. Reasoning under other names nobody takes back.
 */
export function createChatReasoning(turn: TurnWriter): ChatReasoning {
  const details: JsonObject[] = [];
  let content = "";
  let isSealed = false;

  function readDetail(detail: JsonObject): void {
    isSealed ||= readString(detail.signature) !== "" || readString(detail.data) !== "";
    const last = details.at(-1);
    const joined = last && joinDetails(last, detail);
    if (joined) details[details.length - 1] = joined;
    else details.push(detail);
  }

  return {
    read(delta) {
      content += readString(delta.reasoning_content);
      if (delta.reasoning_details !== undefined) readObjects(delta.reasoning_details).forEach(readDetail);
    },
    end(hasCalls) {
      const data = {
        ...(hasCalls && content !== "" && { reasoning_content: content }),
        ...((isSealed || (hasCalls && details.length > 0)) && { reasoning_details: details }),
      };
      if (Object.keys(data).length > 0) turn.addProviderData(data);
    },
  };
}

const joinedFields: Readonly<Record<string, string>> = { "reasoning.text": "text", "reasoning.summary": "summary" };

/** Two pieces of one entry as one; undefined where they are two entries. Later marks fill in those that were missing. */
function joinDetails(first: JsonObject, second: JsonObject): JsonObject | undefined {
  const field = joinedFields[readString(first.type)];
  if (field === undefined || first.type !== second.type || first.index !== second.index) return undefined;
  const told = Object.entries(second).filter(([, value]) => value !== null && value !== "");
  return { ...first, ...Object.fromEntries(told), [field]: readString(first[field]) + readString(second[field]) };
}
