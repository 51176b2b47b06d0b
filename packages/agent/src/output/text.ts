/** `--output-format text`: one line per action, then the final message (C11). */
import type { RunEvent } from "@sheaf/protocol";
import { formatAction, type Locale } from "./action-words.ts";
import type { Projection } from "./projection.ts";
import { toCliQuestions } from "./result-line.ts";
import { toVisibleLine, toVisibleText } from "./visible-text.ts";

/** Options of the format. */
export interface TextOptions {
  readonly locale: Locale;
}

/** Makes the lines. A failing run prints its actions and no message; why it failed is on stderr (C21). */
export function createTextProjection({ locale }: TextOptions): Projection {
  const toolNames = new Map<string, string>();
  let wholeText = "";
  /** Text behind the last tool call. */
  let lastText = "";
  let questions: string[] = [];
  let hasActions = false;

  const message = (): string[] => {
    // A model may end with a tool call; then what it said before is its message.
    const text = toVisibleText(lastText.trim() === "" ? wholeText : lastText).trim();
    const paragraphs = [text, ...questions].filter((paragraph) => paragraph !== "");
    if (paragraphs.length === 0) return [];
    return [...(hasActions ? ["\n"] : []), `${paragraphs.join("\n\n")}\n`];
  };

  return {
    push(event: RunEvent) {
      switch (event.type) {
        case "text_delta":
          wholeText += event.text;
          lastText += event.text;
          return [];
        case "tool_call_start":
          toolNames.set(event.callId, event.toolName);
          lastText = "";
          return [];
        case "tool_result": {
          hasActions = true;
          if (event.status === "success" && event.effect?.kind === "question") {
            questions = formatQuestions(event.effect);
          }
          const line = formatAction(toolNames.get(event.callId) ?? "", event, locale);
          return [`${toVisibleLine(line)}\n`];
        }
        case "run_end":
          return event.error ? [] : message();
        default:
          return [];
      }
    },
  };
}

function formatQuestions(effect: Parameters<typeof toCliQuestions>[0]): string[] {
  const questions = toCliQuestions(effect).map(({ id, prompt, options }) =>
    [`${id}: ${prompt}`, ...options.map((option) => `  ${option.id}) ${option.label}`)].join("\n"),
  );
  return [effect.title, ...questions].map(toVisibleText);
}
