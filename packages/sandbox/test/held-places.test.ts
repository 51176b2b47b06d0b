/** Nothing that git discovers stays hidden from Sheaf, and what cannot be protected lets no command run (S-76, S-79). */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createHeldPlaces, type HeldPlaces } from "../src/hold/held-places.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox, runHeld, stateFolder } from "./sandbox-run.ts";

function createPlaces(workspace: string, maxFolders?: number): HeldPlaces {
  return createHeldPlaces({ writable: [workspace], environment, maxFolders, stateFolder });
}

const foreground = { isBackground: false };
const background = { isBackground: true };

/** Makes a change as a command would. Returns what the model hears of it. */
function change(workspace: string, act: () => void, maxFolders?: number): string[] {
  const places = createPlaces(workspace, maxFolders);
  places.begin(foreground);
  act();
  return places.end(foreground);
}

describe("a workspace that cannot be searched", () => {
  test(
    verifies("S-76", "lets no command run when it has too many folders, and the reason says how many and what to do"),
    () => {
      const workspace = createFolder("workspace", { "a/b/x": "", "c/d/x": "", "c/e/x": "" });
      expect(() => createPlaces(workspace, 6).begin(foreground)).not.toThrow();
      expect(() => createPlaces(workspace, 5).begin(foreground)).toThrow(
        /no command runs, because "c\/e" cannot be searched .*more than 5 folders.*--workspace.*--sandbox disabled/,
      );
    },
  );

  test(verifies("S-76", "gets no more folders than can be searched, and keeps those that it had"), () => {
    const workspace = createFolder("workspace", { "a/b/c/x": "", "z/x": "" });
    const notes = change(
      workspace,
      () => {
        for (const name of ["1", "2", "3", "a/4", "a/b/c/d/.git"])
          mkdirSync(join(workspace, name), { recursive: true });
      },
      7,
    );
    expect(notes.join("\n")).toContain("more than 7 folders");
    expect(["a/b/c/x", "z/x"].map((name) => existsSync(join(workspace, name)))).toEqual([true, true]);
    expect(existsSync(join(workspace, "a/b/c/d/.git"))).toBe(false);
    expect(() => createPlaces(workspace, 7).begin(foreground)).not.toThrow();
  });

  test(verifies("S-76", "has no folder below a path that is too long for the system"), () => {
    const workspace = createFolder("workspace");
    const script = `for (let depth = 0; depth < 30; depth += 1) {
      fs.mkdirSync("d".repeat(200)); process.chdir("d".repeat(200));
    }
    fs.mkdirSync(".git")`;
    const notes = change(workspace, () =>
      expect(spawnSync(process.execPath, ["-e", script], { cwd: workspace }).status).toBe(0),
    );
    expect(notes.join()).toContain("its path is too long");
    const { stdout } = spawnSync("find", [".", "-name", ".git"], { cwd: workspace, encoding: "utf8" });
    expect(stdout).toBe("");
    expect(() => createPlaces(workspace).begin(foreground)).not.toThrow();
  });

  test(verifies("S-76", "has no folder whose name is not UTF-8, not even beside one of the same look"), () => {
    const workspace = createFolder("workspace", { "a/\uFFFD/x": "" });
    const notes = change(workspace, () => {
      spawnSync("bash", ["-c", "mkdir -p $'a/\\xff/.git' $'a/b\\xfe/c'"], { cwd: workspace });
    });
    expect(notes.join()).toContain("its name is not UTF-8");
    expect(readdirSync(join(workspace, "a"))).toEqual(["\uFFFD"]);
    expect(existsSync(join(workspace, "a/\uFFFD/x"))).toBe(true);
    spawnSync("bash", ["-c", "mkdir $'\\xff'"], { cwd: workspace });
    expect(() => createPlaces(workspace).begin(foreground)).toThrow(/not UTF-8/);
  });
});

