/** Ports that play a cassette back into a run, and compare what the run asks for (X11). */
import type { AnswerCheck } from "../run/final-answer.ts";
import type { Quote, QuoteFinder } from "../run/model-turn.ts";
import type { ApprovalDecision, Approver } from "../tools/approval.ts";
import { toCancelledOutcome } from "../tools/failure.ts";
import type { ToolAccess } from "@sheaf/permissions/decision";
import type { Hooks } from "../tools/hooks/hooks.ts";
import { agentTraits } from "../tools/other-tools.ts";
import type { ToolBox, ToolContext, ToolInvocation, ToolOutcome } from "../tools/tool.ts";
import type { CassetteHeader, GivenRecord } from "./cassette.ts";
import { formatCall, type Tape } from "./tape.ts";

/** A port, and the receiver that feeds it from the tape. */
export interface ReplayPort<Port, Given extends GivenRecord["type"]> {
  readonly port: Port;
  /** False: nothing waits for it yet. */
  receive(record: Extract<GivenRecord, { type: Given }>): boolean;
  /** Settles everything that waits. */
  release(): void;
}

type ToolGiven = "tool_output" | "agent_events" | "tool_question" | "tool_question_end" | "tool_outcome" | "tool_error";

/** A call that has no outcome yet. */
interface OpenCall
  extends PromiseWithResolvers<ToolOutcome>, Pick<ToolContext, "emitOutput" | "agentPort" | "askPerson"> {
  /** What withdraws its questions. */
  readonly questions: AbortController[];
}

/** Tools that return their recorded output and outcomes. Nothing runs. */
export function createReplayTools(tape: Tape): ReplayPort<ToolBox, ToolGiven> {
  const access = new Map<string, ToolAccess>();
  const open = new Map<string, OpenCall>();
  const ended = new Set<string>();

  const port: ToolBox = {
    definitions: [],
    accessOf({ toolName }) {
      const known = access.get(toolName);
      if (known && toolName !== agentTraits.name) return known;
      const came = `the run asks what ${toolName} does`;
      const record = tape.takeAsked("tool_access", () => came);
      if (record && record.toolName !== toolName) tape.failAtLast(came);
      if (record) access.set(toolName, record.access);
      return record?.access ?? "read";
    },
    checkArguments: async () => undefined,
    async review({ callId, toolName }) {
      const came = `the run asks whether ${toolName} ${callId} may run`;
      const record = tape.takeAsked("tool_review", () => came);
      if (record && record.callId !== callId) tape.failAtLast(came);
      return tape.failure ? undefined : record?.question;
    },
    async execute(call, { emitOutput, agentPort, askPerson }) {
      const came = (): string => `the run makes ${formatCall(call)}`;
      const record = tape.takeAsked("tool_call", came);
      if (record && !isSameCall(record, call)) tape.failAtLast(came());
      if (tape.failure) return toCancelledOutcome();
      const waiting = Promise.withResolvers<ToolOutcome>();
      open.set(call.callId, { ...waiting, emitOutput, agentPort, askPerson, questions: [] });
      return waiting.promise;
    },
    async settle() {
      // Nothing runs.
    },
  };
  return {
    port,
    receive(record) {
      const call = open.get(record.callId);
      // Output of a tool after its outcome is ignored.
      if (!call) return ended.has(record.callId);
      if (record.type === "tool_output") {
        call.emitOutput(record.stream, record.delta);
        return true;
      }
      if (record.type === "agent_events") {
        for (const { type } of record.events) {
          const turns = type === "turn_start" ? 1 : 0;
          call.agentPort?.take({ turns, toolCalls: type === "tool_call_arguments" ? 1 : 0 });
        }
        // Stored, it counts as any other event of the log.
        call.agentPort?.emit(record.events).catch(() => undefined);
        return true;
      }
      if (record.type === "tool_question") {
        const withdrawn = (call.questions[record.index] = new AbortController());
        // The run asks for the next records as it asks the person: this one must come after it.
        queueMicrotask(() => {
          call.askPerson?.(record.question, async () => undefined, withdrawn.signal).catch(() => undefined);
        });
        return true;
      }
      if (record.type === "tool_question_end") {
        call.questions[record.index]?.abort();
        return true;
      }
      open.delete(record.callId);
      ended.add(record.callId);
      if (record.type === "tool_outcome") call.resolve(record.outcome);
      else call.reject(new Error(record.message));
      return true;
    },
    release() {
      for (const { resolve } of open.values()) resolve(toCancelledOutcome());
    },
  };
}

