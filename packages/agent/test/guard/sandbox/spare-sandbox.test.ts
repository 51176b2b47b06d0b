/** A command in a sandbox that was made before the command was known is held like any other. */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createCommandNetwork } from "../../../src/guard/permissions/command-network.ts";
import type { CommandOutcome, CommandRequest } from "../../../src/guard/sandbox/command.ts";
import { createCommandRunner } from "../../../src/guard/sandbox/command-runner.ts";
import type { Mount } from "../../../src/guard/sandbox/mounts.ts";
import { readProcess, sendSignal } from "../../../src/guard/sandbox/process-table.ts";
import { createSpareSandbox } from "../../../src/guard/sandbox/spare-sandbox.ts";
import { findByEnvironment, waitUntil } from "./processes.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox, sandbox } from "./sandbox-run.ts";

/** Seconds since the first process of the sandbox began. */
const age = "awk '{ print $22 }' /proc/1/stat; cut -d ' ' -f 1 /proc/uptime";
/** Milliseconds in which a sandbox is made, on a slow machine too. */
const pause = 700;

interface Bench {
  run(command: string, request?: Partial<CommandRequest>): Promise<CommandOutcome>;
  end(): Promise<void>;
}

function createBench(workspace: string, variables: Readonly<Record<string, string>> = environment): Bench {
  const network = createCommandNetwork({ allow: [], deny: [] });
  const runner = createCommandRunner({ environment: variables, workspace, sandbox, network });
  return {
    run: (command, request = {}) =>
      runner.run({
        command,
        workingDirectory: workspace,
        timeoutMs: 20_000,
        signal: new AbortController().signal,
        onOutput: () => undefined,
        ...request,
      }),
    end: () => runner.end(),
  };
}

/** Runs a command, waits, does `between`, and gives what the second command says. */
async function runSecond(
  command: string,
  workspace = createFolder("workspace"),
  {
    request,
    variables,
    between,
  }: {
    request?: Partial<CommandRequest>;
    variables?: Readonly<Record<string, string>>;
    between?: () => void;
  } = {},
): Promise<CommandOutcome> {
  const bench = createBench(workspace, variables);
  try {
    await bench.run("true");
    await wait(pause);
    between?.();
    return await bench.run(command, request);
  } finally {
    await bench.end();
  }
}

function toAge({ stdout }: CommandOutcome): number {
  const [start = 0, now = 0] = stdout.trim().split("\n").map(Number);
  return now - start / 100;
}

