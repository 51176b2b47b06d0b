/** What ripgrep sees and does in the sandbox, and that a search finds there what it finds without (S-83). */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { notRoot, skipIfMissing } from "../../../../test/support/describe-where.ts";
import { describeWithProgram } from "../../../../test/support/programs.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  createSearchProgram,
  type SearchOptions,
  toSearchArguments,
  toSearchProfile,
} from "@sheaf/sandbox/launch/search-program";
import { findProgram } from "@sheaf/sandbox/programs";
import type { Sandbox } from "@sheaf/sandbox/sandbox";
import { grepSearchTool } from "../../src/tools/grep-search.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { createContext } from "../tools/search-workspace.ts";
import { environment, toFileRules } from "../../../sandbox/test/run-command.ts";
import { createFolder, createProgram, describeWithSandbox, sandbox } from "../../../sandbox/test/sandbox-run.ts";
import { readSeatbeltRules } from "../../../sandbox/test/seatbelt-rules.ts";

type Arguments = Parameters<typeof grepSearchTool.run>[0];

const disabled: Sandbox = { state: "disabled" };

function grep(root: string, args: Arguments, options: Partial<SearchOptions> = {}): Promise<ToolOutcome> {
  const search = createSearchProgram({ sandbox, writable: [root], environment, ...options });
  return grepSearchTool.run(args, createContext(root, { search }));
}

describeWithSandbox("a search in the sandbox", () => {
  const root = createFolder("workspace", {
    "a.ts": "const foo = 1;\nfoo(bar);\n", "src/b.js": "foo\r\n--flag\r\n", "src/ü ß.ts": "größe 日本語\n", "-dash": "foo -e\n", ".hidden": "foo\n",
    ".github/ci.yml": "foo\n", ".gitignore": "node_modules/\n*.log\n", ".sheafignore": "private/\n", "private/x.ts": "foo\n", "node_modules/x.js": "foo\n",
    "a.log": "foo\n", "sub/.gitignore": "secret*\n[z-a]\n", "sub/secret.ts": "foo\n", "sub/deep/open.ts": "foo\n", "a\nb.txt": "foo\n", "a.bin": "foo\0bar\n",
    "long.txt": `foo ${"ü".repeat(3000)}\n`, "many.txt": "foo\n".repeat(300),
  }); // prettier-ignore
  chmodSync(join(root, "sub/deep"), 0o700);

  test.each([
    { pattern: "foo" }, { pattern: "foo", path: "src" }, { pattern: "foo", path: "a.ts" }, { pattern: "foo", path: "sub/deep" }, { pattern: "日本" },
    { pattern: "foo", path: "-dash" }, { pattern: "foo", path: ".hidden" }, { pattern: "foo", path: "node_modules" }, { pattern: "foo", path: "private" },
    { pattern: "foo", glob: "*.js" }, { pattern: "foo", glob: ".github/**" }, { pattern: "foo", glob: "!*.ts" }, { pattern: "FOO", case_insensitive: true },
    { pattern: "foo", output_mode: "count" }, { pattern: "foo", output_mode: "files_with_matches", max_results: 2 }, { pattern: "nowhere" },
    { pattern: "(" }, { pattern: "foo", glob: "[" }, { pattern: "foo", path: "nowhere" }, { pattern: "foo", path: "../" }, { pattern: "a{1000}{1000}{1000}" },
  ] as const satisfies readonly Arguments[])(verifies("S-83", "finds what it finds without: %j"), async (args) => {
    const plain = await grep(root, args, { sandbox: disabled });
    expect(await grep(root, args)).toEqual(plain);
  }); // prettier-ignore

  test(verifies("S-83", "sees nothing where a link leads out, and not what rules and secret places hide"), async () => {
    const outside = createFolder("outside", { "x.txt": "CANARY\n" });
    const files = {
      "a.txt": "CANARY a\n",
      "db/key.txt": "CANARY\n",
      "docs/key.pem": "CANARY\n",
      ".ssh/id": "CANARY\n",
    };
    const workspace = createFolder("workspace", files);
    symlinkSync(outside, join(workspace, "link"));
    symlinkSync(join(outside, "x.txt"), join(workspace, "link.txt"));
    const options = {
      environment: { ...environment, HOME: workspace },
      denials: toFileRules("Read(db/**)", "Read(docs/*.pem)", "Write(*.txt)"),
    };
    const run = createSearchProgram({ sandbox, writable: [workspace], ...options });
    let output = "";
    const request = { signal: AbortSignal.timeout(20_000), maxStderrBytes: 10_000 };
    const outcome = await run({
      ...request,
      folder: workspace,
      args: ["--hidden", "--no-ignore", "--follow", "--sort=path", "CANARY", "./", "./link", "./link.txt", outside, "./docs/key.pem"],
      onStdout: (chunk) => (output += Buffer.from(chunk).toString()) !== "",
    }); // prettier-ignore
    expect(output).toBe("./a.txt:CANARY a\n");
    expect(outcome).toMatchObject({ exitCode: 2, startError: "" });
    expect(outcome.stderr).toContain("./link.txt: No such file or directory");
  });

  test(verifies("S-83", "of an added folder sees that folder alone"), async () => {
    const [workspace, added] = [
      createFolder("workspace", { "a.txt": "foo" }),
      createFolder("added", { "b.txt": "foo" }),
    ];
    symlinkSync(workspace, join(added, "link"));
    const run = createSearchProgram({ sandbox, writable: [workspace, added], environment });
    let output = "";
    const args = ["--follow", "foo", "./", workspace];
    const onStdout = (chunk: Uint8Array): boolean => (output += Buffer.from(chunk).toString()) !== "";
    await run({ folder: added, args, onStdout, signal: AbortSignal.timeout(20_000), maxStderrBytes: 1000 });
    expect(output).toBe("./b.txt:foo\n");
  });

  test(verifies("S-83", "is refused when rules cannot be enforced on it, or the sandbox does not start"), async () => {
    const files = Object.fromEntries(Array.from({ length: 301 }, (_, index) => [`db/${index}/key`, "x"]));
    const workspace = createFolder("workspace", { ...files, "a.txt": "foo" });
    const denied = await grep(workspace, { pattern: "foo", path: "a.txt" }, { denials: toFileRules("Read(db/*/key)") });
    expect(denied).toMatchObject({ status: "error", error: { code: "SEARCH_FAILED" } });
    expect(denied.error?.message).toContain("more than 300 places are denied");
    const broken = createProgram("bwrap", "#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n");
    const failing: Sandbox = { state: "enabled", kind: "bubblewrap", file: broken };
    expect(await grep(workspace, { pattern: "foo" }, { sandbox: failing })).toMatchObject({
      status: "error",
      error: { code: "SEARCH_FAILED", message: "ripgrep was not started: bwrap: No permissions" },
    });
  });

  test(verifies("S-83", "reads a workspace of another user, as root"), async () => {
    skipIfMissing(notRoot);
    const workspace = createFolder("foreign", { "sub/a.txt": "foo\n" });
    for (const name of ["", "sub", "sub/a.txt"]) {
      chownSync(join(workspace, name), 4711, 4711);
      chmodSync(join(workspace, name), name.endsWith(".txt") ? 0o600 : 0o700);
    }
    expect(await grep(workspace, { pattern: "foo" })).toMatchObject({ output: "sub/a.txt\n1: foo" });
  });
});

