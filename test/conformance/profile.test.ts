/** The profile `cursor-2026`: by flag, by name, and through the launcher that `install-alias` makes. */
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createModelServer } from "../support/model-server.ts";
import { createTestFolder, runProgram, runSheaf, sheafProgram, toLines } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const prompt = ["-p", "--model", "offline", "Read README.md"];
const newFolder = (): string => folders.newFolder({ "README.md": "# Wordy\n\nCounts words.\n" });

describe("by flag", () => {
  test(verifies("C30", "the default format is text, the final message only"), async () => {
    const cwd = newFolder();
    const { code, stdout, stderr } = await runSheaf([...prompt, "--compat", "cursor-2026"], { cwd });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toContain("Read file");
    expect(stdout).toContain("Counts words.");
  });

  test(verifies("C30", "an explicit flag wins, and no line has a field of Sheaf's own"), async () => {
    const args = [...prompt, "--compat=cursor-2026", "--output-format", "stream-json", "--sandbox", "disabled"];
    const { stdout } = await runSheaf(args, { cwd: newFolder() });
    const [init, ...rest] = toLines(stdout).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(Object.keys(init!)).toEqual([
      "type",
      "subtype",
      "apiKeySource",
      "cwd",
      "session_id",
      "model",
      "permissionMode",
    ]);
    expect(Object.keys(rest.at(-1)!)).toEqual([
      "type",
      "subtype",
      "duration_ms",
      "duration_api_ms",
      "is_error",
      "result",
      "session_id",
      "request_id",
      "usage",
    ]);
  });

  test(verifies("C30", "json has no field of Sheaf's own either, and a question prints nothing"), async () => {
    const question = { id: "q", prompt: "Which?", options: [{ id: "a", label: "A" }] };
    const ask = { tool: "ask_question", arguments: { title: "T", questions: [question] } };
    const cwd = folders.newFolder({
      "README.md": "# Hi\n",
      "ask.json": JSON.stringify({ turns: [{ events: [{ call: ask }] }] }),
      "schema.json": '{"type":"integer"}',
      "seven.json": JSON.stringify({ turns: [{ events: [{ text: "7" }] }] }),
    });
    const print = async (...args: readonly string[]) => {
      const words = ["-p", "--compat=cursor-2026", "--output-format", "json", ...args];
      const { code, stdout } = await runSheaf(words, { cwd });
      return { code, keys: stdout === "" ? [] : Object.keys(JSON.parse(stdout) as object) };
    };
    const keys = [
      "type",
      "subtype",
      "is_error",
      "duration_ms",
      "duration_api_ms",
      "result",
      "session_id",
      "request_id",
      "usage",
    ];
    expect(await print("--model", "offline", "Read README.md")).toEqual({ code: 0, keys });
    expect(await print("--model", "scripted:ask.json", "go")).toEqual({ code: 10, keys: [] });
    // What a flag asks for wins over the profile.
    expect(await print("--model", "scripted:seven.json", "--output-schema", "schema.json", "go")).toEqual({
      code: 0,
      keys: [...keys, "structured_output"],
    });
  });

  test(verifies(["C30", "C31"], "a stored run can be shown in the other profile"), async () => {
    const cwd = newFolder();
    const session = "7f1e9a52-6a0f-4f1b-9c41-1f1c7d2f3a10";
    await runSheaf([...prompt, "--session-id", session], { cwd });
    const args = ["show", session, "--output-format", "stream-json"];
    const own = await runSheaf(args, { cwd });
    const other = await runSheaf([...args, "--compat", "cursor-2026"], { cwd });
    expect(own.stdout).toContain('"schema_version"');
    expect(other.stdout).not.toContain('"schema_version"');
    expect(toLines(other.stdout).length).toBeGreaterThan(4);
  });

  test(verifies("C30", "SIGINT says Aborting operation..., without a result line"), async () => {
    const cwd = folders.newFolder({
      "slow.json": JSON.stringify({ turns: [{ events: [{ text: "begin" }, { wait_ms: 60_000 }, { text: "end" }] }] }),
    });
    const args = ["-p", "--model", "scripted:slow.json", "--compat=cursor-2026", "--output-format=stream-json"];
    const { code, stdout, stderr } = await runProgram([...args, "--stream-partial-output", "go"], {
      cwd,
      onOutput: (output, child) => {
        if (output.includes('"begin"')) child.kill("SIGINT");
      },
    });
    expect(code).toBe(130);
    expect(stderr.split("\n")[0]).toBe("Aborting operation...");
    expect(stdout).not.toContain('"type":"result"');
  });
});

