/** Arguments that a model wrote, checked before a tool sees them. */
import { formatProblem, parseValue, type Problem } from "@sheaf/protocol/check-value";
import { toFailure } from "./failure.ts";
import type { Tool, ToolInvocation, ToolOutcome } from "./tool.ts";

/** Most problems that one failure names. */
const MAX_PROBLEMS = 3;

/**
 * Arguments by the tool's schema; unknown fields are dropped, and null means that a field was left out, since some models
 * write it so. The failure names the field, what was expected and what came.
 */
export function parseArguments<Arguments>(
  tool: Tool<Arguments>,
  call: ToolInvocation,
): { readonly ok: true; readonly value: Arguments } | { readonly ok: false; readonly outcome: ToolOutcome } {
  if (call.rawArguments !== undefined) {
    const start = call.rawArguments.slice(0, 200);
    const message = `the arguments of ${tool.name} are not a JSON object: write them again (they began with ${JSON.stringify(start)})`;
    return { ok: false, outcome: toFailure("INVALID_ARGUMENTS", message) };
  }
  const parsed = parseValue(tool.parameters, call.arguments, { dropsNull: true });
  if (parsed.ok) return parsed;
  const problems = parsed.problems.slice(0, MAX_PROBLEMS).map(toLine);
  const message = `the arguments of ${tool.name} are wrong: ${problems.join("; ")}`;
  return { ok: false, outcome: toFailure("INVALID_ARGUMENTS", message) };
}

function toLine(problem: Problem): string {
  return `${problem.path.length === 0 ? "arguments: " : ""}${formatProblem(problem, true)}`;
}