describeWithSandbox("what a program in its place could do", () => {
  describeWithProgram("python3", () => {
    const folder = createFolder("workspace", { "a.txt": "inside" });
    const home = createFolder("home", { ".ssh/id": "CANARY", "notes.txt": "CANARY" });

    /** Runs a program in the view of ripgrep. */
    function runInView(code: string): string {
      const view = { folder, program: findProgram("python3", environment)!, hidden: [] };
      const words = sandbox.state === "enabled" ? [...toSearchArguments(view), "--", view.program, "-c", code] : [];
      const { stdout, stderr } = spawnSync("bwrap", words, { env: { PATH: "/usr/bin" }, encoding: "utf8" });
      return stdout + stderr;
    }

    test.each([
      ["reads the folder", `print(open("a.txt").read())`, /^inside$/],
      ["reads nothing of a home", `print(open("${home}/notes.txt").read())`, /No such file/],
      ["reads no secret", `print(open("${home}/.ssh/id").read())`, /No such file/],
      ["reads no settings of the system", `print(open("/etc/passwd").read())`, /No such file/],
      ["sees no processes", `import os; print(os.listdir("/proc"))`, /No such file/],
      ["has no devices but one", `import os; print(os.listdir("/dev"))`, /^\['null'\]$/],
      ["writes nothing in the folder", `open("a.txt", "w")`, /Read-only file system/],
      ["creates nothing in the folder", `open("b.txt", "w")`, /Read-only file system/],
      ["creates nothing elsewhere", `open("/b.txt", "w")`, /Read-only file system/],
      ["has no network", `import socket; print(socket.if_nameindex())`, /^\[\(1, 'lo'\)\]$/],
      ["has no capabilities", `import ctypes; print(ctypes.CDLL(None).chroot(b"/"))`, /^-1$/],
    ])(verifies("S-83", "%s"), (_title, code, expected) => {
      expect(runInView(code).trim()).toMatch(expected);
    });
  });
});

