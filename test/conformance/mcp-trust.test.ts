/** Servers that a workspace names: none starts before its user has seen it and said yes (S-87), and none of them is a file of the workspace (S-88). */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk/unstable";
import { afterEach, describe, expect, test } from "vitest";
import { createAgent } from "../../packages/agent/src/index.ts";
import { say, startEditor } from "../support/acp-editor.ts";
import { describeWithProgram } from "../support/programs.ts";
import { startServer } from "../support/server.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { openTerminal, type Terminal } from "../support/terminal.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const program = join(import.meta.dirname, "../support/mcp-server.ts");
const hello = JSON.stringify({ turns: [{ events: [{ text: "Done." }] }], after: "loop" });

/** A workspace whose `.mcp.json` names `math`, which leaves a marker when it starts. */
function createWorkspace() {
  const outside = folders.newFolder({ "s.json": hello });
  const workspace = folders.newFolder();
  const marker = join(outside, "started");
  const line = `touch '${marker}'; exec '${process.execPath}' '${program}'`;
  const math = { command: "sh", args: ["-c", line] };
  const write = (servers: unknown, indent?: number): void =>
    writeFileSync(join(workspace, ".mcp.json"), JSON.stringify({ mcpServers: servers }, undefined, indent));
  write({ math });
  const home = join(outside, "home");
  const sheaf = (args: readonly string[], more: { cwd?: string; environment?: Record<string, string> } = {}) =>
    runSheaf(args, { cwd: workspace, home, ...more, environment: { HOME: outside, ...more.environment } });
  return {
    outside,
    workspace,
    home,
    math,
    write,
    sheaf,
    /** Whether it has started since the last look. */
    hasStarted: (): boolean => {
      const started = existsSync(marker);
      rmSync(marker, { force: true });
      return started;
    },
    /** Says yes to what `.mcp.json` says now. */
    trust: async (name = "math") => {
      await sheaf(["trust"]);
      const { stdout } = await sheaf(["mcp", "trust", name]);
      const [, digest = ""] = /^ {2}digest +([0-9a-f]{64})$/m.exec(stdout) ?? [];
      return sheaf(["mcp", "trust", name, "--digest", digest]);
    },
    /** The servers in the first line of a run. */
    run: async (args: readonly string[] = [], more: Parameters<typeof sheaf>[1] = {}) => {
      const result = await sheaf(["-p", "--model", `scripted:${join(outside, "s.json")}`, ...args, "go"], more);
      expect([result.code, result.stderr]).toEqual([0, ""]);
      return (parseStream(result.stdout)[0] as { mcp_servers?: readonly object[] }).mcp_servers;
    },
  };
}

const notTrusted = {
  name: "math",
  status: "not_trusted",
  tools: [],
  problem: "not trusted: look at it with sheaf mcp trust math",
};

describe("trust in the workspace alone", () => {
  test(
    verifies(["S-87", "S-01"], "starts none of its servers, whatever else is allowed; the first line says so"),
    async () => {
      const { run, sheaf, hasStarted } = createWorkspace();
      expect(await run()).toBeUndefined();
      expect(await run(["--trust"])).toEqual([notTrusted]);
      expect(await run(["--trust", "--force", "--approve-mcps", "--allow", "Mcp(math:*)"])).toEqual([notTrusted]);
      expect(await run(["--mode", "debug"], { environment: { SHEAF_TRUST: "1" } })).toEqual([notTrusted]);
      await sheaf(["trust"]);
      expect(await run()).toEqual([notTrusted]);
      const list = await sheaf(["mcp", "list"]);
      expect(list.stdout).toBe("math (.mcp.json): not trusted: look at it with sheaf mcp trust math\n");
      expect(hasStarted()).toBe(false);
    },
  );

  test(verifies("S-87", "starts none for the server, for editors and for programs either"), async () => {
    const { workspace, home, outside, sheaf, trust, hasStarted } = createWorkspace();
    const model = `scripted:${join(outside, "s.json")}`;
    await sheaf(["trust"]);
    const server = await startServer({ home, cwd: workspace, args: ["--trust"], environment: { HOME: outside } });
    expect((await server.chat({ message: "hi" })).status).toBe(200);
    expect(server.log()).toContain('"event":"mcp_server_unused"');
    expect(await promptAsEditor(workspace, home, ["--trust", "--model", model])).toEqual({ stopReason: "end_turn" });
    const runAgent = async (dataFolder?: string): Promise<void> => {
      await using agent = createAgent({
        workspace,
        model,
        trusted: true,
        sandbox: "disabled",
        ...(dataFolder !== undefined && { dataFolder }),
      });
      expect((await agent.run("hi").result).status).toBe("completed");
    };
    await runAgent();
    await runAgent(home);
    expect(hasStarted()).toBe(false);
    await trust();
    await runAgent();
    expect(hasStarted()).toBe(false);
    await runAgent(home);
    expect(hasStarted()).toBe(true);
  });
});

