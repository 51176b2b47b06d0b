/** All tools, and the check of their arguments. */
import { formatUnreadable } from "@sheaf/documents/model-streams";
import type { Mode } from "@sheaf/protocol";
import { formatProblem, parseValue, type Problem } from "@sheaf/protocol/check-value";
import type { ToolAccess } from "@sheaf/permissions/decision";
import { findNearest } from "@sheaf/base/nearest-names";
import { isOffered } from "@sheaf/permissions/permissions";
import { parseRule } from "@sheaf/permissions/rule";
import type { ToolDefinition } from "@sheaf/models/provider";
import { askQuestionTool } from "./ask-question.ts";
import { createPlanTool } from "./create-plan.ts";
import { deleteFileTool } from "./delete-file.ts";
import { editFileTool } from "./edit-file.ts";
import { toFailure } from "./failure.ts";
import { fixArguments, listIgnored } from "./fix-arguments.ts";
import { globSearchTool } from "./glob-search.ts";
import { grepSearchTool } from "./grep-search.ts";
import { listDirTool } from "./list-dir.ts";
import { readFileTool } from "./read-file.ts";
import { agentTraits, otherTools, searchToolName } from "./other-tools.ts";
import { readTerminalTool } from "./read-terminal.ts";
import { renameFileTool } from "./rename-file.ts";
import { runTerminalCmdTool } from "./run-terminal-cmd.ts";
import { todoWriteTool } from "./todo-write.ts";
import type { Tool, ToolContext, ToolInvocation, ToolOutcome, ToolReturn } from "./tool.ts";
import { foldName, type ToolTraits } from "./tool-traits.ts";
import { webFetchTool } from "./web-fetch.ts";
import { writeFileTool } from "./write-file.ts";

/** A tool with the check of its arguments, so that tools with different arguments fit into one list. */
export interface CallableTool extends ToolTraits, Pick<Tool, "description"> {
  /** JSON Schema of the arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** What a call with these arguments touches, where that depends on them; default: `access`. */
  readonly accessOf?: (args: ToolInvocation["arguments"]) => ToolAccess;
  /** True if its states of files are recorded; default: those of tools that write, and of servers. */
  readonly changesFiles?: boolean;
  /** Of a server's tool: its names, as in the user's rules. */
  readonly mcp?: { readonly server: string; readonly tool: string };
  /** The same, where it depends on the arguments. */
  readonly mcpOf?: (args: ToolInvocation["arguments"]) => { readonly server: string; readonly tool: string };
  /** Checks the arguments; `run` is then ready to go. A schema of the user's takes its time. */
  prepare(call: ToolInvocation): PreparedCall | Promise<PreparedCall>;
}

type PreparedCall =
  | { readonly ok: true; readonly run: (context: ToolContext) => Promise<ToolReturn> }
  | { readonly ok: false; readonly outcome: ToolOutcome };

/** Tools of servers, which may change while a run lives (C112, C113). */
export interface ServerTools {
  /** For the next request. The same array as before while nothing changes. */
  readonly offered: readonly CallableTool[];
  /** Those that are not offered but exist, and those that are gone, too. */
  find(name: string): CallableTool | undefined;
  /** Reads lists that have changed. Never rejects. */
  refresh(signal: AbortSignal): Promise<void>;
}

/** A tool with typed arguments among others. */
export function toCallable<Arguments>(tool: Tool<Arguments>): CallableTool {
  const { parameters, ...facts } = tool;
  return {
    ...facts,
    schema: JSON.parse(JSON.stringify(parameters, withoutBounds)) as CallableTool["schema"],
    prepare(call) {
      const args = parseToolArguments(tool, call);
      return args.ok ? { ok: true, run: (context) => tool.run(args.value, context) } : args;
    },
  };
}

/** A bound costs tokens in each request, and the refusal of a call names the one that it breaks. */
function withoutBounds(key: string, value: unknown): unknown {
  const isBound = /^(?:min|max)/.test(key) && typeof value === "number";
  return isBound || (key === "required" && Array.isArray(value) && value.length === 0) ? undefined : value;
}

/** Every tool, in the order in which models see them. */
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
  toCallable(readTerminalTool),
  toCallable(webFetchTool),
  toCallable(todoWriteTool),
  toCallable(createPlanTool),
  toCallable(askQuestionTool),
];

/** A tool by its name. `further`: those of servers and programs. */
export function findTool(name: string, further: readonly CallableTool[] = []): CallableTool | undefined {
  return [...tools, ...further].find((candidate) => candidate.name === name);
}

const described: ReadonlyMap<string, ToolTraits> = new Map([...tools, ...otherTools].map((tool) => [tool.name, tool]));

/** The description of a tool of Sheaf's by its name; undefined for tools of servers and programs. */
export function describeTool(name: string): ToolTraits | undefined {
  return described.get(name);
}

/** The tools that a name of Claude Code means for subagents, and the one that it means for hooks; a name of Sheaf stays. */
export function toOwnToolNames(name: string): readonly [string, ...string[]] {
  const all = [...described.values()];
  const own = all.find(({ claude }) => claude?.name === name || claude?.also === name)?.name ?? name;
  return [own, ...all.filter(({ comesWith }) => comesWith === name).map((tool) => tool.name)];
}