describe("by name", () => {
  test.each(["cursor-agent", "agent"])(verifies("C30", "a link named %s starts the profile"), async (name) => {
    const cwd = newFolder();
    const link = join(cwd, name);
    symlinkSync(sheafProgram, link);
    const running = promisify(execFile)(process.execPath, [link, ...prompt], {
      cwd,
      env: { PATH: process.env.PATH, HOME: cwd, SHEAF_HOME: join(cwd, "home") },
    });
    running.child.stdin!.end();
    const { stdout } = await running;
    expect(stdout).not.toContain("Read file");
    expect(stdout).toContain("Counts words.");
  });

  test(verifies("C30", "install-alias makes programs that start with this Node and this Sheaf"), async () => {
    const cwd = newFolder();
    mkdirSync(join(cwd, "bin"));
    const made = await runSheaf(["install-alias", "bin"], { cwd });
    expect([made.code, made.stderr]).toEqual([0, ""]);
    expect(made.stdout).toBe(`${join(cwd, "bin/cursor-agent")}\n${join(cwd, "bin/agent")}\n`);
    const running = promisify(execFile)(join(cwd, "bin/cursor-agent"), prompt, {
      cwd,
      env: { HOME: cwd, SHEAF_HOME: join(cwd, "home") },
    });
    running.child.stdin!.end();
    const { stdout } = await running;
    expect(stdout).toContain("Counts words.");
    // A second run replaces what the first one made.
    expect((await runSheaf(["install-alias", "bin"], { cwd })).code).toBe(0);
  });

  test(verifies(["C30", "C210"], "install-alias --as makes one program, in its own profile"), async () => {
    const cwd = newFolder();
    const made = await runSheaf(["install-alias", ".", "--as", "codex"], { cwd });
    expect([made.code, made.stdout]).toEqual([0, `${join(cwd, "codex")}\n`]);
    expect(readFileSync(join(cwd, "codex"), "utf8")).toContain(' --compat=codex-2026 "$@"');
    const own = await runSheaf(["install-alias", ".", "--as", "sheaf"], { cwd });
    expect([own.code, readFileSync(join(cwd, "sheaf"), "utf8")]).toEqual([0, expect.stringContaining('=sheaf "$@"')]);
    const other = await runSheaf(["install-alias", ".", "--as", "codexx"], { cwd });
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('--as "codexx" is unknown: use one of')]);
  });

  test(verifies("C30", "install-alias never replaces the program that runs it"), async () => {
    const cwd = newFolder();
    const program = join(cwd, "sheaf");
    symlinkSync(sheafProgram, program);
    const words = [program, "install-alias", ".", "--as", "sheaf", "--overwrite"];
    const failure: unknown = await promisify(execFile)(process.execPath, words, { cwd }).catch((error) => error);
    expect(failure).toMatchObject({ code: 2, stderr: expect.stringContaining("choose another folder") });
    expect(readlinkSync(program)).toBe(sheafProgram);
  });

  test(verifies("C30", "install-alias replaces nothing that others made"), async () => {
    const cwd = newFolder();
    const other = join(cwd, "cursor-agent");
    writeFileSync(other, "#!/bin/sh\necho theirs\n");
    chmodSync(other, 0o755);
    const { code, stderr } = await runSheaf(["install-alias", "."], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(`${other} exists already, and Sheaf did not make it: move it away, or pass --overwrite`);
    expect(readFileSync(other, "utf8")).toContain("theirs");
    expect((await runSheaf(["install-alias", ".", "--force"], { cwd })).code).toBe(2);
    expect((await runSheaf(["install-alias", ".", "--overwrite"], { cwd })).code).toBe(0);
    expect(readFileSync(other, "utf8")).not.toContain("theirs");
  });
});

