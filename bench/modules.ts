/**
 * What a start loads, and what each part costs: CPU milliseconds in the process itself, least of many rounds, so that
 * other work on the machine hardly shows. `npm run bench -- modules [--quick]`; the program must be built.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliFolder as cli, readPromptModules } from "../test/support/built-program.ts";

const rounds = process.argv.includes("--quick") ? 5 : 21;
const folder = mkdtempSync(join(tmpdir(), "sheaf-bench-"));

/** Loads modules one after the other and prints the CPU time of each; `builtin:` loads without reading all exports. */
const script = `
import module from "node:module";
module.enableCompileCache(process.argv[1]);
const costs = [];
for (const name of process.argv.slice(2)) {
  const before = process.cpuUsage();
  if (name.startsWith("builtin:")) process.getBuiltinModule(name.slice(8));
  else if (name === "Headers") new Headers();
  else await import(name);
  const { user, system } = process.cpuUsage(before);
  costs.push((user + system) / 1000);
}
console.log(JSON.stringify(costs));
`;

/** Least CPU milliseconds of each module, loaded in this order in one process. */
function measure(modules: readonly string[]): number[] {
  const args = ["--input-type=module", "-e", script, join(folder, "cache"), ...modules];
  const samples = Array.from({ length: rounds + 2 }, () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as number[];
  });
  // The first rounds fill the compile cache.
  return modules.map((_, index) => Math.min(...samples.slice(2).map((sample) => sample[index]!)));
}

function print(title: string, rows: readonly (readonly [string, number, number?])[]): void {
  console.log(`\n${title}`);
  for (const [name, cost, bytes] of rows) {
    console.log(
      cost.toFixed(1).padStart(7),
      (bytes === undefined ? "" : `${Math.round(bytes / 1024)} kB`).padStart(8),
      "",
      name,
    );
  }
  const sum = rows.reduce((total, [, cost]) => total + cost, 0);
  console.log(sum.toFixed(1).padStart(7), " ".repeat(9), "sum");
}

try {
  const { files, builtins } = readPromptModules();
  const costs = measure([...builtins.map((name) => `builtin:${name}`), ...files.map((name) => join(cli, name))]);
  print(
    "CPU ms: modules of Node that a prompt imports",
    builtins.map((name, index) => [name, costs[index]!]),
  );
  print(
    "CPU ms: chunks of a prompt (each with what only it needs of Node)",
    files.map((name, index) => [name, costs[builtins.length + index]!, statSync(join(cli, name)).size]),
  );

  const adapters = ["openai-compatible", "openai", "anthropic", "google"].map((name) => `adapters/${name}.js`);
  print(
    "CPU ms: provider packages, one a run",
    adapters.map((name) => [name, measure([join(cli, name)])[0]!, statSync(join(cli, name)).size]),
  );

  const clients = ["builtin:node:http", "builtin:node:https", "node:http", "Headers"];
  print(
    "CPU ms: ways to HTTP (the last two are why none of them is used)",
    clients.map((name) => [name, measure([name])[0]!]),
  );
} finally {
  rmSync(folder, { recursive: true });
}
