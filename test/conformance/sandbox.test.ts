/** The sandbox through the real program: on by default, told truthfully, and never silently missing. */
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import {
  createTestFolder,
  parseStream,
  runAsNeeded,
  runProgram,
  runSheaf,
  type ProgramOptions,
} from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
interface HeldRun {
  readonly code: number | null;
  readonly stderr: string;
  /** Both of the first line. */
  readonly sandbox: unknown;
  readonly notices: unknown;
  /** `result` of the one tool call. */
  readonly result: Record<string, { readonly reason?: string; readonly stdout?: string }>;
  /** Of the terminal_command document. */
  readonly permissions: readonly string[];
  readonly cwd: string;
}

/** Lets a scripted model run one command and then answer. */
async function runCommand(
  command: string,
  args: readonly string[] = [],
  options: Partial<ProgramOptions> = {},
): Promise<HeldRun> {
  const { cwd = folders.newFolder() } = options;
  const call = { tool: "run_terminal_cmd", arguments: { command } };
  writeFileSync(
    join(cwd, "s.json"),
    JSON.stringify({ turns: [{ events: [{ call }] }, { events: [{ text: "end" }] }] }),
  );
  const words = ["-p", "--model", "scripted:s.json", ...args, "go"];
  const { code, stdout, stderr } = await runAsNeeded(words, { ...options, cwd });
  const lines = parseStream(stdout);
  const completed = lines.find(({ subtype }) => subtype === "completed")!;
  const { shellToolCall } = completed.tool_call as { shellToolCall: { result: HeldRun["result"] } };
  const session = lines[0]!.session_id as string;
  const shown = await runSheaf(["show", session, "--output-format", "documents"], { ...options, cwd });
  const { documents } = JSON.parse(shown.stdout) as { documents: { type: string; metadata: HeldRun }[] };
  const { permissions } = documents.find(({ type }) => type === "terminal_command")!.metadata;
  return {
    code,
    stderr,
    sandbox: lines[0]!.sandbox,
    notices: lines[0]!.notices,
    result: shellToolCall.result,
    permissions,
    cwd,
  };
}

