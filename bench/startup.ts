/** What a user waits for at a start: `sheaf --version` against bare Node, one answer against the floor agent. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createWords, type Family, runAgent, type Side } from "./support/agent.ts";
import { type Bench, compare, type Figure, runNode, sheafProgram, withFolder } from "./support/measure.ts";
import { type Provider, startProvider } from "./support/provider.ts";

export const bench: Bench = async (isQuick) => {
  const rounds = isQuick ? 15 : 41;
  const provider = await startProvider();
  try {
    return await withFolder(async (folder) => [
      ...(await compareVersion(rounds, folder)),
      ...(await compareAnswer(rounds, folder, provider)),
    ]);
  } finally {
    provider.close();
  }
};

function compareVersion(rounds: number, folder: string): Promise<Figure[]> {
  const run = async (...words: string[]): Promise<{ readonly "sheaf --version": number }> => {
    const { totalMs } = await runNode(words, folder, folder);
    return { "sheaf --version": totalMs };
  };
  return compare({
    units: { "sheaf --version": "ms" },
    rounds,
    floor: () => run("-e", "0"),
    sheaf: () => run(sheafProgram, "--version"),
  });
}

function compareAnswer(rounds: number, folder: string, provider: Provider): Promise<Figure[]> {
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  const script = () => ({ text: createWords(40) });
  const run = (side: Side, family: Family) => runAgent(side, { provider, script, workspace, family });
  const measure = async (side: Side) => {
    const { requestMs, totalMs, peakMb } = await run(side, "openai-compatible");
    const anthropic = await run(side, "anthropic");
    return {
      "exec to the first request": requestMs,
      "one answer, OpenAI": totalMs,
      "one answer, Anthropic": anthropic.totalMs,
      "peak memory of one answer": peakMb,
    };
  };
  return compare({
    units: {
      "exec to the first request": "ms",
      "one answer, OpenAI": "ms",
      "one answer, Anthropic": "ms",
      "peak memory of one answer": "MB",
    },
    rounds,
    floor: () => measure("floor"),
    sheaf: () => measure("sheaf"),
  });
}
