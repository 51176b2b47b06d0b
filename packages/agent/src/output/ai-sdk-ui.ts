/** The log as the AI SDK's UI message stream (X17), so that its front ends can show Sheaf. One chunk per line. */
import type { ApprovalRequest, RunEnd, RunEvent, RunEventBody, ToolResult } from "@sheaf/protocol";
import type { Projection } from "./projection.ts";

/** Options of the form. */
interface AiSdkUiOptions {
  /** The model's reasoning too (N14). */
  readonly includeThinking?: boolean;
}

/** Header by which its clients recognize the stream. */
export const aiSdkUiHeaders = { "x-vercel-ai-ui-message-stream": "v1" } as const;

type Chunk = { readonly type: string } & Readonly<Record<string, unknown>>;

/** One turn of the log is one step; tool calls are dynamic tools, since a client need not know them. */
export function createAiSdkUiProjection({ includeThinking = false }: AiSdkUiOptions = {}): Projection {
  const fold = new AiSdkUi(includeThinking);
  return { push: (event) => fold.push(event).map((chunk) => `${JSON.stringify(chunk)}\n`) };
}

class AiSdkUi {
  readonly #includeThinking: boolean;
  readonly #toolNames = new Map<string, string>();
  readonly #approvals = new Map<string, ApprovalRequest>();
  /** Calls that a person has rejected. */
  readonly #denied = new Set<string>();
  /** The part of text or reasoning that is open. */
  #open: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined;
  #parts = 0;
  #hasStep = false;

  constructor(includeThinking: boolean) {
    this.#includeThinking = includeThinking;
  }

  push(event: RunEvent): Chunk[] {
    switch (event.type) {
      case "run_start": {
        const { responseId, conversationId, model, mode } = event;
        return [{ type: "start", messageId: responseId, messageMetadata: { conversationId, model, mode } }];
      }
      case "turn_start":
        return [...this.#endStep(), this.#startStep()];
      case "text_delta":
        return this.#pushDelta("text", event.text);
      case "reasoning_delta":
        return this.#includeThinking ? this.#pushDelta("reasoning", event.text) : [];
      case "turn_end":
        return this.#endPart();
      case "run_end":
        return [...this.#endStep(), ...toEnd(event)];
      default:
        return this.#pushToolEvent(event);
    }
  }

  #pushToolEvent(event: RunEventBody): Chunk[] {
    switch (event.type) {
      case "tool_call_start": {
        const { callId: toolCallId, toolName } = event;
        this.#toolNames.set(toolCallId, toolName);
        return [...this.#endPart(), { type: "tool-input-start", toolCallId, toolName, dynamic: true }];
      }
      case "tool_call_arguments_delta":
        return [{ type: "tool-input-delta", toolCallId: event.callId, inputTextDelta: event.delta }];
      case "tool_call_arguments": {
        const { callId: toolCallId, arguments: input } = event;
        const toolName = this.#toolNames.get(toolCallId) ?? "";
        return [{ type: "tool-input-available", toolCallId, toolName, input, dynamic: true }];
      }
      case "approval_request": {
        const { approvalId, callId: toolCallId } = event;
        this.#approvals.set(approvalId, event);
        return [{ type: "tool-approval-request", approvalId, toolCallId }];
      }
      case "approval_resolved": {
        const request = this.#approvals.get(event.approvalId);
        const option = request?.options.find(({ id }) => id === event.optionId);
        const approved = option?.kind.startsWith("allow") ?? false;
        if (request && !approved) this.#denied.add(request.callId);
        return [{ type: "tool-approval-response", approvalId: event.approvalId, approved }];
      }
      case "tool_result":
        return [this.#toResult(event)];
      default:
        return [];
    }
  }

  #toResult({ callId: toolCallId, status, output, note, error }: ToolResult): Chunk {
    if (this.#denied.has(toolCallId)) return { type: "tool-output-denied", toolCallId };
    if (status === "success") {
      const text = [output, note ?? ""].filter((part) => part !== "").join("\n");
      return { type: "tool-output-available", toolCallId, output: text, dynamic: true };
    }
    const errorText = error ? `${error.code}: ${error.message}` : status;
    return { type: "tool-output-error", toolCallId, errorText, dynamic: true };
  }

  #startStep(): Chunk {
    this.#hasStep = true;
    return { type: "start-step" };
  }

  /** Results of tools belong to the step that called them. */
  #endStep(): Chunk[] {
    if (!this.#hasStep) return [];
    this.#hasStep = false;
    return [...this.#endPart(), { type: "finish-step" }];
  }

  #pushDelta(kind: "text" | "reasoning", delta: string): Chunk[] {
    if (delta === "") return [];
    const chunks: Chunk[] = [];
    if (this.#open?.kind !== kind) {
      chunks.push(...this.#endPart());
      this.#parts += 1;
      this.#open = { kind, id: `${kind}-${this.#parts}` };
      chunks.push({ type: `${kind}-start`, id: this.#open.id });
    }
    chunks.push({ type: `${kind}-delta`, id: this.#open.id, delta });
    return chunks;
  }

  #endPart(): Chunk[] {
    if (!this.#open) return [];
    const { kind, id } = this.#open;
    this.#open = undefined;
    return [{ type: `${kind}-end`, id }];
  }
}

/** The AI SDK's words for how an answer ends. */
function toEnd({ reason, error }: RunEnd): Chunk[] {
  if (reason === "cancelled") return [{ type: "abort", reason: error?.message ?? "cancelled" }];
  const failure = error ? [{ type: "error", errorText: `${error.code}: ${error.message}` }] : [];
  const reasons: Readonly<Record<RunEnd["reason"], string>> = {
    end_turn: "stop",
    clarification: "tool-calls",
    refusal: "content-filter",
    max_tokens: "length",
    budget: "other",
    error: "error",
    cancelled: "other",
  };
  return [...failure, { type: "finish", finishReason: reasons[reason] }];
}