/** The failure of a call whose tool does not exist: the nearest names, and all of Sheaf's own (C40). */
export function toUnknownTool(name: string, offered: readonly string[]): ToolOutcome {
  const words = name.toLowerCase().split(/[^a-z]+/);
  const isMeant = (tool: string): boolean => words.some((word) => describeTool(tool)?.aliases?.includes(word));
  const near = findNearest(name, offered);
  const similar = offered.filter((tool) => isMeant(tool) || tool.split("_").some((word) => words.includes(word)));
  const guesses = (near.length > 0 ? near : similar).slice(0, 3);
  const question = guesses.length > 0 ? `did you mean ${guesses.join(" or ")}? ` : "";
  const shown = JSON.stringify(name.slice(0, 100));
  // Servers may have hundreds, which the model sees anyway.
  const own = offered.filter((tool) => !tool.startsWith("mcp__"));
  const known = own.length < offered.length ? [...own, "mcp__SERVER__TOOL"] : own;
  return toFailure("UNKNOWN_TOOL", `there is no tool ${shown}: ${question}use one of ${known.join(", ")}`);
}

/** The one offered tool that a model means by another agent's name or spelling (N59); the name itself if none or several. */
export function fixToolName(name: string, offered: readonly string[]): string {
  if (offered.includes(name)) return name;
  const folded = foldName(name.replace(/^(?:functions|tools|default_api)[.:]/, "").replace(/:\d+$/, ""));
  const meant = offered.filter((tool) => {
    const { claude, aliases = [] } = describeTool(tool) ?? {};
    return [tool, claude?.name, claude?.also, ...aliases].some((other) => foldName(other ?? "") === folded);
  });
  return meant.length === 1 ? meant[0]! : name;
}

/** The arguments of a call with what models often get wrong put right (N59); those of servers' tools as they are. */
export function fixCallArguments(toolName: string, args: ToolInvocation["arguments"]): ToolInvocation["arguments"] {
  const tool = findTool(toolName);
  const fixed = tool ? fixArguments(tool.schema, args) : args;
  return tool?.mend?.(fixed) ?? fixed;
}

/** A note that names the arguments that a tool does not have; undefined: none (N59). */
export function describeIgnored({ toolName, arguments: args }: ToolInvocation): string | undefined {
  const tool = findTool(toolName);
  const ignored = tool ? listIgnored(tool.schema, args) : [];
  return ignored.length === 0
    ? undefined
    : `Sheaf ignored arguments that ${toolName} does not take: ${ignored.join(", ")}.`;
}

/** Which tools the caller wants the run to have, by name; `NAME*` is every tool whose name begins so (C46). */
export interface ToolChoice {
  /** Undefined: all. */
  readonly only?: readonly string[] | undefined;
  readonly excluded?: readonly string[] | undefined;
}

export function isChosen(name: string, { only, excluded = [] }: ToolChoice = {}): boolean {
  const matches = (pattern: string): boolean =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  return (only === undefined || name === searchToolName || only.some(matches)) && !excluded.some(matches);
}

/** Names of all tools but those of servers and programs. */
export function listToolNames(): readonly string[] {
  return [
    ...tools.map(({ name }) => name),
    agentTraits.name,
    searchToolName,
    "list_mcp_resources",
    "read_mcp_resource",
  ];
}

export function listWithheldTools(): readonly string[] {
  return [...described.values()].filter(({ isWithheld }) => isWithheld).map(({ name }) => name);
}

/** What decides which tools a model sees, besides the mode. */
export interface ToolOffer {
  readonly mode: Mode;
  /** Default: all. */
  readonly choice?: ToolChoice | undefined;
  readonly hasPlan: boolean;
  /** True if any page can be permitted. Default true. */
  readonly canFetchPages?: boolean | undefined;
}

/**
 * The tools as a model sees them (C39): those that the run can use. Created once per run; every turn sends them.
 * Plan mode and the work on its plan have the same list, so that a provider's cache of the conversation survives the
 * change; the gate refuses what plan mode forbids.
 */
export function toDefinitions(offer: ToolOffer, further: readonly CallableTool[] = []): ToolDefinition[] {
  return [...tools, ...further].filter((tool) => isShown(tool, offer)).map(toDefinition);
}

function isShown(tool: CallableTool, offer: ToolOffer): boolean {
  const { mode, choice, hasPlan, canFetchPages = true } = offer;
  if (!isChosen(tool.name, choice)) return false;
  const isWanted = hasPlan || choice?.only?.includes(tool.name);
  if (tool.needs === "plan") return mode === "plan" || (mode === "agent" && isWanted === true);
  if (tool.needs === "pages" && !canFetchPages) return false;
  return isOffered(mode === "plan" ? "agent" : mode, tool);
}

/** Returns true if a rule allows pages of a host: without one, a run that cannot ask anybody has no `web_fetch`. */
export function hasPageRule(allow: readonly string[]): boolean {
  return allow.some((rule) => parseRule(rule).kind === "WebFetch");
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
    return { ok: false, outcome: toFailure("INVALID_ARGUMENTS", formatUnreadable(tool.name, call.rawArguments)) };
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
