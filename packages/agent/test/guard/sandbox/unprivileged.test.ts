/** The sandbox of a user without rights, where the other tests run as root (S-30, S-32). */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { describeWithSandbox } from "./sandbox-run.ts";

const user = 4711;

/** Node and the sources where another user may read them. */
const top = mkdtempSync(join(tmpdir(), "sheaf-unprivileged-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const program = `
import { findSandbox } from "./agent/src/guard/sandbox/find/find-sandbox.ts";
import { createCommandRunner } from "./agent/src/guard/sandbox/launch/command-runner.ts";
import { createCommandNetwork } from "./agent/src/guard/permissions/decide-network.ts";
const [workspace, rules] = process.argv.slice(1);
const environment = { PATH: "/usr/bin:/bin", HOME: workspace };
const network = createCommandNetwork({ allow: JSON.parse(rules), deny: [] });
const sandbox = await findSandbox({ setting: "enabled", workspace, environment, memory: undefined, now: Date.now });
if (sandbox.state !== "enabled") throw new Error(JSON.stringify(sandbox));
const runner = createCommandRunner({ sandbox, workspace, environment, network });
const command = 'id -u; touch inside; touch /etc/x; : > /dev/tcp/127.0.0.1/1; grep -E "CapEff|NoNewPrivs" /proc/self/status; echo "$https_proxy"';
const signal = new AbortController().signal;
const outcome = await runner.run({ command, workingDirectory: workspace, timeoutMs: 20000, signal, onOutput() {} });
await runner.end();
console.log(JSON.stringify(outcome));
`;

interface UserOutcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly permissions: readonly string[];
}

function runAsUser(rules: readonly string[]): UserOutcome {
  chmodSync(top, 0o755);
  cpSync(join(import.meta.dirname, "../../../src"), join(top, "agent/src"), { recursive: true });
  cpSync(process.execPath, join(top, "node"));
  const workspace = mkdtempSync(join(top, "workspace-"));
  chownSync(workspace, user, user);
  const words = [
    `--reuid=${user}`,
    `--regid=${user}`,
    "--clear-groups",
    join(top, "node"),
    "--input-type=module-typescript",
    "-e",
    program,
  ];
  const { stdout, stderr } = spawnSync("setpriv", [...words, "--", workspace, JSON.stringify(rules)], {
    cwd: top,
    encoding: "utf8",
    env: {},
  });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

describeWithSandbox("a user without rights", () => {
  test.skipIf(process.getuid?.() !== 0).each([
    { rules: [], proxy: "" },
    { rules: ["Network(example.org)"], proxy: "http://127.0.0.1:3128" },
  ])(verifies(["S-30", "S-32"], "has the same sandbox, with the rules $rules"), ({ rules, proxy }) => {
    const { stdout, stderr, permissions } = runAsUser(rules);
    expect(stdout).toBe(`${user}\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n${proxy}\n`);
    expect(stderr).toMatch(/Read-only file system[\s\S]*Connection refused/);
    expect(permissions).toEqual(rules.length > 0 ? ["network"] : []);
  });
});
