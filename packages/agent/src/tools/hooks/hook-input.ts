/** Converts occasions to a hook's standard input, with names of Claude Code (C82), and changed arguments back. */
import { resolve } from "node:path";
import { cutMiddle } from "@sheaf/base/files/text-format";
import type { Workspace } from "@sheaf/base/files/workspace";
import { isJsonObject } from "@sheaf/protocol/check-value";
import { editFileTool } from "../edit-file.ts";
import { describeTool, findTool } from "../registry.ts";
import type { ToolInvocation, ToolOutcome } from "../tool.ts";
import type { HookOccasion } from "./hooks.ts";

/** Permission modes in words of Claude Code, whose `plan` changes nothing, as `ask`. */
export const claudeModes = { default: "default", plan: "plan", ask: "plan", force: "bypassPermissions" } as const;

/** The facts that all inputs of a run share. */
export interface HookSession {
  /** The UUID of the conversation. */
  readonly sessionId: string;
  readonly permissionMode: string;
  readonly workspace: Workspace;
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields of Claude Code that hold a path, which it writes as an absolute one. */
const pathFields: ReadonlySet<string> = new Set(["file_path", "path"]);

/** The reason why a session ends, in a word of Claude Code. */
const endReason = "other";

/** UTF-16 units of a result; Sheaf cuts the middle of a longer one. */
const MAX_RESPONSE = 200_000;

/** Returns the names that matchers match; empty if the event has no kinds. */
export function toMatchedNames(occasion: HookOccasion): readonly string[] {
  switch (occasion.event) {
    case "PreToolUse":
    case "PostToolUse": {
      const { toolName, arguments: args } = occasion.call;
      const name = describeTool(toolName)?.claude?.name;
      return [...(name === undefined ? [] : [name]), ...(hasManyEdits(args) ? ["MultiEdit"] : []), toolName];
    }
    case "SessionStart":
      return [occasion.source];
    case "SessionEnd":
      return [endReason];
    case "PreCompact":
      return [occasion.trigger];
    case "Notification":
      return [occasion.kind];
    case "UserPromptSubmit":
    case "Stop":
    case "Verify":
      return [];
  }
}

/** Returns one JSON object with the fields of Claude Code. */
export function toHookInput(occasion: HookOccasion, { sessionId, permissionMode, workspace }: HookSession): Fields {
  const { event } = occasion;
  return {
    session_id: sessionId,
    cwd: workspace.root,
    permission_mode: permissionMode,
    hook_event_name: event,
    ...toEventFields(occasion, workspace),
  };
}

function toEventFields(occasion: HookOccasion, workspace: Workspace): Fields {
  switch (occasion.event) {
    case "SessionStart":
      return { source: occasion.source };
    case "UserPromptSubmit":
      return { prompt: occasion.prompt };
    case "PreToolUse":
    case "PostToolUse": {
      const { callId, toolName } = occasion.call;
      return {
        tool_name: describeTool(toolName)?.claude?.name ?? toolName,
        tool_input: toToolInput(occasion.call, (path) => findPlace(path, workspace)),
        ...("outcome" in occasion && { tool_response: toToolResponse(occasion.outcome) }),
        tool_use_id: callId,
      };
    }
    case "Notification":
      return { message: occasion.message, notification_type: occasion.kind };
    case "PreCompact":
      return { trigger: occasion.trigger, custom_instructions: "" };
    case "Stop":
      return { stop_hook_active: occasion.isContinued, last_assistant_message: occasion.text };
    case "Verify":
      return {};
    case "SessionEnd":
      return { reason: endReason };
  }
}

/**
 * Converts arguments to the names of Claude Code. Resolves paths, so that a link cannot hide a place. Leaves out
 * arguments that the tool ignores: under a name of Claude Code they would hide the effective one.
 */
export function toToolInput(
  { toolName, arguments: args }: Pick<ToolInvocation, "toolName" | "arguments">,
  toAbsolute: (path: string) => string,
): Fields {
  const { name: known, fields = {} } = describeTool(toolName)?.claude ?? {};
  const properties = findTool(toolName)?.schema.properties;
  const used = Object.entries(args).filter(([name]) => !isJsonObject(properties) || Object.hasOwn(properties, name));
  const renamed = used.map(([name, value]) => {
    const shown = fields[name] ?? name;
    const isPath = known !== undefined && pathFields.has(shown) && typeof value === "string";
    return [shown, isPath ? toAbsolute(value) : value];
  });
  const { edits, ...input } = Object.fromEntries(renamed) as Record<string, unknown>;
  if (edits === undefined) return input;
  const [edit] =
    toolName === editFileTool.name && Array.isArray(edits) && edits.length === 1 ? (edits as unknown[]) : [];
  if (!isJsonObject(edit)) return { ...input, edits };
  const { old_string, new_string, replace_all } = edit;
  return { ...input, old_string, new_string, ...(replace_all !== undefined && { replace_all }) };
}

/** Converts a hook's input to arguments, if it is an object. The tool checks them like the model's. */
export function fromToolInput(toolName: string, input: unknown): Fields | undefined {
  if (!isJsonObject(input)) return undefined;
  const { fields = {} } = describeTool(toolName)?.claude ?? {};
  const names = new Map(Object.entries(fields).map(([name, foreign]) => [foreign, name]));
  const args = Object.fromEntries(Object.entries(input).map(([name, value]) => [names.get(name) ?? name, value]));
  if (toolName !== editFileTool.name || "edits" in args) return args;
  const { old_string, new_string, replace_all, ...rest } = args;
  const edit = { old_string, new_string, ...(replace_all !== undefined && { replace_all }) };
  return { ...rest, edits: [edit] };
}

function hasManyEdits({ edits }: Fields): boolean {
  return Array.isArray(edits) && edits.length > 1;
}

/** Returns the absolute place of a call's path, without links. */
export function findPlace(path: string, workspace: Workspace): string {
  const resolved = workspace.resolve(path);
  return resolved.ok ? resolved.path.absolute : resolve(workspace.root, path);
}

function toToolResponse({ output, effect }: ToolOutcome): Fields {
  const text = cutMiddle(output, MAX_RESPONSE);
  if (effect?.kind === "command") {
    const { stdout, stderr, timedOut, exitCode } = effect;
    return {
      stdout: cutMiddle(stdout, MAX_RESPONSE),
      stderr: cutMiddle(stderr, MAX_RESPONSE),
      interrupted: timedOut,
      exitCode,
    };
  }
  const [change] = effect?.kind === "file_edit" ? effect.changes : [];
  return change ? { filePath: change.path, success: true, output: text } : { output: text };
}
