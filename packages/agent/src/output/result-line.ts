/** The last line of a run: the object of `json`, and the `result` line of `stream-json` (C3, C10, C22). */
import type {
  CliQuestion,
  CliUsage,
  PlanEffect,
  QuestionEffect,
  ResultLine,
  ResultSuccess,
  RunEvent,
  RunStart,
  Usage,
} from "@sheaf/protocol";
import { createRunSummary } from "@sheaf/documents/run-summary";
import { createGrowingText } from "@sheaf/base/growing-text";

/** Collects the content of the last line. */
export interface ResultCollector {
  push(event: RunEvent): void;
  /** All text of the answer so far, joined (C7). */
  readonly text: string;
  /** Present after `run_end`. */
  readonly result: ResultLine | undefined;
}

/** Returns the UUID after `conv_` or `chat_`: `session_id` and `request_id`. */
export function toBareId(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

/** Converts questions to the shape of the command line (C9). */
export function toCliQuestions(effect: QuestionEffect): CliQuestion[] {
  return effect.questions.map(({ id, text, options, allowMultiple }) => ({
    id,
    prompt: text,
    options,
    allowMultiple: allowMultiple ?? false,
  }));
}

export function toCliUsage(usage: Usage): CliUsage {
  const { promptTokens, completionTokens, cachedPromptTokens = 0, cacheWriteTokens = 0, estimated } = usage;
  return {
    inputTokens: promptTokens,
    outputTokens: completionTokens,
    cacheReadTokens: cachedPromptTokens,
    cacheWriteTokens,
    ...(estimated && { estimated }),
  };
}

function toCliPlan({ title, overview, plan, todos }: PlanEffect): NonNullable<ResultSuccess["plan"]> {
  return { title, overview, plan, todos };
}

export function createResultCollector(): ResultCollector {
  let start: (RunStart & { time: number }) | undefined;
  let question: QuestionEffect | undefined;
  let plan: PlanEffect | undefined;
  const summary = createRunSummary();
  const words = createGrowingText();
  const collector = {
    get text() {
      return words.text;
    },
    result: undefined as ResultLine | undefined,
    push(event: RunEvent): void {
      summary.push(event);
      switch (event.type) {
        case "run_start":
          start = event;
          return;
        case "text_delta":
          words.push(event.text);
          return;
        case "tool_result":
          if (event.status === "success" && event.effect?.kind === "question") question = event.effect;
          if (event.status === "success" && event.effect?.kind === "plan") plan = event.effect;
          return;
        case "run_end":
          if (start) collector.result = toResult(start, event);
          return;
        default:
      }
    },
  };

  function toResult(run: RunStart & { time: number }, end: Extract<RunEvent, { type: "run_end" }>): ResultLine {
    const duration = end.time - run.time;
    const head = { duration_ms: duration, duration_api_ms: duration };
    const tail = {
      result: collector.text,
      session_id: toBareId(run.conversationId),
      request_id: toBareId(run.responseId),
    };
    const { requests, modelMs, isCounted, told } = summary.toFacts();
    const { costUsd, sandbox = run.sandbox, ...others } = told;
    const counted = isCounted && { usage: toCliUsage(summary.toUsage()) };
    const facts = {
      duration_model_ms: modelMs,
      num_turns: requests,
      ...(costUsd !== undefined && { total_cost_usd: costUsd }),
      sandbox,
      ...(run.labels && { labels: run.labels }),
      ...others,
    };
    const output = "output" in end && { structured_output: end.output };
    if (end.error) {
      const { code, message, retryable, resetsAt } = end.error;
      const error = { code, message, retryable, ...(resetsAt !== undefined && { resets_at: resetsAt }) };
      return {
        type: "result",
        subtype: "error",
        ...head,
        is_error: true,
        ...tail,
        error,
        ...counted,
        ...facts,
        ...output,
      };
    }
    if (end.reason === "clarification") {
      const questions = question ? toCliQuestions(question) : [];
      return {
        type: "result",
        subtype: "needs_input",
        ...head,
        is_error: false,
        ...tail,
        questions,
        ...counted,
        ...facts,
      };
    }
    return {
      type: "result",
      subtype: "success",
      ...head,
      is_error: false,
      ...tail,
      ...counted,
      finish_reason: end.reason,
      ...facts,
      ...output,
      ...(run.mode === "plan" && plan && { plan: toCliPlan(plan) }),
    };
  }

  return collector;
}
