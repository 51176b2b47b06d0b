/** The log as the AI SDK's UI message stream (X17), so that its front ends can show Sheaf. One chunk per line. */
import type { ApprovalRequest, RunEnd, RunEvent, RunEventBody, ToolResult } from "@sheaf/protocol";
import type { Projection } from "./projection.ts";

interface AiSdkUiOptions {
  /** True to include the model's reasoning (N14). */
  readonly includeThinking?: boolean;
  /** The known questions; undefined: the stream continues at a question, for clients that answer it elsewhere. */
  readonly questions?: UiQuestions | undefined;
}

/** Questions of a log whose stream ends at the next one (X23): by its protocol, the answer is another request. */
export interface UiQuestions {
  /** Ids of approvals that the client has, with all events up to the last of them. */
  readonly seen: ReadonlySet<string>;
  /** Ids of approvals that need no answer any more. */
  readonly resolved: ReadonlySet<string>;
}

interface AiSdkUiProjection extends Projection {
  /** True if the stream ended at a question. */
  readonly isPaused: boolean;
}

/** Header by which clients of the AI SDK recognize the stream. */
export const aiSdkUiHeaders = { "x-vercel-ai-ui-message-stream": "v1" } as const;

type Chunk = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Creates the stream. One turn is one step; all tools are dynamic, since a client need not know them. */
export function createAiSdkUiProjection({
  includeThinking = false,
  questions,
}: AiSdkUiOptions = {}): AiSdkUiProjection {
  const fold = new AiSdkUi(includeThinking, questions !== undefined);
  const unseen = new Set(questions?.seen);
  let isPaused = false;
  const select = function* (chunks: readonly Chunk[]): Generator<Chunk> {
    for (const chunk of chunks) {
      const approvalId = chunk["approvalId"] as string | undefined;
      const isUnseen = unseen.size === 0 && !isPaused;
      const isResolved = approvalId !== undefined && questions?.resolved.has(approvalId);
      const isOwnAnswer = chunk.type === "tool-approval-response" && questions?.seen.has(approvalId!);
      // A question that has its answer needs no button, and the AI SDK before version 7 fails at answers.
      if (isUnseen && !isResolved && !isOwnAnswer) yield chunk;
      if (chunk.type !== "tool-approval-request") continue;
      unseen.delete(approvalId!);
      if (!isUnseen || !questions || isResolved) continue;
      isPaused = true;
      yield { type: "finish-step" };
      yield { type: "finish", finishReason: "tool-calls" };
    }
  };
  return {
    push: (event) => [...select(fold.push(event))].map((chunk) => `${JSON.stringify(chunk)}\n`),
    get isPaused() {
      return isPaused;
    },
  };
}

/** A call that has not ended, in the order of the model. */
interface OpenCall {
  readonly callId: string;
  /** Chunks that wait until the call is the first one. */
  chunks: Chunk[];
  hasEnded: boolean;
}

class AiSdkUi {
  readonly #includeThinking: boolean;
  /** True to send one open call at a time: a client answers once each call that it knows has an end or an answer. */
  readonly #holdsBack: boolean;
  readonly #openCalls: OpenCall[] = [];
  readonly #toolNames = new Map<string, string>();
  readonly #approvals = new Map<string, ApprovalRequest>();
  /** Calls that a person has rejected. */
  readonly #denied = new Set<string>();
  /** The part of text or reasoning that is open. */
  #open: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined;
  #parts = 0;
  #hasStep = false;

  constructor(includeThinking: boolean, holdsBack: boolean) {
    this.#includeThinking = includeThinking;
    this.#holdsBack = holdsBack;
  }

  push(event: RunEvent): Chunk[] {
    switch (event.type) {
      case "run_start": {
        const { responseId, conversationId, model, mode } = event;
        return [{ type: "start", messageId: responseId, messageMetadata: { conversationId, model, mode } }];
      }
      case "turn_start":
        return [...this.#release(true), ...this.#endStep(), this.#startStep()];
      case "text_delta":
        return this.#pushDelta("text", event.text);
      case "reasoning_delta":
        return this.#includeThinking ? this.#pushDelta("reasoning", event.text) : [];
      case "turn_end":
        return this.#endPart();
      case "run_end":
        return [...this.#release(true), ...this.#endStep(), ...toEnd(event)];
      case "approval_resolved":
        return this.#pushCall(this.#approvals.get(event.approvalId)?.callId, event);
      default:
        return "callId" in event ? this.#pushCall(event.callId, event) : [];
    }
  }

  #pushCall(callId: string | undefined, event: RunEventBody): Chunk[] {
    if (callId === undefined) return [];
    const chunks = this.#toChunks(event);
    if (!this.#holdsBack) return chunks;
    if (event.type === "tool_call_start") this.#openCalls.push({ callId, chunks: [], hasEnded: false });
    const call = this.#openCalls.find((open) => open.callId === callId);
    if (!call) return chunks;
    call.chunks.push(...chunks);
    if (event.type === "tool_result") call.hasEnded = true;
    return this.#release(false);
  }

  /** Returns the chunks of the first open call, and of those after it as calls end. */
  #release(isAll: boolean): Chunk[] {
    const released: Chunk[] = [];
    for (let call = this.#openCalls[0]; call; call = this.#openCalls[0]) {
      released.push(...call.chunks);
      call.chunks = [];
      if (!call.hasEnded && !isAll) break;
      this.#openCalls.shift();
    }
    return released;
  }

  #toChunks(event: RunEventBody): Chunk[] {
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

  /** Ends the step. Results of tools belong to the step that called them. */
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

/** Returns the AI SDK's words for the end of an answer. */
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
