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
  /** Returns the access that these arguments need; default: `access`. */
  readonly accessOf?: (args: ToolInvocation["arguments"]) => ToolAccess;
  /** True if Sheaf records states of files around a call; default: true if the tool writes, or a server has it. */
  readonly changesFiles?: boolean;
  /** The names of a server and its tool, as in the user's rules; only tools of servers have it. */
  readonly mcp?: { readonly server: string; readonly tool: string };
  /** Returns these names, if they depend on the arguments. */
  readonly mcpOf?: (args: ToolInvocation["arguments"]) => { readonly server: string; readonly tool: string };
  /** Checks the arguments, so that `run` can start. The check takes time for a schema that the user wrote. */
  prepare(call: ToolInvocation): PreparedCall | Promise<PreparedCall>;
}

type PreparedCall =
  | { readonly ok: true; readonly run: (context: ToolContext) => Promise<ToolReturn> }
  | { readonly ok: false; readonly outcome: ToolOutcome };

/** Tools of servers, which may change while a run lives (C112, C113). */
export interface ServerTools {
  /** The tools for the next request. It stays the same array until a tool changes. */
  readonly offered: readonly CallableTool[];
  /** Finds a tool by its name, even if `offered` lacks it, and even after it is gone. */
  find(name: string): CallableTool | undefined;
  /** Reads lists that have changed. Never rejects. */
  refresh(signal: AbortSignal): Promise<void>;
}

/** Converts a tool with typed arguments, so that it fits into a list with others. */
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

/** Removes bounds, which cost tokens in each request: the refusal of a call mentions the bound that it breaks. */
function withoutBounds(key: string, value: unknown): unknown {
  const isBound = /^(?:min|max)/.test(key) && typeof value === "number";
  return isBound || (key === "required" && Array.isArray(value) && value.length === 0) ? undefined : value;
}

/** All built-in tools, in the order in which models see them. */
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

/** Finds a tool by its name. `further`: tools of servers and programs. */
export function findTool(name: string, further: readonly CallableTool[] = []): CallableTool | undefined {
  return [...tools, ...further].find((candidate) => candidate.name === name);
}

const described: ReadonlyMap<string, ToolTraits> = new Map([...tools, ...otherTools].map((tool) => [tool.name, tool]));

/** Returns the traits of a built-in tool by its name; undefined for tools of servers and programs. */
export function describeTool(name: string): ToolTraits | undefined {
  return described.get(name);
}

/** Returns the tools that a name of Claude Code means: hooks use the first, subagents all. A name of Sheaf stays. */
export function toOwnToolNames(name: string): readonly [string, ...string[]] {
  const all = [...described.values()];
  const own = all.find(({ claude }) => claude?.name === name || claude?.also === name)?.name ?? name;
  return [own, ...all.filter(({ comesWith }) => comesWith === name).map((tool) => tool.name)];
}

/** Returns the failure of a call whose tool does not exist, with the nearest names and all built-in ones (C40). */
export function toUnknownTool(name: string, offered: readonly string[]): ToolOutcome {
  const words = name.toLowerCase().split(/[^a-z]+/);
  const isMeant = (tool: string): boolean => words.some((word) => describeTool(tool)?.aliases?.includes(word));
  const near = findNearest(name, offered);
  const similar = offered.filter((tool) => isMeant(tool) || tool.split("_").some((word) => words.includes(word)));
  const guesses = (near.length > 0 ? near : similar).slice(0, 3);
  const question = guesses.length > 0 ? `did you mean ${guesses.join(" or ")}? ` : "";
  const shown = JSON.stringify(name.slice(0, 100));
  // Servers may have hundreds of tools, and the model sees their names anyway.
  const own = offered.filter((tool) => !tool.startsWith("mcp__"));
  const known = own.length < offered.length ? [...own, "mcp__SERVER__TOOL"] : own;
  return toFailure("UNKNOWN_TOOL", `there is no tool ${shown}: ${question}use one of ${known.join(", ")}`);
}

/** Returns the one tool that a model means by another agent's name or spelling (N59), else the name itself. */
export function fixToolName(name: string, offered: readonly string[]): string {
  if (offered.includes(name)) return name;
  const folded = foldName(name.replace(/^(?:functions|tools|default_api)[.:]/, "").replace(/:\d+$/, ""));
  const meant = offered.filter((tool) => {
    const { claude, aliases = [] } = describeTool(tool) ?? {};
    return [tool, claude?.name, claude?.also, ...aliases].some((other) => foldName(other ?? "") === folded);
  });
  return meant.length === 1 ? meant[0]! : name;
}

/** Corrects common mistakes of models in a call's arguments (N59); arguments of servers' tools stay as they are. */
export function fixCallArguments(toolName: string, args: ToolInvocation["arguments"]): ToolInvocation["arguments"] {
  const tool = findTool(toolName);
  const fixed = tool ? fixArguments(tool.schema, args) : args;
  return tool?.mend?.(fixed) ?? fixed;
}

/** Returns a note with the arguments that the tool does not have; undefined if it has all of them (N59). */
export function describeIgnored({ toolName, arguments: args }: ToolInvocation): string | undefined {
  const tool = findTool(toolName);
  const ignored = tool ? listIgnored(tool.schema, args) : [];
  return ignored.length === 0
    ? undefined
    : `Sheaf ignored arguments that ${toolName} does not take: ${ignored.join(", ")}.`;
}

/** The names of the tools that the caller wants; `NAME*` matches every tool whose name starts with NAME (C46). */
export interface ToolChoice {
  /** The only tools that the run has; undefined: all. */
  readonly only?: readonly string[] | undefined;
  readonly excluded?: readonly string[] | undefined;
}

export function isChosen(name: string, { only, excluded = [] }: ToolChoice = {}): boolean {
  const matches = (pattern: string): boolean =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  return (only === undefined || name === searchToolName || only.some(matches)) && !excluded.some(matches);
}

/** Returns the names of all tools, except those of servers and programs. */
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

/** The facts that decide which tools a model sees. */
export interface ToolOffer {
  readonly mode: Mode;
  /** Default: all tools. */
  readonly choice?: ToolChoice | undefined;
  readonly hasPlan: boolean;
  /** True if any page can be permitted. Default true. */
  readonly canFetchPages?: boolean | undefined;
}

/**
 * Returns the tools that the run can use, as a model sees them (C39). A run creates the list once, and every turn sends
 * it. Plan mode and the work on its plan have the same list, so that a provider's cache of the conversation survives
 * the change; the gate refuses tools that plan mode forbids.
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

/** Returns true if a rule allows pages of a host. Without one, and without a person, a run has no `web_fetch`. */
export function hasPageRule(allow: readonly string[]): boolean {
  return allow.some((rule) => parseRule(rule).kind === "WebFetch");
}

function toDefinition({ name, description, schema }: CallableTool): ToolDefinition {
  return { name, description, parameters: schema };
}

/** Most problems in one failure. */
const MAX_PROBLEMS = 3;

/**
 * Parses arguments by the tool's schema. It drops unknown fields, and null means that a field is missing, since some
 * models write it so. The failure has the field, the expected value and the actual one.
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
