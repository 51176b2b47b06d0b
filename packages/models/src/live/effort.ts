/** How much a model thinks, in each protocol's words (C36). */
import type { JSONObject, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Effort, ModelEvent, Notice } from "@sheaf/protocol";
import { toJsonObject } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import type { ModelRequest } from "../provider.ts";
import type { RequestWriterName } from "./provider-data.ts";

type Asked = Pick<ModelRequest, "effort" | "includesReasoning">;

/** As the interface of the packages names them; each package knows which of them its models have. */
const levels = { off: "none", low: "low", medium: "medium", high: "high", max: "max" } as const satisfies Record<
  Effort,
  LanguageModelV4CallOptions["reasoning"]
>;

/** Models of Claude with a budget of tokens; all later ones decide themselves, by effort. */
const budgetClaude = /claude-(?:instant|v?[23]|(?:opus|sonnet|haiku)-4(?:-[0135]\b|-\d{8}|@|$))/;

/** Models of Claude that always think, and show it only when they are asked to. */
const thinkingClaude = /claude-(?:fable|(?:opus|sonnet)-5-5)/;

/**
 * Those of them that refuse a request whose beginning differs from that of the one in which they thought: after a summary,
 * another mode, or the note before the last turn. They can drop such thoughts instead.
 */
const bindingClaude = /claude-(?:fable-5-[12]|(?:opus|sonnet)-5-5)/;

/** The options for effort and for summaries of the thinking. */
export function toEffortOptions(
  { effort, includesReasoning = false }: Asked,
  writer: RequestWriterName,
  modelId: string,
): Pick<LanguageModelV4CallOptions, "reasoning" | "providerOptions"> {
  // 95 % of the answer for thinking would leave no room for a file.
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
      // OpenAI gives summaries to organisations that it has verified, and refuses other requests.
      if (includesReasoning) return { providerOptions: { openai: { reasoningSummary: "auto" } } };
      return effort === undefined ? {} : { providerOptions: { openai: { reasoningSummary: null } } };
    case "gemini":
      return includesReasoning && effort !== "off"
        ? { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } }
        : {};
    // Their servers send what they show unasked.
    case "openai-chat":
    case "package":
      return {};
  }
}

/** What the package does not choose by the effort alone; undefined: it does. */
function toClaudeThinking({ effort, includesReasoning }: Asked, modelId: string): JSONObject | undefined {
  const isBound = bindingClaude.test(modelId);
  const isSilent = includesReasoning === true && effort === undefined && thinkingClaude.test(modelId);
  // Off is what the package makes of it: the least that the model has.
  if (effort === "off" || !(isBound || isSilent)) return undefined;
  return {
    type: "adaptive",
    ...(includesReasoning && { display: "summarized" }),
    ...(isBound && { blockBinding: { prefixMismatchBehavior: "drop_block" } }),
  };
}

/** The effort that a written request asks for; "" if none; `budget` if it is a number of tokens. */
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

/** What a person should know of the effort of a written request; undefined: it is what was asked for. */
export function findEffortNotice(effort: Effort, body: string, name: string): string | undefined {
  const written = readWrittenEffort(body);
  if (written === levels[effort] || (written === "budget" && effort !== "off")) return undefined;
  if (written === "") return `${name} has no --effort that can be set: requests go without it`;
  const used = written === "budget" ? "its smallest amount of thinking" : `"${written}"`;
  return `${name} has no --effort ${effort}: it runs with ${used}`;
}

type Send = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<readonly ModelEvent[]>;

/** A refusal that names what only these options bring into a request. */
function isEffortRefusal(error: unknown): boolean {
  const isRefused = error instanceof SheafError && error.code === "PROVIDER_REJECTED";
  return isRefused && /effort|reason|think|summar|thought|output_config/i.test(`${error.message} ${error.details}`);
}

/**
 * Sends requests. One that the provider refuses for its effort, or because it shows no summaries, goes again without, and
 * so do later ones; the end of the turn says so.
 */
export function createEffortFallback(name: string, send: Send): Send {
  let hasSummaries = true;
  const refused = new Set<Effort>();

  /** The request without what was refused before. */
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
        // Summaries first: they cost nothing but the view.
        if (reduced.includesReasoning) hasSummaries = false;
        else if (reduced.effort !== undefined) refused.add(reduced.effort);
        else throw error;
      }
    }
  };
}

/** Puts a notice about the effort on the end of the turn. */
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
