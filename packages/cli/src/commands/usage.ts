/** `sheaf usage`: tokens and cost of the stored sessions (C60). */
import { now } from "@sheaf/agent/assemble/wire";
import { SheafError } from "@sheaf/base/errors";
import { toUserFiles } from "@sheaf/base/paths";
import { findUserConfig } from "@sheaf/agent/config/config-file";
import {
  createUsageReport,
  usageKeys,
  type UsageKey,
  type UsageReport,
  type UsageSum,
} from "@sheaf/agent/output/usage-report";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { Store } from "@sheaf/store/store";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { withSessionStore } from "../session-store.ts";
import { printJson, printText } from "../standard-output.ts";

/** Prints a table or one object; an empty one is a success. @throws SheafError USAGE, STORAGE_…. */
export async function runUsage(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags } = parsed;
  const isJson = toCommandFormat(parsed) === "json";
  const by = toKeys(flags.by ?? "model");
  const since = toSince(flags.since, now());
  const configFile = toUserFiles(io.environment).config;
  const { prices = {} } = findUserConfig(configFile).settings;
  return withSessionStore(io, flags.workspace?.at(-1), async (store, { workspace }) => {
    const report = createUsageReport({ by, since: since ?? 0, prices });
    await readLogs(store, flags.all ? undefined : workspace, since ?? 0, report);
    if (!isJson) return printText(io, formatTable(by, report, configFile));
    const place = flags.all ? null : workspace;
    const from = since === undefined ? null : new Date(since).toISOString();
    return printJson(io, { workspace: place, since: from, total: report.total, rows: report.rows });
  });
}

/** Reads logs, but not a fork's copied responses, which are older than the fork: their originals are enough. */
async function readLogs(store: Store, workspace: string | undefined, since: number, report: UsageReport) {
  const conversations = await store.listConversations({ limit: Number.MAX_SAFE_INTEGER, workspace });
  for (const { id, createdAt, updatedAt } of conversations) {
    if (updatedAt < since) return;
    for (const response of await store.listResponses(id)) {
      if (response.createdAt < createdAt) continue;
      for (const event of await store.readEvents(response.id)) report.push(event);
    }
  }
}

/** Reads the keys of `--by`. @throws SheafError USAGE. */
function toKeys(list: string): readonly UsageKey[] {
  const words = list.split(",").map((word) => word.trim());
  const keys = usageKeys.filter((key) => words.includes(key));
  if (keys.length === new Set(words).size) return words as UsageKey[];
  throw new SheafError("USAGE", `--by "${list}" is unknown: use ${usageKeys.join(", ")}, or several, as in day,model`);
}

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

/** Returns the milliseconds since 1970. @throws SheafError USAGE. */
function toSince(text: string | undefined, time: number): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ""] = /^(\d{1,5})([hd])$/.exec(text) ?? [];
  const since = count === undefined ? parseDate(text) : time - Number(count) * unitMs[unit]!;
  if (!Number.isNaN(since)) return since;
  throw new SheafError("USAGE", `--since "${text}" is not a time: write a day (2026-02-23, UTC), 7d or 12h`);
}

function parseDate(text: string): number {
  return /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
}

function formatTable(by: readonly UsageKey[], report: UsageReport, configFile: string): string {
  const { rows, total, unpriced } = report;
  if (rows.length === 0) return "No stored session used a model in this time (--all: those of every workspace).\n";
  const head = [...by, "runs", "requests", "input", "output", "cache read", "cost"];
  const lines = [
    head,
    ...rows.map((row) => [...by.map((key) => toVisibleLine(row[key] ?? "")), ...toCells(row)]),
    ["total", ...by.slice(1).map(() => ""), ...toCells(total)],
  ];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const table = lines.map((line) =>
    line.map((cell, at) => (at < by.length ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join("  "),
  );
  const note =
    unpriced.length === 0
      ? ""
      : `\nThe cost of ${total.unpriced_requests} requests is not known: add "prices" of ` +
        `${unpriced.map(toVisibleLine).join(", ")} to ${configFile}.\n`;
  return `${table.join("\n")}\n${note}`;
}

/** Formats a sum. A cost with "+" contains requests of unknown price. */
function toCells({ runs, requests, usage, cost_usd, unpriced_requests }: UsageSum): readonly string[] {
  const cost = cost_usd === null ? "unknown" : `$${cost_usd.toFixed(4)}${unpriced_requests > 0 ? "+" : ""}`;
  const { inputTokens, outputTokens, cacheReadTokens } = usage;
  return [...[runs, requests, inputTokens, outputTokens, cacheReadTokens].map(String), cost];
}
