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
  /** Results of the hooks after the call. The log has them as separate events, before the result of the call. */
  readonly hooks?: readonly HookResult[];
};

/** The outcome of a tool. `whole`: all of a longer text, of which the model sees as much as fits (N56). */
export type ToolReturn = ToolOutcome & { readonly whole?: WholeOutput | string };

export interface ToolContext {
  readonly workspace: Workspace;
  readonly commands: CommandRunner;
  /** The search by ripgrep, which sees only the folder that it searches. */
  readonly search: RunSearch;
  /** Commands that keep running between calls; they end with the run. */
  readonly background: BackgroundCommands;
  /** Todos, plans and the files read so far; lives as long as the conversation. */
  readonly state: ToolState;
  /** Records the states of files around changes; undefined: the user cannot undo the run's changes. */
  readonly undo?: RunUndo | undefined;
  /** The store of long results; undefined: the run has no store. */
  readonly results?: KeptResults | undefined;
  /** The editor that the user works in; undefined: no editor, or it does not share its files. */
  readonly editor?: EditorFiles | undefined;
  /** Fetches web pages; undefined: the run has no access to the web. */
  readonly web?: PageFetcher | undefined;
  readonly mode: Mode;
  readonly callId: string;
  /** Ends the tool, which then soon returns status `cancelled`. */
  readonly signal: AbortSignal;
  /** Reports live output (`tool_output_delta`). */
  readonly emitOutput: (stream: "stdout" | "stderr", delta: string) => void;
  /** Asks the person who waits, while the call runs; undefined: the run has no such person. */
  readonly askPerson?: AskPerson | undefined;
  /** The port to the calling run, which a subagent needs; undefined: no subagent can run. */
  readonly agentPort?: AgentPort | undefined;
}

/** Asks a person; the log has both texts (X8). The signal withdraws the question. Rejects only after the call. */
export type AskPerson = (
  question: ApprovalQuestion,
  check: CheckArguments,
  signal: AbortSignal,
) => Promise<Pick<Approval, "kind" | "by" | "editedArguments">>;

/** The port through which the run of a subagent takes part in the run that called it. */
export interface AgentPort {
  /** Adds events to the log. Resolves when they are stored; rejects once the call has ended. */
  readonly emit: (events: readonly OwnEventBody[]) => Promise<void>;
  /** Takes turns and tool calls from the run's budget. `exceeded`: the limit by which it takes nothing (C97). */
  readonly take: (wanted: { readonly turns: number; readonly toolCalls: number }) => Promise<{
    readonly exceeded: SheafError | undefined;
    /** True if the budget of the run allows no further turn of a subagent. */
    readonly isLastTurn: boolean;
  }>;
  /** Records the usage of a taken turn. `paid`: its price, if it differs from the price of the run. */
  readonly endTurn: (usage: Usage, paid?: TokenPrice) => void;
}

/** One tool. `run` never throws for an expected outcome: a failure is an outcome. */
export interface Tool<Arguments = Record<string, unknown>> extends ToolTraits<keyof Arguments & string> {
  /** The description for the model. */
  readonly description: string;
  /** Schema of the arguments, which Sheaf checks before `run`. */
  readonly parameters: Schema<Arguments>;
  run(args: Arguments, context: ToolContext): Promise<ToolReturn>;
}

/** One call, as the run passes it on. */
export interface ToolInvocation extends Omit<ModelToolCall, "type" | "providerCallId"> {
  /** The reason why a hook wants a person to approve the call. */
  readonly askReason?: string;
  /** Slips in the model's JSON that Sheaf mended (N128). */
  readonly mended?: readonly string[];
}

export interface ExecuteOptions extends Pick<ToolContext, "signal" | "emitOutput" | "agentPort" | "askPerson"> {
  /** The person's answer, if the call needed one. */
  readonly approval?: Approval;
  /** The turn, whose calls share the room for results; absent: the turn has only this call. */
  readonly turn?: { readonly id: string; readonly windowTokens: number | undefined } | undefined;
  /** Hooks that run after the call. */
  readonly hooks?: Hooks | undefined;
}

/** All tools of a run, with the checks of mode, permissions and arguments. A run uses its tools only through this. */
export interface ToolBox {
  /** The tools for the model. A tool that the mode forbids is missing, and `execute` refuses it. */
  readonly definitions: readonly ToolDefinition[];
  /** Returns the tools of the next turn; absent if they cannot change in a run (C112). Never rejects. */
  readonly refresh?: (signal: AbortSignal) => Promise<readonly ToolDefinition[]>;
  /** Returns the access that the call needs; calls that only read may run in parallel. */
  accessOf(call: Pick<ToolInvocation, "toolName" | "arguments">): ToolAccess | Promise<ToolAccess>;
  /** Returns the problem with edited arguments of the call, in one line; undefined if they are valid. */
  checkArguments(call: ToolInvocation, args: ToolInvocation["arguments"]): Promise<string | undefined>;
  /** Returns the question to a person before the call runs (X8); undefined if it needs none. */
  review(call: ToolInvocation): Promise<ApprovalQuestion | undefined>;
  /**
   * Runs one call. Never throws: unknown tools, bad arguments, refusals and failures are outcomes. The policy decides
   * again on the arguments that are executed; a call that needs an approval runs only with its own approval.
   */
  execute(call: ToolInvocation, options: ExecuteOptions): Promise<ToolOutcome>;
  /** Resolves when all calls have ended, perhaps with notices. After an abort, processes may take a moment to end. */
  settle(): Promise<readonly Notice[] | void>;
}
