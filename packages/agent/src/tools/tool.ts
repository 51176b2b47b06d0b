/** The port between a run and its tools. One file per tool beside this one. */
import type { Mode, ToolDocumentType, ToolResult } from "@sheaf/protocol";
import type * as z from "zod/mini";
import type { CommandRunner } from "../sandbox/command.ts";
import type { ToolDefinition } from "../providers/provider.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ConversationState } from "./conversation-state.ts";

/** What a tool gives back; the run adds the id and the time it took. */
export type ToolOutcome = Omit<ToolResult, "type" | "callId" | "durationMs">;

/** What a tool may use. */
export interface ToolContext {
  readonly workspace: Workspace;
  readonly commands: CommandRunner;
  /** Todos, plans and the files read so far; lives as long as the conversation. */
  readonly state: ConversationState;
  readonly mode: Mode;
  readonly callId: string;
  /** Ends the tool; the tool then returns status `cancelled` soon. */
  readonly signal: AbortSignal;
  /** Live output (`tool_output_delta`). */
  readonly emitOutput: (stream: "stdout" | "stderr", delta: string) => void;
}

/** What a tool does to the world; permissions and modes go by it. */
export type ToolAccess = "read" | "write" | "command" | "state" | "network";

/** One tool. `run` never throws for an expected outcome: a failure is an outcome. */
export interface Tool<Arguments = Record<string, unknown>> {
  readonly name: string;
  /** What the model is told. */
  readonly description: string;
  readonly documentType: ToolDocumentType;
  readonly access: ToolAccess;
  /** Schema of the arguments, checked before `run`. */
  readonly parameters: z.ZodMiniType<Arguments>;
  run(args: Arguments, context: ToolContext): Promise<ToolOutcome>;
}

/** One call, as the run hands it over. */
export interface ToolInvocation {
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the model wrote, when it was no JSON object (N30). */
  readonly rawArguments?: string;
}

/** All tools of a run, behind mode, permissions and argument checks; what a run sees of tools. */
export interface ToolBox {
  /** What the model is offered; what a mode forbids is left out (and refused below). */
  readonly definitions: readonly ToolDefinition[];
  /** What the call does to the world; calls that only read may run side by side. */
  accessOf(toolName: string): ToolAccess;
  /** Runs one call. Never throws: unknown tools, bad arguments, refusals and failures are outcomes. */
  execute(
    call: ToolInvocation,
    options: { readonly signal: AbortSignal; readonly emitOutput: ToolContext["emitOutput"] },
  ): Promise<ToolOutcome>;
  /** Resolves when no call runs any more; after an abort a process tree may take a moment to end. */
  settle(): Promise<void>;
}
