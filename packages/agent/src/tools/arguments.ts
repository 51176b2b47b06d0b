/** Arguments that a model wrote, checked before a tool sees them. */
import createEnglishMessages from "zod/v4/locales/en.js";
import type * as z from "zod/mini";
import { toFailure } from "./failure.ts";
import type { Tool, ToolInvocation, ToolOutcome } from "./tool.ts";

/** The small edition of zod has no messages of its own. */
const { localeError } = createEnglishMessages();

/** Arguments by the tool's schema; unknown fields are dropped. The failure names the field and what was expected. */
export function parseArguments<Arguments>(
  tool: Tool<Arguments>,
  call: ToolInvocation,
): { readonly ok: true; readonly value: Arguments } | { readonly ok: false; readonly outcome: ToolOutcome } {
  if (call.rawArguments !== undefined) {
    const start = call.rawArguments.slice(0, 200);
    const message = `the arguments of ${tool.name} are no JSON object: write them again (they began with ${JSON.stringify(start)})`;
    return { ok: false, outcome: toFailure("INVALID_ARGUMENTS", message) };
  }
  const result = tool.parameters.safeParse(call.arguments, { error: localeError });
  if (result.success) return { ok: true, value: result.data };
  const problems = result.error.issues.slice(0, 3).map((issue) => `${formatPath(issue)}: ${issue.message}`);
  const message = `the arguments of ${tool.name} are wrong: ${problems.join("; ")}`;
  return { ok: false, outcome: toFailure("INVALID_ARGUMENTS", message) };
}

/** For instance `edits[0].old_string`. */
function formatPath({ path }: z.core.$ZodIssue): string {
  const text = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  return text.replace(/^\./, "") || "arguments";
}
