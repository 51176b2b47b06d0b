/** The port between a run and its tools. Each tool has a file in this folder. */
import type { HookResult, Mode, Notice, OwnEventBody, TokenPrice, ToolResult, Usage } from "@sheaf/protocol";
import type { SheafError } from "@sheaf/base/errors";
import type { Schema } from "@sheaf/protocol/schema";
import type { BackgroundCommands } from "./background-commands.ts";
import type { RunSearch } from "@sheaf/sandbox/launch/search-program";
import type { CommandRunner } from "@sheaf/sandbox/command";
import type { ToolAccess } from "@sheaf/permissions/decision";
import type { ModelToolCall, ToolDefinition } from "@sheaf/models/provider";
import type { RunUndo } from "../workspace/undo/run-undo.ts";
import type { PageFetcher } from "../network/fetch-page.ts";
import type { Workspace } from "@sheaf/base/files/workspace";
import type { Approval, ApprovalQuestion, CheckArguments } from "./approval.ts";
import type { KeptResults } from "../workspace/kept-results.ts";
import type { WholeOutput } from "../workspace/whole-output.ts";
import type { EditorFiles } from "./editor-files.ts";
import type { Hooks } from "./hooks/hooks.ts";
import type { ToolState } from "./tool-state.ts";
import type { ToolTraits } from "./tool-traits.ts";

/** The result of a tool; the run adds the id and the duration. */
export type ToolOutcome = Omit<ToolResult, "type" | "callId" | "durationMs"> & {
  /** What the hooks after the call did: events of their own, before the result. */
  readonly hooks?: readonly HookResult[];
};

/** What a tool returns: the outcome and, if that is less than there was, the whole text, of which the model sees as much as fits (N56). */
export type ToolReturn = ToolOutcome & { readonly whole?: WholeOutput | string };

export interface ToolContext {
  readonly workspace: Workspace;
  readonly commands: CommandRunner;
  /** ripgrep, which sees only the folder that it searches. */
  readonly search: RunSearch;
  /** Commands that keep running between calls; they end with the run. */
  readonly background: BackgroundCommands;
  /** Todos, plans and the files read so far; lives as long as the conversation. */
  readonly state: ToolState;
  /** Keeps the states of files around what changes them; undefined: nothing can be undone. */
  readonly undo?: RunUndo | undefined;
  /** Where long results are kept; undefined: nowhere. */
  readonly results?: KeptResults | undefined;
  /** The editor that the user works in; undefined: none, or it keeps its files to itself. */
  readonly editor?: EditorFiles | undefined;
  /** The web; undefined: no access. */
  readonly web?: PageFetcher | undefined;
  readonly mode: Mode;
  readonly callId: string;
  /** Ends the tool, which then soon returns status `cancelled`. */
  readonly signal: AbortSignal;
  /** Live output (`tool_output_delta`). */
  readonly emitOutput: (stream: "stdout" | "stderr", delta: string) => void;
  /** Asks the person who waits, while the call runs; undefined: nobody can be asked. */
  readonly askPerson?: AskPerson | undefined;
  /** What a subagent needs of the run that called it; undefined: no subagent can run. */
  readonly agentPort?: AgentPort | undefined;
}

/**
 * Question and answer are in the log as those about calls are (X8). The signal withdraws the question. It never rejects,
 * unless the call has ended.
 */
export type AskPerson = (
  question: ApprovalQuestion,
  check: CheckArguments,
  signal: AbortSignal,
) => Promise<Pick<Approval, "kind" | "by" | "editedArguments">>;

/** The way the run of a subagent is part of the run that called it. */
export interface AgentPort {
  /** Puts events into the log. Resolves when they are stored; rejects once the call has ended. */
  readonly emit: (events: readonly OwnEventBody[]) => Promise<void>;
  /** Takes turns and tool calls from the budget of the run; the limit that does not allow them: nothing is taken (C97). */
  readonly take: (wanted: { readonly turns: number; readonly toolCalls: number }) => Promise<{
    readonly exceeded: SheafError | undefined;
    /** True if the budget of the run allows no further turn of a subagent. */
    readonly isLastTurn: boolean;
  }>;
  /** What a turn that was taken has used; `paid`: its price, if it is not that of the run. */
  readonly endTurn: (usage: Usage, paid?: TokenPrice) => void;
}

/** One tool. `run` never throws for an expected outcome: a failure is an outcome. */
export interface Tool<Arguments = Record<string, unknown>> extends ToolTraits<keyof Arguments & string> {
  /** For the model. */
  readonly description: string;
  /** Schema of the arguments, checked before `run`. */
  readonly parameters: Schema<Arguments>;
  run(args: Arguments, context: ToolContext): Promise<ToolReturn>;
}

/** One call, as the run passes it on. */
export interface ToolInvocation extends Omit<ModelToolCall, "type" | "providerCallId"> {
  /** A hook wants a person to agree: why. */
  readonly askReason?: string;
  /** Slips in the model's JSON that Sheaf mended (N128). */
  readonly mended?: readonly string[];
}

export interface ExecuteOptions extends Pick<ToolContext, "signal" | "emitOutput" | "agentPort" | "askPerson"> {
  /** The person's answer, where the call needed one. */
  readonly approval?: Approval;
  /** The turn, whose calls share the room for results; absent: this is its only call. */
  readonly turn?: { readonly id: string; readonly windowTokens: number | undefined } | undefined;
  /** Run after the call. */
  readonly hooks?: Hooks | undefined;
}

/** All tools of a run with the checks of mode, permissions and arguments: what a run sees of tools. */
export interface ToolBox {
  /** The tools for the model; what a mode forbids is left out (and refused by `execute`). */
  readonly definitions: readonly ToolDefinition[];
  /** Those of the next turn, where they may change in a run (C112). Never rejects. */
  readonly refresh?: (signal: AbortSignal) => Promise<readonly ToolDefinition[]>;
  /** What the call may touch; calls that only read may run in parallel. */
  accessOf(call: Pick<ToolInvocation, "toolName" | "arguments">): ToolAccess | Promise<ToolAccess>;
  /** What is wrong with edited arguments of the call, in one line; undefined: nothing. */
  checkArguments(call: ToolInvocation, args: ToolInvocation["arguments"]): Promise<string | undefined>;
  /** The question to a person before the call runs (X8); undefined: none. */
  review(call: ToolInvocation): Promise<ApprovalQuestion | undefined>;
  /**
   * Runs one call. Never throws: unknown tools, bad arguments, refusals and failures are outcomes. The policy decides
   * again about what is executed; a call that needs an approval runs only with its own.
   */
  execute(call: ToolInvocation, options: ExecuteOptions): Promise<ToolOutcome>;
  /** Resolves when no call runs any more, perhaps with notices. After an abort a process tree may take a moment to end. */
  settle(): Promise<readonly Notice[] | void>;
}
