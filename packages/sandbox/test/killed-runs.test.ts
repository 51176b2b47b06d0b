/** What commands made is gone, however the process of Sheaf ends while they run (S-253). */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createJournal, finishKilledRuns } from "../src/hold/journal.ts";
import { makeRunFolder } from "../src/hold/own-folders.ts";
import { notRoot, skipIfMissing } from "../../../test/support/describe-where.ts";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { copySources, giveToUser } from "./plain-user.ts";
import { findByCommandLine } from "./processes.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox, sandbox, takeRefused } from "./sandbox-run.ts";

const places = [".vscode/tasks.json", "sub/.git/config", "d/HEAD", "vend"];
const make =
  "mkdir -p .vscode sub/.git d/objects d/refs; echo x > .vscode/tasks.json; echo x > sub/.git/config; echo x > d/HEAD; ln -sf /proc/self vend";

/** A process that runs a command in a workspace; `exit`: code that it runs once the command has begun. */
function startSheaf(workspace: string, stateFolder: string, command: string, exit = "", asUser?: readonly string[]) {
  const toFile = (path: string): string =>
    JSON.stringify(asUser ? `./sandbox/test/${path}` : join(import.meta.dirname, path));
  const program = `
    import { runCommandIn, environment } from ${toFile("run-command.ts")};
    const atExit = (end) => { process.on("exit", end); return () => process.off("exit", end); };
    const onOutput = () => { ${exit} };
    await runCommandIn(${JSON.stringify(sandbox)}, ${JSON.stringify(command)},
      { workingDirectory: ${JSON.stringify(workspace)}, timeoutMs: undefined, onOutput },
      environment, { stateFolder: ${JSON.stringify(stateFolder)}, atExit });
  `;
  const own = [process.execPath, "--conditions=sheaf-source", "--input-type=module-typescript", "-e"];
  const [file = "", ...words] = asUser ?? own;
  const cwd = asUser && dirname(workspace);
  return spawn(file, [...words, program], { cwd, env: environment, stdio: ["ignore", "ignore", "inherit"] });
}

function listLeft(workspace: string): string[] {
  return places.filter((path) => existsSync(join(workspace, path)) || readdirSync(workspace).includes(path));
}

let count = 0;
/** A command that makes these places again and again. */
const toCommand = (): string => `while :; do ${make}; echo made; sleep 0.0${(count += 1)}; done`;

describeWithSandbox("a process of Sheaf", () => {
  test.each([
    ["by a second signal or another exit", "process.exit(1)"],
    ["by an error that nobody caught", "setImmediate(() => { throw new Error('planted') })"],
  ])(verifies("S-253", "that ends %s ends its commands and what they made"), async (_, exit) => {
    const [workspace, state] = [createFolder("workspace"), createFolder("state")];
    const command = toCommand();
    await once(startSheaf(workspace, state, command, exit), "exit");
    expect(findByCommandLine(command)).toEqual([]);
    expect(listLeft(workspace)).toEqual([]);
    expect(takeRefused(state)).not.toEqual([]);
  });

  test(
    verifies("S-253", "that is killed leaves it to the next one, which keeps what the user made since"),
    async () => {
      const [workspace, state] = [createFolder("workspace", { "own/.git/HEAD": "x" }), createFolder("state")];
      const sheaf = startSheaf(workspace, state, toCommand());
      await expect.poll(() => listLeft(workspace)).toHaveLength(places.length);
      sheaf.kill("SIGKILL");
      await once(sheaf, "exit");
      const [run = ""] = readdirSync(join(state, "runs"));
      await expect.poll(() => existsSync(join(state, "runs", run, "ended"))).toBe(true);
      await wait(20);
      mkdirSync(join(workspace, "cloned/.git"), { recursive: true });
      writeFileSync(join(workspace, ".envrc"), "own");
      const notes = finishKilledRuns({ stateFolder: state, environment, writable: [workspace] });
      expect(listLeft(workspace)).toEqual([]);
      expect(notes).toHaveLength(places.length);
      expect(["own/.git/HEAD", "cloned/.git", ".envrc"].filter((path) => !existsSync(join(workspace, path)))).toEqual(
        [],
      );
      await expect.poll(() => readdirSync(join(state, "runs"))).toEqual([]);
    },
  );

  test.each([
    ["a power failure ended", () => 1],
    ["was killed with its reaper two minutes ago", () => Date.now() / 1000 - 120],
  ])(verifies("S-253", "that %s keeps what the user made since"), async (_, toTime) => {
    const [workspace, state] = [createFolder("workspace", { "cloned/.git/HEAD": "x" }), createFolder("state")];
    const run = join(
      state,
      "runs",
      basename(makeRunFolder({ stateFolder: state, writable: [] })).replace(/\d+-\w+$/, "4194304-1"),
    );
    mkdirSync(run);
    createJournal(() => run).begin({ writable: [workspace], keys: [] });
    utimesSync(join(run, "journal.json"), toTime(), toTime());
    expect(finishKilledRuns({ stateFolder: state, environment, writable: [workspace] })).toEqual([]);
    expect(existsSync(join(workspace, "cloned/.git/HEAD"))).toBe(true);
    await expect.poll(() => existsSync(run)).toBe(false);
  });

  test.each(["this user", "an ordinary user"])(
    verifies("S-253", "of %s leaves nothing at any moment of SIGKILL"),
    async (who) => {
      if (who !== "this user") skipIfMissing(notRoot);
      const top = realpathSync(mkdtempSync(join(tmpdir(), "sheaf-killed-")));
      onTestFinished(() => rmSync(top, { recursive: true, force: true }));
      const words = who === "this user" ? undefined : copySources(top);
      const finish = `
        import { finishKilledRuns } from "./sandbox/src/hold/journal.ts";
        const [stateFolder, workspace] = process.argv.slice(1);
        finishKilledRuns({ stateFolder, environment: { PATH: "/usr/bin:/bin", HOME: workspace }, writable: [workspace] });
      `;
      const rounds = chooseRuns(50);
      let made = 0;
      for (let round = 0; round < rounds; round += 1) {
        const [workspace, state] = ["workspace", "state"].map((name) => join(top, `${name}-${round}`));
        for (const folder of [workspace, state]) mkdirSync(folder!);
        if (words) giveToUser(top);
        const sheaf = startSheaf(
          workspace!,
          state!,
          `while :; do ${make}; sleep 0.02; rm -rf .vscode sub; done`,
          "",
          words,
        );
        const ended = once(sheaf, "exit");
        const isBegun = (): boolean =>
          readdirSync(state!, { recursive: true }).some((path) => String(path).endsWith("journal.json"));
        // Every second moment is after the command's start.
        const isReached = (): boolean => (round % 2 === 0 ? isBegun() : listLeft(workspace!).length > 0);
        while (!isReached() && sheaf.exitCode === null) await wait(2);
        await wait((200 * round) / rounds);
        sheaf.kill("SIGKILL");
        await ended;
        await wait(300);
        made += listLeft(workspace!).length;
        if (words) spawnSync(words[0]!, [...words.slice(1), finish, "--", state!, workspace!], { cwd: top, env: {} });
        else finishKilledRuns({ stateFolder: state, environment, writable: [workspace!] });
        expect(listLeft(workspace!)).toEqual([]);
      }
      expect(made).toBeGreaterThan(0);
    },
    300_000,
  );
});
