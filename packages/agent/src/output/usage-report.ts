/** The usage of runs, summed up over their logs (C60). */
import type { CliUsage, RunEvent, RunStart, TokenPrice, Usage } from "@sheaf/protocol";
import { addUsage, findPrice, toCostUsd, toEndedRequest } from "@sheaf/protocol/cost";
import { isBuiltInModel } from "../config/endpoints.ts";
import { toBareId, toCliUsage } from "./result-line.ts";

/** Keys by which a report may have rows. */
export const usageKeys = ["model", "day", "workspace", "label"] as const;

export type UsageKey = (typeof usageKeys)[number];

/** The usage of some requests. */
export interface UsageSum {
  readonly sessions: number;
  readonly runs: number;
  /** Model requests. */
  readonly requests: number;
  readonly usage: CliUsage;
  /** Cost of the requests with a known price; null: no price is known. */
  readonly cost_usd: number | null;
  readonly unpriced_requests: number;
}

type RowKeys = { readonly [Key in UsageKey]?: string };

type UsageRow = RowKeys & UsageSum;

export interface UsageReport {
  /** Takes every event of a run, from `run_start` on. */
  push(event: RunEvent): void;
  /** Rows sorted by their keys. */
  readonly rows: readonly UsageRow[];
  readonly total: UsageSum;
  /** Names of models with requests that have no price. */
  readonly unpriced: readonly string[];
}

interface ReportOptions {
  readonly by: readonly UsageKey[];
  /** Start of the report, which ignores earlier requests. Milliseconds since 1970. */
  readonly since: number;
  /** Prices by the name of the model, for runs with a log that lacks a price. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
}

const free: TokenPrice = { input: 0, output: 0 };

export function createUsageReport({ by, since, prices }: ReportOptions): UsageReport {
  const rows = new Map<string, { readonly keys: RowKeys; readonly sum: ReturnType<typeof createSum> }>();
  const total = createSum();
  const unpriced = new Set<string>();
  let start: RunStart | undefined;
  return {
    push(event) {
      if (event.type === "run_start") start = event;
      const ended = toEndedRequest(event);
      if (!ended || !start || event.time < since) return;
      const { id, name } = ended.model ?? { id: start.model, name: start.modelName };
      const price = isBuiltInModel(id) ? free : (findPrice(ended, start.price) ?? prices[name]);
      if (!price) unpriced.add(name);
      const day = new Date(event.time).toISOString().slice(0, 10);
      const all = { model: name, day, workspace: start.workspace };
      total.add(start, ended.usage, price);
      const labels = Object.entries(start.labels ?? {}).map(([key, value]) => `${key}=${value}`);
      // Each label of a run has a row.
      for (const label of by.includes("label") && labels.length > 0 ? labels : [""]) {
        const keys: RowKeys = Object.fromEntries(by.map((key) => [key, { ...all, label }[key]]));
        const place = JSON.stringify(keys);
        const row = rows.get(place) ?? { keys, sum: createSum() };
        rows.set(place, row);
        row.sum.add(start, ended.usage, price);
      }
    },
    get rows() {
      const sorted = [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return sorted.map(([, { keys, sum }]) => ({ ...keys, ...sum.value }));
    },
    get total() {
      return total.value;
    },
    get unpriced() {
      return [...unpriced].toSorted();
    },
  };
}

function createSum() {
  const sessions = new Set<string>();
  const runs = new Set<string>();
  let sum: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  let [requests, unpriced, cost] = [0, 0, 0];
  return {
    add(run: RunStart, used: Usage, price: TokenPrice | undefined): void {
      sessions.add(toBareId(run.conversationId));
      runs.add(run.responseId);
      requests += 1;
      sum = addUsage(sum, used);
      if (price) cost += toCostUsd(used, price);
      else unpriced += 1;
    },
    get value(): UsageSum {
      const cost_usd = requests > 0 && unpriced === requests ? null : cost;
      const counts = { sessions: sessions.size, runs: runs.size, requests };
      const { estimated: _, ...usage } = toCliUsage(sum);
      return { ...counts, usage, cost_usd, unpriced_requests: unpriced };
    },
  };
}
