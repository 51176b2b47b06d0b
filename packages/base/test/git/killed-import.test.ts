import { spawn } from "node:child_process";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { chooseRuns } from "../../../../test/support/soak.ts";
import { type GitState, readGitState } from "../../src/git/git-state.ts";
import { createBorder } from "./border.ts";

/** Ends with SIGKILL after that many milliseconds of its work; `undefined` waits for its end. Gives its milliseconds. */
async function applyInProcess(words: readonly string[], delay: number | undefined): Promise<number> {
  const program = join(import.meta.dirname, "apply-in-process.ts");
  const child = spawn(process.execPath, ["--conditions=sheaf-source", program, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let began = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    if (!chunk.toString().startsWith("begins")) return;
    began = performance.now();
    if (delay !== undefined) setTimeout(() => child.kill("SIGKILL"), delay);
  });
  await new Promise((resolve) => void child.once("close", resolve));
  return performance.now() - began;
}

/** Every value is the old or the new one. */
function isBetween(state: GitState, before: GitState, after: GitState): boolean {
  const isOneOf = (one: unknown, two: unknown, three: unknown): boolean => one === two || one === three;
  const keys = (pick: (state: GitState) => ReadonlyMap<string, string>): boolean =>
    [...new Set([before, after, state].flatMap((each) => [...pick(each).keys()]))].every((key) =>
      isOneOf(pick(state).get(key), pick(before).get(key), pick(after).get(key)),
    );
  return isOneOf(state.head, before.head, after.head) && keys((each) => each.refs) && keys((each) => each.index);
}

test("SIGKILL at any moment of an import leaves a whole repository, and the next import finishes it", async () => {
  const border = createBorder();
  const { setup, out, root } = border;
  const original = join(root, "../original");
  border.user("git branch old; for n in $(seq 300); do echo $n >f$n; done; git add .; git commit -qm files");
  const before = await border.start();
  cpSync(setup.gitFolder, original, { recursive: true });
  border.command(
    "for n in $(seq 200); do echo x >f$n; git branch b$n; done; git add .; git switch -qc topic; git commit -qm two; git branch -qD old; echo y >a; git stash -q",
  );
  border.exportState(before);
  const after = await readGitState({ ...setup, gitFolder: border.privateFolder });
  const reset = (): void => {
    rmSync(setup.gitFolder, { recursive: true });
    cpSync(original, setup.gitFolder, { recursive: true });
  };
  const words = [setup.gitFolder, original, out];
  const period = await applyInProcess(words, undefined);
  expect(await readGitState(setup)).toEqual(after);
  const rounds = chooseRuns(50, 50);
  for (let round = 0; round < rounds; round += 1) {
    reset();
    await applyInProcess(words, (period * round) / rounds);
    // Git that has begun ends by itself.
    const isLocked = (): boolean =>
      readdirSync(setup.gitFolder, { recursive: true, encoding: "utf8" }).some((name) => name.endsWith(".lock"));
    for (let left = 100; isLocked() && left > 0; left -= 1) await wait(10);
    expect(border.git("fsck", "--strict", "--no-dangling"), `round ${round}`).toBe("");
    expect(isBetween(await readGitState(setup), before, after), `round ${round}`).toBe(true);
    await applyInProcess(words, undefined);
    expect(await readGitState(setup), `round ${round}`).toEqual(after);
  }
}, 300_000);
