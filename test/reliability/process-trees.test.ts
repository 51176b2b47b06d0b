/** However a command ends, or Sheaf with it: nothing of its process tree is alive 5 seconds later. */
import { spawn } from "node:child_process";
import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import { createSandbox } from "../../packages/sandbox/src/create-sandbox.ts";
import { findSandbox } from "../../packages/sandbox/src/find/find-sandbox.ts";
import type { SandboxSetting } from "../../packages/sandbox/src/sandbox.ts";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { describeWhere, notLinux } from "../support/describe-where.ts";
import { findProcesses } from "../support/processes.ts";
import { createTestFolder, sheafProgram } from "../support/sheaf.ts";
import { chooseRuns, reportFigure, soakTimeout } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const runs = chooseRuns(1, 50);
/** Runs side by side. */
const width = 5;
/** Milliseconds that the contract gives. */
const period = 5000;

/** Starts five processes: by setsid and a double fork, with ignored signals, in the background; says when they run. */
function toCommand(marker: string): string {
  return [
    `(setsid sh -c 'sleep ${marker}1 & sleep ${marker}2' &)`,
    `(trap "" TERM HUP INT; setsid sleep ${marker}3 & sleep ${marker}4) &`,
    `while [ $(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '^${marker}[1-4]$') -lt 4 ]; do sleep 0.02; done`,
    "touch ready",
    `sleep ${marker}5`,
  ].join("\n");
}

interface Tree {
  readonly folder: string;
  /** Holds the processes' arguments. */
  readonly marker: string;
  readonly setting: SandboxSetting;
}

/** Milliseconds until nothing of a tree is left after its end. */
type EndTree = (tree: Tree) => Promise<void>;

async function waitUntilReady({ folder }: Tree): Promise<void> {
  while (!existsSync(join(folder, "ready"))) await wait(20);
}

/** Runs the command in this process, and ends it in one of the ways that a run has. */
function endCommand(limit: { readonly timeoutMs: number | undefined }): EndTree {
  return async (tree) => {
    const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/tmp" };
    const workspace = realpathSync(tree.folder);
    const { setting } = tree;
    const sandbox = await findSandbox({ setting, workspace, environment, memory: undefined, now: Date.now });
    const network = createCommandNetwork({ allow: [], deny: [] });
    const runner = createSandbox({ environment, writable: [workspace], sandbox, network });
    const controller = new AbortController();
    const outcome = runner.run({
      command: toCommand(tree.marker),
      workingDirectory: workspace,
      timeoutMs: limit.timeoutMs,
      signal: controller.signal,
      onOutput: () => undefined,
    });
    if (limit.timeoutMs === undefined) {
      await waitUntilReady(tree);
      controller.abort();
    }
    expect(await outcome).toMatchObject({ cancelled: limit.timeoutMs === undefined });
    await runner.end();
  };
}

/** Runs the built program, and sends it a signal while the command runs. */
function endProgram(signal: NodeJS.Signals): EndTree {
  return async (tree) => {
    const { folder, setting } = tree;
    const call = { tool: "run_terminal_cmd", arguments: { command: toCommand(tree.marker) } };
    writeFileSync(join(folder, "script.json"), JSON.stringify({ turns: [{ events: [{ call }] }] }));
    const words = ["-p", "--force", "--sandbox", setting, "--model", "scripted:script.json", "go"];
    const child = spawn(process.execPath, [sheafProgram, ...words], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, SHEAF_HOME: join(folder, "../home") },
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => {
      child.on("close", resolve);
    });
    await waitUntilReady(tree);
    child.kill(signal);
    await ended;
  };
}

const ends: readonly (readonly [string, EndTree])[] = [
  ["a cancelled run", endCommand({ timeoutMs: undefined })],
  ["a timeout", endCommand({ timeoutMs: 3000 })],
  ...(["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"] as const).map((signal) => [signal, endProgram(signal)] as const),
];

interface Leftovers {
  /** What is alive for longer than the contract allows. */
  readonly processes: readonly unknown[];
  /** From the end on. */
  readonly milliseconds: number;
}

async function measureLeftovers(end: EndTree, setting: SandboxSetting): Promise<Leftovers> {
  const tree: Tree = { folder: folders.newFolder(), marker: `8${Math.floor(Math.random() * 1e12)}`, setting };
  await end(tree);
  const endedAt = performance.now();
  while (findProcesses(tree.marker).length > 0 && performance.now() - endedAt < period) await wait(50);
  return { processes: findProcesses(tree.marker), milliseconds: performance.now() - endedAt };
}

function testAllEnds(setting: SandboxSetting): void {
  test.concurrent.each(ends)(
    verifies("R-13", `nothing is left behind %s, ${runs} times`),
    async (name, end) => {
      let longest = 0;
      for (let done = 0; done < runs; done += width) {
        const batch = Array.from({ length: Math.min(width, runs - done) }, () => measureLeftovers(end, setting));
        const leftovers = await Promise.all(batch);
        expect(leftovers.flatMap(({ processes }) => processes)).toEqual([]);
        longest = Math.max(longest, ...leftovers.map(({ milliseconds }) => milliseconds));
      }
      reportFigure("R-13", `sandbox ${setting}, ${name}: ${runs} of ${runs}, longest ${Math.round(longest)} ms`);
    },
    soakTimeout,
  );
}

describeWithBubblewrap("process trees in the sandbox", () => {
  testAllEnds("enabled");
});
describeWhere("process trees without a sandbox", notLinux, () => {
  testAllEnds("disabled");
});
