/** Where Sheaf keeps its own files: never in the workspace, for this user only, and with a clear word where it cannot. */
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, runAsNeeded, runProgram, toLines } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** For root every folder is open. */
const asUser =
  process.getuid?.() === 0 ? ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] : undefined;

const offline = ["-p", "--model", "offline", "Read README.md"];

test.each(["", ".", "home", "./.home"])(
  verifies(["S-01", "S-42"], "with HOME=%j nothing of Sheaf is read from the workspace or written to it"),
  async (home) => {
    const cwd = folders.newFolder({ "README.md": "# Readme\n" });
    const data = folders.newFolder();
    // Only what does not depend on HOME may be found: these tests keep to their own folder.
    const environment = { HOME: home, SHEAF_HOME: "", XDG_DATA_HOME: data, XDG_CONFIG_HOME: data };
    const { code, stderr } = await runAsNeeded(offline, {
      cwd,
      environment: { ...environment, XDG_CACHE_HOME: "cache" },
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(readdirSync(cwd)).toEqual(["README.md"]);
    const { stdout } = await runAsNeeded(["config", "explain"], {
      cwd: data,
      environment: { HOME: home, SHEAF_HOME: "" },
    });
    expect(/^store +(.*)  /m.exec(stdout)?.[1]).toMatch(/^\//);
    expect(stdout).not.toContain(cwd);
  },
);

test.each([
  ["a file", (home: string) => writeFileSync(home, ""), "is not a folder"],
  ["a folder that may not be entered", (home: string) => mkdirSync(home, { mode: 0 }), "cannot be entered (EACCES)"],
  [
    "below a file",
    (home: string) => writeFileSync(join(home, ".."), "", { flag: "wx" }),
    "cannot be entered (ENOTDIR)",
  ],
])(verifies("C20", "a home folder that is %s: the message names HOME and SHEAF_HOME"), async (kind, make, problem) => {
  const cwd = folders.newFolder({ "README.md": "# Readme\n" });
  chmodSync(folders.path, 0o755);
  const place = join(cwd, "..", `home-${kind.length}`);
  const home = kind === "below a file" ? join(place, "home") : place;
  make(home);
  const options = { cwd, environment: { HOME: home, SHEAF_HOME: "" }, ...(asUser && { wrapper: asUser }) };
  const message = `sheaf: CONFIG_INVALID: your home folder ${home} ${problem}: set HOME to a folder of yours, or SHEAF_HOME to a folder for Sheaf\n`;
  for (const args of [offline, ["config", "explain"], ["ls"], ["login", "openai"], ["trust"], ["mcp", "list"]]) {
    const { code, stderr } = await runAsNeeded(args, options);
    expect([code, stderr]).toEqual([2, message]);
  }
  const { stdout } = await runAsNeeded(offline, options);
  expect(JSON.parse(toLines(stdout).at(-1)!)).toMatchObject({ type: "result", error: { code: "CONFIG_INVALID" } });
  const own = folders.newFolder();
  chmodSync(own, 0o777);
  const environment = { HOME: home, SHEAF_HOME: own };
  expect((await runAsNeeded(offline, { ...options, environment })).code).toBe(0);
});

/** Everything below a folder that others may read, write or enter. */
function listOpenToOthers(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (statSync(path).mode & 0o077) !== 0)
    .map((path) => path.slice(folder.length));
}

test(
  verifies("S-42", "with umask 0 every folder of Sheaf is 0700 and every file 0600, and old ones become so"),
  async () => {
    const cwd = folders.newFolder({ "README.md": "# Readme\n" });
    const home = folders.newFolder();
    mkdirSync(join(home, ".cache/sheaf/compile-cache"), { recursive: true });
    chmodSync(join(home, ".cache/sheaf/compile-cache"), 0o777);
    chmodSync(join(home, ".cache"), 0o700);
    chmodSync(join(home, ".cache/sheaf"), 0o700);
    const calls = [
      { call: { tool: "write_file", arguments: { target_file: "README.md", content: "new\n" } } },
      { call: { tool: "run_terminal_cmd", arguments: { command: "echo done" } } },
    ];
    writeFileSync(
      join(home, "s.json"),
      JSON.stringify({ turns: [{ events: calls }, { events: [{ text: "Done." }] }] }),
    );
    chmodSync(join(home, "s.json"), 0o600);
    const wrapper = ["sh", "-c", 'umask 0; exec "$@"', "sh"];
    const run = (args: readonly string[], input?: string) =>
      runProgram(args, {
        cwd,
        environment: { HOME: home, SHEAF_HOME: "", NODE_COMPILE_CACHE: "" },
        wrapper,
        ...(input !== undefined && { input }),
      });
    const model = `scripted:${home}/s.json`;
    const { code, stdout } = await run(["-p", "--force", "--model", model, "go"]);
    expect(code).toBe(0);
    const session = (JSON.parse(toLines(stdout).at(-1)!) as { session_id: string }).session_id;
    for (const [args, input] of [
      [["trust"]],
      [["login", "openai"], "sk-canary-0123456789"],
      [["mcp", "add", "none", "--", "true"]],
      [["export", session, "-o", `${home}/session.json`]],
    ] as const) {
      expect([args[0], (await run(args, input)).code]).toEqual([args[0], 0]);
    }
    expect(listOpenToOthers(home)).toEqual([]);
    expect(readdirSync(join(home, ".cache/sheaf/compile-cache"))).toHaveLength(1);
  },
);
