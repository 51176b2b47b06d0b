/** Translates the effort of a model's thinking into each protocol's words (C36). */
import type { JSONObject, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Effort, ModelEvent, Notice } from "@sheaf/protocol";
import { toJsonObject } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import type { ModelRequest } from "../provider.ts";
import type { RequestWriterName } from "./provider-data.ts";

type Asked = Pick<ModelRequest, "effort" | "includesReasoning">;

/** The names of efforts in the packages' interface. Each package knows the names that its models have. */
const levels = { off: "none", low: "low", medium: "medium", high: "high", max: "max" } as const satisfies Record<
  Effort,
  LanguageModelV4CallOptions["reasoning"]
>;

/** Matches models of Claude with a budget of tokens. All later ones follow the effort instead. */
const budgetClaude = /claude-(?:instant|v?[23]|(?:opus|sonnet|haiku)-4(?:-[0135]\b|-\d{8}|@|$))/;

/** Matches models of Claude that always think, and show their thinking only on request. */
const thinkingClaude = /claude-(?:fable|(?:opus|sonnet)-5-5)/;

/**
 * Matches those models of Claude that refuse a request if its start has changed since they thought: after a summary, in
 * another mode, or without the note before the last turn. They can drop such thoughts instead.
 */
const bindingClaude = /claude-(?:fable-5-[12]|(?:opus|sonnet)-5-5)/;

/** Returns the options for effort and for summaries of the thinking. */
export function toEffortOptions(
  { effort, includesReasoning = false }: Asked,
  writer: RequestWriterName,
  modelId: string,
): Pick<LanguageModelV4CallOptions, "reasoning" | "providerOptions"> {
  // The effort "max" reserves 95 % of the answer for thinking, which leaves no room for a file.
  const isTooMuch =
    effort === "max" && (writer === "anthropic-messages" || writer === "package") && budgetClaude.test(modelId);
  return {
    ...(effort !== undefined && { reasoning: levels[isTooMuch ? "high" : effort] }),
    ...toSummaryOptions({ effort, includesReasoning }, writer, modelId),
  };
}

function toSummaryOptions(
  { effort, includesReasoning }: Asked,
  writer: RequestWriterName,
  modelId: string,
): Pick<LanguageModelV4CallOptions, "providerOptions"> {
  switch (writer) {
    case "anthropic-messages": {
      const thinking = toClaudeThinking({ effort, includesReasoning }, modelId);
      return thinking ? { providerOptions: { anthropic: { thinking } } } : {};
    }
    case "openai-responses":
      // OpenAI sends summaries only to organisations that it has verified, and refuses other such requests.
      if (includesReasoning) return { providerOptions: { openai: { reasoningSummary: "auto" } } };
      return effort === undefined ? {} : { providerOptions: { openai: { reasoningSummary: null } } };
    case "gemini":
      return includesReasoning && effort !== "off"
        ? { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } }
        : {};
    // Servers with these protocols send their summaries unasked.
    case "openai-chat":
    case "package":
      return {};
  }
}

/** Returns options that the package does not choose by the effort alone; undefined without such options. */
function toClaudeThinking({ effort, includesReasoning }: Asked, modelId: string): JSONObject | undefined {
  const isBound = bindingClaude.test(modelId);
  const isSilent = includesReasoning === true && effort === undefined && thinkingClaude.test(modelId);
  // The package turns "off" into the least effort of the model.
  if (effort === "off" || !(isBound || isSilent)) return undefined;
  return {
    type: "adaptive",
    ...(includesReasoning && { display: "summarized" }),
    ...(isBound && { blockBinding: { prefixMismatchBehavior: "drop_block" } }),
  };
}

/** Returns the effort in a written request: "" without one, `budget` for a number of tokens. */
function readWrittenEffort(body: string): string {
  const request = toJsonObject(JSON.parse(body));
  const thinking = toJsonObject(request.thinking);
  const config = toJsonObject(toJsonObject(request.generationConfig).thinkingConfig);
  const budget = config.thinkingBudget ?? thinking.budget_tokens;
  const named = [
    toJsonObject(request.output_config).effort,
    toJsonObject(request.reasoning).effort,
    request.reasoning_effort,
    config.thinkingLevel,
  ].find((level) => typeof level === "string");
  if (typeof named === "string") return named;
  if (thinking.type === "disabled" || budget === 0) return "none";
  return budget === undefined ? "" : "budget";
}

/** Returns a notice for the user if a written request has another effort than `effort`. */
export function findEffortNotice(effort: Effort, body: string, name: string): string | undefined {
  const written = readWrittenEffort(body);
  if (written === levels[effort] || (written === "budget" && effort !== "off")) return undefined;
  if (written === "") return `${name} has no --effort that can be set: requests go without it`;
  const used = written === "budget" ? "its smallest amount of thinking" : `"${written}"`;
  return `${name} has no --effort ${effort}: it runs with ${used}`;
}

type Send = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<readonly ModelEvent[]>;

/** True if a provider refuses the request because of these options. */
function isEffortRefusal(error: unknown): boolean {
  const isRefused = error instanceof SheafError && error.code === "PROVIDER_REJECTED";
  return isRefused && /effort|reason|think|summar|thought|output_config/i.test(`${error.message} ${error.details}`);
}

/**
 * Sends requests. If the provider refuses one for its effort, or for its summaries, this request and all later ones go
 * without them. The end of the turn reports it.
 */
export function createEffortFallback(name: string, send: Send): Send {
  let hasSummaries = true;
  const refused = new Set<Effort>();

  /** Removes the options that the provider has refused before. */
  const reduce = ({ effort, includesReasoning, ...plain }: ModelRequest): ModelRequest => ({
    ...plain,
    ...(effort !== undefined && !refused.has(effort) && { effort }),
    ...(includesReasoning && hasSummaries && { includesReasoning }),
  });

  return async function* stream(request, signal) {
    for (;;) {
      const reduced = reduce(request);
      const isRefused = request.effort !== reduced.effort;
      const message = isRefused ? `${name} refused --effort ${request.effort}: requests go without it` : undefined;
      let hasYielded = false;
      try {
        for await (const group of addNotice(send(reduced, signal), message)) {
          hasYielded = true;
          yield group;
        }
        return;
      } catch (error) {
        if (hasYielded || !isEffortRefusal(error)) throw error;
        // Summaries disappear first, since only the view needs them.
        if (reduced.includesReasoning) hasSummaries = false;
        else if (reduced.effort !== undefined) refused.add(reduced.effort);
        else throw error;
      }
    }
  };
}

/** Adds a notice about the effort to the end of the turn. */
export async function* addNotice(
  groups: AsyncIterable<readonly ModelEvent[]>,
  message: string | undefined,
): AsyncGenerator<readonly ModelEvent[]> {
  for await (const group of groups) {
    if (message === undefined) yield group;
    else yield group.map((event) => (event.type === "turn_end" ? { ...event, notice: toNotice(message) } : event));
  }
}

function toNotice(message: string): Notice {
  return { code: "EFFORT_CHANGED", message };
}
