/** run_agent: a task for a subagent, which has its own tools, mode and budget (C96). */
import type { Mode, RunStart } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import type { AgentKind } from "../run/agents/agent-kinds.ts";
import type { Permissions } from "@sheaf/permissions/permissions";
import { runSubagent } from "../run/agents/run-subagent.ts";
import type { RunPorts, RunSettings } from "../run/run.ts";
import { agentTraits } from "../tools/other-tools.ts";
import { isChosen, listWithheldTools, toCallable, type CallableTool, type ToolChoice } from "../tools/registry.ts";
import { createToolBox, type ToolBoxPorts } from "../tools/tool-box.ts";
import { createToolState } from "../tools/tool-state.ts";
import { toFailure } from "../tools/failure.ts";
import type { Model } from "@sheaf/models/provider";
import type { Hooks } from "../tools/hooks/hooks.ts";
import type { Tool, ToolContext, ToolReturn } from "../tools/tool.ts";
import { type AgentModel, toNamedModel } from "./agent-models.ts";

/** The parts of a run that its subagents get. */
export interface AgentToolPorts extends Pick<RunSettings, "limits" | "stopsOnDenied" | "start"> {
  readonly kinds: ReadonlyMap<string, AgentKind>;
  /** Models of the kinds that do not use the run's model, by the name of the kind (C129). */
  readonly models: ReadonlyMap<string, AgentModel>;
  readonly openModel: (choice: AgentModel) => Promise<Model>;
  /** The run's mode: no subagent may do more. */
  readonly mode: Mode;
  readonly run: Omit<RunPorts, "tools" | "budget" | "agentName" | "checkAnswer">;
  /** The tools of the run, of which the subagent has some. */
  readonly toolBox: ToolBoxPorts;
  readonly permissionsFor: (mode: Mode) => Permissions;
  /** Builds the system prompt, in which the instructions of a kind replace Sheaf's own. */
  readonly toSystemPrompt: (instructions: string) => string;
  /** Describes the place and time of a subagent's work. */
  readonly describeEnvironment: (mode: Mode, signal: AbortSignal) => Promise<Pick<RunStart, "environment">>;
}

/** The tool; a call of a kind that only reads runs beside others. */
export function createAgentTool(ports: AgentToolPorts): CallableTool {
  const { kinds } = ports;
  const parameters = s.object({
    kind: s.choice([...kinds.keys()] as [string, ...string[]]),
    task: s.string({ minLength: 1, description: "All that it needs to know: it doesn't see this conversation" }),
  });
  const lines = [...kinds.values()].map(
    (kind) => `- ${kind.name}${toMode(kind, ports.mode) === "ask" ? " (only reads)" : ""}: ${kind.description}`,
  );
  const tool: Tool<s.ValueOf<typeof parameters>> = {
    ...agentTraits,
    description: `Give a task to a subagent, which works with its own context and returns a report. Use it for work that would fill yours, and for parts that do not depend on each other: calls in one turn of kinds that only read run at once. Kinds:\n${lines.join("\n")}`,
    parameters,
    run: ({ kind, task }, context) => runTask(kinds.get(kind)!, task, ports, context),
  };
  return {
    ...toCallable(tool),
    accessOf({ kind }) {
      const known = kinds.get(String(kind));
      return known && toMode(known, ports.mode) === "agent" ? "state" : "read";
    },
  };
}

/** The mode of a subagent, which may do no more than the run that called it. */
function toMode({ mode }: AgentKind, ofRun: Mode): "ask" | "agent" {
  return ofRun === "ask" || ofRun === "plan" ? "ask" : mode;
}

