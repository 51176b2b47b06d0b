/** Random commands against a real bash: what runs a forbidden program, or writes, was never allowed (S-13). */
import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryCommand, fuzzRules } from "../permissions/command-arbitrary.ts";
import { decideOn } from "../permissions/policy.ts";
import { describeWithRealBash, runInRealBash } from "../permissions/real-bash.ts";
import { verifies } from "../../../../../test/support/verifies.ts";

/** `SHEAF_FUZZ_COMMANDS=100000` is the full figure. */
const total = Number(process.env.SHEAF_FUZZ_COMMANDS ?? 1500);
const batchSize = 2500;

const programs = [
  "basename", "bash", "cat", "env", "find", "grep", "head", "ls", "nice", "nohup", "sed", "sh", "sort", "timeout", "wc", "xargs",
]; // prettier-ignore

interface Judged {
  readonly command: string;
  readonly isAllowed: boolean;
  readonly isMarked: boolean;
}

async function judge(commands: readonly string[]): Promise<Judged[]> {
  const marked = runInRealBash(commands, programs);
  const judged: Judged[] = [];
  for (const [index, command] of commands.entries()) {
    const { decision } = await decideOn(command, { allow: fuzzRules });
    judged.push({ command, isAllowed: decision === "allow", isMarked: marked[index]! });
  }
  return judged;
}

describeWithRealBash("random commands", () => {
  test(
    verifies("S-13", "that run what no rule allows are never allowed"),
    { timeout: 60_000 + total * 40 },
    async () => {
      const { seed = Date.now() } = fc.readConfigureGlobal();
      const counts = { commands: 0, allowed: 0, marked: 0 };
      const misses: string[] = [];
      for (let batch = 0; batch * batchSize < total; batch += 1) {
        const numRuns = Math.min(batchSize, total - batch * batchSize);
        const commands = fc.sample(arbitraryCommand, { numRuns, seed: seed + batch });
        for (const { command, isAllowed, isMarked } of await judge(commands)) {
          counts.commands += 1;
          if (isAllowed) counts.allowed += 1;
          if (isMarked) counts.marked += 1;
          if (isAllowed && isMarked) misses.push(command);
        }
      }
      process.stdout.write(
        `fuzz, seed ${seed}: ${counts.commands} commands, ${counts.marked} forbidden, ${counts.allowed} allowed, ${misses.length} misses\n`,
      );
      expect(misses, `seed ${seed}`).toEqual([]);
      // The random commands are worth something only if many of each kind are among them.
      expect(counts.marked).toBeGreaterThan(total / 10);
      expect(counts.allowed).toBeGreaterThan(total / 20);
    },
  );
});
