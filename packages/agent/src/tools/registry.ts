/** Which tools there are. */
import type { Mode } from "@sheaf/protocol";
import * as z from "zod/mini";
import { isOffered } from "../permissions/permissions.ts";
import type { ToolDefinition } from "../providers/provider.ts";
import { askQuestionTool } from "./ask-question.ts";
import { parseArguments } from "./arguments.ts";
import { createPlanTool } from "./create-plan.ts";
import { deleteFileTool } from "./delete-file.ts";
import { editFileTool } from "./edit-file.ts";
import { toFailure } from "./failure.ts";
import { globSearchTool } from "./glob-search.ts";
import { grepSearchTool } from "./grep-search.ts";
import { listDirTool } from "./list-dir.ts";
import { readFileTool } from "./read-file.ts";
import { renameFileTool } from "./rename-file.ts";
import { runTerminalCmdTool } from "./run-terminal-cmd.ts";
import { todoWriteTool } from "./todo-write.ts";
import type { Tool, ToolContext, ToolInvocation, ToolOutcome } from "./tool.ts";
import { writeFileTool } from "./write-file.ts";

/** A tool behind the check of its own arguments, so that tools of different arguments can stand in one list. */
export interface CallableTool extends Pick<Tool, "name" | "description" | "documentType" | "access"> {
  readonly parameters: z.ZodMiniType;
  /** Checks the arguments; `run` is then ready to go. */
  prepare(
    call: ToolInvocation,
  ):
    | { readonly ok: true; readonly run: (context: ToolContext) => Promise<ToolOutcome> }
    | { readonly ok: false; readonly outcome: ToolOutcome };
}

function toCallable<Arguments>(tool: Tool<Arguments>): CallableTool {
  return {
    name: tool.name,
    description: tool.description,
    documentType: tool.documentType,
    access: tool.access,
    parameters: tool.parameters,
    prepare(call) {
      const args = parseArguments(tool, call);
      return args.ok ? { ok: true, run: (context) => tool.run(args.value, context) } : args;
    },
  };
}

/** Every tool, in the order in which models are told of them. */
const tools: readonly CallableTool[] = [
  toCallable(readFileTool),
  toCallable(listDirTool),
  toCallable(globSearchTool),
  toCallable(grepSearchTool),
  toCallable(editFileTool),
  toCallable(writeFileTool),
  toCallable(deleteFileTool),
  toCallable(renameFileTool),
  toCallable(runTerminalCmdTool),
  toCallable(todoWriteTool),
  toCallable(createPlanTool),
  toCallable(askQuestionTool),
];

/** A tool by its name; a name that no tool has is a failure that names the ones there are. */
export function findTool(
  name: string,
): { readonly ok: true; readonly tool: CallableTool } | { readonly ok: false; readonly outcome: ToolOutcome } {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool) return { ok: true, tool };
  const names = tools.map((candidate) => candidate.name).join(", ");
  return { ok: false, outcome: toFailure("UNKNOWN_TOOL", `there is no tool "${name}": use one of ${names}`) };
}

/** What a model is told of the tools that its mode offers. Made once for a run: every turn sends them again. */
export function toDefinitions(mode: Mode): ToolDefinition[] {
  return tools.filter((tool) => isOffered(mode, tool)).map(toDefinition);
}

function toDefinition({ name, description, parameters }: CallableTool): ToolDefinition {
  let schema: Record<string, unknown> | undefined;
  return {
    name,
    description,
    // Made when a model asks, and kept: most models of the command line never look.
    get parameters() {
      schema ??= z.toJSONSchema(parameters, { io: "input" });
      return schema;
    },
  };
}
