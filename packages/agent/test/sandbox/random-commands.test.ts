/** Random commands against a real bash: what runs a forbidden program, or writes, was never allowed (S-13). */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PermissionOptions } from "@sheaf/permissions/permissions";
import { arbitraryCommand, fuzzRules } from "../../../permissions/test/command-arbitrary.ts";
import { decideOn } from "../../../permissions/test/policy.ts";
import { runInRealBash } from "../../../permissions/test/real-bash.ts";
import { describeWithBubblewrap } from "../../../../test/support/bubblewrap.ts";
import { chooseRuns } from "../../../../test/support/soak.ts";
import { verifies } from "../../../../test/support/verifies.ts";

/** `SHEAF_FUZZ_COMMANDS=100000` is the full figure. */
const total = Number(process.env.SHEAF_FUZZ_COMMANDS ?? chooseRuns(2000));
const batchSize = 2500;

const programs = [
  "basename", "bash", "cat", "env", "find", "grep", "head", "ls", "nice", "nohup", "sed", "sh", "sort", "timeout", "wc", "xargs",
]; // prettier-ignore

interface Counts {
  commands: number;
  allowed: number;
  marked: number;
  /** Those that were both. */
  readonly misses: string[];
}

/** Runs random commands, and counts what the policy says of each and what it does. */
async function countVerdicts(
  seed: number,
  options: Partial<PermissionOptions>,
  change = (command: string) => command,
): Promise<Counts> {
  const counts: Counts = { commands: 0, allowed: 0, marked: 0, misses: [] };
  for (let batch = 0; batch * batchSize < total; batch += 1) {
    const numRuns = Math.min(batchSize, total - batch * batchSize);
    const commands = fc.sample(arbitraryCommand, { numRuns, seed: seed + batch }).map(change);
    const marked = runInRealBash(commands, programs);
    for (const [index, command] of commands.entries()) {
      const isAllowed = (await decideOn(command, options)).decision === "allow";
      counts.commands += 1;
      if (isAllowed) counts.allowed += 1;
      if (marked[index]) counts.marked += 1;
      if (isAllowed && marked[index]) counts.misses.push(command);
    }
  }
  process.stdout.write(
    `fuzz, seed ${seed}: ${counts.commands} commands, ${counts.marked} forbidden, ${counts.allowed} allowed, ${counts.misses.length} misses\n`,
  );
  return counts;
}

describeWithBubblewrap("random commands", () => {
  const { seed = Date.now() } = fc.readConfigureGlobal();
  const timeout = 60_000 + total * 40;

  test(verifies("S-13", "that run what no rule allows are never allowed"), { timeout }, async () => {
    const counts = await countVerdicts(seed, { allow: fuzzRules });
    expect(counts.misses, `seed ${seed}`).toEqual([]);
    // The random commands are worth something only if many of each kind are among them.
    expect(counts.marked).toBeGreaterThan(total / 10);
    expect(counts.allowed).toBeGreaterThan(total / 20);
  });

  test(verifies(["S-13", "S-85"], "that run what a rule denies are never allowed"), { timeout }, async () => {
    // Here only the program leaves the marker: a deny rule says nothing of files.
    const counts = await countVerdicts(seed, { force: true, deny: ["Shell(mark)"] }, (command) =>
      command.replaceAll("MARK", "OTHER"),
    );
    expect(counts.misses, `seed ${seed}`).toEqual([]);
    expect(counts.marked).toBeGreaterThan(total / 10);
    expect(counts.allowed).toBeGreaterThan(total / 4);
  });
});
