/** Sums up a response and its refusals, for all kinds of results (N4 to N7, C166). */
import { readNotices, toServerNotices } from "@sheaf/protocol";
import type {
  FinishReason,
  Notice,
  OwnEventBody,
  Refusal,
  ResponseMetadata,
  RunEvent,
  TokenPrice,
  ToolResult,
  Usage,
  Verification,
} from "@sheaf/protocol";
import { addUsage, findPrice, toCostUsd, toEndedRequest } from "@sheaf/protocol/cost";

export interface RunSummary {
  /** Takes every event of the run. */
  push(event: RunEvent): void;
  toUsage(): Usage;
  /** Returns the facts known so far. */
  toFacts(): RunFacts;
  /** Returns the metadata for the end of the run. `time` is in milliseconds, as in the log. */
  toMetadata(time: number, finishReason: FinishReason): ResponseMetadata;
}

/** Facts that are the same in every result, even of a failure (C166). */
export interface RunFacts {
  /** Number of model requests that ended, with the subagents'. */
  readonly requests: number;
  /** Time spent waiting for the model. Milliseconds. */
  readonly modelMs: number;
  /** False if requests ended, but no provider reported their tokens. */
  readonly isCounted: boolean;
  /** Fields of every result. Fields without a value are absent. */
  readonly told: Pick<ResponseMetadata, "sandbox" | "refusals" | "notices" | "costUsd" | "verify">;
}

/** Error codes of calls that Sheaf, the user or the system forbade. */
const refusingCodes: ReadonlySet<string> = new Set([
  "PERMISSION_DENIED",
  "PROTECTED_PATH",
  "PATH_OUTSIDE_WORKSPACE",
  "COMMAND_NOT_STARTED",
]);

export function createRunSummary(): RunSummary {
  return new Summary();
}

class Summary implements RunSummary {
  #start = 0;
  #turns = 0;
  #otherRequests = 0;
  #turnIsOpen = false;
  #usage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  #context = 0;
  #toolCalls = 0;
  #actions = 0;
  readonly #notices = new Map<string, Notice>();
  readonly #verified = new Map<string, Verification>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #toolNames = new Map<string, string>();
  #sandbox: string | undefined;
  #price: TokenPrice | undefined;
  #requests = 0;
  #modelMs = 0;
  #uncounted = 0;
  /** Cost so far; undefined once a request has no price. */
  #cost: number | undefined = 0;
  readonly #openApprovals = new Set<string>();
  #waitingSince = 0;
  #waiting: number | undefined;

