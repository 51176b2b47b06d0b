/** What Sheaf itself may still load stays as it is, whatever a command does to the folders around it (S-224). */
import { existsSync, linkSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import type { ProgramFiles } from "@sheaf/base/files/own-places";
import { toFileRules } from "./run-command.ts";
import { createFolder, describeWithSandbox, runHeld } from "./sandbox-run.ts";

/** Sheaf installed in a project, next to another package. */
const installed = {
  "package.json": "{}",
  "node_modules/sheaf/package.json": "{}",
  "node_modules/sheaf/dist/cli/main.js": "own",
  "node_modules/sheaf/dist/cli/chunk.js": "own",
  "node_modules/node/bin/node": "own",
  "node_modules/other/index.js": "own",
};

/** A checkout of Sheaf. */
const checkout = {
  "packages/cli/package.json": "{}",
  "packages/agent/src/main.ts": "source",
  "packages/cli/dist/cli/main.js": "own",
  "node_modules/node/bin/node": "own",
};

type Files = Readonly<Record<string, string>>;

function place(files: Files): { readonly workspace: string; readonly program: ProgramFiles } {
  const workspace = createFolder("workspace", files);
  const code = Object.keys(files).find((name) => name.endsWith("/main.js"))!;
  const executables = [join(workspace, "node_modules/node/bin/node")];
  return { workspace, program: { code: join(workspace, code), executables, compiledCode: undefined } };
}

function run(command: string, files: Files) {
  const { workspace, program } = place(files);
  return { workspace, outcome: runHeld(command, workspace, {}, undefined, { program }) };
}

function listChanged(workspace: string, files: Files): string[] {
  return Object.entries(files)
    .filter(([, content]) => content === "own")
    .map(([name]) => name)
    .filter((name) => {
      const path = join(workspace, name);
      return !existsSync(path) || readFileSync(path, "utf8") !== "own";
    });
}

describeWithSandbox("Sheaf in node_modules of the workspace", () => {
  test.each([
    "echo evil > node_modules/sheaf/dist/cli/chunk.js",
    "sed -i s/own/evil/ node_modules/sheaf/dist/cli/*.js",
    "mv node_modules x; mkdir -p node_modules/sheaf/dist/cli; echo evil > node_modules/sheaf/dist/cli/chunk.js",
    "mv node_modules/sheaf x; mkdir -p node_modules/sheaf",
    "mv node_modules/sheaf/dist/cli x; ln -s ../../../x node_modules/sheaf/dist/cli; echo evil > x/chunk.js",
    "rm -rf node_modules",
    "echo evil > x; mv -f x node_modules/node/bin/node",
    "mv node_modules/node x; mkdir -p node_modules/node/bin; cp /bin/true node_modules/node/bin/node",
    "ln node_modules/sheaf/dist/cli/chunk.js x; echo evil > x",
    "cp -al node_modules x; echo evil > x/sheaf/dist/cli/chunk.js",
    "cd node_modules/sheaf && chmod -R u+w . && echo evil > dist/cli/chunk.js",
    'cd ..; mv "$OLDPWD" x',
    "umount node_modules; mount -o remount,rw node_modules; echo evil > node_modules/sheaf/dist/cli/chunk.js",
    "python3 -c \"import os; os.rename('node_modules', 'x')\"",
    'perl -e \'rename "node_modules/sheaf", "x"\'',
    "mv node_modules/.cache x; rm -rf node_modules/.vite; ln -s ../sheaf node_modules/.vite; echo evil > node_modules/.vite/dist/cli/chunk.js",
  ])(verifies("S-224", "nothing of it changes by: %s"), async (command) => {
    const { workspace, outcome } = run(command, installed);
    expect((await outcome).startError).toBe("");
    expect(listChanged(workspace, installed)).toEqual([]);
  });

  test(verifies("S-224", "nothing changes by a command in the background, next to others"), async () => {
    const { workspace, outcome } = run(
      "(while mv node_modules x; do :; done; for i in $(seq 50); do echo evil > node_modules/sheaf/dist/cli/chunk.js; done) & wait",
      installed,
    );
    await outcome;
    expect(listChanged(workspace, installed)).toEqual([]);
  });

  test(verifies("S-224", "a package that would stand in for another one cannot be made there"), async () => {
    const { workspace, outcome } = run("mkdir node_modules/ai node_modules/sheaf/node_modules", installed);
    expect((await outcome).exitCode).not.toBe(0);
    expect(existsSync(join(workspace, "node_modules/ai"))).toBe(false);
  });

  test(verifies("S-224", "the rest of the workspace, and the caches of tools, can be written"), async () => {
    const command =
      "echo x > file; mkdir -p lib/node_modules/x; echo x > node_modules/.vite-temp/x; echo x > node_modules/.cache/x";
    const { outcome } = run(command, installed);
    expect(await outcome).toMatchObject({ exitCode: 0, refusals: [] });
  });

  test(verifies(["S-224", "S-06"], "a rule that denies writing node_modules denies the caches, too"), async () => {
    const { workspace, program } = place(installed);
    const denials = toFileRules("Write(node_modules/**)");
    const command = "echo x > node_modules/.cache/x";
    const outcome = await runHeld(command, workspace, {}, undefined, { program, denials });
    expect(outcome.exitCode).not.toBe(0);
  });

  test(verifies("S-224", "a result that fails for it says so once, and how to start Sheaf elsewhere"), async () => {
    const { outcome } = run("rm -rf node_modules; echo x > node_modules/x", installed);
    const { refusals } = await outcome;
    expect(refusals).toEqual([
      "Sheaf itself runs from node_modules here, which is protected: no command can change it. Tell the user to start Sheaf from elsewhere for that: npm install --prefix ~/.sheaf sheaf && ~/.sheaf/node_modules/.bin/sheaf",
    ]);
  });
});

describeWithSandbox("a checkout of Sheaf as the workspace", () => {
  test.each([
    "echo evil > packages/cli/dist/cli/main.js",
    "mv packages/cli/dist x",
    "mv packages x; mkdir -p packages/cli/dist/cli; echo evil > packages/cli/dist/cli/main.js",
    "mv packages/agent x; ln -s ../x packages/agent; echo evil > x/dist/cli/main.js",
    "rm -rf packages node_modules",
    "mv node_modules x",
    "echo evil > node_modules/node/bin/node",
  ])(verifies("S-224", "nothing of its code changes by: %s"), async (command) => {
    const { workspace, outcome } = run(command, checkout);
    await outcome;
    expect(listChanged(workspace, checkout)).toEqual([]);
  });

  test(verifies("S-224", "its sources can be written"), async () => {
    const command =
      "echo x > packages/agent/src/main.ts; mv packages/agent/src packages/agent/lib; echo x > packages/cli/package.json";
    const { outcome } = run(command, checkout);
    expect(await outcome).toMatchObject({ exitCode: 0, refusals: [] });
  });

  test(verifies("S-224", "a nearer node_modules, in which Node would look first, is moved away"), async () => {
    const { workspace, outcome } = run("mkdir -p packages/cli/node_modules/ai packages/node_modules", checkout);
    const { refusals } = await outcome;
    expect(refusals.join("\n")).toContain('"packages/cli/node_modules" is protected (Sheaf itself runs from there)');
    expect(existsSync(join(workspace, "packages/cli/node_modules"))).toBe(false);
    expect(existsSync(join(workspace, "packages/node_modules"))).toBe(false);
  });
});

describeWithSandbox("where Sheaf cannot be protected", () => {
  const advice = "start Sheaf from elsewhere (npm install --prefix ~/.sheaf sheaf && ~/.sheaf/node_modules/.bin/sheaf)";

  test(verifies("S-224", "since the workspace is its own folder, no command runs"), async () => {
    const { workspace, program } = place(installed);
    const inner = join(workspace, "node_modules/sheaf/dist");
    const { startError } = await runHeld("true", inner, {}, undefined, { program });
    expect(startError).toBe(
      `no command runs, because the workspace is in the folder of Sheaf itself, ${inner}: ${advice}`,
    );
  });

  test.each(["store/chunk", "node_modules/.cache/chunk"])(
    verifies("S-224", "since %s is the same file as one of its own, no command runs"),
    async (name) => {
      const { workspace, program } = place({ ...installed, "store/x": "", "node_modules/.cache/x": "" });
      const file = join(workspace, "node_modules/sheaf/dist/cli/chunk.js");
      linkSync(file, join(workspace, name));
      const { startError } = await runHeld("true", workspace, {}, undefined, { program });
      expect(startError).toBe(
        `no command runs, because "${name}" is a hard link to ${file}, a file of Sheaf itself: ${advice}`,
      );
    },
  );

  test(verifies("S-224", "but commands run if its other names are where none can be written"), async () => {
    const { workspace, program } = place(installed);
    const outside = createFolder("store");
    linkSync(join(workspace, "node_modules/sheaf/dist/cli/chunk.js"), join(outside, "chunk.js"));
    linkSync(join(workspace, "node_modules/node/bin/node"), join(workspace, "node_modules/other/node"));
    expect(await runHeld("true", workspace, {}, undefined, { program })).toMatchObject({ exitCode: 0 });
  });
});

describeWithSandbox("Sheaf outside of the workspace", () => {
  test(verifies("S-224", "protects nothing in node_modules"), async () => {
    const workspace = createFolder("workspace", installed);
    mkdirSync(join(workspace, "x"));
    writeFileSync(join(workspace, "x/y"), "");
    const outcome = await runHeld("rm -rf node_modules && mkdir -p node_modules/x", workspace);
    expect(outcome).toMatchObject({ exitCode: 0, refusals: [] });
  });
});