describe("what a client passes for another program", () => {
  test(
    verifies(["C15", "C43", "C45", "C47"], "has a notice in init and on stderr, and no key goes anywhere"),
    async () => {
      const chunk = { choices: [{ index: 0, delta: { content: "Hello." }, finish_reason: "stop" }] };
      const provider = await createModelServer({ chunks: [`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`] });
      const environment = { CURSOR_API_KEY: "key_CANARY1", SHEAF_MODEL: "openai-compatible/m" };
      const stream = ["-p", "--output-format=stream-json", "--sandbox=disabled", "--base-url", `${provider.url}/v1`];
      const words = [...stream, "--compat=cursor-2026", "--model", "gpt-5", "--api-key", "key_CANARY2", "-c", "go"];
      const { code, stdout, stderr } = await runSheaf(words, { cwd: newFolder(), environment });
      const [init] = toLines(stdout).map((line) => JSON.parse(line) as { notices?: readonly string[] });
      expect(code).toBe(0);
      expect(init!.notices).toEqual([
        expect.stringMatching(/^-c is ignored/),
        expect.stringMatching(/^the key of --api-key is Cursor's/),
        expect.stringMatching(/^openai-compatible\/m answers instead of the model gpt-5/),
      ]);
      expect(stderr).toBe(init!.notices!.map((notice) => `sheaf: notice: ${notice}\n`).join(""));
      expect(provider.requests.length).toBe(1);
      expect(JSON.stringify(provider.requests) + stdout + stderr).not.toContain("CANARY");
      await provider.close();
    },
  );

  test(verifies("C47", "the configuration cannot name Cursor's key for a provider"), async () => {
    const lab = { protocol: "openai-chat", baseUrl: "http://127.0.0.1:1/v1", apiKeyEnv: "CURSOR_API_KEY" };
    const cwd = folders.newFolder({ "home/config.json": JSON.stringify({ endpoints: { lab } }) });
    const { code, stderr } = await runSheaf(["-p", "--model", "lab/m", "go"], { cwd, home: join(cwd, "home") });
    expect(code).toBe(2);
    expect(stderr).toContain("not CURSOR_API_KEY");
  });

  test(verifies("C44", "text comes once, unless the configuration asks for deltas and segments"), async () => {
    const script = { turns: [{ events: [{ text: "It counts words.", chunk: 5 }] }] };
    const cwd = folders.newFolder({
      "s.json": JSON.stringify(script),
      "home/config.json": "{}",
      "both/config.json": '{"partialOutput":"both"}',
    });
    const words = ["-p", "--model", "scripted:s.json", "--compat=cursor-2026", "--output-format=stream-json"];
    const read = async (home: string): Promise<string> => {
      const { stdout } = await runSheaf([...words, "--stream-partial-output", "go"], { cwd, home: join(cwd, home) });
      const lines = toLines(stdout).map((line) => JSON.parse(line) as { type: string; message?: AssistantMessage });
      return lines.flatMap(({ type, message }) => (type === "assistant" ? [message!.content[0].text] : [])).join("");
    };
    expect(await read("home")).toBe("It counts words.");
    expect(await read("both")).toBe("It counts words.It counts words.");
  });
});

interface AssistantMessage {
  readonly content: readonly [{ readonly text: string }];
}

describe("commands that clients ask first", () => {
  test(verifies("C43", "models and --list-models print names without a slash, which --model takes"), async () => {
    const lab = { protocol: "openai-chat", baseUrl: "http://127.0.0.1:1/v1", models: ["v/large"] };
    const config = { model: "offline", endpoints: { lab }, modelAliases: { "gpt-5": "lab/v/large", "*": "offline" } };
    const cwd = folders.newFolder({ "home/config.json": JSON.stringify(config) });
    const options = { cwd, home: join(cwd, "home"), environment: { CURSOR_API_KEY: "key_1" } };
    const words = ["--compat=cursor-2026", "--api-key", "key_1"];
    const listed = await runSheaf([...words, "models"], options);
    expect([listed.code, listed.stderr]).toEqual([0, ""]);
    expect(listed.stdout.split("\n").slice(0, 3)).toEqual(["Available models", "", "auto - Auto  (current)"]);
    expect(listed.stdout).toContain("\ngpt-5 - lab/v/large\n");
    expect(listed.stdout).toContain("\nlab__v__large - lab/v/large\n");
    expect((await runSheaf([...words, "--list-models"], options)).stdout).toBe(listed.stdout);
    const run = await runSheaf(["-p", ...words, "--model", "lab__v__large", "go"], options);
    expect(run.stderr).toContain("lab, model v/large");
  });

  test(verifies("C43", "about and mcp list-tools have the form that clients read"), async () => {
    const server = join(import.meta.dirname, "../support/mcp-server.ts");
    const config = { model: "offline", mcpServers: { math: { command: process.execPath, args: [server] } } };
    const cwd = folders.newFolder({ "home/config.json": JSON.stringify(config) });
    const print = async (...words: readonly string[]) => {
      const { code, stdout, stderr } = await runSheaf([...words, "--compat=cursor-2026"], {
        cwd,
        home: join(cwd, "home"),
      });
      return [code, stdout + stderr] as const;
    };
    const [, about] = await print("about");
    expect(about).toMatch(/^CLI Version {2,}\S+\nModel {2,}offline\nUser Email {2,}offline\n/);
    expect(JSON.parse((await print("about", "--format", "json"))[1])).toMatchObject({
      cliVersion: expect.any(String) as string,
      model: "offline",
      userEmail: "offline",
    });
    const [code, tools] = await print("mcp", "list-tools", "math");
    expect(code).toBe(0);
    expect(tools).toMatch(/^Tools for math \(5\):\n(- \w+ \([\w, ]*\)\n){5}$/);
    expect(tools).toContain("- add (a, b)\n");
    expect(await print("mcp", "enable", "math")).toEqual([0, expect.stringContaining("math is enabled")]);
    expect(await print("mcp", "disable", "math")).toEqual([2, expect.stringContaining("sheaf mcp remove math")]);
    expect(await print("mcp", "list-tools", "none")).toEqual([2, expect.stringContaining('no MCP server "none"')]);
    // A server of the workspace is not enabled by a program that says so: its content needs a yes (S-87).
    writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { own: { command: "touch", args: ["x"] } } }));
    expect(await print("mcp", "enable", "own")).toEqual([2, expect.stringContaining("not trusted")]);
    expect(await print("mcp", "enable", "own", "--trust")).toEqual([2, expect.stringContaining("Sheaf cannot ask")]);
  });
});