/** One prompt over the Agent Client Protocol; gives the response. */
async function promptAsEditor(cwd: string, home: string, args: readonly string[]): Promise<unknown> {
  const { agent } = (await startEditor(cwd, args, { home })).connection;
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  return agent.request(methods.agent.session.prompt, say(sessionId, "hi"));
}

describe("a yes", () => {
  test(verifies(["S-87", "S-02"], "applies to the content and the repository that it was given for"), async () => {
    const { run, trust, write, math, sheaf, workspace, outside, hasStarted } = createWorkspace();
    expect((await trust()).stdout).toBe("Trusted: math\n");
    expect(await run()).toMatchObject([{ name: "math", status: "ready" }]);
    expect((await sheaf(["mcp", "list"])).stdout).toBe("math (.mcp.json): ready (5 tools)\n");
    expect(hasStarted()).toBe(true);
    // Another layout is the same content.
    write({ math: { args: math.args, command: math.command } }, 4);
    expect(await run()).toMatchObject([{ status: "ready" }]);
    expect(hasStarted()).toBe(true);

    const changed = {
      ...notTrusted,
      status: "changed",
      problem: notTrusted.problem.replace("not trusted", "changed since you trusted it"),
    };
    for (const change of [
      { args: [...math.args, "x"] },
      { env: { NODE_OPTIONS: "" } },
      { command: "bash" },
      { timeoutSeconds: 1 },
    ]) {
      write({ math: { ...math, ...change } });
      expect(await run()).toEqual([changed]);
    }
    // The same content under another name.
    write({ other: math });
    expect(await run()).toMatchObject([{ name: "other", status: "not_trusted" }]);
    write({ math });
    const copy = join(outside, "copy");
    cpSync(workspace, copy, { recursive: true });
    expect(await run(["--trust"], { cwd: copy })).toEqual([notTrusted]);
    mkdirSync(join(workspace, ".git"));
    expect(await run(["--trust"])).toEqual([notTrusted]);
    expect(hasStarted()).toBe(false);
  });

  test(verifies("S-87", "needs the trust in the workspace besides, and is withdrawn"), async () => {
    const { run, trust, sheaf, hasStarted } = createWorkspace();
    expect((await sheaf(["mcp", "trust"])).stderr).toMatch(
      /USAGE: the workspace .* is not trusted: trust it first, with sheaf trust/,
    );
    await trust();
    expect(await run([], { environment: { SHEAF_TRUST: "0" } })).toBeUndefined();
    expect((await sheaf(["mcp", "trust", "--remove", "other"])).stdout).toBe("None of these servers was trusted.\n");
    expect((await sheaf(["mcp", "trust", "--remove"])).stdout).toBe("Not trusted any more: math\n");
    expect(await run()).toEqual([notTrusted]);
    await trust();
    await sheaf(["trust", "--remove"]);
    expect(await run()).toBeUndefined();
    expect(await run(["--trust"])).toEqual([notTrusted]);
    expect(hasStarted()).toBe(false);
  });

  test(verifies("S-87", "without a terminal names the digest of the content"), async () => {
    const { run, sheaf, hasStarted } = createWorkspace();
    await sheaf(["trust"]);
    const asked = await sheaf(["mcp", "trust"]);
    expect([asked.code, asked.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^sheaf: USAGE: Sheaf cannot ask without a terminal: .* sheaf mcp trust math --digest [0-9a-f]{64}\n$/,
      ) as string,
    ]);
    const wrong = await sheaf(["mcp", "trust", "math", "--digest", "0".repeat(64)]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("is not the one of --digest 0") as string]);
    expect((await sheaf(["mcp", "trust", "--digest", ""])).code).toBe(2);
    expect((await sheaf(["mcp", "trust", "nothing"])).stderr).toContain('has no server "nothing": it names math');
    expect(await run()).toEqual([notTrusted]);
    expect(hasStarted()).toBe(false);
  });

  test(verifies(["S-87", "S-70"], "is given to all that would start, with hidden characters visible"), async () => {
    const { write, sheaf } = createWorkspace();
    const blanks = " ".repeat(40);
    write({
      one: { command: "npx", args: ["-y", `a${blanks}; b\u001b[2J\u202e\u200b`], env: { NODE_OPTIONS: "--import=x" } },
      two: { url: "https://good.example@evil.example/mcp", headers: { Authorization: "secret" } },
      "bad name\u001b[1A": { command: "x" },
      long: { command: "x", args: ["x".repeat(5000)] },
    });
    await sheaf(["trust"]);
    const { stdout: one } = await sheaf(["mcp", "trust", "one"]);
    expect(one).toContain(
      [
        '  program   "npx"',
        '  argument  "-y"',
        '  argument  "a<U+0020 ×40>; b\\u001b[2J<U+202E><U+200B>"',
        '  variable  NODE_OPTIONS="--import=x"',
      ].join("\n"),
    );
    const { stdout: two } = await sheaf(["mcp", "trust", "two"]);
    expect(two).toContain('"https://good.example@evil.example/mcp" on "evil.example"');
    expect(two).toContain('header    "Authorization"');
    expect(two).not.toContain("secret");
    const { stdout: list } = await sheaf(["mcp", "list"]);
    expect(list).toContain("bad name␛[1A (.mcp.json): failed (its name is not a name of letters");
    expect(list).toContain("long (.mcp.json): failed (its entry has 50");
  });

  const open: Terminal[] = [];
  afterEach(() => {
    for (const terminal of open.splice(0)) terminal.close();
  });

  describeWithProgram("tmux", () => {
    test(verifies("S-87", "is asked for at the terminal, and Enter alone is no yes"), async () => {
      const { workspace, home, outside, sheaf, run } = createWorkspace();
      await sheaf(["trust"]);
      const ask = (): Terminal => {
        const environment = { SHEAF_HOME: home, HOME: outside };
        const terminal = openTerminal({ columns: 120, rows: 40, cwd: workspace, args: ["mcp", "trust"], environment });
        open.push(terminal);
        return terminal;
      };
      const first = ask();
      // Typed ahead: this answers nothing.
      first.type("y\r");
      expect(await first.waitFor(/Trust math\?[^]*y or n, then Enter/)).toContain('program   "sh"');
      first.press("Enter");
      await first.waitFor("SHELL>");
      expect(await run()).toEqual([notTrusted]);
      const second = ask();
      await second.waitFor("y or n, then Enter");
      second.type("y\r");
      await second.waitFor("Trusted: math");
      expect(await run()).toMatchObject([{ name: "math", status: "ready" }]);
    });

    test(verifies(["S-87", "C15"], "that is missing is told to a person, in a line on a terminal"), async () => {
      const { workspace, home, outside } = createWorkspace();
      const args = ["-p", "--trust", "--output-format", "text", "--model", `scripted:${join(outside, "s.json")}`, "go"];
      const terminal = openTerminal({
        columns: 120,
        rows: 40,
        cwd: workspace,
        args,
        environment: { SHEAF_HOME: home },
      });
      open.push(terminal);
      const line = "sheaf: MCP server math: not trusted: look at it with sheaf mcp trust math";
      expect(await terminal.waitFor(line)).toContain(line);
    });
  });
});

