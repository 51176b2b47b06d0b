/** A command runs in a sandbox that was made before it only if a new one would be the same (S-30). */
import { mkdirSync, readlinkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { findByCommandLine, waitUntil } from "./processes.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox, openHeldRun } from "./sandbox-run.ts";

/** A part of the script with which a sandbox waits. */
const waits = "read -r count";
/** Prints "early" in a sandbox that was made before its command. */
const showKind = `grep -q "[r]${waits.slice(1)}" /proc/1/cmdline && echo early || echo new`;

/** A run whose first command has ended. A sandbox waits for the second one. */
async function openRun() {
  const home = createFolder("home", { ".netrc": "CANARY", ".ssh/key": "CANARY" });
  const workspace = createFolder("workspace", { "a.txt": "old" });
  const run = openHeldRun(workspace, {}, { ...environment, HOME: home });
  await run.run("true");
  expect(await waitUntil(() => listWaiting(workspace).length > 0)).toBe(true);
  return { ...run, home, workspace };
}

/** Bubblewrap enters the folder once it has made all mounts. */
function listWaiting(workspace: string): number[] {
  return findByCommandLine(waits).filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === workspace;
    } catch {
      return false;
    }
  });
}

describeWithSandbox("a sandbox that was made before its command", () => {
  test(verifies("S-30", "serves one command, alone in its namespaces"), async () => {
    const { run } = await openRun();
    const show = `${showKind}; readlink /proc/self/ns/pid /proc/self/ns/mnt /proc/self/ns/ipc; sleep 60 & ps -e | grep -c sleep`;
    const [first, second] = [await run(show), await run(show)];
    expect(first.stdout).toMatch(/^early\n[^]*\n1\n$/);
    const namespaces = first.stdout.split("\n").slice(1, 3);
    for (const name of namespaces) expect(second.stdout).not.toContain(name);
    expect(second.stdout).toMatch(/\n1\n$/);
  });

  test.each([
    "printf '%s|' '  a\\b  ' \"c\nd\"\n\n\n# ü\n",
    "cat <<'EOF'\n\tx \\\n\n\\\nEOF\n",
    "echo 'first line'; exit 3 #\\",
    'read -r x; echo "<$x> $0 $# $-"',
    "env | grep -E '^(line|count|command|ended|OLDPWD)='; ls -l /proc/self/fd | wc -l; kill -9 $$",
  ])(verifies("S-12", "runs the text as it is: %j"), async (command) => {
    const { run, workspace } = await openRun();
    const early = await run(command);
    // A sandbox for another folder is always a new one.
    mkdirSync(join(workspace, "sub"));
    expect(await run(command, { workingDirectory: join(workspace, "sub") })).toEqual(early);
  });

  test(verifies("S-34", "is not used once a secret file has been replaced"), async () => {
    const { run, home } = await openRun();
    writeFileSync(join(home, "new"), "CANARY 2");
    renameSync(join(home, "new"), join(home, ".netrc"));
    const { output } = await run(`${showKind}; cat ~/.netrc ~/.ssh/key`);
    expect(output).toContain("new\n");
    expect(output).not.toContain("CANARY");
  });

  test.each([
    ["a protected place has appeared", ({ workspace }: { workspace: string }) => mkdirSync(join(workspace, ".vscode"))],
    [
      "the workspace is another folder",
      ({ workspace }: { workspace: string }) => {
        renameSync(workspace, `${workspace}-old`);
        mkdirSync(join(workspace, ".vscode"), { recursive: true });
      },
    ],
  ])(verifies("S-76", "is not used once %s"), async (_, change) => {
    const run = await openRun();
    change(run);
    const { stdout, stderr } = await run.run(`${showKind}; echo x > .vscode/tasks.json; echo y > b.txt; ls`);
    expect(stdout).toMatch(/^new\n(?:a.txt\n)?b.txt\n$/);
    expect(stderr).toContain("Read-only file system");
  });

  test(verifies("R-13", "ends with its run"), async () => {
    const { end, workspace } = await openRun();
    await end();
    expect(listWaiting(workspace)).toEqual([]);
    rmSync(workspace, { recursive: true });
  });
});
