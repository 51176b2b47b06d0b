/** A run as a person in a terminal sees it: the text as it arrives, a line for each action, commands with their output. */
import type { AgentEvent, HookResult, RunEvent, ToolEffect, ToolResult } from "@sheaf/protocol";
import { toEndedRequest } from "@sheaf/protocol/cost";
import { describeTool } from "../../tools/registry.ts";
import type { Locale } from "../../tools/tool-traits.ts";
import { formatAction } from "../action-words.ts";
import { createAgentNames } from "../agent-names.ts";
import { formatHook } from "../hook-words.ts";
import type { Projection } from "../projection.ts";
import { cutMiddle } from "@sheaf/base/files/text-format";
import { toVisibleLine, toVisibleText } from "../visible-text.ts";
import { formatDiff } from "./diff-lines.ts";
import { createMarkdownStyler } from "./markdown-styler.ts";

export interface TerminalOptions {
  readonly locale: Locale;
  readonly hasColors: boolean;
  readonly includeThinking: boolean;
}

/** Lines of a command's live output on the screen; Sheaf counts the rest. */
const MAX_OUTPUT_LINES = 12;

/** UTF-16 units of a line about a hook; arguments may be whole files. */
const MAX_HOOK_LINE = 500;

/** Lines of one file's diff on the screen. */
const MAX_DIFF_LINES = 40;

/** Creates a projection of pieces of text, not all of them whole lines. */
export function createTerminalProjection(options: TerminalOptions): Projection {
  return new Terminal(options);
}

