/** Every form in which Sheaf shows a log, each as a function from the log to its bytes. The one place that imports them. */
import { assemble, toResponse } from "@sheaf/documents";
import type { RunEvent } from "@sheaf/protocol";
import { toBaseEvents, toBaseResponse } from "@sheaf/protocol/base-form";
import { encodeSse } from "@sheaf/protocol/encode";
import { createAcpProjection, toStopReason } from "../../packages/agent/src/output/acp-updates.ts";
import { createAiSdkUiProjection } from "../../packages/agent/src/output/ai-sdk-ui.ts";
import { createProjection } from "../../packages/agent/src/output/create-projection.ts";
import {
  type ConversationExport,
  formatJsonExport,
} from "../../packages/agent/src/output/exports/conversation-export.ts";
import { decodeExport } from "../../packages/agent/src/output/exports/decode-export.ts";
import { formatMarkdownExport } from "../../packages/agent/src/output/exports/markdown-export.ts";
import { createOpenAiChatProjection, createOpenAiCompletion } from "../../packages/agent/src/output/openai-chat.ts";
import {
  createOpenAiResponse,
  createOpenAiResponseProjection,
} from "../../packages/agent/src/output/openai-responses.ts";
import { outputFormats } from "../../packages/agent/src/output/projection.ts";
import { createHistograms, encodeTraces } from "../../packages/agent/src/output/telemetry/otlp.ts";
import { SpanCollector } from "../../packages/agent/src/output/telemetry/run-spans.ts";
import { createTerminalProjection } from "../../packages/agent/src/output/terminal/terminal.ts";
import { createUsageReport, usageKeys } from "../../packages/agent/src/output/usage-report.ts";
import { createHistory } from "../../packages/agent/src/run/history.ts";
import { digestLog } from "../../packages/store/src/log-digest.ts";

type Log = readonly RunEvent[];

/** By name. A function may throw: the error is its output then. */
export const formats: Readonly<Record<string, (log: Log) => string>> = {
  ...toMessageFormats(),
  sse: (log) => assemble(log).map(encodeSse).join(""),
  "sse, base form": (log) =>
    toBaseEvents(assemble(log, { includeReasoning: true }))
      .map(encodeSse)
      .join(""),
  "response, base form": (log) => JSON.stringify(toBaseResponse(toResponse(log))),
  "response, half of the log": (log) => JSON.stringify(toResponse(log.slice(0, log.length / 2))),
  ...toChatFormats(),
  "acp updates": (log) => pushAll(createAcpProjection(), log),
  "acp updates, loaded": (log) => pushAll(createAcpProjection({ withPrompt: true }), log),
  "acp stop reason": (log) => JSON.stringify(log.map((event) => event.type === "run_end" && toStopReason(event))),
  "export, Markdown": (log) => formatMarkdownExport(toExport(log)),
  "export, JSON": (log) => formatJsonExport(toExport(log)),
  "export, read again": (log) => formatJsonExport(decodeExport(formatJsonExport(toExport(log)), "a file")),
  telemetry: (log) => toTelemetry(log, false),
  "telemetry with content": (log) => toTelemetry(log, true),
  usage: toUsage,
  history: (log) => pushAll(createHistory(), log, ({ messages, progress }) => ({ messages, progress })),
  digest: (log) => JSON.stringify(digestLog(log)),
};

/** The formats of the command line, with the options that change them. */
function toMessageFormats(): Record<string, (log: Log) => string> {
  const plain = { locale: "en", includeThinking: false } as const;
  const variants = Object.entries({
    "": plain,
    ", thinking": { ...plain, includeThinking: true },
    ", with failure": { ...plain, showsFailure: true },
    ", cursor": { ...plain, profile: "cursor-2026" },
    ", cursor, partial": { ...plain, profile: "cursor-2026", partial: "deltas" },
    ", cursor, partial twice": { ...plain, profile: "cursor-2026", partial: "both", includeThinking: true },
  } as const);
  const formatted = outputFormats.flatMap((format) =>
    variants
      .filter(([name]) => !(format.startsWith("documents") && /failure|cursor/.test(name)))
      .filter(([name]) => format === "stream-json" || !name.includes("partial"))
      .map(([name, options]) => [`${format}${name}`, (log: Log) => pushAll(createProjection(format, options), log)]),
  );
  const texts = (["de", "tr", "ja", "zh-TW"] as const).map((locale) => [
    `text, ${locale}`,
    (log: Log) => pushAll(createProjection("text", { ...plain, locale }), log),
  ]);
  const terminals = [true, false].map((hasColors) => [
    `terminal${hasColors ? ", colors" : ""}`,
    (log: Log) => pushAll(createTerminalProjection({ ...plain, hasColors, includeThinking: hasColors }), log),
  ]);
  return Object.fromEntries([...formatted, ...texts, ...terminals]) as Record<string, (log: Log) => string>;
}

/** The forms of other chat APIs. */
function toChatFormats(): Record<string, (log: Log) => string> {
  const questions = { seen: new Set<string>(), resolved: new Set<string>() };
  return {
    "openai-chat": (log) => pushAll(createOpenAiChatProjection(), log),
    "openai-chat, all": (log) =>
      pushAll(createOpenAiChatProjection({ includeThinking: true, includeUsage: true }), log),
    "openai-chat, whole": (log) =>
      pushAll(createOpenAiCompletion(true), log, ({ completion, failure }) => ({ completion, failure })),
    "openai-responses": (log) => pushAll(createOpenAiResponseProjection(), log),
    "openai-responses, whole": (log) =>
      pushAll(createOpenAiResponse(), log, ({ response, text, failure }) => ({ response, text, failure })),
    "ui stream": (log) => pushAll(createAiSdkUiProjection(), log),
    "ui stream, questions": (log) => pushAll(createAiSdkUiProjection({ includeThinking: true, questions }), log),
  };
}

/** What each event gives, one line each unless it is text; then the end result, where there is one. */
function pushAll<Target extends { push(event: RunEvent): unknown }>(
  target: Target,
  log: Log,
  toResult?: (target: Target) => unknown,
): string {
  const given = log.flatMap((event) => target.push(event));
  const lines = given.filter((line) => line !== undefined);
  const shown = lines.map((line) => (typeof line === "string" ? line : `${JSON.stringify(line)}\n`));
  return `${shown.join("")}${toResult ? JSON.stringify(toResult(target)) : ""}`;
}

function toExport(log: Log): ConversationExport {
  const [first] = log;
  const {
    responseId = "",
    conversationId = "",
    workspace = "",
    prompt = "",
  } = first?.type === "run_start" ? first : {};
  const createdAt = first?.time ?? 0;
  const conversation = { id: conversationId, workspace, title: prompt.slice(0, 60), createdAt };
  return { sheafExport: 1, conversation, responses: [{ id: responseId, createdAt, events: log }] };
}

function toTelemetry(log: Log, capturesContent: boolean): string {
  const collector = new SpanCollector({ parent: undefined, capturesContent });
  for (const event of log) collector.push(event);
  const resource = { "service.name": "sheaf" };
  const histograms = createHistograms(0);
  histograms.add(collector.measurements);
  return JSON.stringify([encodeTraces(collector.spans, resource), histograms.encode(1, resource)]);
}

function toUsage(log: Log): string {
  const prices = { m: { input: 1, output: 2 }, "Sheaf Scripted": { input: 3, output: 15 } };
  const report = createUsageReport({ by: usageKeys, since: 0, prices });
  for (const event of log) report.push(event);
  return JSON.stringify([report.rows, report.total, report.unpriced]);
}