describe("commands next to each other", () => {
  test(verifies("S-78", "in the background keep the names of folders around protected places; others need not"), () => {
    const workspace = createFolder("workspace", { "a/b/.envrc": "", ".git/modules/x/HEAD": "" });
    const places = createPlaces(workspace);
    expect(places.begin(foreground).kept).toEqual([]);
    places.end(foreground);
    expect(places.begin(background).kept).toEqual(["a", "a/b"].toReversed().map((name) => join(workspace, name)));
    places.end(background);
  });

  test(verifies("S-78", "never start while another one may rename folders"), () => {
    const places = createPlaces(createFolder("workspace"));
    places.begin(background);
    places.begin(foreground);
    expect(() => places.begin(foreground)).toThrow(/another command is running/);
    places.end(foreground);
    expect(() => places.begin(background)).not.toThrow();
  });

  test(verifies(["S-78", "R-23"], "go on in the background only if they are held as others there are"), () => {
    const open = createPlaces(createFolder("workspace", { ".envrc": "", "a/b.txt": "" }));
    open.begin(foreground);
    expect(open.moveToBackground()).toBe(true);
    expect(() => open.begin(foreground)).not.toThrow();
    open.end(background);
    expect(() => open.begin(foreground)).toThrow(/another command is running: wait for it with read_terminal/);
    const movable = createPlaces(createFolder("workspace", { "a/.envrc": "" }));
    movable.begin(foreground);
    expect(movable.moveToBackground()).toBe(false);
    expect(() => movable.begin(foreground)).toThrow(/another command is running/);
    movable.end(foreground);
    expect(() => movable.begin(foreground)).not.toThrow();
  });

  test(verifies("S-78", "leave a place mounted that was there when the first one started"), () => {
    const workspace = createFolder("workspace", { "a/.envrc": "x" });
    const places = createPlaces(workspace);
    const { mounts } = places.begin(background);
    spawnSync("mv", ["a", "b"], { cwd: workspace });
    expect(places.begin(foreground).mounts).toEqual(mounts);
  });

  test(verifies("S-78", "leave nothing that one in the background makes at last"), () => {
    const workspace = createFolder("workspace");
    const places = createPlaces(workspace);
    places.begin(background);
    places.begin(foreground);
    mkdirSync(join(workspace, "a/.git"), { recursive: true });
    places.end(foreground);
    expect(existsSync(join(workspace, "a/.git"))).toBe(false);
    mkdirSync(join(workspace, "b/.git"), { recursive: true });
    expect(places.end(background)).toHaveLength(1);
    expect(existsSync(join(workspace, "b/.git"))).toBe(false);
  });

  test(verifies("S-92", "name what a command made on one line"), () => {
    const workspace = createFolder("workspace");
    const [note = ""] = change(workspace, () => mkdirSync(join(workspace, "a\nobey\u2028\u009b/.git"), { recursive: true })); // prettier-ignore
    expect(note).toMatch(/^"a\\nobey\\u2028\\u009b\/\.git" is protected.*: Sheaf moved it away\. /);
  });

  test("the notes say what was taken away at the end of each, in a bounded number of sentences", () => {
    const workspace = createFolder("workspace");
    const notes = change(workspace, () => {
      for (let index = 0; index < 50; index += 1) mkdirSync(join(workspace, `d${index}/.git`), { recursive: true });
    });
    expect(notes).toHaveLength(21);
    expect(notes.at(-1)).toContain("30 more");
    expect(readdirSync(workspace).filter((name) => existsSync(join(workspace, name, ".git")))).toEqual([]);
  });
});

describeWithSandbox("more places than can be mounted", () => {
  test(verifies("S-79", "let no command run, and the reason names the number, an example and what to do"), async () => {
    const names = Array.from({ length: 301 }, (_, index) => [`d${index}/.envrc`, "old"] as const);
    const workspace = createFolder("workspace", Object.fromEntries(names));
    const { startError, exitCode } = await runHeld("touch ran; for f in */.envrc; do echo new > $f; done", workspace);
    expect(exitCode).toBe(-1);
    expect(startError).toMatch(
      /no command runs, because 301 places such as "d\d+\/\.envrc" .*300.*--workspace.*--sandbox disabled/,
    );
    expect(existsSync(join(workspace, "ran"))).toBe(false);
    const one = await runHeld("touch ran", join(workspace, "d7"));
    expect(one.exitCode).toBe(0);
  });
});
