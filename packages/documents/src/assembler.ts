/** Assembles documents: run events in, stream events out (N1 to N55). */
import {
  type AgentEvent,
  type ApprovalRequest,
  type ApprovalResolved,
  type ChatResponse,
  createReducer,
  type FinishReason,
  type OwnEventBody,
  type PartialMetadata,
  protocolVersion,
  type RunEnd,
  type RunError,
  type RunEvent,
  type RunStart,
  type StreamEvent,
  toSnapshot,
  type UserMessage,
} from "@sheaf/protocol";
import { writeErrorDocument } from "./error-document.ts";
import { toPayloadPieces } from "./payload-limits.ts";
import { writeHookReport } from "./hook-report.ts";
import { createRunSummary, type RunSummary } from "./run-summary.ts";
import { createAgentWriter, createStreamWriter } from "./stream-writer.ts";
import { createTextDocuments, type TextDocuments } from "./text-documents.ts";
import { createToolDocuments, type ToolDocuments } from "./tool-documents.ts";

export interface AssemblerOptions {
  /** Milliseconds between heartbeats, for the client (X5). Default: 15,000. */
  readonly heartbeatMs?: number;
  /** Address of the event schema, for the client (X10). */
  readonly schema?: string;
  /** True to send `reasoning_delta` (N14). It does not change the ids of other events. */
  readonly includeReasoning?: boolean;
}

export interface Assembler {
  /**
   * Takes the next event of the log and returns the stream events that it makes, with ids from 1 (X1). The same log
   * always makes the same stream. After `run_end` it returns no events.
   */
  push(event: RunEvent): StreamEvent[];
}

/** Starts an assembler for one response. The cost of a delta does not depend on the length of the answer. */
export function createAssembler(options: AssemblerOptions = {}): Assembler {
  return new RunAssembler(options);
}

/** Returns the complete stream of a log. */
export function assemble(events: Iterable<RunEvent>, options: AssemblerOptions = {}): StreamEvent[] {
  const assembler = createAssembler(options);
  const stream: StreamEvent[] = [];
  for (const event of events) stream.push(...assembler.push(event));
  return stream;
}

/** Returns the response of a log (N53). A log without an end gives a snapshot with status `streaming` (N3). */
export function toResponse(events: Iterable<RunEvent>, options: AssemblerOptions = {}): ChatResponse {
  const assembler = createAssembler(options);
  const reducer = createReducer();
  for (const event of events) {
    for (const streamEvent of assembler.push(event)) reducer.push(streamEvent);
  }
  return toSnapshot(reducer);
}

class RunAssembler implements Assembler {
  readonly #options: AssemblerOptions;
  readonly #writer = createStreamWriter();
  readonly #summary = createRunSummary();
  #text: TextDocuments;
  #tools: ToolDocuments;
  /** Open calls of subagents, by the id of the subagent's call. */
  readonly #agents = new Map<string, ToolDocuments>();
  /** Usage of each subagent, by the same id. */
  readonly #agentTotals = new Map<string, { readonly summary: RunSummary; model?: string }>();
  /** Calls whose subagents have written text in this turn. */
  readonly #speaking = new Set<string>();
  #workspace = "";
  #modelName = "";
  #responseId = "";
  #ended = false;

  constructor(options: AssemblerOptions) {
    this.#options = options;
    this.#text = createTextDocuments(this.#writer, { mode: "agent", workspace: "" });
    this.#tools = createToolDocuments(this.#writer, "");
  }

