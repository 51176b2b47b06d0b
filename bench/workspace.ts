/**
 * A workspace of 100,000 files: listing, glob, search and index, and what they take of memory (R-15). `--quick`: 10,000.
 * Budgets: a glob at most 5 s; a search in 10,000 files and one of 1 GB at most 10 s. With `--strict` a missed one fails.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCodeSearch } from "../packages/agent/src/workspace/codebase/code-search.ts";
import { createBackgroundCommands } from "../packages/agent/src/guard/sandbox/follow/background-command.ts";
import { createConversationState } from "../packages/agent/src/tools/conversation-state.ts";
import { findTool } from "../packages/agent/src/tools/registry.ts";
import type { ToolContext } from "../packages/agent/src/tools/tool.ts";
import { createWorkspace } from "../packages/agent/src/workspace/workspace.ts";

const fileCount = process.argv.includes("--quick") ? 10_000 : 100_000;
const folder = mkdtempSync(join(tmpdir(), "sheaf-bench-"));
const words = "request response token parser stream event store cache client server document review budget".split(" ");

/** Code as it might be: some forty lines, words that come again, and one that each file has alone. */
function toSource(index: number): string {
  const lines = Array.from({ length: 40 }, (_, line) => {
    const [one, two] = [words[(index + line) % words.length]!, words[(index * 7 + line * 3) % words.length]!];
    return `  const ${one}${two[0]!.toUpperCase()}${two.slice(1)} = read_${two}(${index % 97}, "${one}");`;
  });
  return `export function handle${index}() {\n${lines.join("\n")}\n  return unique${index};\n}\n`;
}

function makeFiles(root: string, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const place = join(root, `package-${index % 50}`, `module-${Math.floor(index / 50) % 40}`);
    if (index < 2000) mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `file-${index}.ts`), toSource(index));
  }
}

const root = join(folder, "w");
mkdirSync(root);
makeFiles(root, fileCount);
const workspace = createWorkspace(root);
const { signal } = new AbortController();
const commands = {
  run: () => Promise.reject(new Error("no commands here")),
  permissions: [],
  end: async () => undefined,
};
const context: ToolContext = {
  workspace,
  commands,
  background: createBackgroundCommands(commands),
  state: createConversationState(),
  codebase: createCodeSearch(join(folder, "home")),
  mode: "agent",
  callId: "call_1",
  signal,
  emitOutput: () => undefined,
};

interface Row {
  readonly name: string;
  readonly ms: number;
  /** Of this process: what a busy machine does not change. */
  readonly cpuMs: number;
  /** Growth of the resident set at its highest. */
  readonly memory: number;
  readonly note: string;
  readonly budgetMs?: number;
}

const rows: Row[] = [];

async function measure(name: string, toolName: string, args: object, budgetMs?: number): Promise<void> {
  const found = findTool(toolName);
  if (!found.ok) throw new Error(toolName);
  const prepared = found.tool.prepare({ callId: "call_1", toolName, arguments: { ...args } });
  if (!prepared.ok) throw new Error(prepared.outcome.error?.message);
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
  const startedAt = performance.now();
  const usedBefore = process.cpuUsage();
  const outcome = await prepared.run(context);
  const used = process.cpuUsage(usedBefore);
  const ms = performance.now() - startedAt;
  clearInterval(timer);
  if (outcome.status !== "success") throw new Error(`${name}: ${outcome.error?.message}`);
  most = Math.max(most, process.memoryUsage().rss);
  const [first = ""] = outcome.output.split("\n");
  const note = `${first.slice(0, 60)}${outcome.note ? ` (${outcome.note.slice(0, 70)})` : ""}`;
  rows.push({
    name,
    ms,
    cpuMs: (used.user + used.system) / 1000,
    memory: most - before,
    note,
    ...(budgetMs !== undefined && { budgetMs }),
  });
}

try {
  await measure("list_dir", "list_dir", {});
  await measure("glob, all files", "glob_search", { pattern: "**/*.ts" }, 5000);
  await measure("glob, one file", "glob_search", { pattern: `**/file-${fileCount - 1}.ts` }, 5000);
  await measure("grep, one match", "grep_search", { pattern: `unique${fileCount - 1};` });
  await measure("grep, a match in each file", "grep_search", { pattern: "export function", output_mode: "count" });
  await measure("codebase_search, first", "codebase_search", { query: `handle${fileCount - 7}` });
  for (let more = 0; rows.at(-1)!.note.includes("not in the index") && more < 10; more += 1) {
    await measure(`codebase_search, goes on ${more + 2}`, "codebase_search", { query: `handle${fileCount - 7}` });
  }
  await measure("codebase_search, nothing changed", "codebase_search", { query: `handle${fileCount - 9}` });
  for (let index = 0; index < 100; index += 1)
    writeFileSync(join(root, "package-0", `new-${index}.ts`), toSource(index + 1e6));
  await measure("codebase_search, 100 files changed", "codebase_search", { query: "handle1000042" });
  await measure("codebase_search, common words", "codebase_search", {
    query: "where is the token of the request parsed",
  });
  const index = join(folder, "home/index");
  rows.push({ name: "index on the disk", ms: 0, cpuMs: 0, memory: sumSizes(index), note: "bytes" });

  const large = join(folder, "large");
  mkdirSync(large);
  makeFiles(large, 10_000);
  writeFileSync(join(large, "huge.log"), "x\n");
  truncateSync(join(large, "huge.log"), 1024 ** 3);
  const inLarge = { ...context, workspace: createWorkspace(large) };
  Object.assign(context, inLarge);
  await measure("grep, 10,000 files and one of 1 GB", "grep_search", { pattern: "unique9999;" }, 10_000);
} finally {
  rmSync(folder, { recursive: true });
}

function sumSizes(path: string): number {
  return readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
}

console.log(`${fileCount} files, node ${process.version}`);
console.log("what".padEnd(38), "ms".padStart(8), "CPU ms".padStart(8), "MiB".padStart(8), "budget".padStart(14), "");
let missed = false;
for (const { name, ms, cpuMs, memory, note, budgetMs } of rows) {
  const isMissed = budgetMs !== undefined && ms > budgetMs;
  missed ||= isMissed;
  const budget = budgetMs === undefined ? "" : `${budgetMs} ${isMissed ? "MISSED" : "held"}`;
  console.log(
    name.padEnd(38),
    ms.toFixed(0).padStart(8),
    cpuMs.toFixed(0).padStart(8),
    (memory / 1024 ** 2).toFixed(0).padStart(8),
    budget.padStart(14),
    note,
  );
}
if (missed && process.argv.includes("--strict")) process.exitCode = 1;
