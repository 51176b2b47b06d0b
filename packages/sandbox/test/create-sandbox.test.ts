import type { ChildProcess } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import { runInLauncher } from "../src/create-sandbox.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeBothWays, describeWithSandbox, openHeldRun } from "./sandbox-run.ts";

describeBothWays("outcome", (runCommand, isHeld) => {
  test(verifies("N37", "stdout and stderr are apart, and together in order of arrival"), async () => {
    const outcome = await runCommand("echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three");
    expect(outcome).toEqual({
      exitCode: 0,
      signal: "",
      timedOut: false,
      cancelled: false,
      stdout: "one\nthree\n",
      stderr: "two\n",
      output: "one\ntwo\nthree\n",
      truncated: false,
      bytes: 14,
      startError: "",
      refusal: "",
      refusals: [],
      permissions: isHeld ? [] : ["unsandboxed"],
    });
  });

  test.each([
    ["exit 0", 0, ""],
    ["exit 3", 3, ""],
    ["exit 255", 255, ""],
    ["false", 1, ""],
    ["no-such-program-here", 127, ""],
    ["kill -TERM $$", 143, "SIGTERM"],
    ["kill -KILL $$", 137, "SIGKILL"],
    ["kill -SEGV $$", 139, "SIGSEGV"],
    ["kill -HUP $$", 129, "SIGHUP"],
    ["sh -c 'kill -KILL $$'; exit $?", 137, ""],
  ])(verifies("N37", "%s ends with exit code %i and signal %j"), async (command, exitCode, signal) => {
    expect(await runCommand(command)).toMatchObject({
      exitCode,
      signal,
      timedOut: false,
      cancelled: false,
      startError: "",
    });
  });

  test(verifies(["N38", "S-33"], "its permissions say whether anything holds it"), async () => {
    expect((await runCommand("true")).permissions).toEqual(isHeld ? [] : ["unsandboxed"]);
  });

  test("standard input is empty, and there is no terminal", async () => {
    const outcome = await runCommand("cat; read -r line || echo end; tty; test -t 1 || echo none");
    expect(outcome.stdout).toBe("end\nnot a tty\nnone\n");
  });

  test("the working directory is the one that was asked for", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sheaf folder ü "));
    expect((await runCommand("pwd", { workingDirectory: folder })).stdout).toBe(`${folder}\n`);
  });

  test(verifies("S-12", "no start file of the shell is read, neither by HOME nor by variable"), async () => {
    const home = mkdtempSync(join(tmpdir(), "sheaf-home-"));
    for (const name of [".bashrc", ".bash_profile", ".profile", ".bash_login", ".shrc"])
      writeFileSync(join(home, name), "echo STARTED");
    const variables = { ...environment, HOME: home, BASH_ENV: join(home, ".bashrc"), ENV: join(home, ".bashrc") };
    expect((await runCommand("echo end", {}, variables)).output).toBe("end\n");
  });

  test(verifies("S-12", "the text runs as it is, also if it begins like an option or has several lines"), async () => {
    expect((await runCommand("-c 'echo x'")).exitCode).toBe(127);
    expect((await runCommand("--version")).exitCode).toBe(127);
    expect((await runCommand("echo a\necho 'b\n  c' # d\n")).stdout).toBe("a\nb\n  c\n");
    expect((await runCommand("cat <<'EOF'\n$x `y` ü \u{1f600}\nEOF")).stdout).toBe("$x `y` ü \u{1f600}\n");
  });
});

describeBothWays("commands that never start", (runCommand) => {
  test.each([
    ["a missing folder", "true", "/no/such/folder", /working directory \/no\/such\/folder is not a usable folder/],
    ["a file as folder", "true", "/etc/hostname", /is not a usable folder/],
    ["a NUL character", "echo a\0b", undefined, /NUL character/],
    [
      "a text that is longer than the system allows",
      `echo ${"a".repeat(3_000_000)}`,
      undefined,
      /longer than the system allows/,
    ],
  ])(verifies("N37", "%s is a value, with exit code -1"), async (_, command, workingDirectory, reason) => {
    const outcome = await runCommand(command, workingDirectory === undefined ? {} : { workingDirectory });
    expect(outcome).toMatchObject({ exitCode: -1, output: "", signal: "", cancelled: false });
    expect(outcome.startError).toMatch(reason);
    expect(outcome.startError).not.toContain("\n");
  });

  test("a command whose run is cancelled already does not start", async () => {
    const outcome = await runCommand("touch /tmp/sheaf-never", { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ exitCode: -1, cancelled: true, bytes: 0 });
  });
});

