/**
 * Searches in a large workspace, as the model calls them. The floor lists folders and runs ripgrep.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listTurns, runAgent, type Side } from "./support/agent.ts";
import { type Bench, compare, withFolder } from "./support/measure.ts";
import { startProvider, type Script } from "./support/provider.ts";

const fileCount = 20_000;

const calls = [
  { name: "glob_search", args: { pattern: "**/*.ts" } },
  { name: "grep_search", args: { pattern: "export function", output_mode: "count" } },
];

const units = {
  "glob_search, all files": "ms",
  "grep_search, a match in each file": "ms",
};

const script: Script = (turn) => {
  const call = calls[turn];
  return { text: ["Searching."], ...(call && { call }) };
};

export const bench: Bench = async (isQuick) => {
  const provider = await startProvider();
  try {
    return await withFolder((folder) => {
      const workspace = join(folder, "workspace");
      for (let index = 0; index < fileCount; index += 1) writeSource(workspace, index);
      const measure = async (side: Side) => {
        await runAgent(side, { provider, script, workspace });
        const times = listTurns(provider);
        const figures = Object.keys(units).map((name, index) => [name, times[index]!] as const);
        return Object.fromEntries(figures) as Record<keyof typeof units, number>;
      };
      const rounds = isQuick ? 1 : 3;
      return compare({ units, rounds, floor: () => measure("floor"), sheaf: () => measure("sheaf") });
    });
  } finally {
    provider.close();
  }
};

const words = "request response token parser stream event store cache client server document review budget".split(" ");

/** Forty lines of code with common words, and one name that no other file has. */
function writeSource(workspace: string, index: number): void {
  const folder = join(workspace, `package-${index % 50}`, `module-${Math.floor(index / 50) % 40}`);
  if (index < 2000) mkdirSync(folder, { recursive: true });
  const lines = Array.from({ length: 40 }, (_, line) => {
    const [one, two] = [words[(index + line) % words.length]!, words[(index * 7 + line * 3) % words.length]!];
    return `  const ${one}${line} = read_${two}(${index % 97}, "${one}");`;
  });
  const text = `export function handle${index}() {\n${lines.join("\n")}\n}\n`;
  writeFileSync(join(folder, `file-${index}.ts`), text);
}
