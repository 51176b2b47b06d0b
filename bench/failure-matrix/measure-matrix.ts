/**
 * `npm run bench -- failure-matrix --peers FOLDER [--only WORDS] [--limit SECONDS] [--update]`: what the caller of Sheaf
 * and of other agents sees when something fails (docs/failure-matrix.md).
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { toQuantile, withFolder } from "../support/measure.ts";
import { type Agent, listPeers, sheaf } from "./agents.ts";
import { type Fault, faults } from "./faults.ts";
import { type Outcome, runAgent } from "./run-agent.ts";

const page = join(import.meta.dirname, "../../docs/failure-matrix.md");

/** Runs that a signal ends: it may meet an agent at any moment of its work. */
const signalRounds = 5;

/** @throws Error for a wrong argument, or an agent that does not start. */
export async function measureMatrix(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      peers: { type: "string" },
      only: { type: "string", default: "" },
      limit: { type: "string", default: "180" },
      update: { type: "boolean" },
    },
  });
  const { peers, only, limit } = values;
  if (peers === undefined) throw new Error("name the folder where the other agents are installed: --peers FOLDER");
  if (!(Number(limit) > 0)) throw new Error(`--limit "${limit}" is not a number of seconds: write one such as 180`);
  const rows = faults.filter(({ title }) => title.includes(only));
  if (rows.length === 0)
    throw new Error(`no row has "${only}" in its title: write words of a row, or leave out --only`);
  const agents = [sheaf, ...listPeers(peers)];
  const heads = agents.map((agent) => `${agent.name} ${readVersion(agent)}`);
  const lines = [toRow(["What happens", ...heads])];
  for (const fault of rows) {
    // They mostly wait, so they can wait together.
    const outcomes = await Promise.all(agents.map((agent) => runRounds(agent, fault, Number(limit))));
    lines.push(toRow([fault.title, ...outcomes.map((rounds) => formatCell(rounds, limit))]));
    console.log(lines.at(-1));
  }
  if (values.update) writeFileSync(page, replaceRows(readFileSync(page, "utf8"), lines));
}

async function runRounds(agent: Agent, fault: Fault, limitSeconds: number): Promise<readonly Outcome[]> {
  if (fault.setting && !agent.settings[fault.setting]) return [];
  const outcomes: Outcome[] = [];
  for (let round = 0; round < (fault.signal ? signalRounds : 1); round += 1) {
    outcomes.push(await withFolder((folder) => runAgent(agent, fault, { folder, limitSeconds })));
  }
  return outcomes;
}

const toRow = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function readVersion({ name, command: [program = "", ...args] }: Agent): string {
  const { stdout, error } = spawnSync(program, [...args, "--version"], { encoding: "utf8" });
  const [version] = /\d+\.\d+\.\d+\S*/.exec(stdout ?? "") ?? [];
  if (version === undefined) throw new Error(`${name} does not start (${program}): ${error?.message ?? "no version"}`);
  return version;
}

/** Such as `exit 3, failure, 0.1 s`, with the median of the seconds. Where the rounds differ, each way to end with its share. */
function formatCell(outcomes: readonly Outcome[], limit: string): string {
  if (outcomes.length === 0) return "no such check";
  const ends = Map.groupBy(outcomes, ({ exit, reported }) => {
    if (exit === undefined) return `still running after ${limit} s`;
    return `${typeof exit === "number" ? "exit" : "died of"} ${exit}, ${reported ?? "no result"}`;
  });
  return [...ends]
    .map(([end, same]) => {
      const share = ends.size === 1 ? "" : `${same.length} of ${outcomes.length}: `;
      const median = toQuantile(
        same.map(({ seconds }) => seconds),
        0.5,
      );
      return `${share}${end}${same[0]!.exit === undefined ? "" : `, ${median.toFixed(1)} s`}`;
    })
    .join("; ");
}

/** The page with these rows in place of those with the same titles. */
function replaceRows(text: string, rows: readonly string[]): string {
  const readTitle = (line: string): string => line.split("|")[1] ?? "";
  return rows.reduce((before, row) => {
    const lines = before.split("\n");
    const at = lines.findIndex((line) => line.startsWith("| ") && readTitle(line) === readTitle(row));
    if (at < 0)
      throw new Error(`docs/failure-matrix.md has no row "${readTitle(row).trim()}": add one, with any cells`);
    return lines.with(at, row).join("\n");
  }, text);
}
