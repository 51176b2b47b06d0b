/** What a response sums up to: tokens, counts and times (N4 to N7). */
import type { FinishReason, ResponseMetadata, RunEvent, ToolDocumentType, TurnEnd, Usage } from "@sheaf/protocol";

export interface RunSummary {
  /** Takes every event of the run. */
  push(event: RunEvent): void;
  toUsage(): Usage;
  /** At the end of the run, which is at `time`. */
  toMetadata(time: number, finishReason: FinishReason): ResponseMetadata;
}

export function createRunSummary(): RunSummary {
  return new Summary();
}

/** What adds up; the last three are told by some providers only. */
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
  #toolCalls = 0;
  #actions = 0;
  readonly #openApprovals = new Set<string>();
  #waitingSince = 0;
  #waiting: number | undefined;

  push(event: RunEvent): void {
    if (event.type === "run_start") this.#start = event.time;
    else if (event.type === "turn_start") this.#startTurn(event.turn);
    else if (event.type === "turn_end") this.#endTurn(event);
    else if (event.type === "compaction") this.#addRequest(event.usage);
    else if (event.type === "tool_call_start") this.#countCall(event.documentType);
    else if (event.type === "approval_request") this.#startWaiting(event.approvalId, event.time);
    else if (event.type === "approval_resolved") this.#endWaiting(event.approvalId, event.time);
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
      ...(this.#waiting === undefined ? {} : { waiting_ms: this.#waiting }),
      finishReason,
    };
  }

  /** A request that is made again has the same number (N5); what the one before has used is not known then (N6). */
  #startTurn(turn: number): void {
    this.#usage = this.toUsage();
    this.#turnIsOpen = true;
    this.#turns = Math.max(this.#turns, turn);
  }

  /** A request for a summary is one of the model requests too (N5, N6). */
  #addRequest(usage: Usage): void {
    this.#otherRequests += 1;
    this.#usage = addUsage(this.#usage, usage);
  }

  #endTurn({ usage }: TurnEnd): void {
    this.#turnIsOpen = false;
    this.#usage = addUsage(this.#usage, usage);
  }

  #countCall(documentType: ToolDocumentType): void {
    this.#actions += 1;
    if (documentType === "tool_call") this.#toolCalls += 1;
  }

  #startWaiting(approvalId: string, time: number): void {
    if (this.#openApprovals.size === 0) this.#waitingSince = time;
    this.#openApprovals.add(approvalId);
  }

  /** Approvals that are open at the same time count once (N7). */
  #endWaiting(approvalId: string, time: number): void {
    if (!this.#openApprovals.delete(approvalId) || this.#openApprovals.size > 0) return;
    this.#waiting = (this.#waiting ?? 0) + Math.max(0, time - this.#waitingSince);
  }
}

function addUsage(sum: Usage, added: Usage): Usage {
  const usage: { -readonly [Name in keyof Usage]: Usage[Name] } = { ...sum };
  for (const name of counts) {
    const count = sum[name] ?? added[name];
    if (count !== undefined) usage[name] = (sum[name] ?? 0) + (added[name] ?? 0);
  }
  usage.totalTokens = usage.promptTokens + usage.completionTokens;
  if (added.estimated === true) usage.estimated = true;
  return usage;
}