class Terminal implements Projection {
  readonly #options: TerminalOptions;
  #styler: ReturnType<typeof createMarkdownStyler>;
  readonly #toolNames = new Map<string, string>();
  readonly #agents = createAgentNames();
  readonly #outputLines = new Map<string, number>();
  #isAtLineStart = true;
  #workspace = "";
  /** True if the user asked for a summary (C35). */
  #shortens = false;
  #hasShortened = false;
  #startedAt = 0;
  #turns = 0;
  #tokens = 0;

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#styler = createMarkdownStyler(options);
  }

  push(event: RunEvent): readonly string[] {
    this.#agents.push(event);
    switch (event.type) {
      case "agent_event":
        return this.#agentLines(event);
      case "run_start":
        this.#startedAt = event.time;
        this.#workspace = event.workspace;
        this.#shortens = event.shortens ?? false;
        return [];
      case "text_delta":
        return this.#print(this.#styler.push(event.text));
      case "reasoning_delta":
        return this.#options.includeThinking ? this.#print(this.#toDim(toVisibleText(event.text))) : [];
      case "tool_call_start":
        this.#toolNames.set(event.callId, event.toolName);
        return this.#endText();
      case "tool_call_arguments": {
        if (describeTool(this.#toolNames.get(event.callId) ?? "")?.access !== "command") return [];
        const { command } = event.arguments;
        return this.#line(`$ ${toVisibleLine(typeof command === "string" ? command : "")}`);
      }
      case "tool_output_delta":
        return this.#printOutput(event.callId, event.delta);
      case "tool_result":
        return this.#resultLines(event);
      case "turn_end":
        this.#turns += 1;
        this.#tokens += event.usage.totalTokens;
        return this.#endText();
      case "hook_result":
        return this.#hookLines(event, "");
      case "user_message":
        return [...this.#endText(), ...this.#line(this.#toDim(`> ${toVisibleText(event.message)}`))];
      case "compaction":
        this.#hasShortened = true;
        return [
          ...this.#endText(),
          ...this.#line(this.#toDim(`(Summarised the conversation so far: about ${event.tokens} tokens are left.)`)),
        ];
      case "run_end":
        return [
          ...this.#endText(),
          ...(this.#shortens && !this.#hasShortened && !event.error
            ? this.#line("The conversation is too short to summarise.")
            : []),
          ...(this.#turns === 0 ? [] : this.#line(this.#toDim(this.#formatTotals(event.time)))),
        ];
      default:
        return [];
    }
  }

  #hookLines(result: HookResult, indent: string): string[] {
    const lines = formatHook(result, this.#options.locale).map(
      (line) => `${indent}${toVisibleLine(cutMiddle(line, MAX_HOOK_LINE))}`,
    );
    return lines.length === 0 ? [] : [...this.#endText(), ...lines.flatMap((line) => this.#line(this.#toDim(line)))];
  }

  /** Returns one line for each call of a subagent, with its name. */
  #agentLines(event: RunEvent & AgentEvent): string[] {
    const ended = toEndedRequest(event);
    if (ended) {
      this.#turns += 1;
      this.#tokens += ended.usage.totalTokens;
    }
    const { event: own } = event;
    if (own.type === "tool_call_start") this.#toolNames.set(own.callId, own.toolName);
    if (own.type === "hook_result") return this.#hookLines(own, "    ");
    if (own.type !== "tool_result") return [];
    const action = formatAction(this.#toolNames.get(own.callId) ?? "", own, this.#options.locale);
    const subject = own.effect ? toSubject(own.effect, this.#workspace) : "";
    const line = [`${this.#agents.find(event).name}: ${action}`, subject].filter(Boolean).join("  ");
    return [...this.#endText(), ...this.#line(this.#toDim(`  ${toVisibleLine(line)}`))];
  }

  #print(text: string): string[] {
    if (text === "") return [];
    this.#isAtLineStart = text.endsWith("\n");
    return [text];
  }

  #line(text: string): string[] {
    const lead = this.#isAtLineStart ? "" : "\n";
    this.#isAtLineStart = true;
    return [`${lead}${text}\n`];
  }

  /** Ends the model's text for now: the next one starts on a new line. */
  #endText(): string[] {
    const rest = this.#styler.end();
    this.#styler = createMarkdownStyler(this.#options);
    const lines = this.#print(rest);
    if (this.#isAtLineStart) return lines;
    this.#isAtLineStart = true;
    return [...lines, "\n"];
  }

  #printOutput(callId: string, delta: string): string[] {
    const shown = this.#outputLines.get(callId) ?? 0;
    const lines = toVisibleText(delta).match(/[^\n]*\n|[^\n]+$/g) ?? [];
    this.#outputLines.set(callId, shown + lines.filter((line) => line.endsWith("\n")).length);
    const visible = lines.slice(0, Math.max(0, MAX_OUTPUT_LINES - shown)).join("");
    return visible === "" ? [] : this.#print(this.#toDim(visible));
  }

  #resultLines(result: ToolResult): string[] {
    const toolName = this.#toolNames.get(result.callId) ?? "";
    const hidden = (this.#outputLines.get(result.callId) ?? 0) - MAX_OUTPUT_LINES;
    const more = hidden > 0 ? this.#line(this.#toDim(`… ${hidden} more lines`)) : [];
    const subject = result.effect ? toSubject(result.effect, this.#workspace) : "";
    const action = formatAction(toolName, result, this.#options.locale);
    const mark = result.status === "success" ? this.#color("●", 32) : this.#color("●", 31);
    const line = `${mark} ${toVisibleLine(subject === "" ? action : `${action}  ${subject}`)}`;
    return [...more, ...this.#line(line), ...this.#diffLines(result), ...this.#todoLines(result)];
  }

  #diffLines({ effect }: ToolResult): string[] {
    if (effect?.kind !== "file_edit") return [];
    const options = { hasColors: this.#options.hasColors, limit: MAX_DIFF_LINES };
    return effect.changes
      .filter(({ operation }) => operation === "create" || operation === "edit")
      .flatMap(({ patch = "" }) => formatDiff(patch, options))
      .flatMap((line) => this.#line(line));
  }

  #todoLines({ effect }: ToolResult): string[] {
    if (effect?.kind === "plan") {
      const todos = effect.todos.flatMap(({ content }) => this.#line(`  ○ ${toVisibleLine(content)}`));
      return [...this.#line(`  ${toVisibleLine(effect.title)}: ${toVisibleLine(effect.overview)}`), ...todos];
    }
    if (effect?.kind !== "todo") return [];
    return effect.todos.flatMap(({ content, status }) =>
      this.#line(`  ${todoMarks[status]} ${toVisibleLine(content)}`),
    );
  }

  #formatTotals(endedAt: number): string {
    const seconds = ((endedAt - this.#startedAt) / 1000).toFixed(1);
    return `${seconds} s · ${this.#turns} ${this.#turns === 1 ? "turn" : "turns"} · ${this.#tokens} tokens`;
  }

  #toDim(text: string): string {
    if (!this.#options.hasColors) return text;
    const [, body = "", lineEnd = ""] = /^([\s\S]*?)(\n*)$/.exec(text) ?? [];
    return `\u001B[2m${body}\u001B[22m${lineEnd}`;
  }

  #color(text: string, code: number): string {
    return this.#options.hasColors ? `\u001B[${code}m${text}\u001B[39m` : text;
  }
}

const todoMarks = { pending: "○", in_progress: "◐", completed: "●", cancelled: "–" } as const;

/** Describes the subject of an action briefly. */
function toSubject(effect: ToolEffect, workspace: string): string {
  switch (effect.kind) {
    case "read":
      return effect.path.startsWith(`${workspace}/`) ? effect.path.slice(workspace.length + 1) : effect.path;
    case "file_edit":
      return effect.changes
        .map(({ filePath, newFilePath, linesAdded, linesRemoved }) => {
          const target = newFilePath === undefined ? "" : ` → ${newFilePath}`;
          return `${filePath}${target} +${linesAdded} −${linesRemoved}`;
        })
        .join(", ");
    case "command":
      return effect.exitCode === 0 ? "" : `(exit code ${effect.exitCode})`;
    case "search":
      return `${effect.totalMatches} in ${effect.totalFiles} files`;
    case "glob":
      return `${effect.totalFiles} files`;
    case "skill":
      return effect.file ?? "";
    default:
      return "";
  }
}
