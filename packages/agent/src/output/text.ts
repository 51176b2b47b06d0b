/** `--output-format text`: one line per action, then the answer (C11). */
import type { PlanEffect, RunEvent } from "@sheaf/protocol";
import type { Locale } from "../tools/tool-traits.ts";
import { formatAction } from "./action-words.ts";
import { createAgentNames } from "./agent-names.ts";
import { createAnswerText } from "./answer-text.ts";
import { formatFailureLine, hasAnswer } from "./failure-line.ts";
import type { Projection } from "./projection.ts";
import { toCliQuestions } from "./result-line.ts";
import { toVisibleJson, toVisibleLine, toVisibleText } from "./visible-text.ts";

export interface TextOptions {
  readonly locale: Locale;
  /** False: only the text after the last tool call (C30). Default true. */
  readonly showsActions?: boolean;
  /** True to print the answer so far, and the reason, if the run fails. Default false. */
  readonly showsFailure?: boolean;
}

/** Creates the lines. Unless `showsFailure`, a failed run has its actions and any answer: stderr has the rest (C21). */
export function createTextProjection(options: TextOptions): Projection {
  const { locale, showsFailure = false } = options;
  let { showsActions = true } = options;
  const toolNames = new Map<string, string>();
  const agents = createAgentNames();
  const answer = createAnswerText();
  let questions: string[] = [];
  /** The plan, unless text follows it. */
  let plan = "";
  let hasActions = false;

  const message = (): string[] => {
    // A model may end with a tool call; then its earlier text is the message.
    const isWhole = showsActions || answer.last.trim() === "";
    const text = toVisibleText(isWhole ? answer.whole : answer.last).trim();
    const paragraphs = [text, plan, ...questions].filter((paragraph) => paragraph !== "");
    if (paragraphs.length === 0) return [];
    return [...(hasActions ? ["\n"] : []), `${paragraphs.join("\n\n")}\n`];
  };

  return {
    push(event: RunEvent) {
      answer.push(event);
      agents.push(event);
      switch (event.type) {
        case "run_start":
          // A program reads the value alone.
          if (event.hasSchema) showsActions = false;
          return [];
        case "text_delta":
          if (event.text.trim() !== "") plan = "";
          return [];
        case "tool_call_start":
          toolNames.set(event.callId, event.toolName);
          return [];
        case "tool_result": {
          hasActions = showsActions;
          if (event.status === "success" && event.effect?.kind === "question") {
            questions = formatQuestions(event.effect);
          }
          if (event.status === "success" && event.effect?.kind === "plan") plan = formatPlan(event.effect);
          if (!showsActions) return [];
          const line = formatAction(toolNames.get(event.callId) ?? "", event, locale);
          return [`${toVisibleLine(line)}\n`];
        }
        case "agent_event": {
          const { event: own } = event;
          if (own.type === "tool_call_start") toolNames.set(own.callId, own.toolName);
          if (own.type !== "tool_result" || !showsActions) return [];
          hasActions = true;
          const line = formatAction(toolNames.get(own.callId) ?? "", own, locale);
          return [`  ${toVisibleLine(`${agents.find(event).name}: ${line}`)}\n`];
        }
        case "run_end":
          if ("output" in event) return [`${toVisibleJson(JSON.stringify(event.output))}\n`];
          if (!event.error || (hasAnswer(event.error) && !showsFailure)) return message();
          return showsFailure ? [...message(), formatFailureLine(event.error)] : [];
        default:
          return [];
      }
    },
  };
}

export function formatPlan({ title, overview, plan, todos }: PlanEffect): string {
  const tasks = todos.map(({ id, content, dependencies }) => {
    const behind = dependencies.length > 0 ? ` (after ${dependencies.join(", ")})` : "";
    return `- [ ] ${id}: ${content}${behind}`;
  });
  const parts = [`# ${title}`, overview, plan, tasks.join("\n")];
  return toVisibleText(parts.filter((part) => part.trim() !== "").join("\n\n")).trim();
}

export function formatQuestions(effect: Parameters<typeof toCliQuestions>[0]): string[] {
  const questions = toCliQuestions(effect).map(({ id, prompt, options }) =>
    [`${id}: ${prompt}`, ...options.map((option) => `  ${option.id}) ${option.label}`)].join("\n"),
  );
  return [effect.title, ...questions].map(toVisibleText);
}
