/** One prompt, run by Sheaf's command line or by the floor, against the provider of the benchmark. */
import type { Provider, Script } from "./provider.ts";
import { runNode, sheafProgram, toSupportFile } from "./measure.ts";

/** Provider of the model: which frames it gets. */
export type Family = "openai-compatible" | "anthropic";

export type Side = "floor" | "sheaf";

export interface Run {
  readonly provider: Provider;
  readonly script: Script;
  /** The working folder; homes and logs are next to it. */
  readonly workspace: string;
  readonly family?: Family;
  readonly onOutput?: (chunk: Buffer) => void;
}

const endpoints = { "openai-compatible": "chat/completions", anthropic: "messages" };

/** Runs a prompt. Milliseconds from exec to the first request and to the exit; MB. */
export async function runAgent(
  side: Side,
  { provider, script, workspace, family = "openai-compatible", onOutput }: Run,
): Promise<{ readonly requestMs: number; readonly totalMs: number; readonly peakMb: number }> {
  const model = ["--model", `${family}/m`, "--base-url", provider.url, "--api-key", "none"];
  const words =
    side === "sheaf"
      ? [sheafProgram, "-p", "--output-format", "stream-json", "--trust", ...model, "go"]
      : [toSupportFile("floor-agent.js"), `${provider.url}/${endpoints[family]}`, `${workspace}-floor.log`];
  provider.play(script);
  const { startedAt, totalMs, peakMb } = await runNode(words, workspace, `${workspace}-home`, onOutput);
  return { requestMs: provider.requestedAt[0]! - startedAt, totalMs, peakMb };
}

/** Milliseconds of each turn of the last run: from the end of an answer to the next request. */
export function listTurns({ requestedAt, answeredAt }: Provider): number[] {
  return requestedAt.slice(1).map((at, turn) => at - answeredAt[turn]!);
}

/** Words of a text, one each frame. */
export function createWords(count: number): string[] {
  const words = "Sheaf reads the **file** , changes `one` line and\n\nruns the tests again . ".match(/\S+\s+/g)!;
  // A number in each sentence: an answer that repeats itself is ended (C49).
  return Array.from({ length: count }, (_, index) => words[index % words.length]!.replace("one", `${index}`));
}
