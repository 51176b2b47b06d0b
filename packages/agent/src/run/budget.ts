/** The budget of a run (C24). */
import type { TokenPrice, Usage } from "@sheaf/protocol";
import { toCostUsd } from "@sheaf/protocol/cost";
import { SheafError } from "@sheaf/base/errors";
import type { AgentPort } from "../tools/tool.ts";

/** Limits; a missing one means no limit. */
export interface BudgetLimits {
  readonly maxTurns?: number;
  readonly maxToolCalls?: number;
  /** Prompt and completion tokens together. */
  readonly maxTokens?: number;
  /** US dollars; needs the price of the model. */
  readonly maxCostUsd?: number;
}

export const zeroUsage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true };

export interface Budget {
  /** `paid`: the price of the model that answered, if it is not the run's model (C59). */
  addTurn(usage: Usage, paid?: TokenPrice): void;
  /** Adds the usage of a request that is not a turn. */
  addUsage(usage: Usage, paid?: TokenPrice): void;
  addToolCalls(count: number): void;
  /**
   * True if the next turn is the last one, so that the model can be told to wrap up: after it, no turn, tool call or
   * token is left. A turn takes at least as many tokens as the one before.
   */
  readonly isLastTurn: boolean;
  /** The limit that does not allow the given number of tool calls and another turn; undefined: continue. */
  findExceeded(toolCalls: number): SheafError | undefined | Promise<SheafError | undefined>;
  /** The limit that allows no further turn after subagents have used their share (C97). */
  findUsedUp(): SheafError | undefined;
  /**
   * Counts turns and calls of a subagent, unless a limit does not allow them: one turn stays for the run itself (C97).
   * Each is expected to take as much as the largest turn of a subagent so far, until it has ended (S-212).
   */
  takeForAgent(wanted: AgentShare): SheafError | undefined;
  /** Adds the usage of a turn that `takeForAgent` allowed. */
  endAgentTurn(usage: Usage, paid?: TokenPrice): void;
  /** True if no further turn of a subagent is allowed. */
  readonly isLastAgentTurn: boolean;
}

/** The share of a budget that a subagent is about to use. */
interface AgentShare {
  readonly turns: number;
  readonly toolCalls: number;
}

interface Spending {
  readonly tokens: number;
  /** US dollars. */
  readonly cost: number;
}

const noSpending: Spending = { tokens: 0, cost: 0 };

