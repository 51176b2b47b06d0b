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
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { readStat, toIdentity } from "../src/hold/folder-memory.ts";
import { createHeldPlaces } from "../src/hold/held-places.ts";
import { takeAway } from "../src/hold/take-away.ts";
import { chooseRuns, reportFigure, soakTimeout } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox, openHeldRun, takeRefused } from "./sandbox-run.ts";
import { startSwapper, toSwapCommand } from "./swapper.ts";
import { createTemporaryFolder } from "../../base/test/files/temporary-workspace.ts";

/** Another file system than that of the workspaces, where the machine has one. */
const otherFileSystem = "/dev/shm";

/** What is new after a command, and is taken away. */
const newFiles = [".bashrc", ".mcp.json", ".envrc", ".vscode/tasks.json", ".git/HEAD", ".git/config"];

/** Ends of commands in a workspace whose folder `a` is swapped with a link to `outside`, where the same names are. */
function createSweep() {
  const repository = ["HEAD", "objects/x", "refs/x"].map((name) => `r/.git/${name}`);
  const outside = createFolder(
    "outside",
    Object.fromEntries([...repository, ...newFiles].map((name) => [name, "own"])),
  );
  const workspace = createFolder("workspace", { "a/x": "" });
  const folder = openSync(join(workspace, "a"), constants.O_DIRECTORY);
  onTestFinished(() => closeSync(folder));
  /** In the folder itself, whatever its name is now. */
  const toInside = (name: string): string => `/proc/self/fd/${folder}/${name}`;
  const write = (name: string): void => {
    mkdirSync(dirname(toInside(name)), { recursive: true });
    writeFileSync(toInside(name), "");
  };
  const places = createHeldPlaces({ writable: [workspace], environment, stateFolder });
  return {
    workspace,
    outside,
    /** After how many of the rounds something outside is different. */
    countTouched(rounds: number): number {
      const before = describeTree(outside);
      const counts = { taken: 0, touched: 0 };
      for (let round = 0; round < rounds; round += 1) {
        for (const name of readdirSync(toInside(".")))
          if (name !== "r") rmSync(toInside(name), { recursive: true, force: true });
        for (const name of repository) write(name);
        places.begin({ isBackground: false });
        newFiles.forEach(write);
        counts.taken += places.end({ isBackground: false }).length;
        if (describeTree(outside) !== before) counts.touched += 1;
      }
      reportFigure("S-78", `${rounds} ends of commands: ${JSON.stringify(counts)}`);
      expect(counts.taken).toBeGreaterThan(0);
      return counts.touched;
    },
  };
}

/** Names, modes, times and texts of all that a folder contains. */
function describeTree(folder: string): string {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return paths
    .map((path) => {
      const stat = lstatSync(path);
      return [path, stat.mode, stat.ctimeMs, stat.isFile() ? readFileSync(path, "utf8") : ""].join(" ");
    })
    .toSorted()
    .join("\n");
}

/** On the file system of a test. */
let stateFolder = "";

function take(path: string, top: string): string[] {
  return takeAway([{ path, reason: "It is refused" }], { stateFolder, writable: [top] });
}

describe.each([
  ["the same", "/tmp"],
  ["another", otherFileSystem],
])("with temporary files on %s file system", (_, temporary) => {
  beforeEach(() => void (stateFolder = createTemporaryFolder(temporary)));

  test(verifies("S-78", "files, folders and links are moved with all that is in them"), () => {
    const top = createFolder("workspace", { ".git/HEAD": "x", ".git/a/b/c": "deep" });
    symlinkSync("/etc/passwd", join(top, ".git/link"));
    writeFileSync(join(top, ".git/script"), "run", { mode: 0o500 });
    chmodSync(join(top, ".git/a"), 0o500);
    expect(take(join(top, ".git"), top).join()).not.toContain(stateFolder);
    const [taken = ""] = takeRefused(stateFolder);
    expect(readdirSync(top)).toEqual([]);
    expect(["HEAD", "a/b/c", "script"].map((name) => readFileSync(join(taken, name), "utf8"))).toEqual(["x", "deep", "run"]); // prettier-ignore
    expect(readlinkSync(join(taken, "link"))).toBe("/etc/passwd");
  });

  test(verifies("S-78", "nothing is reached through a link, and another file of the same name stays"), () => {
    const outside = createFolder("outside", { ".envrc": "own" });
    const top = createFolder("workspace", { "b/.envrc": "new" });
    symlinkSync(outside, join(top, "a"));
    expect(take(join(top, "a/.envrc"), top)).toEqual([]);
    const identity = toIdentity(readStat(join(outside, ".envrc"))!);
    expect(takeAway([{ path: join(top, "b/.envrc"), identity, reason: "" }], { stateFolder, writable: [top] })).toEqual(
      [],
    );
    expect(take(join(top, "nothing/.envrc"), top)).toEqual([]);
    expect(take(top, top).join()).toContain("could not be moved away");
    expect([join(outside, ".envrc"), join(top, "b/.envrc")].map(existsSync)).toEqual([true, true]);
  });

  test(
    verifies("S-78", "the end of a command touches nothing outside, whatever is swapped from outside of the sandbox"),
    () => {
      const sweep = createSweep();
      startSwapper(join(sweep.workspace, "a"), join(sweep.workspace, "b"), sweep.outside);
      expect(sweep.countTouched(chooseRuns(100, 10_000))).toBe(0);
    },
    soakTimeout,
  );

  test(verifies("S-78", "a swapper inside of what is moved gets nothing outside moved"), () => {
    const outside = createFolder("outside", { "file.txt": "own", "deep/file.txt": "own" });
    for (let round = 0; round < chooseRuns(10, 100); round += 1) {
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
  test(
    verifies("S-78", "that swaps folders gets nothing outside moved at the end of other commands"),
    async () => {
      const outside = createFolder("outside", Object.fromEntries(newFiles.map((name) => [name, "own"])));
      const workspace = createFolder("workspace", { "a/x": "" });
      const background = openHeldRun(workspace);
      const before = describeTree(outside);
      const swapper = background.run(toSwapCommand("a", "b", outside), { isBackground: true });
      await wait(300);
      const attack = `for d in a b; do mkdir -p $d/.vscode $d/.git; for f in ${newFiles.join(" ")}; do echo x > $d/$f; done; done; true`;
      const rounds = chooseRuns(10, 1000);
      for (let round = 0; round < rounds; round += 1) {
        await background.run(attack);
        expect(describeTree(outside)).toBe(before);
      }
      reportFigure("S-78", `${rounds} commands next to one that swaps folders: nothing outside touched`);
      await background.end();
      await swapper;
      const left = ["a", "b"].flatMap((name) => {
        const isFolder = lstatSync(join(workspace, name), { throwIfNoEntry: false })?.isDirectory();
        return isFolder ? readdirSync(join(workspace, name)) : [];
      });
      // The swapper itself may have removed the first folder, with "x", when a command made the other one again.
      expect(left.filter((name) => name !== "x")).toEqual([]);
    },
    soakTimeout,
  );

  test(
    verifies("S-78", "that swaps folders gets nothing outside touched by the search and what follows it"),
    async () => {
      stateFolder = createFolder("state");
      const sweep = createSweep();
      const background = openHeldRun(sweep.workspace);
      const swapper = background.run(toSwapCommand("a", "b", sweep.outside), { isBackground: true });
      await wait(300);
      expect(sweep.countTouched(chooseRuns(100, 10_000))).toBe(0);
      await background.end();
      await swapper;
    },
    soakTimeout,
  );
});
