/** Sheaf as npm installs it into the workspace: nothing in a run changes what the process still loads (S-224). */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { chooseRows } from "../support/depth.ts";
import { notRoot, skipIfMissing } from "../support/describe-where.ts";
import { unpackInto } from "../support/packed-packages.ts";
import { createTestFolder, parseStream, sheafProgram } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const user = 4711;

const packed = folders.newFolder();
unpackInto(packed, { sheaf: "packages/cli" });

interface Place {
  readonly cwd: string;
  /** Written by code of the attacker that runs outside of the sandbox. */
  readonly canary: string;
  readonly node: string;
  /** Sheaf's, below `cwd`. */
  readonly files: Readonly<Record<string, string>>;
}

/** A project with Sheaf in its `node_modules`, and Node as well where an attack is on it. */
function createPlace(hasNode: boolean): Place {
  const top = folders.newFolder();
  const cwd = join(top, "project");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "package.json"), "{}");
  cpSync(join(packed, "node_modules"), join(cwd, "node_modules"), { recursive: true });
  const node = hasNode ? join(cwd, "node_modules/node/bin/node") : process.execPath;
  if (hasNode) {
    mkdirSync(dirname(node), { recursive: true });
    cpSync(process.execPath, node);
  }
  const names = globSync("node_modules/sheaf/dist/cli/**/*.js", { cwd });
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(cwd, name), "utf8")]));
  expect(names.length).toBeGreaterThan(20);
  return { cwd, canary: join(top, "canary"), node, files };
}

interface RunOptions {
  readonly args?: readonly string[];
  readonly config?: object;
  readonly asUser?: boolean;
}

/** Lets a scripted model make these calls and then one whose code is loaded only then. */
function runSheaf({ cwd, node }: Place, calls: readonly object[], options: RunOptions = {}) {
  const { args = [], config = {}, asUser } = options;
  const top = dirname(cwd);
  const last = { tool: "web_fetch", arguments: { url: "http://127.0.0.1:9/" } };
  const turns = [...calls, last].map((call) => ({ events: [{ call }] }));
  const script = join(top, "script.json");
  // A command in the background that a busy machine starts late brings a turn more.
  writeFileSync(script, JSON.stringify({ turns: [...turns, { events: [{ text: "Done." }] }], after: "repeat_last" }));
  const home = join(top, "home");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.json"), JSON.stringify(config));
  const words = [
    node,
    "node_modules/sheaf/bin/sheaf.js",
    "-p",
    "--model",
    `scripted:${script}`,
    "--allow",
    "WebFetch(127.0.0.1)",
    ...args,
    "go",
  ];
  const asOther = asUser ? ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"] : [];
  if (asUser) {
    chmodSync(folders.path, 0o755);
    spawnSync("chown", ["-R", `${user}:${user}`, top]);
  }
  const [command = "", ...rest] = [...asOther, ...words];
  const { stdout, stderr, status } = spawnSync(command, rest, {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: top, SHEAF_HOME: home },
  });
  return { status, stderr, stdout };
}

function run(command: string): object {
  return { tool: "run_terminal_cmd", arguments: { command } };
}

/** Puts code before that of each file. */
function toInfection({ canary }: Place, folder = "node_modules/sheaf/dist/cli"): string {
  const code = `import{writeFileSync as evil}from"node:fs";evil(${JSON.stringify(canary)},"ran outside");`;
  return `for f in ${folder}/*.js; do printf '%s\\n' '${code}' | cat - $f > x; cat x > $f; done`;
}

function expectUntouched({ cwd, canary, files }: Place): void {
  expect(existsSync(canary)).toBe(false);
  const changed = Object.entries(files).filter(([name, content]) => {
    const path = join(cwd, name);
    return !existsSync(path) || readFileSync(path, "utf8") !== content;
  });
  expect(changed.map(([name]) => name)).toEqual([]);
}

const attacks: readonly (readonly [string, (place: Place) => string])[] = [
  ["rewriting dist", (place) => toInfection(place)],
  [
    "moving node_modules away",
    (place) => `mv node_modules y; mkdir node_modules; cp -r y/* node_modules/; ${toInfection(place)}`,
  ],
  ["moving its package away", (place) => `mv node_modules/sheaf y; cp -r y node_modules/sheaf; ${toInfection(place)}`],
  [
    "moving its package out and working on it there",
    (place) => `mv node_modules/sheaf y; ln -s ../y node_modules/sheaf; ${toInfection(place, "y/dist/cli")}`,
  ],
];

