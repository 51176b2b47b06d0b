/** Tools of a program: a JSON Schema and a function. */
import { formatUnreadable } from "@sheaf/documents/model-streams";
import { toJsonObject } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import type { SchemaCheck } from "../run/answer-schema.ts";
import { toCancelledOutcome, toFailure } from "../tools/failure.ts";
import { findTool, type CallableTool } from "../tools/registry.ts";
import type { ToolInvocation, ToolOutcome } from "../tools/tool.ts";

/** Longest result that the model sees, in UTF-16 units. */
const MAX_OUTPUT = 100_000;

/** The parts of a run that a custom tool may use. */
export interface CustomToolContext {
  /** Aborted when the run ends: return soon. */
  readonly signal: AbortSignal;
  readonly callId: string;
  /** Absolute root of the workspace. */
  readonly workspace: string;
  /** Shows output while the tool still works. */
  readonly emitOutput: (delta: string) => void;
}

/** A tool of a program. */
export interface CustomTool<Arguments = Record<string, unknown>> {
  /** Letters, digits, `_` and `-`, at most 64; not the name of a built-in tool. */
  readonly name: string;
  /** Tells the model the effect of the tool, and when to use it. */
  readonly description: string;
  /** JSON Schema (draft 2020-12) of the arguments, an object. Calls with other arguments do not reach `run`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The tool changes nothing, so Sheaf offers it in every mode, and several calls may run at once. Default: false. */
  readonly readOnly?: boolean;
  /**
   * Arguments of a `readOnly` tool that are paths of files it reads. Rules against reading then refuse only calls that
   * name such a file (S-243). Default: every rule against reading refuses the tool.
   */
  readonly paths?: readonly string[];
  /** A call needs a rule `Mcp(program:NAME)`, or the approver's permission. Default: false. */
  readonly needsApproval?: boolean;
  /**
   * Runs one call. A string goes to the model as it is, any other value as JSON. If it throws, the model sees the error
   * as the tool's failure, and the run continues.
   */
  run(args: Arguments, context: CustomToolContext): unknown;
}

/** Checks tools, except for the contents of their schemas. @throws SheafError USAGE with the tool and its fault. */
export function checkTools(tools: readonly CustomTool[]): void {
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    checkName(tool, index, names);
    checkParameters(tool);
    names.add(tool.name);
  }
}

function checkName(tool: CustomTool, index: number, names: ReadonlySet<string>): void {
  const { name } = tool;
  const shown = `tools[${index}].name ${JSON.stringify(name)}`;
  if (typeof name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw createUsageError(`${shown} is not valid: use 1 to 64 letters, digits, "_" or "-"`);
  }
  if (findTool(name)) throw createUsageError(`${shown} is already the name of a tool of Sheaf: choose another name`);
  if (name.startsWith("mcp__"))
    throw createUsageError(`${shown} starts with "mcp__", as only tools of MCP servers may: choose another name`);
  if (names.has(name)) throw createUsageError(`${shown} appears twice: choose another name`);
  if (typeof tool.run !== "function") throw createUsageError(`tools[${index}] ("${name}") has no function "run"`);
}

function checkParameters(tool: CustomTool): void {
  const { name, parameters } = tool;
  if (typeof parameters !== "object" || parameters === null || parameters["type"] !== "object") {
    const example = '{ type: "object", properties: {} }';
    throw createUsageError(`the parameters of the tool "${name}" are not the schema of an object: write ${example}`);
  }
  checkPaths(tool);
}

/** A misspelt name would let every call pass. */
function checkPaths({ name, parameters, paths, readOnly, needsApproval }: CustomTool): void {
  if (paths === undefined) return;
  if (!readOnly || needsApproval) {
    throw createUsageError(`the tool "${name}" has paths but is not readOnly, or needs approval: leave paths out`);
  }
  const known = Object.keys(toJsonObject(parameters["properties"]));
  if (Array.isArray(paths) && paths.length > 0 && paths.every((path) => known.includes(path))) return;
  throw createUsageError(
    `the paths of the tool "${name}" are not names of its arguments: use some of ${known.join(", ")}`,
  );
}

/** The way messages call the schema of a tool. */
export function toSchemaName({ name }: CustomTool): string {
  return `the schema of the tool "${name}"`;
}

/** A tool of the program for one run. */
export function toCallableTool(tool: CustomTool, check: SchemaCheck): CallableTool {
  const { name, description, parameters, paths, readOnly = false, needsApproval = false } = tool;
  return {
    name,
    description,
    schema: parameters,
    // A tool that the program offers is allowed, unless the program wants to be asked.
    access: needsApproval ? "mcp" : readOnly ? "read" : "state",
    changesFiles: !readOnly,
    ...(paths && { paths: { files: paths } }),
    ...(needsApproval && { mcp: { server: "program", tool: name } }),
    async prepare(call) {
      const problem = await findProblem(tool, call, check);
      if (problem !== undefined) return { ok: false, outcome: toFailure("INVALID_ARGUMENTS", problem) };
      return {
        ok: true,
        run: ({ signal, callId, workspace, emitOutput }) =>
          runTool(tool, call, {
            signal,
            callId,
            workspace: workspace.root,
            emitOutput: (delta) => emitOutput("stdout", delta),
          }),
      };
    },
  };
}

async function findProblem(
  tool: CustomTool,
  { toolName, rawArguments, ...call }: ToolInvocation,
  check: SchemaCheck,
): Promise<string | undefined> {
  if (rawArguments !== undefined) return formatUnreadable(toolName, rawArguments);
  const verdict = await check(call.arguments);
  if (verdict.kind === "fits") return undefined;
  const faults = verdict.kind === "misfit" ? verdict.faults : `${toSchemaName(tool)} ${verdict.problem}`;
  return `the arguments of ${toolName} are wrong: ${faults}`;
}

async function runTool(tool: CustomTool, call: ToolInvocation, context: CustomToolContext): Promise<ToolOutcome> {
  try {
    const value: unknown = await tool.run({ ...call.arguments }, context);
    return toSuccess(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  } catch (error) {
    if (context.signal.aborted) return toCancelledOutcome();
    const message = error instanceof Error ? error.message : String(error);
    return toFailure("TOOL_FAILED", `${tool.name} failed: ${message}`);
  }
}

function toSuccess(text: string): ToolOutcome {
  if (text.length <= MAX_OUTPUT) return { status: "success", output: text };
  const output = `${text.slice(0, MAX_OUTPUT).toWellFormed()}\n… ${text.length - MAX_OUTPUT} more characters`;
  return { status: "success", output, truncated: true, bytes: Buffer.byteLength(text) };
}

export function createUsageError(message: string): SheafError {
  return new SheafError("USAGE", `createAgent: ${message}`);
}