  push(event: RunEvent): void {
    const own = event.type === "agent_event" ? event.event : event;
    for (const notice of readNotices(own)) this.#notices.set(notice.message, notice);
    this.#pushRequest(event);
    this.#pushCall(own);
    switch (event.type) {
      case "run_start":
        this.#start = event.time;
        this.#sandbox = event.sandbox;
        for (const notice of toServerNotices(event)) this.#notices.set(notice.message, notice);
        this.#price = event.price;
        return;
      case "turn_start":
        return this.#startTurn(event.turn);
      case "turn_end":
        this.#turnIsOpen = false;
        this.#context = event.usage.promptTokens + event.usage.completionTokens || this.#context;
        this.#usage = addUsage(this.#usage, event.usage);
        return;
      case "compaction":
        // A request for a summary is a model request as well (N5, N6).
        this.#otherRequests += 1;
        this.#context = event.tokens;
        this.#usage = addUsage(this.#usage, event.usage);
        return;
      case "agent_event":
        return this.#pushAgent(event.event, event.time);
      case "tool_call_start":
        this.#actions += 1;
        if (event.documentType === "tool_call") this.#toolCalls += 1;
        return;
      case "hook_result": {
        const { command, exitCode, decision } = event;
        if (event.event !== "Verify") return;
        const rounds = (this.#verified.get(command)?.rounds ?? -1) + 1;
        this.#verified.set(command, { command, passed: !decision, exitCode, rounds });
        return;
      }
      case "approval_request":
        return this.#startWaiting(event.approvalId, event.time);
      case "approval_resolved":
        return this.#endWaiting(event.approvalId, event.time);
      default:
        return;
    }
  }

  toFacts(): RunFacts {
    const isCounted = this.#uncounted === 0 || this.#usage.totalTokens > 0;
    const hasCost = isCounted && (this.#requests > 0 || this.#price !== undefined);
    const notices = [...this.#notices.values(), ...this.#toUsageNotices()];
    return {
      requests: this.#requests,
      modelMs: this.#modelMs,
      isCounted,
      told: {
        ...(hasCost && this.#cost !== undefined && { costUsd: this.#cost }),
        ...(this.#sandbox !== undefined && { sandbox: this.#sandbox }),
        ...(this.#refusals.size > 0 && { refusals: [...this.#refusals.values()] }),
        ...(notices.length > 0 && { notices }),
        ...(this.#verified.size > 0 && { verify: [...this.#verified.values()] }),
      },
    };
  }

  toUsage(): Usage {
    return this.#turnIsOpen ? { ...this.#usage, estimated: true } : this.#usage;
  }

  toMetadata(time: number, finishReason: FinishReason): ResponseMetadata {
    for (const approvalId of this.#openApprovals) this.#endWaiting(approvalId, time);
    return {
      duration_ms: Math.max(0, time - this.#start),
      toolCallCount: this.#toolCalls,
      turnCount: this.#turns + this.#otherRequests,
      actionCount: this.#actions,
      ...(this.#context > 0 && { contextTokensUsed: this.#context }),
      ...(this.#waiting !== undefined && { waiting_ms: this.#waiting }),
      finishReason,
      ...this.toFacts().told,
    };
  }

  #pushRequest(event: RunEvent): void {
    const ended = toEndedRequest(event);
    if (!ended) return;
    this.#requests += 1;
    this.#modelMs += ended.modelMs;
    const price = findPrice(ended, this.#price);
    this.#cost = price && this.#cost !== undefined ? this.#cost + toCostUsd(ended.usage, price) : undefined;
    // A request that failed or broke off cannot report tokens.
    const isBroken = ended.type === "turn_end" && ["error", "unknown"].includes(ended.finishReason);
    if (ended.usage.estimated && ended.usage.totalTokens === 0 && !isBroken) this.#uncounted += 1;
  }

  #toUsageNotices(): Notice[] {
    if (this.#uncounted === 0) return [];
    const message = `the provider did not report the tokens of ${this.#uncounted} of ${this.#requests} answers, so usage and cost lack them`;
    return [{ code: "USAGE_UNKNOWN", message }];
  }

  #pushCall(event: OwnEventBody): void {
    if (event.type === "tool_call_start") this.#toolNames.set(event.callId, event.toolName);
    if (event.type !== "tool_result") return;
    const tool = this.#toolNames.get(event.callId) ?? "";
    this.#toolNames.delete(event.callId);
    for (const refusal of listRefusals(tool, event)) this.#refusals.set(JSON.stringify(refusal), refusal);
  }

  /** Adds the usage and the calls of subagents to the response's (N76). */
  #pushAgent(event: OwnEventBody, time: number): void {
    if (event.type === "turn_end" || event.type === "compaction") {
      this.#otherRequests += 1;
      this.#usage = addUsage(this.#usage, event.usage);
    } else if (event.type === "tool_call_start") {
      this.#actions += 1;
      if (event.documentType === "tool_call") this.#toolCalls += 1;
    } else if (event.type === "approval_request") {
      this.#startWaiting(event.approvalId, time);
    } else if (event.type === "approval_resolved") {
      this.#endWaiting(event.approvalId, time);
    }
  }

  /** Starts a turn. A repeated request has the same number (N5); the usage of the first one is unknown (N6). */
  #startTurn(turn: number): void {
    this.#usage = this.toUsage();
    this.#turnIsOpen = true;
    this.#turns = Math.max(this.#turns, turn);
  }

  #startWaiting(approvalId: string, time: number): void {
    if (this.#openApprovals.size === 0) this.#waitingSince = time;
    this.#openApprovals.add(approvalId);
  }

  /** Ends one approval. Time with several open approvals is added once (N7). */
  #endWaiting(approvalId: string, time: number): void {
    if (!this.#openApprovals.delete(approvalId) || this.#openApprovals.size > 0) return;
    this.#waiting = (this.#waiting ?? 0) + Math.max(0, time - this.#waitingSince);
  }
}

/** Lists the refusals of a call: the whole call, parts of a command, or the denied places of a search. */
function listRefusals(tool: string, { status, error, effect, denied = 0 }: ToolResult): Refusal[] {
  if (error && (status === "rejected" || (status === "error" && refusingCodes.has(error.code)))) {
    // Details of a refusal are always the rule.
    return [{ tool, reason: error.message, ...(status === "rejected" && error.details && { rule: error.details }) }];
  }
  const hidden = `rules deny reading ${denied} ${denied === 1 ? "place" : "places"}, which the result leaves out`;
  const reasons = effect?.kind === "command" ? (effect.refusals ?? []) : denied > 0 ? [hidden] : [];
  return reasons.map((reason) => ({ tool, reason }));
}