describeWithBubblewrap("Sheaf in node_modules of the workspace", () => {
  test.each(chooseRows(attacks, 2))(
    verifies("S-224", "no code of a command runs outside of the sandbox by %s"),
    (_, toCommand) => {
      const place = createPlace(false);
      const { status, stderr } = runSheaf(place, [run(toCommand(place))]);
      expect([status, stderr]).toEqual([0, ""]);
      expectUntouched(place);
    },
  );

  test.each(chooseRows(attacks, 2))(verifies("S-224", "nor, for an ordinary user, by %s"), (_, toCommand) => {
    skipIfMissing(notRoot);
    const place = createPlace(true);
    const { status, stderr } = runSheaf(place, [run(toCommand(place))], { asUser: true });
    expect([status, stderr]).toEqual([0, ""]);
    expectUntouched(place);
  });

  test(verifies("S-224", "nor by another Node in the place of the one that runs"), () => {
    const place = createPlace(true);
    const evil = `#!/bin/sh\necho evil > ${place.canary}\n`;
    const command = `printf '%s' '${evil}' > y; chmod +x y; mv -f y node_modules/node/bin/node; mv node_modules/node y`;
    // A command in the background makes Sheaf start Node again.
    const background = { tool: "run_terminal_cmd", arguments: { command: "true", is_background: true } };
    const { status, stderr } = runSheaf(place, [run(command), background, run("true")]);
    expect([status, stderr]).toEqual([0, ""]);
    expectUntouched(place);
    expect(readFileSync(place.node).equals(readFileSync(process.execPath))).toBe(true);
  });

  test(verifies("S-224", "nor by the tools for files"), () => {
    const place = createPlace(false);
    const [name = ""] = Object.keys(place.files);
    writeFileSync(join(place.cwd, "evil.js"), `import("node:fs").then((fs)=>fs.writeFileSync("${place.canary}",""))`);
    const content = "evil";
    const calls = [
      { tool: "write_file", arguments: { target_file: name, content } },
      { tool: "write_file", arguments: { target_file: "node_modules/sheaf/dist/cli/package.json", content } },
      { tool: "write_file", arguments: { target_file: "node_modules/sheaf/node_modules/x/index.js", content } },
      { tool: "delete_file", arguments: { target_file: name } },
      { tool: "rename_file", arguments: { source_file: name, destination_file: "x.js" } },
      {
        tool: "rename_file",
        arguments: { source_file: "evil.js", destination_file: "node_modules/sheaf/dist/cli/x.js" },
      },
    ];
    const { status, stderr, stdout } = runSheaf(place, calls, { args: ["--force"] });
    expect([status, stderr]).toEqual([0, ""]);
    expectUntouched(place);
    const refused = parseStream(stdout).filter(
      (line) => line.subtype === "completed" && JSON.stringify(line).includes("is protected (Sheaf itself runs"),
    );
    expect(refused).toHaveLength(calls.length);
  });

  test(verifies(["S-224", "S-138"], "nor by hooks, nor by what runs after an edit"), () => {
    const place = createPlace(false);
    const command = toInfection(place);
    const list = [{ hooks: [{ type: "command", command: `cd "$CLAUDE_PROJECT_DIR"; (${command}) >&2; true` }] }];
    const config = { hooks: { SessionStart: list, PreToolUse: list, PostToolUse: list } };
    const edit = { tool: "write_file", arguments: { target_file: "a.txt", content: "a" } };
    const { status } = runSheaf(place, [edit], { args: ["--force"], config });
    expect(status).toBe(0);
    expectUntouched(place);
  });

  test(verifies("S-224", "nor by the package of a model, which is not loaded from the workspace"), () => {
    const place = createPlace(false);
    writeFileSync(join(place.cwd, "provider.js"), "export const createIt = () => { throw new Error('loaded'); };");
    const config = { providers: { mine: { package: join(place.cwd, "provider.js"), models: ["m"] } } };
    const { status, stderr } = runSheaf(place, [], { args: ["--model", "mine/m"], config });
    expect(status).toBe(2);
    expect(stderr).toContain(
      `the package "${join(place.cwd, "provider.js")}" of the provider mine is ${join(place.cwd, "provider.js")}, in the workspace: a command could change it there, so copy it to `,
    );
  });

  const lock = { name: "project", lockfileVersion: 3, requires: true, packages: { "": { name: "project" } } };
  const createLockedPlace = (): Place => {
    const place = createPlace(false);
    writeFileSync(join(place.cwd, "package-lock.json"), JSON.stringify(lock));
    writeFileSync(join(place.cwd, "package.json"), JSON.stringify({ name: "project" }));
    return place;
  };

  test(verifies("S-224", "npm ci fails without touching a package, and the result says why once"), () => {
    const place = createLockedPlace();
    const { status, stdout } = runSheaf(place, [run("npm ci")]);
    expect(status).toBe(0);
    expectUntouched(place);
    const line = stdout.split("\n").find((text) => text.includes('"completed"') && text.includes("npm ci"))!;
    expect(line.split("Sheaf itself runs from node_modules here")).toHaveLength(2);
    expect(line).toContain("npm install --prefix ~/.sheaf sheaf && ~/.sheaf/node_modules/.bin/sheaf");
  });

  test(verifies("S-224", "npm ci works where Sheaf is outside of the workspace"), () => {
    const place = createLockedPlace();
    const call = run("npm ci && test ! -e node_modules/sheaf");
    writeFileSync(
      join(place.cwd, "script.json"),
      JSON.stringify({ turns: [{ events: [{ call }] }, { events: [{ text: "Done." }] }] }),
    );
    const words = [sheafProgram, "-p", "--model", "scripted:script.json", "go"];
    const { stdout, status } = spawnSync(process.execPath, words, {
      cwd: place.cwd,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: dirname(place.cwd), SHEAF_HOME: join(place.cwd, "../home") },
    });
    expect(status).toBe(0);
    const completed = parseStream(stdout).find(({ subtype }) => subtype === "completed")!;
    expect(JSON.stringify(completed.tool_call)).toContain('"exitCode":0');
  });
});

test("what npm publishes of Sheaf loads nothing but its own files and those of Node", () => {
  const cwd = join(packed, "node_modules/sheaf");
  const foreign = globSync("dist/cli/**/*.js", { cwd }).flatMap((name) => {
    const text = readFileSync(join(cwd, name), "utf8");
    const imports = text.matchAll(/(?:^|[;}\n])(?:import|export)(?:[\w*{}\s,$]+from)?\s*"([^"\n]+)"/g);
    const lazy = text.matchAll(/\bimport\("([^"]+)"\)/g);
    const names = [...imports, ...lazy].map(([, target = ""]) => target);
    return names.filter((target) => !/^(?:node:|\.{1,2}\/)/.test(target)).map((target) => `${name}: ${target}`);
  });
  expect(foreign).toEqual([]);
});