function isSameCall(recorded: ToolInvocation, call: ToolInvocation): boolean {
  const toText = ({ callId, toolName, arguments: args, rawArguments }: ToolInvocation): string =>
    JSON.stringify([callId, toolName, args, rawArguments]);
  return toText(recorded) === toText(call);
}

type QuotePlace = Awaited<ReturnType<QuoteFinder>>;

/** The recorded checks of quoted lines. */
export function createReplayQuotes({ redacted }: CassetteHeader, tape: Tape): ReplayPort<QuoteFinder, "quote_check"> {
  let waiting: { readonly quote: Quote; readonly resolve: (found: QuotePlace) => void } | undefined;
  const formatQuote = ({ filePath, startLine, endLine }: Omit<Quote, "content">): string =>
    `${redacted ? "" : filePath}:${startLine}-${endLine}`;

  return {
    async port(quote) {
      if (tape.failure) return undefined;
      const { promise, resolve } = Promise.withResolvers<QuotePlace>();
      waiting = { quote, resolve };
      if (tape.isNext(["quote_check", "abort"])) tape.schedule();
      else tape.failAtNext(`the run checks the quote ${formatQuote(quote)}`);
      return promise;
    },
    receive(record) {
      if (!waiting) return false;
      const { quote, resolve } = waiting;
      if (formatQuote(quote) !== formatQuote(record)) {
        tape.failAtNext(`the run checks the quote ${formatQuote(quote)}`);
        return false;
      }
      waiting = undefined;
      const { startLine, endLine } = quote;
      resolve(record.verified ? (record.found ?? { startLine, endLine }) : undefined);
      return true;
    },
    release: () => waiting?.resolve(undefined),
  };
}

/** The recorded answers of a person; `port` is undefined if nobody could be asked. */
export function createReplayApprover(
  { approvalExpiryMs }: CassetteHeader,
  tape: Tape,
): ReplayPort<Approver | undefined, "approval_answer"> {
  const open = new Map<string, (answer: ApprovalDecision) => void>();
  const expiresAfterMs = approvalExpiryMs ?? 0;
  const port: Approver = {
    expiresAfterMs,
    ask({ approvalId }) {
      if (tape.failure) return Promise.reject(tape.failure);
      const { promise, resolve } = Promise.withResolvers<ApprovalDecision>();
      open.set(approvalId, resolve);
      tape.schedule();
      return promise;
    },
  };
  return {
    port: approvalExpiryMs === undefined ? undefined : port,
    receive({ approvalId, answer }) {
      const resolve = open.get(approvalId);
      open.delete(approvalId);
      resolve?.(answer);
      return resolve !== undefined;
    },
    release() {
      for (const resolve of open.values()) resolve({ optionId: "", by: "replay" });
    },
  };
}

/** The recorded checks of the answer against the schema. */
export function createReplayAnswers(
  { checksAnswer }: CassetteHeader,
  tape: Tape,
  signal: AbortSignal,
): AnswerCheck | undefined {
  if (!checksAnswer) return undefined;
  return async () => {
    const ended = { ok: false, problem: "the replay ended" } as const;
    if (tape.isNext(["abort"])) tape.pump();
    if (signal.aborted) return ended;
    return tape.takeAsked("answer_check", () => "the run checks the answer")?.checked ?? ended;
  };
}

/** What the recorded hooks did; undefined if there were none. */
export function createReplayHooks({ hooks }: CassetteHeader, tape: Tape, signal: AbortSignal): Hooks | undefined {
  if (!hooks) return undefined;
  return {
    async run({ event }) {
      if (tape.isNext(["abort"])) tape.pump();
      if (signal.aborted) return [];
      const record = tape.takeAsked("hook_run", () => `the run comes to its ${event} hooks`);
      return record?.results ?? [];
    },
    leaveRun: () => undefined,
    end: async () => undefined,
  };
}