describe("the program", () => {
  test(verifies(["S-05", "S-83"], "is never one that commands can change"), async () => {
    const marker = "echo x > ran\n";
    const names = ["bin/rg", `node_modules/@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`];
    const workspace = createFolder("hostile", Object.fromEntries(names.map((name) => [name, `#!/bin/sh\n${marker}`])));
    for (const name of names) chmodSync(join(workspace, name), 0o755);
    const PATH = `${join(workspace, "bin")}:/usr/bin:/bin`;
    const found = await grep(workspace, { pattern: "echo", path: "bin" }, { sandbox: disabled, environment: { PATH } });
    expect(found).toMatchObject({ status: "success", output: "bin/rg\n2: echo x > ran" });
    expect(existsSync(join(workspace, "ran"))).toBe(false);
    // Every place where one is.
    const writable = [
      workspace,
      "/usr",
      "/bin",
      "/opt",
      "/run",
      "/nix",
      join(import.meta.dirname, "../../../.."),
    ] as const;
    const refused = await grep(workspace, { pattern: "echo" }, { sandbox: disabled, environment: { PATH }, writable });
    expect(refused).toMatchObject({ status: "error", error: { code: "SEARCH_FAILED" } });
    expect(refused.error?.message).toMatch(
      /^ripgrep was not started: \/.*rg is in a folder that commands can change: install ripgrep for this machine/,
    );
  });
});

/** No Mac runs it here. */
describe("the profile for macOS", () => {
  const view = {
    folder: "/Users/u/work",
    program: "/opt/sheaf/bin/rg",
    hidden: [{ path: "/Users/u/work/db", access: "hidden-folder" as const }],
  };
  test.each([
    ["file-read-data", "/Users/u/work/a.txt", true], ["file-read-data", "/opt/sheaf/bin/rg", true], ["file-read-data", "/usr/lib/dyld", true],
    ["file-read-data", "/System/Library/dyld/x", true], ["file-read-metadata", "/Users/u", true], ["process-exec", "/opt/sheaf/bin/rg", true],
    ["file-read-data", "/Users/u/work/db/key", false], ["file-read-data", "/Users/u/work-evil/a", false], ["file-read-data", "/Users/u/.ssh/id", false],
    ["file-read-data", "/Users/u", false], ["file-read-data", "/System/Volumes/Data/Users/u/.ssh/id", false], ["file-read-data", "/private/etc/passwd", false],
    ["file-read-data", "/private/tmp/a", false], ["file-read-data", "/opt/sheaf/bin/other", false],
    ["file-write-data", "/Users/u/work/a.txt", false], ["file-write-create", "/Users/u/work/b.txt", false], ["file-write-unlink", "/Users/u/work/a.txt", false],
    ["file-write-create", "/private/tmp/a", false], ["network-outbound", "localhost:80", false],
  ] as const)(verifies("S-83", "%s on %s: %s"), (operation, place, isAllowed) => {
    const { text, parameters } = toSearchProfile(view);
    expect(readSeatbeltRules(text, parameters).isAllowed(operation, place)).toBe(isAllowed);
  }); // prettier-ignore

  test(verifies("S-83", "holds no path, and is what ripgrep is started with"), async () => {
    const file = createProgram("sandbox-exec", '#!/bin/bash\nprintf "%s\\n" "$@" >&2\nexit 65\n');
    const workspace = createFolder('work"(allow default)', { "a.txt": "foo\n" });
    mkdirSync(join(workspace, "db"));
    const outcome = await createSearchProgram({
      sandbox: { state: "enabled", kind: "seatbelt", file },
      writable: [workspace],
      environment,
      denials: toFileRules("Read(db)"),
    })({
      folder: workspace,
      args: ["foo"],
      signal: AbortSignal.timeout(20_000),
      onStdout: () => true,
      maxStderrBytes: 9000,
    });
    const [text = "", ...definitions] = outcome.stderr.trimEnd().split("\n-D\n");
    expect(text).not.toContain(workspace);
    expect(definitions).toEqual([
      `FOLDER=${workspace}`,
      expect.stringMatching(/^PROGRAM=\/.*rg$/),
      expect.stringMatching(/^HIDDEN_0=\/.*\/db\n\/.*rg\nfoo$/),
    ]);
  });
});
