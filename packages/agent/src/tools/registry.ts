/** All tools, and the check of their arguments. */
import type { Mode } from "@sheaf/protocol";
import { formatProblem, parseValue, type Problem } from "@sheaf/protocol/check-value";
import { isOffered } from "../guard/permissions/permissions.ts";
import type { ToolDefinition } from "../model/provider.ts";
import { addInstrumentationTool } from "./add-instrumentation.ts";
import { askQuestionTool } from "./ask-question.ts";
import { codebaseSearchTool } from "./codebase-search.ts";
import { createPlanTool } from "./create-plan.ts";
import { deleteFileTool } from "./delete-file.ts";
import { editFileTool } from "./edit-file.ts";
import { toFailure } from "./failure.ts";
import { fixArguments } from "./fix-arguments.ts";
import { globSearchTool } from "./glob-search.ts";
import { grepSearchTool } from "./grep-search.ts";
import { listDirTool } from "./list-dir.ts";
import { readFileTool } from "./read-file.ts";
import { readTerminalTool } from "./read-terminal.ts";
import { removeInstrumentationTool } from "./remove-instrumentation.ts";
import { renameFileTool } from "./rename-file.ts";
import { runTerminalCmdTool } from "./run-terminal-cmd.ts";
import { todoWriteTool } from "./todo-write.ts";
import type { Tool, ToolContext, ToolInvocation, ToolOutcome, ToolReturn } from "./tool.ts";
import { webFetchTool } from "./web-fetch.ts";
import { writeFileTool } from "./write-file.ts";

/** A tool with the check of its arguments, so that tools with different arguments fit into one list. */
export interface CallableTool extends Pick<Tool, "name" | "description" | "documentType" | "access"> {
  /** JSON Schema of the arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Of a server's tool: its names, as in the user's rules. */
  readonly mcp?: { readonly server: string; readonly tool: string };
  /** Checks the arguments; `run` is then ready to go. A schema of the user's takes its time. */
  prepare(call: ToolInvocation): PreparedCall | Promise<PreparedCall>;
}

/** A call whose arguments are checked. */
type PreparedCall =
  | { readonly ok: true; readonly run: (context: ToolContext) => Promise<ToolReturn> }
  | { readonly ok: false; readonly outcome: ToolOutcome };

function toCallable<Arguments>(tool: Tool<Arguments>): CallableTool {
  return {
    name: tool.name,
    description: tool.description,
    documentType: tool.documentType,
    access: tool.access,
    schema: { ...tool.parameters },
    prepare(call) {
      const args = parseToolArguments(tool, call);
      return args.ok ? { ok: true, run: (context) => tool.run(args.value, context) } : args;
    },
  };
}

/** Every tool, in the order in which models see them. */
const tools: readonly CallableTool[] = [
  toCallable(readFileTool),
  toCallable(listDirTool),
  toCallable(globSearchTool),
  toCallable(grepSearchTool),
  toCallable(codebaseSearchTool),
  toCallable(editFileTool),
  toCallable(writeFileTool),
  toCallable(deleteFileTool),
  toCallable(renameFileTool),
  toCallable(runTerminalCmdTool),
  toCallable(readTerminalTool),
  toCallable(webFetchTool),
  toCallable(todoWriteTool),
  toCallable(createPlanTool),
  toCallable(askQuestionTool),
  toCallable(addInstrumentationTool),
  toCallable(removeInstrumentationTool),
];

/** A tool by its name; an unknown name is a failure that lists the known ones. `further`: those of servers. */
export function findTool(
  name: string,
  further: readonly CallableTool[] = [],
): { readonly ok: true; readonly tool: CallableTool } | { readonly ok: false; readonly outcome: ToolOutcome } {
  const all = [...tools, ...further];
  const tool = all.find((candidate) => candidate.name === name);
  if (tool) return { ok: true, tool };
  const names = all.map((candidate) => candidate.name).join(", ");
  return { ok: false, outcome: toFailure("UNKNOWN_TOOL", `there is no tool "${name}": use one of ${names}`) };
}

/** The arguments of a call with what models often get wrong put right (N59); those of servers' tools as they are. */
export function fixCallArguments(toolName: string, args: ToolInvocation["arguments"]): ToolInvocation["arguments"] {
  const tool = tools.find(({ name }) => name === toolName);
  return tool ? fixArguments(tool.schema, args) : args;
}

/** The tools that a mode offers, as a model sees them. Created once per run; every turn sends them. */
export function toDefinitions(mode: Mode, further: readonly CallableTool[] = []): ToolDefinition[] {
  return [...tools, ...further].filter((tool) => isOffered(mode, tool)).map(toDefinition);
}

function toDefinition({ name, description, schema }: CallableTool): ToolDefinition {
  return { name, description, parameters: schema };
}

/** Most problems that one failure names. */
const MAX_PROBLEMS = 3;

/**
 * Arguments by the tool's schema; unknown fields are dropped, and null means that a field was left out, since some models
 * write it so. The failure names the field, what was expected and what came.
 */
export function parseToolArguments<Arguments>(
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
