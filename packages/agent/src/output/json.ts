/** `--output-format json`: one object, at the end (C3, C22). */
import type { ResultLine } from "@sheaf/protocol";
import { createAnswerText } from "./answer-text.ts";
import { toCursorResult, type CursorResult } from "./cursor-stream.ts";
import { encodeLine, type CliProfile, type Projection } from "./projection.ts";
import { createResultCollector } from "./result-line.ts";

interface JsonOptions {
  readonly profile?: CliProfile;
  readonly showsFailure?: boolean;
}

/**
 * Prints one object when the run succeeds or asks the user, and with `showsFailure` when it fails. In the profile
 * `cursor-2026` a question prints nothing either, and the object has the fields of that program alone (C30).
 */
export function createJsonProjection(options: JsonOptions = {}): Projection {
  const { profile, showsFailure = false } = options;
  const collector = createResultCollector();
  const answer = createAnswerText();
  /** Of the start: no line before this object tells them. */
  let begun: readonly string[] = [];
  const toObject = (result: ResultLine | undefined): Record<string, unknown> | undefined => {
    if (!result) return undefined;
    const isCursor = profile === "cursor-2026";
    // Nothing was streamed that it must equal (C7).
    const whole = isCursor ? result : { ...result, result: answer.whole };
    if (result.is_error) return showsFailure ? toJsonObject(whole) : undefined;
    if (!isCursor) {
      const notices = [...begun, ...("notices" in whole ? (whole.notices ?? []) : [])];
      return toJsonObject(notices.length > 0 && whole.subtype === "success" ? { ...whole, notices } : whole);
    }
    return result.subtype === "success" ? toJsonObject(toCursorResult(result)) : undefined;
  };
  return {
    push(event) {
      if (event.type === "run_start") begun = event.notices ?? [];
      collector.push(event);
      answer.push(event);
      const object = toObject(collector.result);
      return object ? [encodeLine(object)] : [];
    },
  };
}

/** The key order of C3: `is_error` is third. */
function toJsonObject(result: ResultLine | CursorResult): Record<string, unknown> {
  const { type, subtype, is_error, ...rest } = result;
  return { type, subtype, is_error, ...rest };
}
