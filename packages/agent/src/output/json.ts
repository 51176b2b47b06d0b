/** `--output-format json`: one object, at the end (C3, C22). */
import type { ResultLine } from "@sheaf/protocol";
import { createAnswerText } from "./answer-text.ts";
import { toCursorResult, type CursorResult } from "./cursor-stream.ts";
import { hasAnswer } from "./failure-line.ts";
import { encodeLine, type CliProfile, type Projection } from "./projection.ts";
import { createResultCollector } from "./result-line.ts";

interface JsonOptions {
  readonly profile?: CliProfile;
  readonly showsFailure?: boolean;
}

/**
 * Prints one object when the run succeeds, asks the user, or fails with an answer, and with `showsFailure` when it
 * fails. `cursor-2026` prints no object for a question, and only that program's fields (C30).
 */
export function createJsonProjection(options: JsonOptions = {}): Projection {
  const { profile, showsFailure = false } = options;
  const collector = createResultCollector();
  const answer = createAnswerText();
  const toObject = (result: ResultLine | undefined): Record<string, unknown> | undefined => {
    if (!result) return undefined;
    const isCursor = profile === "cursor-2026";
    // The format streams no text that the result must equal (C7).
    const whole = isCursor ? result : { ...result, result: answer.whole };
    if (result.is_error)
      return showsFailure || (!isCursor && hasAnswer(result.error)) ? toJsonObject(whole) : undefined;
    if (!isCursor) return toJsonObject(whole);
    return result.subtype === "success" ? toJsonObject(toCursorResult(result)) : undefined;
  };
  return {
    push(event) {
      collector.push(event);
      answer.push(event);
      const object = toObject(collector.result);
      return object ? [encodeLine(object)] : [];
    },
  };
}

/** Returns the key order of C3: `is_error` is third. */
function toJsonObject(result: ResultLine | CursorResult): Record<string, unknown> {
  const { type, subtype, is_error, ...rest } = result;
  return { type, subtype, is_error, ...rest };
}