describe("no file of the workspace starts as a server", () => {
  test(verifies("S-88", "not in ask and plan mode, in which no server starts at all"), async () => {
    const { run, trust, hasStarted } = createWorkspace();
    await trust();
    for (const mode of ["ask", "plan"]) expect(await run(["--mode", mode, "--force"])).toBeUndefined();
    expect(hasStarted()).toBe(false);
    expect(await run(["--mode", "debug"])).toHaveLength(1);
    expect(hasStarted()).toBe(true);
  });

  test(verifies("S-88", "not by a yes to an entry that leads into it"), async () => {
    const { run, write, workspace, outside, sheaf, hasStarted } = createWorkspace();
    writeFileSync(
      join(workspace, "server.js"),
      `require("node:fs").writeFileSync(${JSON.stringify(join(outside, "started"))}, "")`,
    );
    symlinkSync(workspace, join(outside, "link"));
    const names = ["relative", "absolute", "linked", "bare"];
    const paths = ["./server.js", join(workspace, "server.js"), join(outside, "link/server.js"), "server.js"];
    write(Object.fromEntries(names.map((name, index) => [name, { command: process.execPath, args: [paths[index]] }])));
    await sheaf(["trust"]);
    const states = await run();
    expect(states).toMatchObject(
      names.map((name) => ({
        name,
        status: "failed",
        problem: expect.stringContaining("it points into the workspace") as string,
      })),
    );
    expect((await sheaf(["mcp", "trust", "linked", "--digest", ""])).stderr).toContain(
      "linked cannot be trusted: it points into",
    );
    expect(hasStarted()).toBe(false);
  });

  test(
    verifies(["S-88", "S-01"], "not in the place of a server of the user's: neither by its folder nor by PATH"),
    async () => {
      const { run, workspace, outside, home, hasStarted } = createWorkspace();
      const bin = join(workspace, "node_modules/.bin");
      mkdirSync(bin, { recursive: true });
      mkdirSync(home);
      writeFileSync(join(bin, "sh"), `#!/bin/sh\ntouch '${join(outside, "started")}'\n`, { mode: 0o755 });
      const seen = join(outside, "seen");
      const own = {
        command: "sh",
        args: ["-c", `pwd > '${seen}'; echo "$PATH" >> '${seen}'; exec '${process.execPath}' '${program}'`],
      };
      const start = async (settings: object, args: readonly string[] = []) => {
        writeFileSync(join(home, "config.json"), JSON.stringify({ mcpServers: { own: settings } }));
        const PATH = [bin, "node_modules/.bin", ".", process.env.PATH].join(":");
        return run(args, { environment: { PATH } });
      };
      expect(await start(own)).toMatchObject([{ name: "own", status: "ready" }]);
      const [folder, path] = readFileSync(seen, "utf8").split("\n");
      expect(folder).toBe(outside);
      expect(path!.split(":").filter((entry) => !entry.startsWith("/") || entry.startsWith(workspace))).toEqual([]);
      expect(hasStarted()).toBe(false);
      // Where the user asks for the workspace as the folder, the workspace must be trusted.
      expect(await start({ ...own, cwd: "." })).toEqual([
        {
          name: "own",
          status: "failed",
          tools: [],
          problem: 'it works in the workspace (cwd "."), which is not trusted',
        },
      ]);
      expect(await start({ ...own, cwd: "." }, ["--trust"])).toMatchObject([
        { name: "own", status: "ready" },
        notTrusted,
      ]);
      expect(readFileSync(seen, "utf8").split("\n")[0]).toBe(workspace);
    },
  );
});
