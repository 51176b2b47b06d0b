/** A sandbox never starts with mounts from or at other places than planned, whoever swaps folders (S-78). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import type { CommandOutcome } from "../src/command.ts";
import { chooseRuns, soakTimeout } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { environment, toFileRules } from "./run-command.ts";
import { createFolder, describeWithSandbox, type HeldRun, openHeldRun } from "./sandbox-run.ts";
import { startSwapper, toSwapCommand } from "./swapper.ts";

interface HostileRun {
  readonly workspace: string;
  /** Below a secret place; it contains what the workspace contains, too. */
  readonly secret: string;
  readonly run: HeldRun["run"];
}

const denials = ["Read(.env)", "Write(*.sql)"];

/** A run in a workspace with protected and denied places in a folder `a`. */
function createHostileRun(rules: readonly string[]): HostileRun {
  const home = createFolder("home", {
    ".ssh/a/.vscode/key": "CANARY",
    ".ssh/a/.git/HEAD": "x",
    ".ssh/a/.git/config": "CANARY",
    ".ssh/a/keys.sql": "CANARY",
  });
  const workspace = createFolder("workspace", {
    "a/.vscode/key": "own",
    "a/.git/HEAD": "x",
    "a/.git/config": "own",
    "a/keys.sql": "own",
    "a/.env": "DENIED",
  });
  const options = { denials: toFileRules(...rules) };
  const { run } = openHeldRun(workspace, options, { ...environment, HOME: home });
  return { workspace, secret: join(home, ".ssh/a"), run };
}

const attack = `for d in a b; do cat $d/.vscode/key $d/.git/config $d/keys.sql $d/.env; echo evil > $d/.git/evil;
  echo evil > $d/.vscode/evil; echo evil > $d/.vscode/key; echo evil > $d/.git/config; echo evil > $d/keys.sql; done 2>/dev/null`;

function expectUntouched({ secret }: HostileRun, { output }: CommandOutcome): void {
  expect(output).not.toContain("CANARY");
  expect([".git/evil", ".vscode/evil"].filter((name) => existsSync(join(secret, name)))).toEqual([]);
  for (const name of [".vscode/key", ".git/config", "keys.sql"])
    expect(readFileSync(join(secret, name), "utf8")).toBe("CANARY");
}

describeWithSandbox("a sandbox", () => {
  test.each([
    { name: "protected", rules: [], kept: [".vscode/key", ".git/config"] },
    { name: "denied", rules: denials, kept: [".vscode/key", ".git/config", "keys.sql"] },
  ])(
    verifies("S-78", "holds its $name places next to a command in the background that swaps folders"),
    async ({ rules, kept }) => {
      const hostile = createHostileRun(rules);
      void hostile.run(toSwapCommand("a", "b", hostile.secret), { isBackground: true });
      await wait(300);
      for (let round = 0; round < chooseRuns(10, 2000); round += 1) {
        const outcome = await hostile.run(attack);
        expect(outcome.startError).toBe("");
        expectUntouched(hostile, outcome);
        if (rules.length > 0) expect(outcome.output).not.toContain("DENIED");
        for (const name of kept) expect(readFileSync(join(hostile.workspace, "a", name), "utf8")).toBe("own");
      }
    },
  );

  test(
    verifies("S-78", "does not start where something swaps the folder meanwhile, or starts as planned"),
    async () => {
      const hostile = createHostileRun(denials);
      const { workspace, secret } = hostile;
      startSwapper(join(workspace, "a"), join(workspace, "b"), secret);
      const errors: string[] = [];
      const isNoticed = (): boolean => errors.some((error) => /was moved or replaced/.test(error));
      const rounds = chooseRuns(400, 2000);
      for (let round = 0; round < rounds || (!isNoticed() && round < 20 * rounds); round += 1) {
        const outcome = await hostile.run(attack);
        expectUntouched(hostile, outcome);
        if (outcome.startError !== "") errors.push(outcome.startError);
      }
      expect(errors.filter((error) => !/was moved or replaced meanwhile|could not start/.test(error))).toEqual([]);
      expect(errors.join("\n")).toMatch(/was moved or replaced meanwhile: end the commands in the background/);
    },
    soakTimeout,
  );
});
