/** Cost of a day's runs, by label and for the whole home, and its limit (C170). */
import type { RunEvent, RunStart, TokenPrice } from "@sheaf/protocol";
import { findPrice, toCostUsd, toEndedRequest } from "@sheaf/protocol/cost";
import { SheafError } from "@sheaf/base/errors";
import type { Model } from "@sheaf/models/provider";
import type { SharedStore } from "@sheaf/store/store";

export interface DayBudget {
  /** Wraps the model: its requests fail with BUDGET_COST after the limit is reached. */
  readonly limit: (model: Model) => Model;
  /** Adds the cost of the requests that ended with these events. */
  readonly note: (events: readonly RunEvent[]) => Promise<void>;
}

interface DayBudgetOptions {
  readonly store: SharedStore;
  readonly labels: RunStart["labels"];
  /** Limit in US dollars for a day (UTC); undefined: no limit. */
  readonly maxCostUsd: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Creates the budget. Its limit applies to each label of the run, or without labels to the home. */
export function createDayBudget({ store, labels = {}, maxCostUsd, now }: DayBudgetOptions): DayBudget {
  const names = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const today = (): string => new Date(now()).toISOString().slice(0, 10);
  const toCounter = (name: string): SharedStore => store.forOwner(`cost:${name}`);
  let price: TokenPrice | undefined;

  async function check(limit: number): Promise<void> {
    for (const name of names.length > 0 ? names : [""]) {
      const { costUsd } = await toCounter(name).readUsage(today());
      if (costUsd < limit) continue;
      const whose = name === "" ? "the runs of this home" : `the runs with the label ${name}`;
      const message = `${whose} have cost $${costUsd.toFixed(4)} today (UTC), the budget is $${limit}`;
      throw new SheafError("BUDGET_COST", `${message}: raise --max-cost-usd-per-day, or wait until tomorrow`);
    }
  }

  function limitModel(model: Model): Model {
    if (maxCostUsd === undefined) return model;
    const { forRun } = model;
    return {
      ...model,
      async *stream(request, signal) {
        await check(maxCostUsd);
        yield* model.stream(request, signal);
      },
      ...(forRun && { forRun: () => limitModel(forRun()) }),
    };
  }

  return {
    limit: limitModel,
    async note(events) {
      for (const event of events) {
        if (event.type === "run_start") ({ price } = event);
        const ended = toEndedRequest(event);
        const paid = ended && findPrice(ended, price);
        const costUsd = paid ? toCostUsd(ended.usage, paid) : 0;
        if (costUsd === 0) continue;
        for (const name of ["", ...names]) await toCounter(name).addUsage(today(), { turns: 1, costUsd });
      }
    },
  };
}