async function runTask(
  kind: AgentKind,
  task: string,
  ports: AgentToolPorts,
  { agentPort, callId, signal }: ToolContext,
): Promise<ToolReturn> {
  if (!agentPort) return toFailure("UNKNOWN_TOOL", "a subagent has no subagents: do the task yourself");
  const mode = toMode(kind, ports.mode);
  const { model, start } = await openKindModel(kind, ports);
  const { context } = start;
  const tools = createSubagentTools(kind, mode, ports);
  const settings = {
    start: {
      ...start,
      // Unique in the conversation, as the call is.
      responseId: `chat_${callId.replace(/^call_/, "")}`,
      mode,
      permissionMode: mode === "ask" ? mode : start.permissionMode,
      prompt: task,
      ...(context && { context: { ...context, usedTokens: 0 } }),
      environment: toTaskNote(await ports.describeEnvironment(mode, signal), mode),
    },
    history: [],
    system: ports.toSystemPrompt(kind.prompt),
    limits: { ...ports.limits, maxTurns: kind.maxTurns },
    stopsOnDenied: ports.stopsOnDenied,
  };
  try {
    const hooks = ports.run.hooks && toCallHooks(ports.run.hooks);
    const run = { name: kind.name, settings, ports: { ...ports.run, model, tools, hooks }, port: agentPort };
    return await runSubagent(run, signal);
  } finally {
    await tools.settle();
  }
}

/** The model of the kind, and the first event of a run with it. */
async function openKindModel({ name }: AgentKind, ports: AgentToolPorts) {
  const { progress: _p, answers: _a, modeNote: _m, attachments: _f, ...start } = ports.start;
  const own = ports.models.get(name);
  if (!own) return { model: ports.run.model.forRun?.() ?? ports.run.model, start };
  const { windowTokens, price } = own;
  const model = toNamedModel(await ports.openModel(own), price);
  const { price: _price, context: _context, webSearch, ...others } = start;
  return {
    model,
    start: {
      ...others,
      model: model.id,
      modelName: model.name,
      apiKeySource: model.apiKeySource,
      ...(webSearch && model.hasWebSearch && { webSearch }),
      ...(price && { price }),
      ...(windowTokens !== undefined && { context: { windowTokens, usedTokens: 0 } }),
    },
  };
}

const READING_LINE = "- Mode: ask. You only read, so describe changes and commands in your report";

/** Drops lines about the user, whom a subagent cannot ask, and lines about commands if it only reads. */
function toTaskNote({ environment = "" }: Pick<RunStart, "environment">, mode: Mode): string {
  const superfluous = mode === "ask" ? /^- (?:User|Platform|Sandbox):/ : /^- User:/;
  const lines = environment.split("\n").filter((line) => !superfluous.test(line));
  // Refusals name the mode.
  return [...lines, ...(mode === "ask" ? [READING_LINE] : [])].join("\n");
}

const callEvents: ReadonlySet<string> = new Set(["PreToolUse", "PostToolUse", "Notification", "PreCompact"]);

/** Prompts, ends and sessions are the run's: a subagent has calls and summaries alone. */
function toCallHooks(hooks: Hooks): Hooks {
  return {
    ...hooks,
    run: async (occasion, signal) => (callEvents.has(occasion.event) ? hooks.run(occasion, signal) : []),
  };
}

/** The tools of the run within the mode and the list of the kind. What ends with the run is left to it. */
function createSubagentTools(kind: AgentKind, mode: Mode, { toolBox, permissionsFor }: AgentToolPorts) {
  const { offer, commands } = toolBox;
  return createToolBox({
    ...toolBox,
    mode,
    permissions: permissionsFor(mode),
    state: { ...createToolState(), answers: toolBox.state.answers },
    commands: { ...commands, end: async () => undefined },
    ...(offer && { offer: { ...offer, choice: toChoice(kind, offer.choice) } }),
  });
}

function toChoice({ tools }: AgentKind, ofRun: ToolChoice = {}): ToolChoice {
  return {
    only: tools ? tools.filter((name) => isChosen(name, ofRun)) : ofRun.only,
    excluded: [...(ofRun.excluded ?? []), ...listWithheldTools()],
  };
}