describeWithSandbox("a sandbox that is made ahead", () => {
  test("is what the second command runs in, and the third has another", async () => {
    const bench = createBench(createFolder("workspace"));
    const ages: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      ages.push(toAge(await bench.run(age)));
      await wait(pause);
    }
    await bench.end();
    expect(ages[0]).toBeLessThan(pause / 1000);
    expect(ages[1]).toBeGreaterThan(0.3);
    expect(ages[2]).toBeGreaterThan(0.3);
    expect(ages[2]).toBeLessThan(2 * (pause / 1000));
  });

  describe("what it is made by", () => {
    const temporary = process.env.TMPDIR;
    afterEach(() => {
      if (temporary === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = temporary;
    });

    test(verifies("S-30", "never lies where a command writes: then none is made"), async () => {
      const workspace = createFolder("workspace", { "tmp/file": "" });
      process.env.TMPDIR = join(workspace, "tmp");
      const second = await runSecond(age, workspace);
      expect(second.exitCode).toBe(0);
      expect(toAge(second)).toBeLessThan(0.3);
    });

    test("is closed when it cannot be written", async () => {
      const bench = createBench(createFolder("workspace"));
      const counts: number[] = [];
      await bench.run("true");
      await wait(pause);
      process.env.TMPDIR = "/no/such/folder";
      for (let round = 0; round < 6; round += 1) {
        expect(await bench.run("echo x")).toMatchObject({ exitCode: 0, stdout: "x\n" });
        await wait(50);
        counts.push(readdirSync("/proc/self/fd").length);
      }
      await bench.end();
      expect(counts.at(-1)).toBeLessThanOrEqual(counts[0]!);
    });
  });

  test(verifies("S-12", "the text runs as it is"), async () => {
    const texts = [
      "printf '%s|' 'a  b' \"c'd\" \\\\ \\' \"$nl\" $line \"$ended\"",
      "echo a\necho 'b\n  c' # d\n",
      "-c 'echo x'",
      "echo \"'\"'\"'; echo '\\n' \"\\$HOME\"\t$'x\\ty'",
      "cat <<'EOF'\n$x `y` 'z' \"\\\nEOF\n",
      "cat <<'EOF'\n$x `y` ü \u{1f600}\nEOF",
      `echo ${"long ".repeat(1000)}`,
      "exit 7",
      "kill -TERM $$",
      "ls /proc/self/fd; set | grep -E '^(line|nl|ended)='",
      "kill -INT $$",
      "grep -E '^Sig(Blk|Ign)' /proc/self/status; umask; nice; ulimit -a; pwd",
      "env | grep -v ^SHEAF_CALL= | sort; head -c 11 /proc/$$/environ | tr '\\0' x",
      "ls -l /proc/self/fd | grep -vc /dev/null",
    ];
    const workspace = createFolder("workspace");
    const bench = createBench(workspace);
    for (const text of texts) {
      const [first, second] = [await createBenchAndRun(text, workspace), await bench.run(text)];
      expect(second).toEqual(first);
      await wait(200);
    }
    await bench.end();
  });

  test(verifies("S-34", "a secret that has come or has been replaced meanwhile is hidden"), async () => {
    const home = createFolder("home", { ".netrc": "CANARY-OLD" });
    const { stdout } = await runSecond("cat ~/.netrc ~/.ssh/id; ls ~/.ssh", undefined, {
      variables: { ...environment, HOME: home },
      between() {
        mkdirSync(join(home, ".ssh"));
        writeFileSync(join(home, ".ssh/id"), "CANARY-NEW");
      },
    });
    expect(stdout).toBe("");
    const other = await runSecond("cat ~/.netrc", undefined, {
      variables: { ...environment, HOME: home },
      between() {
        writeFileSync(join(home, "new"), "CANARY-NEW");
        renameSync(join(home, "new"), join(home, ".netrc"));
      },
    });
    expect(other.stdout).toBe("");
  });

  test(verifies("S-30", "a protected file that has been replaced meanwhile stays as it is"), async () => {
    const workspace = createFolder("workspace", { ".git/HEAD": "x", ".git/config": "old" });
    await runSecond("echo changed > .git/config; echo changed > .envrc", workspace, {
      between() {
        writeFileSync(join(workspace, "new"), "new");
        renameSync(join(workspace, "new"), join(workspace, ".git/config"));
        writeFileSync(join(workspace, ".envrc"), "new");
      },
    });
    expect(readFileSync(join(workspace, ".git/config"), "utf8")).toBe("new");
    expect(readFileSync(join(workspace, ".envrc"), "utf8")).toBe("new");
  });

  test(
    verifies("S-30", "a folder that a command moves while the next sandbox is made keeps what is protected"),
    async () => {
      const workspace = createFolder("workspace", { "sub/.vscode/tasks.json": "old" });
      const bench = createBench(workspace);
      await bench.run("true");
      // They come so soon that the next sandbox is begun beside each of them.
      for (let round = 0; round < 5; round += 1) await bench.run("mv sub away; sleep 0.1; mv away sub");
      const { stderr } = await bench.run("echo changed > sub/.vscode/tasks.json");
      await bench.end();
      expect(stderr).toMatch(/Read-only file system/);
      expect(readFileSync(join(workspace, "sub/.vscode/tasks.json"), "utf8")).toBe("old");
    },
  );

  test("the working directory is the one that was asked for, also when it has been replaced", async () => {
    const workspace = createFolder("workspace", { "sub/file": "old", "next/file": "new" });
    const other = await runSecond("pwd", workspace, { request: { workingDirectory: join(workspace, "sub") } });
    expect(other.stdout).toBe(`${join(workspace, "sub")}\n`);
    const bench = createBench(workspace);
    const request = { workingDirectory: join(workspace, "sub") };
    await bench.run("true", request);
    await wait(pause);
    renameSync(join(workspace, "sub"), join(workspace, "old"));
    renameSync(join(workspace, "next"), join(workspace, "sub"));
    expect((await bench.run("cat file", request)).stdout).toBe("new");
    await bench.end();
  });

  test(verifies("R-13", "nothing of it is left, neither at the end nor when it is killed"), async () => {
    const variables = { ...environment, LC_SPARE: `spare-${process.pid}` };
    const bench = createBench(createFolder("workspace"), variables);
    await bench.run("true");
    expect(await waitUntil(() => findByEnvironment(variables.LC_SPARE).length > 0)).toBe(true);
    for (const pid of findByEnvironment(variables.LC_SPARE)) sendSignal(pid, "SIGKILL");
    expect(await waitUntil(() => findByEnvironment(variables.LC_SPARE).length === 0)).toBe(true);
    // Bubblewrap has no such variable, and ends a moment later.
    await wait(pause);
    expect((await bench.run("echo next")).stdout).toBe("next\n");
    await wait(3);
    await bench.end();
    expect(findByEnvironment(variables.LC_SPARE)).toEqual([]);
  });

  test(verifies("R-13", "nothing of it is left when Sheaf is killed"), async () => {
    const marker = `spare-of-killed-${process.pid}`;
    const program = `
      import { createCommandRunner } from ${JSON.stringify(join(import.meta.dirname, "../../../src/guard/sandbox/command-runner.ts"))};
      const workspace = ${JSON.stringify(createFolder("workspace"))};
      const environment = { PATH: "/usr/bin:/bin", HOME: "/tmp", LC_SPARE: "${marker}" };
      const network = { isOpen: false, hosts: [] };
      const runner = createCommandRunner({ environment, workspace, sandbox: ${JSON.stringify(sandbox)}, network });
      await runner.run({ command: "true", workingDirectory: workspace, signal: new AbortController().signal, onOutput() {} });
      process.stdout.write("end");
      setTimeout(() => undefined, 60_000);
    `;
    const child = spawn(process.execPath, [
      "--conditions=sheaf-source",
      "--input-type=module-typescript",
      "-e",
      program,
    ]);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    expect(await waitUntil(() => findByEnvironment(marker).length > 0)).toBe(true);
    child.kill("SIGKILL");
    expect(await waitUntil(() => findByEnvironment(marker).length === 0)).toBe(true);
  });
});

