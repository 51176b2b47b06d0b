/** A run as updates of an editor's session, by the Agent Client Protocol, version 1 (X17). */
import { isAbsolute, join } from "node:path";
import type {
  ContentBlock,
  PlanEntry,
  SessionUpdate,
  StopReason,
  ToolCallContent,
  ToolCallLocation,
} from "@agentclientprotocol/sdk";
import {
  readNotices,
  type AgentEvent,
  type Attachment,
  type FileChange,
  type QuestionEffect,
  type RunEnd,
  type RunEvent,
  type ToolResult,
} from "@sheaf/protocol";
import { parsePatch, type StructuredPatchHunk } from "diff";
import { formatAttachment } from "@sheaf/base/files/attachment";
import { createRunSummary } from "@sheaf/documents/run-summary";
import { describeTool } from "../tools/registry.ts";
import { formatAction } from "./action-words.ts";
import { createAgentNames, toOwnEvent } from "./agent-names.ts";

export interface AcpProjection {
  /** Returns the updates for an editor; most events have some. */
  push(event: RunEvent): readonly SessionUpdate[];
}

/** Longest output that one update carries, in UTF-16 units: editors show it in a panel. */
const MAX_OUTPUT = 64 * 1024;

export interface AcpProjectionOptions {
  /** True to include the user's prompts, for an old session that an editor loads. */
  readonly withPrompt?: boolean;
  /** Cost of the session's earlier responses. US dollars. */
  readonly spentUsd?: number;
}

export function createAcpProjection(options: AcpProjectionOptions = {}): AcpProjection {
  return new AcpUpdates(options);
}

class AcpUpdates implements AcpProjection {
  readonly #withPrompt: boolean;
  readonly #spentUsd: number;
  readonly #summary = createRunSummary();
  readonly #toolNames = new Map<string, string>();
  readonly #agents = createAgentNames();
  readonly #outputs = new Map<string, string>();
  #workspace = "";
  /** Tokens of the model's window, if they are known. */
  #window: number | undefined;
  /** True while the user waits for a summary (C55). */
  #awaitsSummary = false;

  constructor({ withPrompt = false, spentUsd = 0 }: AcpProjectionOptions) {
    this.#withPrompt = withPrompt;
    this.#spentUsd = spentUsd;
  }

