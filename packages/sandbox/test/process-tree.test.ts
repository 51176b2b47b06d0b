/** Nothing of a command outlives it. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { chooseRows } from "../../../test/support/depth.ts";
import { describeWhere, notLinux } from "../../../test/support/describe-where.ts";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { ProcessUse } from "../src/follow/processes.ts";
import { findByCommandLine, findByEnvironment, waitUntil } from "./processes.ts";
import { environment, runCommand as runPlain } from "./run-command.ts";
import { describeBothWays } from "./sandbox-run.ts";

/** A number that no other process sleeps. */
function createPeriod(): string {
  return `9${Math.floor(Math.random() * 1e9)}.5`;
}

/** What a command may do to get away; each one starts `sleep PERIOD` three times at most. */
const escapes: readonly (readonly [string, (period: string) => string])[] = [
  ["a child", (period) => `sleep ${period}; true`],
  ["a child in the background", (period) => `sleep ${period} & wait`],
  ["a child that ignores signals", (period) => `trap '' TERM HUP INT; sleep ${period}; sleep ${period}`],
  ["setsid", (period) => `setsid sleep ${period} & sleep ${period}`],
  [
    "setsid and a double fork",
    (period) => `(setsid sh -c 'sleep ${period} & sleep ${period} & disown 2>/dev/null' &) ; sleep ${period}`,
  ],
  [
    "nohup, setsid and ignored signals",
    (period) => `setsid nohup sh -c 'trap "" TERM; sleep ${period}; true' >/dev/null 2>&1 & sleep ${period}`,
  ],
  ["a cleared environment", (period) => `env -i /usr/bin/sleep ${period} & sleep ${period}`],
  ["a cleared environment and setsid", (period) => `setsid env -i /usr/bin/sleep ${period} & sleep ${period}`],
  ["a stopped child", (period) => `sleep ${period} & kill -STOP $!; sleep ${period}`],
  [
    "a shell that ignores SIGTERM and starts more",
    (period) => `trap 'sleep ${period}' TERM; while :; do sleep ${period}; done`,
  ],
];

describeBothWays("process trees", (runCommand, isHeld) => {
  describeWhere("the use of a command", notLinux, () =>
    test(verifies("C169", "shows whether a command works, and whether it waits for connections"), async () => {
      const program = `perl -MIO::Socket::INET -e '1 until times > 0.2; $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 5); print "x"; $s->accept'`;
      const controller = new AbortController();
      let look: () => ProcessUse | undefined = () => undefined;
      const request = { signal: controller.signal, onStart: (found: typeof look) => void (look = found) };
      const running = runCommand(program, request);
      expect(await waitUntil(() => look()?.listens === true)).toBe(true);
      expect(look()!.used).toBeGreaterThanOrEqual(15);
      controller.abort();
      await running;
      expect(look()).toEqual({ used: 0, listens: false });
    }),
  );

  test.concurrent.each(chooseRows(escapes, 5))(verifies("R-13", "an abort ends %s"), async (_, toCommand) => {
    const period = createPeriod();
    const controller = new AbortController();
    const running = runCommand(toCommand(period), { signal: controller.signal });
    expect(await waitUntil(() => findByCommandLine(`sleep ${period}`).some(isSleep))).toBe(true);
    const start = performance.now();
    controller.abort();
    expect(await running).toMatchObject({ cancelled: true, timedOut: false });
    expect(performance.now() - start).toBeLessThan(5000);
    expect(findByCommandLine(period)).toEqual([]);
  });

  test.concurrent.each(chooseRows(escapes, 4))(
    verifies(["R-13", "N37"], "a timeout ends %s, with exit code 124"),
    async (_, toCommand) => {
      const period = createPeriod();
      expect(await runCommand(toCommand(period), { timeoutMs: 400 })).toMatchObject({
        exitCode: 124,
        timedOut: true,
        cancelled: false,
      });
      expect(findByCommandLine(period)).toEqual([]);
    },
  );

  test.concurrent.each([
    ["a child", "sleep PERIOD &"],
    ["a child with its output closed", "sleep PERIOD >/dev/null 2>&1 &"],
    ["setsid and a double fork", "(setsid sh -c 'sleep PERIOD & sleep PERIOD &' &)"],
    ["a daemon with its output closed", "setsid nohup sleep PERIOD >/dev/null 2>&1 < /dev/null &"],
  ])(verifies("R-13", "the normal end ends what stayed: %s"), async (_, command) => {
    const period = createPeriod();
    const outcome = await runCommand(`${command.replaceAll("PERIOD", period)}\necho end`);
    expect(outcome).toMatchObject({ exitCode: 0, stdout: "end\n" });
    expect(findByCommandLine(period)).toEqual([]);
  });

  test("output that came before the end is there, and what is said on SIGTERM too", async () => {
    const outcome = await runCommand("trap 'echo bye; exit 5' TERM; echo begin; while :; do sleep 0.05; done", {
      timeoutMs: 300,
    });
    expect(outcome).toMatchObject({ exitCode: 124, signal: "", timedOut: true, stdout: "begin\nbye\n" });
  });

  test(verifies("R-13", "when Sheaf is killed, nothing of its commands is left"), async () => {
    const period = createPeriod();
    const file = join(mkdtempSync(join(tmpdir(), "sheaf-guard-")), "started");
    const module = join(import.meta.dirname, "run-command.ts");
    const command = `(setsid sh -c "sleep ${period} & sleep ${period}" &); echo > ${file}; sleep ${period}`;
    const program = `
      import { findSandbox } from ${JSON.stringify(join(import.meta.dirname, "../src/find/find-sandbox.ts"))};
      import { environment, runCommandIn } from ${JSON.stringify(module)};
      const setting = ${JSON.stringify(isHeld ? "enabled" : "disabled")};
      const workingDirectory = ${JSON.stringify(dirname(file))};
      const sandbox = await findSandbox({ setting, workspace: workingDirectory, environment, now: Date.now });
      await runCommandIn(sandbox, ${JSON.stringify(command)}, { workingDirectory });
    `;
    const sheaf = spawn(
      process.execPath,
      ["--conditions=sheaf-source", "--input-type=module-typescript", "-e", program],
      {
        env: environment,
        stdio: "ignore",
      },
    );
    expect(await waitUntil(() => findByCommandLine(`sleep ${period}`).filter(isSleep).length === 3)).toBe(true);
    sheaf.kill("SIGKILL");
    expect(await waitUntil(() => findByCommandLine(period).length === 0)).toBe(true);
  });
});

describeWhere("markers", notLinux, () => {
  const trees = chooseRuns(50);

  test(verifies("R-13", `no process with the marker is left after ${trees} aborted trees`), async () => {
    const markers = await Promise.all(
      Array.from({ length: trees }, async (_, index) => {
        const controller = new AbortController();
        const command = "echo $SHEAF_CALL; setsid sh -c 'sleep 999 & sleep 999 &' & sleep 999";
        const onOutput = (): void => void setTimeout(() => controller.abort(), index * (200 / trees));
        return (await runPlain(command, { signal: controller.signal, onOutput })).stdout.trim();
      }),
    );
    expect(new Set(markers).size).toBe(trees);
    for (const marker of markers) expect(findByEnvironment(marker)).toEqual([]);
  });
});

function isSleep(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n";
  } catch {
    return false;
  }
}