describeWithBubblewrap("with a sandbox", () => {
  test(
    verifies(["S-30", "S-33", "C5", "N38"], "commands run without a rule, held, and the documents say so"),
    async () => {
      const run = await runCommand("echo hello; echo x > /etc/sheaf-test || true");
      expect([run.code, run.stderr, run.sandbox]).toEqual([0, "", "enabled"]);
      expect(run.result.success).toMatchObject({ exitCode: 0, stdout: "hello\n" });
      expect(run.permissions).toEqual([]);
      expect(existsSync("/etc/sheaf-test")).toBe(false);
    },
  );

  test(verifies(["S-97", "S-98"], "commands find the user's registry, and the caches of earlier runs"), async () => {
    const userHome = folders.newFolder({ ".config/pip/pip.conf": "index-url = https://registry.example/simple\n" });
    const environment = { HOME: userHome };
    const home = join(folders.newFolder(), "home");
    const cwd = folders.newFolder();
    const command = 'echo "$PIP_INDEX_URL"; cat "$XDG_CACHE_HOME/kept"; echo kept > "$XDG_CACHE_HOME/kept"';
    const options = { home, environment, cwd };
    const run = await runCommand(command, ["--allow", "Network(@python)"], options);
    expect(run.permissions).toEqual(["network"]);
    expect(run.result.success?.stdout).toBe("https://registry.example/simple\n");
    expect((await runCommand(command, [], options)).result.success?.stdout).toBe("\nkept\n");
    expect((await runCommand(command, [], { home, environment })).result.success?.stdout).toBe("\n");
  });

  test(verifies("S-104", "commands see a token for a registry by a rule only, and the documents say so"), async () => {
    const options = { environment: { NPM_TOKEN: "token" } };
    const none = await runCommand('echo "$NPM_TOKEN"', ["--allow", "Network(@npm)"], options);
    expect([none.permissions, none.result.success?.stdout]).toEqual([["network"], "\n"]);
    const shown = await runCommand('echo "$NPM_TOKEN"', ["--allow", "Credentials(@npm)"], options);
    expect([shown.permissions, shown.result.success?.stdout]).toEqual([["credentials"], "token\n"]);
  });

  test(
    verifies(["S-79", "S-31"], "a workspace with more repositories than it can hold fails the run, with the reason"),
    async () => {
      const repository = ["HEAD", "config", "objects/x", "refs/x"];
      const names = Array.from({ length: 310 }, (_, index) =>
        repository.map((name) => `r${index}/.git/${name}`),
      ).flat();
      const cwd = folders.newFolder(Object.fromEntries(names.map((name) => [name, "ref: refs/heads/main\n"])));
      const run = await runCommand("touch ran", [], { cwd });
      expect([run.code, existsSync(join(cwd, "ran"))]).toEqual([8, false]);
      expect(run.stderr).toMatch(
        /^sheaf: SANDBOX_UNAVAILABLE: the sandbox refused the command: no command runs, because \d+ places .*--workspace/,
      );
      expect(run.result.rejected!.reason).toContain("no command runs");
      const reading = await runCommand("ls", [], { cwd });
      expect(reading.code).toBe(0);
    },
  );

  test(verifies("S-250", "a TMPDIR that is not a folder changes nothing"), async () => {
    const run = await runCommand("echo x > /tmp/x; cat /tmp/x", [], { environment: { TMPDIR: "/nonexistent" } });
    expect(run.result.success).toMatchObject({ stdout: "x\n" });
  });

  test(verifies("S-31", "--no-save writes nothing"), async () => {
    const cwd = folders.newFolder();
    const home = join(folders.newFolder(), "home");
    const run = async (...args: readonly string[]): Promise<unknown> => {
      const words = ["-p", "--model", "offline", "--output-format", "stream-json", ...args, "hello"];
      const { stdout, code, stderr } = await runAsNeeded(words, { cwd, home });
      expect([code, stderr]).toEqual([0, ""]);
      return parseStream(stdout)[0]!.sandbox;
    };
    expect(await run("--no-save")).toBe("enabled");
    // Sheaf's own compiled code is not part of the run.
    const list = () =>
      (existsSync(home) ? readdirSync(home) : [])
        .filter((name) => name !== "compile-cache")
        .map((name) => [name, statSync(join(home, name)).mtimeMs]);
    expect(list()).toEqual([]);
    expect(await run()).toBe("enabled");
    const before = list();
    expect(await run("--no-save")).toBe("enabled");
    expect(list()).toEqual(before);
  });

  test(verifies(["S-30", "S-14"], "--force does not let a command out of it"), async () => {
    const run = await runCommand("echo x > /etc/sheaf-test || echo held", ["--force"]);
    expect(run.result.success).toMatchObject({ stdout: "held\n" });
    expect(run.permissions).toEqual([]);
  });

  test(
    verifies(["S-33", "C5"], "--sandbox disabled is reported: commands then need a rule and are called unsandboxed"),
    async () => {
      const refused = await runCommand("env echo hello", ["--sandbox", "disabled"]);
      expect([refused.code, refused.sandbox]).toEqual([0, "disabled"]);
      expect(refused.result.rejected!.reason).toMatch(/--force|--allow/);
      const forced = await runCommand("env echo hello", ["--sandbox", "disabled", "--force"]);
      expect(forced.result.success).toMatchObject({ stdout: "hello\n" });
      expect(forced.permissions).toEqual(["unsandboxed"]);
    },
  );
});

