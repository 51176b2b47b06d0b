/** One subagent: a run within the call of another run, whose log has its events (C96). */
import type { OwnEventBody, RunEnd } from "@sheaf/protocol";
import { createGrowingText } from "@sheaf/base/growing-text";
import { toCancelledOutcome, toFailure } from "../../tools/failure.ts";
import type { AgentPort, ToolReturn } from "../../tools/tool.ts";
import { createAgentBudget } from "../budget.ts";
import { runResponse, type RunPorts, type RunSettings } from "../run.ts";

export interface SubagentRun {
  readonly name: string;
  readonly settings: RunSettings;
  readonly ports: Omit<RunPorts, "budget" | "agentName">;
  /** Its connection to the run that called it. */
  readonly port: AgentPort;
}

/** Runs the subagent to its end. Its last text is the result, even if it failed. */
export async function runSubagent(
  { name, settings, ports, port }: SubagentRun,
  signal: AbortSignal,
): Promise<ToolReturn> {
  // The first turn; the budget takes each further turn once it is needed.
  const { exceeded, isLastTurn } = await port.take({ turns: 1, toolCalls: 0 });
  if (exceeded) return toFailure(exceeded.code, `no subagent can start: ${exceeded.message}`);
  const budget = createAgentBudget(settings.limits, port, isLastTurn);
  const report = createReport();
  for await (const { events } of runResponse(settings, { ...ports, budget, agentName: name }, signal)) {
    const own = events.filter((event): event is OwnEventBody => event.type !== "agent_event");
    for (const event of own) report.push(event);
    await port.emit(own);
  }
  const { text, turns, end } = report;
  if (signal.aborted || end?.error?.code === "CANCELLED") return toCancelledOutcome();
  const effect = { kind: "agent", name, turns } as const;
  if (!end?.error) return { status: "success", output: text, whole: text, effect };
  const { code, message } = end.error;
  const failure = toFailure(code, `the subagent ${name} ended early: ${message}`);
  return { ...failure, output: text, whole: text, effect };
}

/** Follows a subagent: the text of its last turn that has any, its turns and its end. */
function createReport() {
  let words = createGrowingText();
  let last = "";
  const report = {
    turns: 0,
    end: undefined as RunEnd | undefined,
    get text() {
      return words.text.trim() === "" ? last : words.text;
    },
    push(event: OwnEventBody): void {
      if (event.type === "text_delta") words.push(event.text);
      if (event.type === "run_end") report.end = event;
      if (event.type !== "turn_start") return;
      report.turns += 1;
      last = report.text;
      words = createGrowingText();
    },
  };
  return report;
}