test.skipIf(process.platform !== "linux")(
  verifies("S-30", "one that does not hold what is planned gets no command"),
  async () => {
    const ended = Promise.resolve({ code: 0, signal: null });
    const told: string[] = [];
    const own = readProcess(process.pid);
    const spare = createSpareSandbox(() => ({
      process: {
        stdout: null,
        stderr: null,
        isRunning: () => false,
        ended,
        closed: Promise.resolve(),
        kill() {},
        release() {},
      },
      pipes: { stdio: [1, 2], paths: ["", ""], follow() {}, ended: Promise.resolve(), close() {} },
      status: { findFirst: () => own, findExitCode: () => undefined, toSignal: () => undefined },
      tree: undefined,
      isReady: Promise.resolve(true),
      tell: (line) => void told.push(line),
    }));
    const take = async (mounts: readonly Mount[]): Promise<unknown> => {
      const plan = { mounts, workingDirectory: process.cwd(), variables: {} };
      spare.prepare(plan);
      return spare.take(plan, ["echo"]);
    };
    expect(await take([])).toBeDefined();
    expect(await take([{ path: import.meta.dirname, access: "read-only" }])).toBeUndefined();
    await spare.close();
    expect(told.slice(0, 2)).toEqual(["set -- 'echo'\n", ""]);
  },
);

test(verifies("R-13", "what is being made is waited for before anything ends it"), async () => {
  const making = Promise.withResolvers<boolean>();
  const never = new Promise<never>(() => undefined);
  let opened = 0;
  const spare = createSpareSandbox(() => {
    opened += 1;
    return {
      process: {
        stdout: null,
        stderr: null,
        isRunning: () => true,
        ended: never,
        closed: never,
        kill() {},
        release() {},
      },
      pipes: { stdio: [1, 2], paths: ["", ""], follow() {}, ended: never, close() {} },
      status: { findFirst: () => undefined, findExitCode: () => undefined, toSignal: () => undefined },
      tree: undefined,
      isReady: making.promise,
      tell() {},
    };
  });
  const plan = { mounts: [], workingDirectory: process.cwd(), variables: {} };
  spare.prepare(plan);
  await spare.settle();
  await wait(20);
  expect(opened).toBe(0);
  spare.prepare(plan);
  expect(await waitUntil(() => opened === 1)).toBe(true);
  let isSettled = false;
  const settled = spare.settle().then(() => (isSettled = true));
  await wait(20);
  expect(isSettled).toBe(false);
  making.resolve(false);
  await settled;
});

/** In a sandbox that is made when the command is known. */
async function createBenchAndRun(command: string, workspace: string): Promise<CommandOutcome> {
  const bench = createBench(workspace);
  try {
    return await bench.run(command);
  } finally {
    await bench.end();
  }
}
