/** The sandbox of a user without rights, where the other tests run as root (S-30, S-32). */
import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { notRoot, skipIfMissing } from "../../../test/support/describe-where.ts";
import { chooseRows } from "../../../test/support/depth.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { copySources, giveToUser, user } from "./plain-user.ts";
import { describeWithSandbox } from "./sandbox-run.ts";

/** Node and the sources where another user may read them. */
const top = mkdtempSync(join(tmpdir(), "sheaf-unprivileged-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const program = `
import { findSandbox } from "./sandbox/src/find/find-sandbox.ts";
import { createSandbox } from "./sandbox/src/create-sandbox.ts";
import { createCommandNetwork } from "./permissions/src/decide-network.ts";
const [workspace, rules, command, code] = process.argv.slice(1);
const environment = { PATH: "/usr/bin:/bin", HOME: workspace };
const network = createCommandNetwork({ allow: JSON.parse(rules), deny: [] });
const sandbox = await findSandbox({ setting: "enabled", workspace, environment, memory: undefined, now: Date.now });
if (sandbox.state !== "enabled") throw new Error(JSON.stringify(sandbox));
const program = code === "" ? undefined : { code, executables: [], compiledCode: undefined };
const runner = createSandbox({ sandbox, writable: [workspace], environment, network, program, stateFolder: workspace + "-state" });
const signal = new AbortController().signal;
const outcome = await runner.run({ command, workingDirectory: workspace, timeoutMs: 20000, signal, onOutput() {} });
await runner.end();
console.log(JSON.stringify(outcome));
`;

const lookAround =
  'id -u; touch inside; touch /etc/x; : > /dev/tcp/127.0.0.1/1; grep -E "CapEff|NoNewPrivs" /proc/self/status; echo "$https_proxy"; perl -MSocket -e "socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) or die"';

interface UserOutcome {
  readonly workspace: string;
  readonly refusals: readonly string[];
  readonly startError: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly permissions: readonly string[];
}

/** Runs a command in the sandbox as that user, in a workspace that `prepare` fills. `code`: a file of Sheaf itself in it. */
function runAsUser(
  command: string,
  rules: readonly string[] = [],
  prepare: (workspace: string) => void = () => undefined,
  code = "",
): UserOutcome {
  const [file = "", ...words] = copySources(top);
  const workspace = mkdtempSync(join(top, "workspace-"));
  prepare(workspace);
  giveToUser(workspace);
  const { stdout, stderr } = spawnSync(
    file,
    [...words, program, "--", workspace, JSON.stringify(rules), command, code && join(workspace, code)],
    {
      cwd: top,
      encoding: "utf8",
      env: {},
    },
  );
  expect(stderr).toBe("");
  return { ...(JSON.parse(stdout) as UserOutcome), workspace };
}

describeWithSandbox("a user without rights", () => {
  test.each([
    { rules: [], proxy: "" },
    { rules: ["Network(example.org)"], proxy: "http://127.0.0.1:3128" },
  ])(verifies(["S-30", "S-32", "S-240"], "has the same sandbox, with the rules $rules"), ({ rules, proxy }) => {
    skipIfMissing(notRoot);
    const { stdout, stderr, permissions } = runAsUser(lookAround, rules);
    expect(stdout).toBe(`${user}\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n${proxy}\n`);
    expect(stderr).toMatch(/Read-only file system[\s\S]*Connection refused[\s\S]*Died at -e/);
    expect(permissions).toEqual(rules.length > 0 ? ["network"] : []);
  });

  test.each(
    chooseRows(
      [
        ["a folder that cannot be listed", "mkdir -p d/e/.git; chmod 0311 d/e d", "d/e/.git"],
        ["a workspace that cannot be listed", "mkdir .git; chmod 0311 .", ".git"],
        ["a folder that cannot be written", "mkdir -p d/e/.git/x; chmod 0500 d/e/.git/x d/e/.git d/e d", "d/e/.git"],
        ["a folder that cannot be entered", "mkdir -p d/e/.git; chmod 0600 d", "d/e/.git"],
        ["a folder that nobody can use", "mkdir -p d/e/.git; chmod 0 d/e d", "d/e/.git"],
      ],
      2,
    ),
  )(verifies("S-76", "hides nothing in %s"), (_, command, name) => {
    skipIfMissing(notRoot);
    const { workspace, refusals, startError } = runAsUser(command);
    expect(startError).toBe("");
    expect(refusals.join("\n")).toContain(
      `"${name}" is protected, and commands may not create it: Sheaf moved it away`,
    );
    expect(existsSync(join(workspace, name))).toBe(false);
  });

  test.each(
    chooseRows(
      [
        "echo evil > node_modules/sheaf/dist/main.js",
        "mv node_modules x; mkdir -p node_modules/sheaf/dist; echo evil > node_modules/sheaf/dist/main.js",
        "chmod -R a+w node_modules; rm -rf node_modules",
      ],
      1,
    ),
  )(verifies("S-224", "changes nothing of Sheaf itself by: %s"), (command) => {
    skipIfMissing(notRoot);
    const code = "node_modules/sheaf/dist/main.js";
    const prepare = (workspace: string): void => {
      mkdirSync(join(workspace, dirname(code)), { recursive: true });
      writeFileSync(join(workspace, "node_modules/sheaf/package.json"), "{}");
      writeFileSync(join(workspace, code), "own");
    };
    const { workspace, startError } = runAsUser(command, [], prepare, code);
    expect(startError).toBe("");
    expect(readFileSync(join(workspace, code), "utf8")).toBe("own");
  });

  test(verifies("S-76", "runs no command next to a folder of his own that he cannot list"), () => {
    skipIfMissing(notRoot);
    const { startError } = runAsUser("true", [], (workspace) => mkdirSync(join(workspace, "d"), 0o311));
    expect(startError).toMatch(/no command runs, because "d" cannot be searched/);
  });

  test(verifies("S-76", "runs commands next to a folder of another user, which they cannot enter either"), () => {
    skipIfMissing(notRoot);
    const place = (workspace: string): void => {
      mkdirSync(join(workspace, "d/e"), { recursive: true });
      chownSync(join(workspace, "d/e"), 0, 0);
    };
    expect(runAsUser("chmod 0700 d; test ! -w d/e", [], place).startError).toBe("");
  });
});