describeBothWays("environment", (runCommand, isHeld) => {
  const canaries = {
    ANTHROPIC_API_KEY: "CANARY-1", OPENAI_API_KEY: "CANARY-2", AWS_SECRET_ACCESS_KEY: "CANARY-3", GITHUB_TOKEN: "CANARY-4",
    SHEAF_TOKEN: "CANARY-5", SSH_AUTH_SOCK: "/CANARY-6", NODE_OPTIONS: "--CANARY-7", BASH_ENV: "/CANARY-8", ENV: "/CANARY-9",
    LD_PRELOAD: "", LD_LIBRARY_PATH: "/CANARY-10", "BASH_FUNC_ls%%": "() { echo CANARY-11; }", PROMPT_COMMAND: "echo CANARY-12",
    GIT_SSH_COMMAND: "CANARY-13", npm_config_token: "CANARY-14", LC_secret: "CANARY-15", PATHX: "CANARY-16", path: "CANARY-17",
    XDG_RUNTIME_DIR: "/CANARY-18", IFS: "CANARY-19", PS4: "CANARY-20", SHELLOPTS: "xtrace", CDPATH: "/CANARY-21",
    JAVA_HOME: "CANARY-22",
  }; // prettier-ignore

  test(verifies("S-40", "no canary reaches a command: neither its variables nor its functions"), async () => {
    const { output } = await runCommand(
      "env; set; export -p; ls; tr '\\0' '\\n' < /proc/self/environ",
      {},
      { ...environment, ...canaries },
    );
    expect(output).not.toContain("CANARY");
    expect(output).not.toContain("xtrace:");
  });

  test(verifies("S-40", "the variables of the allow list do, and a marker that differs each time"), async () => {
    const allowed = {
      PATH: "/usr/bin:/bin", HOME: "/tmp", LANG: "C.UTF-8", LC_ALL: "C.UTF-8", LC_TIME: "C", TERM: "xterm", TMPDIR: "/tmp", TZ: "UTC",
      USER: "u", LOGNAME: "l", SHELL: "/bin/sh", RUSTUP_HOME: "/opt/rustup", SSL_CERT_FILE: "/etc/certificates.pem",
    }; // prettier-ignore
    const read = async (): Promise<string[]> => {
      const { stdout } = await runCommand("tr '\\0' '\\n' < /proc/$$/environ", {}, { ...allowed, ...canaries });
      return stdout.trim().split("\n").toSorted();
    };
    const [first, second] = [await read(), await read()];
    const expected = Object.entries(allowed).map(([name, value]) => `${name}=${value}`);
    // What a shell sets by itself where it runs another one.
    const own = /^(GIT_OPTIONAL_LOCKS|SHEAF_CALL|SHLVL|PWD|OLDPWD|_)=/;
    const caches =
      /^(XDG_CACHE_HOME|npm_config_cache|PNPM_HOME|YARN_GLOBAL_FOLDER|GOMODCACHE|GRADLE_USER_HOME|CARGO_HOME|MAVEN_OPTS)=.*\/tmp\/\.cache/;
    expect(
      first.filter(
        (line) => !own.test(line) && !(isHeld && (caches.test(line) || /_(RETRIES|RETRY|retries)=0$/.test(line))),
      ),
    ).toEqual(expected.toSorted());
    expect(first.find((line) => line.startsWith("SHEAF_CALL="))).toMatch(/=[0-9a-f-]{36}$/);
    expect(first).not.toEqual(second);
  });

  test.each([
    ["/a:.:/b::c:./d:/e", "/a:/b:/e"],
    [".", "/usr/local/bin:/usr/bin:/bin"],
    ["", "/usr/local/bin:/usr/bin:/bin"],
  ])(verifies("S-12", "no relative entry of PATH is used: %j"), async (path, expected) => {
    expect((await runCommand('echo "$PATH"', {}, { ...environment, PATH: path })).stdout).toBe(`${expected}\n`);
  });
});

test(verifies("R-24", "a process that SIGKILL does not end is left behind"), async () => {
  const never = new Promise<never>(() => undefined);
  const child = {} as ChildProcess;
  const start = async () => ({
    process: {
      child,
      isRunning: () => true,
      ended: never,
      closed: never,
      kill: () => undefined,
      release: () => undefined,
    },
    pipes: {
      stdio: ["pipe", "pipe"] as const,
      gate: "pipe" as const,
      follow: () => undefined,
      ended: never,
      close: () => undefined,
    },
    tree: { end: async () => undefined, look: () => undefined },
    toSignal: () => undefined,
    findStartError: () => "",
    moveToBackground: () => undefined,
    release: () => ["It is still there."],
  });
  const launcher = { file: "/bin/none", permissions: [], start, close: async () => undefined };
  const network = createCommandNetwork({ allow: [], deny: [] });
  const options = { sandbox: { state: "disabled" }, writable: ["/"], environment, network } as const;
  const request = { command: "x", workingDirectory: "/", onOutput: () => undefined };
  const limited = { ...request, timeoutMs: 10, signal: new AbortController().signal };
  expect(await runInLauncher(limited, launcher, options)).toMatchObject({
    exitCode: 124,
    signal: "SIGKILL",
    timedOut: true,
    refusals: ["It is still there."],
  });
  const cancelled = { ...request, timeoutMs: undefined, signal: AbortSignal.timeout(10) };
  expect(await runInLauncher(cancelled, launcher, options)).toMatchObject({ exitCode: 137, cancelled: true });
});

describeWithSandbox("a runner", () => {
  test("may be ended twice", async () => {
    const network = createCommandNetwork({ allow: ["Network(example.org)"], deny: [] });
    const { run, end } = openHeldRun(createFolder("workspace"), { network });
    expect(await run("true")).toMatchObject({ exitCode: 0 });
    await end();
    await end();
  });
});
