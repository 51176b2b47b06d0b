/**
 * `npm run evals:tasks -- --model MODEL [--runs 3] [--only NAME]`: lets a model do the tasks of `tasks.ts`, and prints for
 * each what passed, its tokens, its cost and its turns.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { type Task, tasks } from "./tasks.ts";

const program = join(import.meta.dirname, "../packages/cli/bin/sheaf.js");

const { values } = parseArgs({
  options: { model: { type: "string" }, runs: { type: "string", default: "1" }, only: { type: "string", default: "" } },
});
if (values.model === undefined) throw new Error("a model does the tasks: add --model MODEL");
await runTasks(values.model, Number(values.runs), values.only);

/** `only`: a part of the package's name; "": all tasks. */
async function runTasks(model: string, runs: number, only: string): Promise<void> {
  const sums = { passed: 0, tokens: 0, cost: 0, turns: 0, count: 0 };
  console.log("| task | passed | tokens | cost | turns |\n|---|---|---|---|---|");
  for (const task of tasks.filter((each) => each.package.includes(only))) {
    const own = { passed: 0, tokens: 0, cost: 0, turns: 0, count: runs };
    for (let run = 0; run < runs; run += 1) {
      const done = await runTask(task, model);
      for (const key of ["passed", "tokens", "cost", "turns"] as const) own[key] += done[key];
    }
    for (const key of ["passed", "tokens", "cost", "turns", "count"] as const) sums[key] += own[key];
    console.log(toRow(`${task.package}, ${task.fault ? "fault" : "feature"}`, own));
  }
  console.log(toRow(`pass@1 ${((100 * sums.passed) / sums.count).toFixed(0)} %`, sums));
}

/** Sums of all runs of a task become means, except for what passed. */
function toRow(name: string, { passed, tokens, cost, turns, count }: Record<string, number>): string {
  const mean = (sum = 0, digits = 0): string => (sum / (count ?? 1)).toFixed(digits);
  return `| ${name} | ${passed} of ${count} | ${mean(tokens)} | $${mean(cost, 4)} | ${mean(turns, 1)} |`;
}

async function runTask(task: Task, model: string): Promise<Record<"passed" | "tokens" | "cost" | "turns", number>> {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-evals-"));
  try {
    const cwd = makeWorkspace(task, folder);
    const words = ["-p", "--output-format", "json", "--model", model, "--force", "--max-turns", "40", task.prompt];
    const result = await runSheaf(words, cwd, join(folder, "home"));
    const { inputTokens = 0, outputTokens = 0 } = (result["usage"] ?? {}) as Record<string, number>;
    const [cost, turns] = [result["total_cost_usd"], result["num_turns"]].map((value) => Number(value ?? 0));
    return {
      passed: isDone(task, cwd) ? 1 : 0,
      tokens: inputTokens + outputTokens,
      cost: cost ?? 0,
      turns: turns ?? 0,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The result of the built program, with its own home folder. */
async function runSheaf(words: readonly string[], cwd: string, home: string): Promise<Record<string, unknown>> {
  const env = { ...process.env, HOME: home, SHEAF_HOME: home };
  const child = spawn(process.execPath, [program, ...words], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const lines = (await readText(child.stdout)).trim().split("\n");
  try {
    return JSON.parse(lines.at(-1) ?? "") as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** The package as a repository of one commit, with its fault. */
function makeWorkspace({ package: name, fault }: Task, folder: string): string {
  const cwd = join(folder, "workspace");
  mkdirSync(cwd);
  const packed = execFileSync("npm", ["pack", "--silent", name], { cwd: folder, encoding: "utf8" }).trim();
  execFileSync("tar", ["xzf", packed, "-C", cwd, "--strip-components=1"], { cwd: folder });
  if (fault) {
    const [file, right, wrong] = fault;
    const text = readFileSync(join(cwd, file), "utf8");
    if (!text.includes(right)) throw new Error(`${name}: ${file} has no ${JSON.stringify(right)}`);
    writeFileSync(
      join(cwd, file),
      text.replace(right, () => wrong),
    );
  }
  const git = (...words: string[]): unknown => execFileSync("git", words, { cwd });
  git("init", "-q");
  git("add", "-A");
  git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "Start");
  return cwd;
}

function isDone({ check }: Task, cwd: string): boolean {
  const entry = createRequire(import.meta.url).resolve(cwd);
  const code = `const { default: p } = await import(${JSON.stringify(entry)}); process.exit((${check}) ? 0 : 1);`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", code], { cwd, timeout: 20_000 }).status === 0;
}
