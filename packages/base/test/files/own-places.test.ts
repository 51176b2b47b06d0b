/** File tools change nothing that this process may still load (S-224). */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { writeFileAtomically } from "../../src/files/atomic-write.ts";
import { moveFile, removeFile } from "../../src/files/move-file.ts";
import { findProgramFiles, listOwnPlaces, listProgramPlaces, toCodeFolder } from "../../src/files/own-places.ts";
import { findProtection } from "../../src/files/protected-names.ts";
import { createWorkspace } from "../../src/files/workspace.ts";

/** A folder with these files. */
function createRoot(files: readonly string[]): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sheaf-own-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const name of files) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), "own");
  }
  return root;
}

function open(files: readonly string[]) {
  const root = createRoot(files);
  const [code = "", node = ""] = files.map((name) => join(root, name));
  const program = { code, executables: [node], compiledCode: join(root, "cache/sheaf/compile-cache/v24") };
  const environment = { SHEAF_HOME: join(root, "home") };
  const workspace = createWorkspace(root, { git: { environment, folders: [root] }, program });
  const find = (path: string) => {
    const resolved = workspace.resolve(path);
    if (!resolved.ok) throw new Error(resolved.error.message);
    return resolved.path;
  };
  return { root, workspace, find, isProtected: (path: string) => findProtection(workspace, find(path)) !== undefined };
}

const installed = [
  "node_modules/sheaf/dist/cli/main.js",
  "node_modules/node/bin/node",
  "node_modules/sheaf/package.json",
  "src/file.ts",
];
const checkout = ["packages/cli/dist/cli/main.js", "tools/node/bin/node", "packages/cli/package.json", "src/file.ts"];

describe("Sheaf in node_modules of the workspace", () => {
  test.each([
    "node_modules/sheaf/dist/cli/main.js",
    "node_modules/sheaf/dist/cli/package.json",
    "node_modules/sheaf/node_modules/ai/index.js",
    "node_modules/node/bin/node",
    "node_modules/ai/index.js",
    "node_modules",
    "NODE_MODULES/sheaf/dist/cli/main.js",
    "node_modules./sheaf/dist/cli/main.js",
    "./src/../node_modules/x",
    "cache/sheaf/compile-cache/v24/x",
    "home/config.json",
    "home/node_modules/provider/index.js",
  ])(verifies("S-224", "file tools refuse %s"), (path) => {
    expect(open(installed).isProtected(path)).toBe(true);
  });

  test.each(["src/file.ts", "lib/node_modules/x", "node_modules.txt", "cache/x", "home.txt"])(
    verifies("S-224", "but not %s"),
    (path) => expect(open(installed).isProtected(path)).toBe(false),
  );

  test(verifies("S-224", "nothing is written, deleted or moved there, through a link either"), async () => {
    const { root, workspace, find } = open(installed);
    symlinkSync("node_modules", join(root, "link"));
    const code = "PROTECTED_PATH";
    const path = find("link/sheaf/dist/cli/main.js");
    const bytes = new TextEncoder().encode("evil");
    expect(await writeFileAtomically(workspace, path, bytes, undefined)).toMatchObject({ error: { code } });
    expect(await removeFile(workspace, path)).toMatchObject({ error: { code } });
    expect(await moveFile(workspace, path, find("x"))).toMatchObject({ error: { code } });
    const target = find("node_modules/sheaf/dist/cli/new.js");
    expect(await moveFile(workspace, find("src/file.ts"), target)).toMatchObject({ error: { code } });
    expect(readFileSync(join(root, installed[0]!), "utf8")).toBe("own");
  });

  test(verifies("S-224", "the refusal says why"), () => {
    const { workspace, find } = open(installed);
    expect(findProtection(workspace, find("node_modules/x"))?.message).toBe(
      "node_modules/x is protected (Sheaf itself runs from there): file tools never change it; tell the user what to change there",
    );
  });
});

describe("a checkout of Sheaf as the workspace", () => {
  test.each([
    ["packages/cli/dist/cli/main.js", true],
    ["packages/cli/bin/sheaf.js", true],
    ["packages/cli/node_modules/ai/index.js", true],
    ["packages/node_modules/ai/index.js", true],
    ["node_modules/ai/index.js", true],
    ["tools/node/bin/node", true],
    ["tools/node/bin/npm", false],
    ["packages/agent/src/main.ts", false],
    ["packages/cli/package.json", false],
    ["packages/web/dist/x.js", false],
  ])(verifies("S-224", "%s: %s"), (path, expected) => {
    expect(open(checkout).isProtected(path)).toBe(expected);
  });
});

describe("the places", () => {
  const own = { executables: [], compiledCode: undefined };

  test("with pnpm, are all of node_modules", () => {
    const root = createRoot(["node_modules/.pnpm/sheaf@1/node_modules/sheaf/package.json"]);
    const code = join(root, "node_modules/.pnpm/sheaf@1/node_modules/sheaf/dist/cli/main.js");
    const places = listProgramPlaces({ inside: [root], environment: {}, program: { ...own, code } });
    expect(places.map(({ path }) => path)).toEqual([join(root, "node_modules")]);
  });

  test("are none outside of the folders that are asked for, nor these folders themselves", () => {
    const root = createRoot(["node_modules/sheaf/package.json", "w/x"]);
    const code = join(root, "node_modules/sheaf/dist/cli/main.js");
    const environment = { SHEAF_HOME: join(root, "w") };
    const order = { inside: [join(root, "w")], environment, program: { ...own, code } };
    expect(listOwnPlaces(order)).toEqual([]);
  });

  test("without a package.json, are in the folder of the code", () => {
    const root = createRoot(["a/main.js"]);
    expect(toCodeFolder({ ...own, code: join(root, "a/main.js") })).toBe(join(root, "a"));
  });

  test(verifies("S-224", "of this process have its code, and Node with all that it has loaded"), () => {
    const { code, executables } = findProgramFiles();
    expect(code).toBe(realpathSync(join(import.meta.dirname, "../../src/files/own-places.ts")));
    expect(executables).toContain(realpathSync(process.execPath));
    if (process.platform === "linux") expect(executables.some((file) => file.includes("libc"))).toBe(true);
  });
});