  push(event: RunEvent): readonly SessionUpdate[] {
    this.#summary.push(event);
    return [...this.#pushEvent(event), ...this.#toUsage(event)];
  }

  #pushEvent(event: RunEvent): readonly SessionUpdate[] {
    this.#agents.push(event);
    switch (event.type) {
      case "agent_event":
        return this.#pushAgent(event);
      case "run_start":
        this.#workspace = event.workspace;
        this.#window = event.context?.windowTokens;
        this.#awaitsSummary = event.shortens ?? false;
        return this.#withPrompt && !event.shortens ? toUserUpdates(event.prompt, event.attachments) : [];
      case "user_message":
        return this.#withPrompt ? toUserUpdates(event.message, event.attachments) : [];
      case "text_delta":
        return [toMessage(event.text)];
      case "reasoning_delta":
        return [{ sessionUpdate: "agent_thought_chunk", content: toText(event.text) }];
      case "tool_call_start": {
        const { callId, toolName } = event;
        this.#toolNames.set(callId, toolName);
        const kind = describeTool(toolName)?.kind ?? "other";
        const call = { toolCallId: callId, title: toolName, name: toolName, kind, status: "pending" } as const;
        return [{ sessionUpdate: "tool_call", ...call }];
      }
      case "tool_call_arguments": {
        const { callId, arguments: args } = event;
        const title = toTitle(this.#toolNames.get(callId) ?? "", args);
        const locations = this.#toLocations(args);
        const update = { toolCallId: callId, title, status: "in_progress", rawInput: args, locations } as const;
        return [{ sessionUpdate: "tool_call_update", ...update }];
      }
      case "tool_output_delta":
        return this.#pushOutput(event.callId, event.delta);
      case "tool_result":
        return this.#pushResult(event);
      case "compaction":
        this.#awaitsSummary = false;
        return [toMessage(`(Summarised the conversation so far: about ${event.tokens} tokens are left.)\n\n`)];
      case "run_end": {
        const isEmpty = this.#awaitsSummary && !event.error;
        const words = [
          ...(isEmpty ? ["The conversation is too short to summarise."] : []),
          ...readNotices(event).map(({ message }) => `\n\n(${message})`),
        ];
        return words.map((line) => toMessage(line));
      }
      default:
        return [];
    }
  }

  /** Returns the usage after each request that fills or empties the window. */
  #toUsage(event: RunEvent): SessionUpdate[] {
    if (this.#window === undefined || (event.type !== "turn_end" && event.type !== "compaction")) return [];
    const { usage } = event;
    const used = event.type === "compaction" ? event.tokens : usage.promptTokens + usage.completionTokens;
    if (used === 0) return [];
    const { costUsd } = this.#summary.toFacts().told;
    const cost = costUsd !== undefined && { cost: { amount: this.#spentUsd + costUsd, currency: "USD" } };
    return [{ sessionUpdate: "usage_update", used, size: this.#window, ...cost }];
  }

  /** Returns a subagent's calls with its name, for which the protocol has no other place, but not its plans. */
  #pushAgent(event: RunEvent & AgentEvent): SessionUpdate[] {
    const { name, callId } = this.#agents.find(event);
    if (!["tool_call_start", "tool_call_arguments", "tool_result"].includes(event.event.type)) return [];
    return this.#pushEvent(toOwnEvent(event)).flatMap((update) => {
      if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") return [];
      const title = typeof update.title === "string" && { title: `${name}: ${update.title}` };
      return [{ ...update, ...title, _meta: { agent: { callId, name } } }];
    });
  }

  #toLocations(args: Readonly<Record<string, unknown>>): ToolCallLocation[] {
    const { target_file: file, offset } = args;
    if (typeof file !== "string" || file === "") return [];
    const path = isAbsolute(file) ? file : join(this.#workspace, file);
    return [{ path, ...(Number.isSafeInteger(offset) && (offset as number) > 0 && { line: offset as number }) }];
  }

  /** Returns all output so far, since each update replaces the content before it. */
  #pushOutput(callId: string, delta: string): SessionUpdate[] {
    const output = toTail((this.#outputs.get(callId) ?? "") + delta);
    this.#outputs.set(callId, output);
    const content: ToolCallContent[] = [{ type: "content", content: toText(output) }];
    return [{ sessionUpdate: "tool_call_update", toolCallId: callId, content }];
  }

  #pushResult(result: ToolResult): SessionUpdate[] {
    const { callId, status, effect } = result;
    this.#outputs.delete(callId);
    const toolName = this.#toolNames.get(callId) ?? "";
    const failure = status === "success" ? undefined : formatAction(toolName, result, "en");
    const text = failure ?? toTail(result.output);
    const changes = effect?.kind === "file_edit" ? effect.changes : [];
    const diffs = changes.flatMap(toDiff);
    const places = changes.flatMap(toPlaces);
    const content: ToolCallContent[] = diffs.length > 0 ? diffs : [{ type: "content", content: toText(text) }];
    const update: SessionUpdate = {
      sessionUpdate: "tool_call_update",
      toolCallId: callId,
      status: status === "success" ? "completed" : "failed",
      content,
      ...(places.length > 0 && { locations: places }),
      rawOutput: { status, output: toTail(result.output), ...(result.error && { error: result.error }) },
    };
    if (effect?.kind === "plan" || effect?.kind === "todo") return [update, toPlan(effect.todos)];
    if (effect?.kind === "question") return [update, toQuestions(effect)];
    return [update];
  }
}

/** Returns the reason why a prompt's turn ended; undefined: it failed, which is an error of the request. */
export function toStopReason({ reason, error }: RunEnd): StopReason | undefined {
  if (!error) return reason === "end_turn" || reason === "clarification" ? "end_turn" : undefined;
  switch (error.code) {
    case "CANCELLED":
      return "cancelled";
    case "MAX_TOKENS":
    case "BUDGET_TOKENS":
      return "max_tokens";
    case "BUDGET_TURNS":
    case "BUDGET_TOOLS":
      return "max_turn_requests";
    case "REFUSED":
    case "CONTENT_FILTER":
      return "refusal";
    default:
      return undefined;
  }
}

/** Returns the subject of a call, in one line. */
function toTitle(toolName: string, args: Readonly<Record<string, unknown>>): string {
  const subject = [
    args.command,
    args.target_file,
    args.query,
    args.pattern,
    args.glob_pattern,
    args.url,
    args.task,
  ].find((value) => typeof value === "string" && value !== "") as string | undefined;
  if (subject === undefined) return toolName;
  const line = subject.replaceAll(/\s+/g, " ").slice(0, 200);
  return describeTool(toolName)?.access === "command" ? `\`${line}\`` : `${toolName} ${line}`;
}

/** Returns the user's prompt, and the names of its attachments: their bytes stay in the log (N66). */
function toUserUpdates(prompt: string, attachments: readonly Attachment[] = []): SessionUpdate[] {
  const lines = attachments.map((attachment) => `\n[${formatAttachment(attachment)}]`);
  return [prompt, ...lines].map((text) => ({ sessionUpdate: "user_message_chunk", content: toText(text) }));
}

function toMessage(text: string): SessionUpdate {
  return { sessionUpdate: "agent_message_chunk", content: toText(text) };
}

function toText(text: string): ContentBlock {
  return { type: "text", text };
}

function toTail(text: string): string {
  return text.length <= MAX_OUTPUT ? text : `…${text.slice(-MAX_OUTPUT)}`;
}

/** Returns a part for each changed place, with the lines around it. */
function toDiff({ path, operation, content, diff, patch, newFilePath }: FileChange): ToolCallContent[] {
  if (operation === "create" && content !== null) return [{ type: "diff", path, oldText: null, newText: content }];
  const hunks = operation === "edit" ? toHunks(patch) : [];
  if (hunks.length > 0) {
    return hunks.map(({ lines }) => ({
      type: "diff",
      path,
      oldText: toSide(lines, " -"),
      newText: toSide(lines, " +"),
    }));
  }
  if (diff) return [{ type: "diff", path, oldText: diff.oldString, newText: diff.newString }];
  const text = newFilePath === undefined ? `${operation} ${path}` : `${operation} ${path} to ${newFilePath}`;
  return [{ type: "content", content: toText(text) }];
}

function toHunks(patch = ""): readonly StructuredPatchHunk[] {
  return parsePatch(patch)[0]?.hunks ?? [];
}

/** Returns the lines of a hunk that start with one of the signs, without it. */
function toSide(lines: readonly string[], signs: string): string {
  const side = lines.filter((line) => signs.includes(line.charAt(0)));
  return side.map((line) => `${line.slice(1)}\n`).join("");
}

/** Returns the places where an editor shows the change. */
function toPlaces({ path, patch }: FileChange): ToolCallLocation[] {
  return toHunks(patch).map(({ newStart }) => ({ path, line: newStart }));
}

function toPlan(todos: readonly { readonly content: string; readonly status: string }[]): SessionUpdate {
  const entries = todos
    .filter(({ status }) => status !== "cancelled")
    .map(({ content, status }): PlanEntry => ({ content, priority: "medium", status: status as PlanEntry["status"] }));
  return { sessionUpdate: "plan", entries };
}

/** Converts questions, which the protocol lacks, to text: the next prompt answers them (N42). */
function toQuestions({ title, questions }: QuestionEffect): SessionUpdate {
  const paragraphs = questions.map(({ text, options }) =>
    [text, ...options.map(({ id, label }) => `- ${id}: ${label}`)].join("\n"),
  );
  const text = `\n\n${[title, ...paragraphs].filter((paragraph) => paragraph !== "").join("\n\n")}\n`;
  return { sessionUpdate: "agent_message_chunk", content: toText(text) };
}
