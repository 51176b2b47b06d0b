/** The body of every error before the first event (N52). */

/** The reason why a value is not an error body; undefined if it is one. */
export function explainErrorBody(value: unknown): string | undefined {
  const error = (value as { readonly error?: Record<string, unknown> } | null | undefined)?.error;
  if (typeof error !== "object" || error === null) return "no object in `error`";
  const missing = ["errorCode", "message", "source", "details"].find((field) => typeof error[field] !== "string");
  if (missing !== undefined) return `error.${missing} is not a string`;
  const { errorCode, message } = error as Record<string, string>;
  if (!/^[A-Z][A-Z0-9_]*$/.test(errorCode ?? ""))
    return `error.errorCode ${JSON.stringify(errorCode)} is not upper snake case`;
  return message === "" ? "error.message is empty" : undefined;
}
