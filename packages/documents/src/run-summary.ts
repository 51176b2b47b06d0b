/** The totals of a response: tokens, counts and times (N4 to N7). */
import { readNotices } from "@sheaf/protocol";
import type {
  FinishReason,
  Notice,
  OwnEventBody,
  ResponseMetadata,
  RunEvent,
  Usage,
  Verification,
} from "@sheaf/protocol";

export interface RunSummary {
  /** Takes every event of the run. */
  push(event: RunEvent): void;
  /** Of the events so far, each once (N63). */
  readonly notices: readonly Notice[];
  /** The last result of each command that verifies the run; undefined: none ran (C168). */
  readonly verify: readonly Verification[] | undefined;
  toUsage(): Usage;
  /** For the end of the run, at `time` (milliseconds, as in the log). */
  toMetadata(time: number, finishReason: FinishReason): ResponseMetadata;
}

export function createRunSummary(): RunSummary {
  return new Summary();
}

/** Counts that add up; only some providers report the last three. */
const counts = [
  "promptTokens",
  "completionTokens",
  "reasoningTokens",
  "cachedPromptTokens",
  "cacheWriteTokens",
] as const satisfies readonly (keyof Usage)[];

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
  readonly #openApprovals = new Set<string>();
  #waitingSince = 0;
  #waiting: number | undefined;

  push(event: RunEvent): void {
    for (const notice of readNotices(event)) this.#notices.set(notice.message, notice);
    switch (event.type) {
      case "run_start":
        this.#start = event.time;
        return;
      case "turn_start":
        return this.#startTurn(event.turn);
      case "turn_end":
        this.#turnIsOpen = false;
        this.#context = event.usage.promptTokens + event.usage.completionTokens || this.#context;
        return this.#addUsage(event.usage);
      case "compaction":
        // A request for a summary is one of the model requests too (N5, N6).
        this.#otherRequests += 1;
        this.#context = event.tokens;
        return this.#addUsage(event.usage);
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

  get notices(): readonly Notice[] {
    return [...this.#notices.values()];
  }

  get verify(): readonly Verification[] | undefined {
    return this.#verified.size === 0 ? undefined : [...this.#verified.values()];
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
      ...(this.#notices.size > 0 && { notices: this.notices }),
      ...(this.verify && { verify: this.verify }),
    };
  }

  /** What subagents use and do counts for the response (N76). */
  #pushAgent(event: OwnEventBody, time: number): void {
    if (event.type === "turn_end" || event.type === "compaction") {
      this.#otherRequests += 1;
      this.#addUsage(event.usage);
    } else if (event.type === "tool_call_start") {
      this.#actions += 1;
      if (event.documentType === "tool_call") this.#toolCalls += 1;
    } else if (event.type === "approval_request") {
      this.#startWaiting(event.approvalId, time);
    } else if (event.type === "approval_resolved") {
      this.#endWaiting(event.approvalId, time);
    }
  }

  /** A repeated request has the same number (N5); what the first one used is then unknown (N6). */
  #startTurn(turn: number): void {
    this.#usage = this.toUsage();
    this.#turnIsOpen = true;
    this.#turns = Math.max(this.#turns, turn);
  }

  #addUsage(added: Usage): void {
    const sum = this.#usage;
    const usage: { -readonly [Name in keyof Usage]: Usage[Name] } = { ...sum };
    for (const name of counts) {
      const count = sum[name] ?? added[name];
      if (count !== undefined) usage[name] = (sum[name] ?? 0) + (added[name] ?? 0);
    }
    usage.totalTokens = usage.promptTokens + usage.completionTokens;
    if (added.estimated === true) usage.estimated = true;
    this.#usage = usage;
  }

  #startWaiting(approvalId: string, time: number): void {
    if (this.#openApprovals.size === 0) this.#waitingSince = time;
    this.#openApprovals.add(approvalId);
  }

  /** Time with several open approvals counts once (N7). */
  #endWaiting(approvalId: string, time: number): void {
    if (!this.#openApprovals.delete(approvalId) || this.#openApprovals.size > 0) return;
    this.#waiting = (this.#waiting ?? 0) + Math.max(0, time - this.#waitingSince);
  }
}
