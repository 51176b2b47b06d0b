import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { notRoot, skipIfMissing } from "../../../../test/support/describe-where.ts";
import { describeWithNamespaces } from "../../../../test/support/namespace.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { writeFileAtomically } from "../../src/files/atomic-write.ts";
import type { FileIdentity } from "../../src/files/open-file.ts";
import { readWholeFile } from "../../src/files/read-file.ts";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "./temporary-workspace.ts";

async function readIdentity({ root, path }: TemporaryWorkspace, name: string): Promise<FileIdentity> {
  const file = await readWholeFile(root, path(name), 1_000_000);
  if (!file.ok) throw new Error(file.error.message);
  return file.value.identity;
}

const toBytes = (text: string): Buffer => Buffer.from(text);

/** Names of the folder that are left over from writing. */
const findLeftovers = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith(".sheaf-"));

describe("a new file", () => {
  test(verifies("S-23", "is written whole, with the folders it needs, and nothing is left beside it"), async () => {
    const { root, workspace, path, read } = createTemporaryWorkspace();
    expect(await writeFileAtomically(workspace, path("a/b/c.txt"), toBytes("new\n"), undefined)).toEqual({ ok: true });
    expect(read("a/b/c.txt")).toBe("new\n");
    expect(readdirSync(join(root, "a/b"))).toEqual(["c.txt"]);
  });

  test(verifies("S-23", "of root has the owner of the folder, as have the folders it needs"), async () => {
    skipIfMissing(notRoot);
    const { root, workspace, path } = createTemporaryWorkspace();
    chownSync(root, 1234, 4321);
    expect(await writeFileAtomically(workspace, path("a/b.txt"), toBytes("new"), undefined)).toEqual({ ok: true });
    for (const name of ["a", "a/b.txt"]) expect(statSync(join(root, name))).toMatchObject({ uid: 1234, gid: 4321 });
  });

  test("does not replace one that came up in the meantime", async () => {
    const { root, workspace, path, write, read } = createTemporaryWorkspace();
    write("a.txt", "theirs");
    const result = await writeFileAtomically(workspace, path("a.txt"), toBytes("ours"), undefined);
    expect(result).toMatchObject({ ok: false, error: { code: "STALE_FILE" } });
    expect(read("a.txt")).toBe("theirs");
    expect(findLeftovers(root)).toEqual([]);
  });
});

describe("a file that is there", () => {
  test.each([0o644, 0o600, 0o755, 0o640])(verifies("S-23", "keeps its mode %o"), async (mode) => {
    const temporary = createTemporaryWorkspace();
    const file = temporary.write("a.sh", "old");
    chmodSync(file, mode);
    const identity = await readIdentity(temporary, "a.sh");
    expect(await writeFileAtomically(temporary.workspace, temporary.path("a.sh"), toBytes("new"), identity)).toEqual({
      ok: true,
    });
    expect(statSync(file).mode & 0o7777).toBe(mode);
    expect(temporary.read("a.sh")).toBe("new");
  });

  test(verifies("S-23", "keeps its owner"), async () => {
    skipIfMissing(notRoot);
    const temporary = createTemporaryWorkspace();
    const file = temporary.write("a.txt", "old");
    chownSync(file, 1234, 4321);
    const identity = await readIdentity(temporary, "a.txt");
    await writeFileAtomically(temporary.workspace, temporary.path("a.txt"), toBytes("new"), identity);
    expect(statSync(file)).toMatchObject({ uid: 1234, gid: 4321 });
  });

  test(verifies("S-23", "with a second name outside is not changed in place"), async () => {
    const temporary = createTemporaryWorkspace();
    const file = temporary.write("a.txt", "old");
    const other = join(temporary.outside, "other.txt");
    linkSync(file, other);
    const identity = await readIdentity(temporary, "a.txt");
    expect(await writeFileAtomically(temporary.workspace, temporary.path("a.txt"), toBytes("new"), identity)).toEqual({
      ok: true,
    });
    expect(temporary.read("a.txt")).toBe("new");
    expect(readFileSync(other, "utf8")).toBe("old");
  });

  test(verifies("S-23", "is changed behind a link, and the link stays"), async () => {
    const temporary = createTemporaryWorkspace();
    temporary.write("target.txt", "old");
    symlinkSync("target.txt", join(temporary.root, "link.txt"));
    const identity = await readIdentity(temporary, "link.txt");
    await writeFileAtomically(temporary.workspace, temporary.path("link.txt"), toBytes("new"), identity);
    expect(temporary.read("target.txt")).toBe("new");
    expect(
      readdirSync(temporary.root, { withFileTypes: true })
        .find(({ name }) => name === "link.txt")
        ?.isSymbolicLink(),
    ).toBe(true);
  });

  test("that is another one than expected stays as it is", async () => {
    const temporary = createTemporaryWorkspace();
    temporary.write("a.txt", "old");
    const identity = await readIdentity(temporary, "a.txt");
    temporary.write("a.txt", "changed by somebody");
    const result = await writeFileAtomically(temporary.workspace, temporary.path("a.txt"), toBytes("new"), identity);
    expect(result).toMatchObject({
      ok: false,
      error: { code: "STALE_FILE", message: expect.stringContaining("a.txt") },
    });
    expect(temporary.read("a.txt")).toBe("changed by somebody");
  });
});