describeWithBubblewrap("doctor", () => {
  test(verifies("S-31", "names what holds commands, where it works, and what is switched off"), async () => {
    const cwd = folders.newFolder();
    const held = await runSheaf(["doctor", "--model", "offline"], { cwd });
    expect(held.stdout).toMatch(/^ok {4}sandbox {8}bubblewrap \(\/.*bwrap\) holds commands$/m);
    const off = await runSheaf(["doctor", "--model", "offline", "--sandbox", "disabled"], { cwd });
    expect([off.code, off.stdout]).toEqual([0, expect.stringMatching(/^warn {2}sandbox {8}switched off$/m)]);
  });
});

test(verifies("S-31", "a wrong value of --sandbox is a usage error"), async () => {
  const { code, stderr } = await runSheaf(["-p", "--sandbox", "off", "x"], { cwd: folders.newFolder() });
  expect([code, stderr]).toEqual([
    2,
    'sheaf: USAGE: --sandbox "off" is unknown: use one of enabled, disabled, container, container=root\n',
  ]);
});

describeWithBubblewrap("on a machine without namespaces", () => {
  const wrapper = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns"];

  test(verifies("S-31", "commands are refused, also with --force, and the result names the ways out"), async () => {
    for (const args of [[], ["--force"], ["--allow", "Shell(touch)"]]) {
      const run = await runCommand("touch ran", args, { wrapper });
      expect([run.code, run.sandbox]).toEqual([8, "unavailable"]);
      expect(run.stderr).toMatch(/^sheaf: SANDBOX_UNAVAILABLE: [^\n]*no sandbox works here[^\n]*\n$/);
      const { reason } = run.result.rejected!;
      expect(reason).toMatch(/no sandbox works here \(.*namespace.*--sandbox disabled.*--force/);
      expect(existsSync(join(run.cwd, "ran"))).toBe(false);
    }
  });

  test(verifies(["S-31", "C22"], "every format has the answer, and why its commands did not run"), async () => {
    const call = { tool: "run_terminal_cmd", arguments: { command: "touch ran" } };
    const turns = [{ events: [{ call }] }, { events: [{ text: "Not done." }] }];
    const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns }) });
    const print = async (...args: string[]) => {
      const run = await runProgram(["-p", "--model", "scripted:s.json", ...args, "go"], { cwd, wrapper });
      expect([run.code, run.stderr.split(":")[1]]).toEqual([8, " SANDBOX_UNAVAILABLE"]);
      return run.stdout;
    };
    const told = {
      notices: [{ code: "SANDBOX_UNAVAILABLE", message: expect.stringContaining("no sandbox works here") as string }],
    };
    expect(await print("--output-format", "text")).toMatch(/^Ran terminal command: refused [^]*\n\nNot done\.\n$/);
    expect(JSON.parse(await print("--output-format", "json"))).toMatchObject({ result: "Not done.", ...told });
    const lines = parseStream(await print("--output-format", "stream-json"));
    expect(lines[0]).toMatchObject(told);
    expect(lines.at(-1)).toMatchObject({ subtype: "error", is_error: true, result: "Not done.", ...told });
    const response = JSON.parse(await print("--output-format", "documents")) as { documents: object[] };
    expect(response).toMatchObject({ status: "error", metadata: { finishReason: "error", ...told } });
    expect(JSON.stringify(response.documents)).toContain("Not done.");
    expect(response.documents.at(-1)).toMatchObject({
      type: "error",
      metadata: { errorCode: "SANDBOX_UNAVAILABLE", source: "sandbox" },
    });
  });

  test(verifies("S-31", "a run without such a command succeeds; modes without commands have no notice"), async () => {
    const reading = await runCommand("ls", [], { wrapper });
    expect([reading.code, reading.stderr]).toEqual([0, ""]);
    for (const mode of ["ask", "plan"]) {
      const run = await runCommand("touch ran", ["--mode", mode], { wrapper });
      expect([run.code, run.stderr]).toEqual([0, ""]);
      expect(run.notices).toBeUndefined();
    }
    const without = await runCommand("touch ran", ["--exclude-tools", "run_terminal_cmd"], { wrapper });
    expect([without.code, without.notices]).toEqual([0, undefined]);
  });

  test(verifies("S-31", "doctor says so, with what to do, as text and as JSON"), async () => {
    const cwd = folders.newFolder();
    const key = "CANARY-KEY-1234567890";
    const options = { cwd, wrapper, environment: { ANTHROPIC_API_KEY: key } };
    const { code, stdout } = await runAsNeeded(["doctor", "--model", "offline"], options);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^fail {2}sandbox {8}no sandbox works here \(.*namespace.*\)\n {21}.*sysctl user\.max_user_namespaces=15000/m,
    );
    const asJson = await runAsNeeded(["doctor", "--json", "--model", "offline"], options);
    const { ok, checks } = JSON.parse(asJson.stdout) as { ok: boolean; checks: { name: string }[] };
    expect([asJson.code, ok]).toEqual([1, false]);
    expect(checks.find(({ name }) => name === "sandbox")).toMatchObject({
      status: "fail",
      advice: expect.stringContaining("every command is refused"),
    });
    expect(stdout + asJson.stdout).not.toContain(key);
  });

  test(verifies(["S-31", "C20"], "--on-denied stop ends with exit code 8 and says why"), async () => {
    const run = await runCommand("touch ran", ["--on-denied", "stop"], { wrapper });
    expect(run.code).toBe(8);
    expect(run.stderr).toMatch(/^sheaf: PERMISSION_REQUIRED: commands are refused because no sandbox works here/);
  });

  test(
    verifies(["S-254", "C5", "C15"], "--sandbox container runs them, and init, documents and stderr show it"),
    async () => {
      const told = { code: "NOT_CONTAINED", message: expect.stringContaining("not contained") as string };
      const home = folders.newFolder({ "config.json": '{"sandbox":"container"}' });
      const key = { ANTHROPIC_API_KEY: "CANARY-KEY" };
      for (const [args, options] of [
        [["--sandbox", "container"], {}],
        [["--sandbox", "container", "--force"], {}],
        [[], { environment: { SHEAF_SANDBOX: "container" } }],
        [[], { home }],
      ] as const) {
        const environment = { ...key, ...("environment" in options && options.environment) };
        const run = await runCommand('touch ran; echo "<$ANTHROPIC_API_KEY>"', args, {
          wrapper,
          ...options,
          environment,
        });
        expect([run.code, run.sandbox, run.permissions]).toEqual([0, "container", ["unsandboxed"]]);
        expect(run.notices).toEqual([told]);
        expect(run.stderr).toMatch(/^sheaf: notice: commands are not contained: [^\n]*\n$/);
        expect(run.result.success).toMatchObject({ stdout: "<>\n" });
        expect(existsSync(join(run.cwd, "ran"))).toBe(true);
      }
    },
  );

  test(verifies("S-254", "a workspace's configuration never chooses it"), async () => {
    const cwd = folders.newFolder({ ".sheaf/config.json": '{"sandbox":"container"}' });
    const run = await runCommand("touch ran", [], { wrapper, cwd });
    expect([run.code, run.sandbox]).toEqual([8, "unavailable"]);
    const words = ["-p", "--trust", "--model", "offline", "hello"];
    expect((await runAsNeeded(words, { cwd, wrapper })).stderr).toMatch(/^sheaf: CONFIG_INVALID: .*sandbox/);
  });

  test(verifies("S-31", "--sandbox disabled with --force runs them, and says that nothing holds them"), async () => {
    const run = await runCommand("touch ran", ["--sandbox", "disabled", "--force"], { wrapper });
    expect([run.code, run.sandbox, run.permissions]).toEqual([0, "disabled", ["unsandboxed"]]);
    expect(existsSync(join(run.cwd, "ran"))).toBe(true);
  });
});
