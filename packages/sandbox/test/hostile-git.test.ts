/** Whatever a command did to a repository, git starts nothing that it chose when the user works there afterwards (S-76). */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { afterAll, describe, expect, test } from "vitest";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { hostileCommands } from "./hostile-commands.ts";
import { describeWithSandbox } from "./sandbox-run.ts";

interface Result {
  readonly title: string;
  /** What ran outside the sandbox; "" for nothing. */
  readonly started: string;
  /** What the user's git shows, and a new clone does not; "" for nothing. */
  readonly lie: string;
  /** Why the command did not run; "" if it did. */
  readonly startError: string;
  readonly refusals: readonly string[];
}

const isRoot = process.getuid?.() === 0;
/** Where every user may enter, and which commands do not have for themselves. */
const top = mkdtempSync(join(isRoot ? "/opt" : homedir(), "sheaf-hostile-git-"));
afterAll(() => rmSync(top, { recursive: true, force: true }), 300_000);

/** Each user plays every 20th command; in a deep run the users take turns; in a soak, each plays all of them. */
const users = isRoot ? [0, 4711] : [process.getuid!()];
const step = Math.ceil((10 * users.length) / chooseRuns(10, 10 * users.length));

/** Node and the program where another user may read them. */
function playAs(user: number, first: number): Result[] {
  const folder = join(top, String(user));
  chmodSync(top, 0o755);
  // Of a first try.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "work"), { recursive: true });
  // A workspace around the program would get no command.
  const programs = join(folder, "programs");
  const program = join(programs, "play.mjs");
  buildSync({
    entryPoints: [fileURLToPath(import.meta.resolve("./play-git-user.ts"))],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["sheaf-source"],
  });
  cpSync(process.execPath, join(programs, "node"));
  if (isRoot) chownSync(join(folder, "work"), user, user);
  const asUser = isRoot ? ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"] : [];
  const [file, ...args] = [...asUser, join(programs, "node"), program, join(folder, "work"), `${step}`, `${first}`];
  const { stdout, stderr } = spawnSync(file, args, { cwd: folder, encoding: "utf8", env: {}, maxBuffer: 2 ** 26 });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

describeWithSandbox("a user who works with git after a hostile command", () => {
  describe.each(users.map((user, index) => ({ user, first: index % step })))("user $user", ({ user, first }) => {
    test(verifies("S-76", "hostile commands start nothing"), { timeout: 600_000 }, () => {
      const results = playAs(user, first);
      expect(results).toHaveLength(hostileCommands.filter((_, index) => index % step === first).length);
      expect(results.filter(({ started, lie }) => started + lie !== "")).toEqual([]);
      expect(results.filter(({ startError }) => startError !== "")).toEqual([]);
    });
  });
});