describe("status", () => {
  const status = async (environment: Record<string, string>, ...args: readonly string[]) => {
    const cwd = newFolder();
    const options = { cwd, home: join(cwd, "home"), environment };
    const text = await runSheaf(["status", "--compat", "cursor-2026", ...args], options);
    const json = await runSheaf(["status", "--compat", "cursor-2026", "--format", "json", ...args], options);
    expect([text.code, json.code]).toEqual([0, 0]);
    const { isAuthenticated, status: word } = JSON.parse(json.stdout) as { isAuthenticated: boolean; status: string };
    expect(word).toBe(isAuthenticated ? "authenticated" : "unauthenticated");
    return [text.stdout, isAuthenticated] as const;
  };

  test(
    verifies(["C30", "C43"], "says the same in text and JSON: whether a run would find its model and key"),
    async () => {
      const key = { ANTHROPIC_API_KEY: "CANARY" };
      expect(await status({}, "--model", "offline")).toEqual(["Logged in as offline\n", true]);
      expect(await status({ ...key, SHEAF_MODEL: "anthropic/m" }, "--model", "auto")).toEqual([
        "Logged in as anthropic (anthropic/m)\n",
        true,
      ]);
      // Clients that name the model with each prompt ask before they know it.
      expect(await status(key)).toEqual(["Logged in as anthropic\n", true]);
      for (const [environment, ...args] of [
        [{}],
        [{}, "--model", "anthropic/m"],
        [key, "--model", "openai/m"],
      ] as const) {
        expect(await status(environment, ...args)).toEqual([expect.stringMatching(/^Not logged in: /), false]);
      }
    },
  );
});
