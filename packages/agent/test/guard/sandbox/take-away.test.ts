/** What a command made is moved away, and nothing outside of the folders that commands write is ever touched (S-78). */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCommandNetwork } from "../../../src/guard/permissions/decide-network.ts";
import { readStat, toIdentity } from "../../../src/guard/sandbox/hold/folder-memory.ts";
import { takeAway } from "../../../src/guard/sandbox/hold/take-away.ts";
import { createCommandRunner } from "../../../src/guard/sandbox/launch/command-runner.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox, removeTaken, sandbox } from "./sandbox-run.ts";
import { startSwapper, toRounds, toSwapCommand } from "./swapper.ts";

/** Another file system than that of the workspaces, where the machine has one. */
const otherFileSystem = "/dev/shm";

function useTemporaryFolder(folder: string): void {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
}

function take(path: string, top: string): string[] {
  const notes = takeAway([{ path, reason: "It is refused" }], [top]);
  removeTaken(notes);
  return notes;
}

describe.each([
  ["the same", "/tmp"],
  ["another", otherFileSystem],
])("with temporary files on %s file system", (_, temporary) => {
  test(verifies("S-78", "files, folders and links are moved with all that is in them"), () => {
    useTemporaryFolder(temporary);
    const top = createFolder("workspace", { ".git/HEAD": "x", ".git/a/b/c": "deep" });
    symlinkSync("/etc/passwd", join(top, ".git/link"));
    writeFileSync(join(top, ".git/script"), "run", { mode: 0o500 });
    chmodSync(join(top, ".git/a"), 0o500);
    const [taken = ""] = removeTaken(take(join(top, ".git"), top));
    expect(dirname(dirname(taken))).toBe(temporary);
    expect(readdirSync(top)).toEqual([]);
    expect(["HEAD", "a/b/c", "script"].map((name) => readFileSync(join(taken, name), "utf8"))).toEqual(["x", "deep", "run"]); // prettier-ignore
    expect(readlinkSync(join(taken, "link"))).toBe("/etc/passwd");
  });

  test(verifies("S-78", "nothing is reached through a link, and another file of the same name stays"), () => {
    useTemporaryFolder(temporary);
    const outside = createFolder("outside", { ".envrc": "own" });
    const top = createFolder("workspace", { "b/.envrc": "new" });
    symlinkSync(outside, join(top, "a"));
    expect(take(join(top, "a/.envrc"), top)).toEqual([]);
    const identity = toIdentity(readStat(join(outside, ".envrc"))!);
    expect(takeAway([{ path: join(top, "b/.envrc"), identity, reason: "" }], [top])).toEqual([]);
    expect(take(join(top, "nothing/.envrc"), top)).toEqual([]);
    expect(take(top, top).join()).toContain("could not be moved away");
    expect([join(outside, ".envrc"), join(top, "b/.envrc")].map(existsSync)).toEqual([true, true]);
  });

  test(verifies("S-78", "a swapper outside of the sandbox gets nothing outside moved"), () => {
    useTemporaryFolder(temporary);
    const outside = createFolder("outside", { ".envrc": "own", ".git/HEAD": "own" });
    const top = createFolder("workspace", { "a/x": "" });
    const folder = openSync(join(top, "a"), constants.O_DIRECTORY);
    onTestFinished(() => closeSync(folder));
    startSwapper(join(top, "a"), join(top, "b"), outside);
    let moved = 0;
    for (let round = 0; round < toRounds(300, 10_000); round += 1) {
      writeFileSync(`/proc/self/fd/${folder}/.envrc`, "new");
      mkdirSync(`/proc/self/fd/${folder}/.git/objects`, { recursive: true });
      for (const name of [".envrc", ".git"]) moved += take(join(top, "a", name), top).length;
      expect(existsSync(join(outside, ".envrc")) && existsSync(join(outside, ".git/HEAD"))).toBe(true);
    }
    expect(moved).toBeGreaterThan(0);
  });

  test(verifies("S-78", "a swapper inside of what is moved gets nothing outside moved"), () => {
    useTemporaryFolder(temporary);
    const outside = createFolder("outside", { "file.txt": "own", "deep/file.txt": "own" });
    for (let round = 0; round < toRounds(10, 100); round += 1) {
      const files = Array.from({ length: 200 }, (_unused, index) => [`.git/a/${index}`, ""] as const);
      const top = createFolder("workspace", Object.fromEntries(files));
      const endSwapper = startSwapper(join(top, ".git/a"), join(top, ".git/b"), outside);
      take(join(top, ".git"), top);
      endSwapper();
      expect(existsSync(join(top, ".git"))).toBe(false);
      expect(["file.txt", "deep/file.txt"].map((name) => existsSync(join(outside, name)))).toEqual([true, true]);
    }
  });
});

describeWithSandbox("a command in the background", () => {
  test(verifies("S-78", "that swaps folders gets nothing outside moved at the end of other commands"), async () => {
    const outside = createFolder("outside", { ".envrc": "own", ".vscode/tasks.json": "own", ".git/HEAD": "own" });
    const workspace = createFolder("workspace", { "a/x": "" });
    const runner = createCommandRunner({
      environment,
      workspace,
      sandbox,
      network: createCommandNetwork({ allow: [], deny: [] }),
    });
    const end = new AbortController();
    const run = (command: string, isBackground = false): ReturnType<typeof runner.run> =>
      runner.run({
        command,
        isBackground,
        workingDirectory: workspace,
        timeoutMs: undefined,
        signal: end.signal,
        onOutput: () => undefined,
      });
    const swapper = run(toSwapCommand("a", "b", outside), true);
    await wait(300);
    const attack = "for d in a b; do echo x > $d/.envrc; mkdir -p $d/.vscode $d/.git; done; true";
    for (let round = 0; round < toRounds(10, 1000); round += 1) removeTaken((await run(attack)).refusals);
    end.abort();
    removeTaken((await swapper).refusals);
    await runner.end();
    for (const name of [".envrc", ".vscode/tasks.json", ".git/HEAD"])
      expect(readFileSync(join(outside, name), "utf8")).toBe("own");
    const left = ["a", "b"].flatMap((name) => {
      const isFolder = lstatSync(join(workspace, name), { throwIfNoEntry: false })?.isDirectory();
      return isFolder ? readdirSync(join(workspace, name)) : [];
    });
    expect(left).toEqual(["x"]);
  });
});