describe("what cannot be written tells why", () => {
  test("a folder", async () => {
    const { root, workspace, path } = createTemporaryWorkspace();
    mkdirSync(join(root, "folder"));
    const result = await writeFileAtomically(workspace, path("folder"), toBytes("x"), undefined);
    expect(result).toMatchObject({
      ok: false,
      error: { code: "IS_A_DIRECTORY", message: expect.stringContaining("folder") },
    });
  });

  test("a path below a file", async () => {
    const { workspace, path, write } = createTemporaryWorkspace();
    write("file", "x");
    const result = await writeFileAtomically(workspace, path("file/below.txt"), toBytes("x"), undefined);
    expect(result).toMatchObject({ ok: false, error: { code: "NOT_A_DIRECTORY" } });
  });

  test("a pipe", async () => {
    const { root, workspace, path } = createTemporaryWorkspace();
    execFileSync("mkfifo", [join(root, "pipe")]);
    const result = await writeFileAtomically(workspace, path("pipe"), toBytes("x"), undefined);
    expect(result).toMatchObject({ ok: false, error: { code: "NOT_A_FILE" } });
  });

  test(verifies("S-22", "a protected name, also through a link"), async () => {
    const { root, workspace, path } = createTemporaryWorkspace();
    mkdirSync(join(root, "real"));
    symlinkSync("real", join(root, ".vscode"));
    for (const name of [".git/config", "sub/.GIT./hooks/x", ".vscode/tasks.json"]) {
      const result = await writeFileAtomically(workspace, path(name), toBytes("x"), undefined);
      expect(result, name).toMatchObject({ ok: false, error: { code: "PROTECTED_PATH" } });
    }
    expect(readdirSync(join(root, "real"))).toEqual([]);
    expect(existsSync(join(root, ".git"))).toBe(false);
  });
});

/** Runs this module's function in a process of its own, below a mount that only that process sees. */
function runBelowMount(script: string): string {
  const module = join(import.meta.dirname, "write-in-process.ts");
  const shell = `mount -t tmpfs -o size=1m tmpfs /mnt && ${script.replaceAll("WRITE", `"${process.execPath}" "${module}"`)}`;
  return execFileSync("unshare", ["-rm", "sh", "-c", shell], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

describeWithNamespaces("mounts", () => {
  test("a read-only file system is named", () => {
    const output = runBelowMount(
      "echo old > /mnt/a.txt && mount -o remount,ro /mnt && WRITE 10; cat /mnt/a.txt; ls -A /mnt",
    );
    expect(output).toContain("READ_ONLY");
    expect(output).toMatch(/old\na\.txt\n$/);
  });

  test(verifies("R-16", "a full disk leaves the old file, and nothing beside it"), () => {
    const output = runBelowMount("echo old > /mnt/a.txt && WRITE 5000000; cat /mnt/a.txt; ls -A /mnt");
    expect(output).toContain("DISK_FULL");
    expect(output).toMatch(/old\na\.txt\n$/);
  });
});
