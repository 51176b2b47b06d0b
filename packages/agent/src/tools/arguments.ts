/** Arguments that a model wrote, checked before a tool sees them. */
import { toFailure } from "./failure.ts";
import type { Problem } from "./parameters.ts";
import type { Tool, ToolInvocation, ToolOutcome } from "./tool.ts";

/** How many problems one failure tells. */
const MAX_PROBLEMS = 3;

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
  const problems: Problem[] = [];
  const value = tool.parameters.check(call.arguments, "", problems);
  if (problems.length === 0) return { ok: true, value };
  const told = problems.slice(0, MAX_PROBLEMS).map(({ place, message }) => `${place || "arguments"}: ${message}`);
  return {
    ok: false,
    outcome: toFailure("INVALID_ARGUMENTS", `the arguments of ${tool.name} are wrong: ${told.join("; ")}`),
  };
}
