/**
 * Start-up against bare `node -e 0`, in the same run: `--version`, one scripted answer, one offline answer,
 * and the time from exec to the first line. Prints medians, the difference to bare, and the ratio.
 * Budgets: `--version` at most 1.6 times bare, one scripted answer at most 3.6 times (15 and 60 ms over it, where bare
 * takes 23); with `--strict` a missed one fails.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const quick = process.argv.includes("--quick");
const rounds = quick ? 15 : 41;
const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "sheaf-bench-"));
const sheaf = join(root, "packages/agent/bin/sheaf.js");
const script = join(folder, "answer.json");
writeFileSync(script, JSON.stringify({ turns: [{ events: [{ text: "One answer." }] }] }));
writeFileSync(join(folder, "README.md"), "# Bench\n\nA folder for a benchmark.\n");

interface Sample {
  readonly total: number;
  readonly firstLine: number;
}

const prompt = ["-p", "--trust", "--model"];
const cases: Readonly<Record<string, readonly string[]>> = {
  "node -e 0": ["-e", "0"],
  "sheaf --version": [sheaf, "--version"],
  "one scripted answer": [sheaf, ...prompt, `scripted:${script}`, "go"],
  "one scripted answer, --no-save": [sheaf, "--no-save", ...prompt, `scripted:${script}`, "go"],
  "offline: read and summarise": [sheaf, ...prompt, "offline", "Summarise README.md"],
};

async function measure(args: readonly string[]): Promise<Sample> {
  const startedAt = performance.now();
  let firstLine = 0;
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, SHEAF_HOME: join(folder, "home") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stdout.on("data", () => (firstLine ||= performance.now() - startedAt));
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${errors}`);
  return { total: performance.now() - startedAt, firstLine };
}

function toMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

const samples = new Map<string, Sample[]>(Object.keys(cases).map((name) => [name, []]));
try {
  // The first round fills the compile cache; the rounds alternate, so that noise meets all alike.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, args] of Object.entries(cases)) {
      const sample = await measure(args);
      if (round > 0) samples.get(name)!.push(sample);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

const medians = new Map(
  [...samples].map(([name, list]) => [
    name,
    { total: toMedian(list.map(({ total }) => total)), firstLine: toMedian(list.map(({ firstLine }) => firstLine)) },
  ]),
);
const bare = medians.get("node -e 0")!.total;
const budgets: Readonly<Record<string, number>> = { "sheaf --version": 1.6, "one scripted answer": 3.6 };
let missed = false;
console.log(`medians of ${rounds} rounds, node ${process.version}`);
console.log("case".padEnd(34), "total ms", "first line", "over bare", "ratio", "budget");
for (const [name, { total, firstLine }] of medians) {
  const ratio = total / bare;
  const budget = budgets[name];
  const isMissed = budget !== undefined && ratio > budget;
  missed ||= isMissed;
  console.log(
    name.padEnd(34),
    total.toFixed(1).padStart(8),
    (firstLine ? firstLine.toFixed(1) : "-").padStart(10),
    (total - bare).toFixed(1).padStart(9),
    ratio.toFixed(2).padStart(5),
    budget === undefined ? "" : `${budget}x ${isMissed ? "MISSED" : "held"}`,
  );
}
if (missed && process.argv.includes("--strict")) process.exitCode = 1;