export function createBudget(limits: BudgetLimits, price: TokenPrice | undefined): Budget {
  let turns = 0;
  let toolCalls = 0;
  let tokens = 0;
  let lastTokens = 0;
  let cost = 0;
  /** Turns of subagents that have not ended, and what each may take. */
  let open = 0;
  let expected = noSpending;
  let hasAgents = false;

  const toSpending = (usage: Usage, paid = price): Spending => {
    return { tokens: usage.totalTokens, cost: paid ? toCostUsd(usage, paid) : 0 };
  };
  const addUsage = (usage: Usage, paid?: TokenPrice): void => {
    const spent = toSpending(usage, paid);
    tokens += spent.tokens;
    cost += spent.cost;
  };

  const findExceeded = (wanted: number, reservedTurns: number): SheafError | undefined => {
    const { maxTurns, maxToolCalls, maxTokens, maxCostUsd } = limits;
    if (maxTurns !== undefined && turns + reservedTurns >= maxTurns) {
      return new SheafError(
        "BUDGET_TURNS",
        `the model wants another turn, the budget is ${maxTurns}: raise --max-turns`,
      );
    }
    if (maxToolCalls !== undefined && toolCalls + wanted > maxToolCalls) {
      return new SheafError(
        "BUDGET_TOOLS",
        `the model wants tool call ${toolCalls + wanted}, the budget is ${maxToolCalls}: raise --max-tool-calls`,
      );
    }
    // The run itself has its next turn when all of its subagents have ended.
    const agents = reservedTurns > 0 ? open : 0;
    const also = agents > 0 ? `, and ${agents} more turns of subagents run` : "";
    if (maxTokens !== undefined && tokens + agents * expected.tokens >= maxTokens) {
      const message = `${tokens} tokens are used${also}, the budget is ${maxTokens}: raise --max-tokens`;
      return new SheafError("BUDGET_TOKENS", message);
    }
    if (maxCostUsd !== undefined && cost + agents * expected.cost >= maxCostUsd) {
      const message = `the run has cost $${cost.toFixed(4)}${also}, the budget is $${maxCostUsd}: raise --max-cost-usd`;
      return new SheafError("BUDGET_COST", message);
    }
    return undefined;
  };

  return {
    addUsage,
    addTurn(usage, paid) {
      turns += 1;
      lastTokens = usage.totalTokens;
      // A subagent starts with fewer tokens than the run that calls it.
      if (!hasAgents) expected = toSpending(usage, paid);
      addUsage(usage, paid);
    },
    addToolCalls(count) {
      toolCalls += count;
    },
    get isLastTurn() {
      const { maxTurns, maxToolCalls, maxTokens } = limits;
      return (
        (maxTurns !== undefined && turns + 1 >= maxTurns) ||
        (maxToolCalls !== undefined && toolCalls >= maxToolCalls) ||
        (maxTokens !== undefined && turns > 0 && tokens + lastTokens >= maxTokens)
      );
    },
    findExceeded: (wanted) => findExceeded(wanted, 0),
    findUsedUp: () => findExceeded(0, 0),
    takeForAgent(wanted) {
      const exceeded = findExceeded(wanted.toolCalls, wanted.turns);
      if (exceeded) return exceeded;
      turns += wanted.turns;
      open += wanted.turns;
      toolCalls += wanted.toolCalls;
      return undefined;
    },
    endAgentTurn(usage, paid) {
      const spent = toSpending(usage, paid);
      const before = hasAgents ? expected : noSpending;
      expected = { tokens: Math.max(before.tokens, spent.tokens), cost: Math.max(before.cost, spent.cost) };
      hasAgents = true;
      open -= 1;
      addUsage(usage, paid);
    },
    get isLastAgentTurn() {
      return findExceeded(1, 1) !== undefined;
    },
  };
}

/** A subagent's budget: its own limits, within the limits of the run that called it. */
export function createAgentBudget(
  limits: BudgetLimits,
  { take, endTurn }: Pick<AgentPort, "take" | "endTurn">,
  isLastTurn: boolean,
): Budget {
  const own = createBudget(limits, undefined);
  let isLast = isLastTurn;
  return {
    ...own,
    addTurn(usage, paid) {
      own.addTurn(usage, paid);
      endTurn(usage, paid);
    },
    get isLastTurn() {
      return own.isLastTurn || isLast;
    },
    async findExceeded(toolCalls) {
      const found = await own.findExceeded(toolCalls);
      if (found) return found;
      const { exceeded, isLastTurn: isNext } = await take({ turns: 1, toolCalls });
      isLast = isNext;
      return exceeded;
    },
  };
}

/** Time that a run may take (C24). */
export interface TimeLimit {
  /** Milliseconds; undefined: no limit. */
  readonly timeoutMs: number | undefined;
  /** Time that is already used. Milliseconds; default 0. */
  readonly spentMs?: number;
  /** The way to get more time, for the error message. */
  readonly advice: string;
}

/** Ends a run when its time is over; call the result to stop the clock. */
export function startDeadline(
  { timeoutMs, spentMs = 0, advice }: TimeLimit,
  abort: (reason: SheafError) => void,
): () => void {
  if (timeoutMs === undefined) return () => undefined;
  const message = `the run took longer than ${timeoutMs / 1000} s: ${advice}`;
  const timer = setTimeout(() => abort(new SheafError("BUDGET_TIME", message)), Math.max(0, timeoutMs - spentMs));
  return () => clearTimeout(timer);
}