  push(event: RunEvent): StreamEvent[] {
    if (this.#ended) return [];
    this.#summary.push(event);
    this.#take(event);
    return this.#writer.take();
  }

  #take(event: RunEvent): void {
    switch (event.type) {
      case "text_delta":
        return this.#text.push(event.text);
      case "tool_call_arguments_delta":
        return this.#tools.pushArguments(event);
      case "tool_output_delta":
        return this.#tools.pushOutput(event);
      case "reasoning_delta":
        return this.#writeReasoning(event.text);
      case "provider_data":
      case "compaction":
        return;
      case "hook_result":
        return writeHookReport(this.#writer, event, this.#tools);
      case "user_message":
        return this.#writeMessage(event);
      case "provider_wait":
        return this.#writer.write("provider_wait", { code: event.code, until: event.until, tries: event.tries });
      case "run_start":
        return this.#startRun(event, event.time);
      case "turn_start":
        return this.#text.startTurn();
      case "turn_end":
        return this.#text.end();
      case "reference_check":
        return this.#text.checkReference(event);
      case "tool_call_start":
        this.#text.end();
        return this.#tools.startCall(event);
      case "tool_call_arguments":
        return this.#tools.setArguments(event, event.time);
      case "tool_result":
        this.#tools.endCall(event, this.#endAgent(event.callId, event.time));
        return;
      case "agent_event":
        return this.#takeAgent(event, event.time);
      case "approval_request":
        return this.#writeApprovalRequest(event, this.#tools);
      case "approval_resolved":
        return this.#writeApprovalResolved(event);
      case "run_end":
        return this.#endRun(event, event.time);
    }
  }

  /** Writes the start of the response (N49). */
  #startRun(run: RunStart, time: number): void {
    const { responseId: id, conversationId, model, mode, workspace } = run;
    this.#responseId = id;
    this.#workspace = workspace;
    this.#modelName = run.modelName;
    this.#text = createTextDocuments(this.#writer, { mode, workspace });
    this.#tools = createToolDocuments(this.#writer, workspace);
    const { heartbeatMs = 15_000, schema = "/v1/schema/events.json" } = this.#options;
    this.#writer.write("response_start", {
      id,
      conversationId,
      model,
      mode,
      created: new Date(time).toISOString().replace(".000Z", "Z"),
      status: "streaming",
      protocol: { version: protocolVersion, schema },
      heartbeat_ms: heartbeatMs,
    });
  }

  /** Writes the user's message (C240). */
  #writeMessage({ message, messageId, attachments }: UserMessage): void {
    this.#writer.write("user_message", {
      message,
      ...(messageId !== undefined && { messageId }),
      ...(attachments && {
        attachments: attachments.map(({ name, mediaType, bytes, sha256 }) => ({ name, mediaType, bytes, sha256 })),
      }),
      after: this.#writer.lastSequence(),
    });
  }

  #writeReasoning(text: string): void {
    for (const delta of toPayloadPieces(text)) {
      if (this.#options.includeReasoning === true) this.#writer.write("reasoning_delta", { delta });
      else this.#writer.skip();
    }
  }

  /** Writes a request for approval (X8). */
  #writeApprovalRequest(request: ApprovalRequest, tools: ToolDocuments): void {
    const documentId = tools.startDocument(request.callId);
    if (documentId === undefined) return;
    const { approvalId, title, description, reason, agent, subject, options, expiresAt, answeredIn } = request;
    const why = { ...(reason && { reason }), ...(agent !== undefined && { agent }) };
    const asked = { title, description, ...why, subject, options, expiresAt, ...(answeredIn && { answeredIn }) };
    const data = { approvalId, documentId, ...asked };
    this.#writer.write("approval_request", data);
  }

  #writeApprovalResolved({ approvalId, optionId, by }: ApprovalResolved): void {
    this.#writer.write("approval_resolved", { approvalId, optionId, by });
  }

  /** Makes documents with the subagent's name of its calls, and live output of its text (N75, N76). */
  #takeAgent({ callId, event }: AgentEvent, time: number): void {
    const totals = this.#agentTotals.get(callId) ?? { summary: createRunSummary() };
    this.#agentTotals.set(callId, totals);
    totals.summary.push({ ...event, seq: 0, time });
    if (event.type === "run_start" && event.modelName !== this.#modelName) totals.model = event.modelName;
    switch (event.type) {
      case "text_delta":
        this.#speaking.add(callId);
        return this.#writeAgentText(callId, event.text);
      case "turn_end":
        if (this.#speaking.delete(callId)) this.#writeAgentText(callId, "\n\n");
        return;
      case "approval_resolved":
        return this.#writeApprovalResolved(event);
      case "provider_wait":
        return this.#take({ ...event, seq: 0, time });
      case "run_end":
        this.#agents.get(callId)?.end(time);
        this.#agents.delete(callId);
        return;
      default:
        return this.#takeAgentCall(this.#openAgent(callId), event, time);
    }
  }

  #writeAgentText(callId: string, delta: string): void {
    this.#tools.pushOutput({ type: "tool_output_delta", callId, stream: "stdout", delta });
  }

  #takeAgentCall(tools: ToolDocuments, event: OwnEventBody, time: number): void {
    switch (event.type) {
      case "tool_call_start":
        return tools.startCall(event);
      case "tool_call_arguments_delta":
        return tools.pushArguments(event);
      case "tool_call_arguments":
        return tools.setArguments(event, time);
      case "tool_output_delta":
        return tools.pushOutput(event);
      case "tool_result":
        return tools.endCall(event);
      case "approval_request":
        return this.#writeApprovalRequest(event, tools);
      case "hook_result":
        return writeHookReport(this.#writer, event, tools);
      default:
    }
  }

  /** Returns the usage of a call's subagent, for the call's document; empty without a subagent (N107). */
  #endAgent(callId: string, time: number): PartialMetadata {
    const totals = this.#agentTotals.get(callId);
    if (totals === undefined) return {};
    this.#agentTotals.delete(callId);
    const { summary, ...named } = totals;
    const { turnCount, actionCount } = summary.toMetadata(time, "end_turn");
    return { subagent: { ...named, turnCount, actionCount, usage: summary.toUsage() } };
  }

  #openAgent(callId: string): ToolDocuments {
    const open = this.#agents.get(callId);
    if (open) return open;
    const writer = createAgentWriter(this.#writer, { id: callId, name: this.#tools.findAgentName(callId) });
    const tools = createToolDocuments(writer, this.#workspace);
    this.#agents.set(callId, tools);
    return tools;
  }

  /** Writes the end of the response (N2, N50, N52). */
  #endRun(end: RunEnd, time: number): void {
    this.#ended = true;
    this.#text.end();
    for (const tools of this.#agents.values()) tools.end(time);
    this.#tools.end(time);
    const error = toRunError(end);
    if (error !== undefined) {
      const { code: errorCode, message, source, details } = error;
      writeErrorDocument(this.#writer, message, { errorCode, source, details });
    }
    this.#writer.write("done", {
      id: this.#responseId,
      status: error === undefined ? "completed" : "error",
      usage: this.#summary.toUsage(),
      metadata: this.#summary.toMetadata(time, end.reason),
    });
  }
}

/** Codes for runs that failed without an error (C20). The other reasons are not failures (N2). */
const fallbackCodes: Readonly<Partial<Record<FinishReason, string>>> = {
  refusal: "REFUSED",
  cancelled: "CANCELLED",
  max_tokens: "MAX_TOKENS",
  budget: "BUDGET_TURNS",
  error: "INTERNAL",
};

/** Returns the error of the run; undefined if the agent ended its turn by itself (N2). */
function toRunError({ reason, error }: RunEnd): Omit<RunError, "retryable"> | undefined {
  const code = fallbackCodes[reason];
  if (error !== undefined || code === undefined) return error;
  const source = reason === "cancelled" ? "user" : "agent";
  return { code, message: `The run ended early: ${reason}.`, source, details: "" };
}
