/** The last line of the profile `cursor-2026` (C30). */
import type { ResultSuccess } from "@sheaf/protocol";

/** The fields of that program, in the order of its lines, and what an explicit flag asked for. */
export type CursorResult = Pick<
  ResultSuccess,
  | "type"
  | "subtype"
  | "duration_ms"
  | "duration_api_ms"
  | "is_error"
  | "result"
  | "session_id"
  | "request_id"
  | "usage"
  | "structured_output"
>;

/** Without the fields that are Sheaf's own. */
export function toCursorResult(result: ResultSuccess): CursorResult {
  const { type, subtype, duration_ms, duration_api_ms, is_error, result: text, session_id, request_id, usage } = result;
  return {
    type,
    subtype,
    duration_ms,
    duration_api_ms,
    is_error,
    result: text,
    session_id,
    request_id,
    usage,
    ...("structured_output" in result && { structured_output: result.structured_output }),
  };
}
