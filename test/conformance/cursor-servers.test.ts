/** Cursor's lists of tool servers: of a repository, after a yes (S-107), and of the user, by choice (S-108). */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compiledCode, createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const program = join(import.meta.dirname, "../support/counting-server.ts");
const canary = "CANARY-0123456789";
const script = {
  turns: [{ events: [{ call: { tool: "mcp__a__count", arguments: {} } }] }, { events: [{ text: "Done." }] }],
};

/** A home folder, and a workspace; the server `a` says which value it got. */
function createPlace() {
  const outside = folders.newFolder({ "s.json": JSON.stringify(script) });
  const workspace = folders.newFolder();
  const seen = join(outside, "seen");
  const line = `echo "$TOKEN" > '${seen}'; exec '${process.execPath}' '${program}'`;
  const server = { command: "sh", args: ["-c", line], env: { ...compiledCode, TOKEN: "<${env:CANARY_TOKEN}>" } };
  const list = (folder: string, servers: object): void => {
    mkdirSync(join(folder, ".cursor"), { recursive: true });
    writeFileSync(join(folder, ".cursor/mcp.json"), JSON.stringify({ mcpServers: servers }));
  };
  const environment = { HOME: outside, CANARY_TOKEN: canary };
  const sheaf = (...args: readonly string[]) =>
    runSheaf(args, { cwd: workspace, home: join(outside, "home"), environment });
  return {
    outside,
    workspace,
    server,
    list,
    sheaf,
    /** What the server got since the last look; undefined: it was not started. */
    takeSeen: (): string | undefined => {
      const text = existsSync(seen) ? readFileSync(seen, "utf8").trim() : undefined;
      rmSync(seen, { force: true });
      return text;
    },
    run: async (...args: readonly string[]) => {
      const result = await sheaf("-p", "--model", `scripted:${join(outside, "s.json")}`, ...args, "go");
      const init = JSON.parse(result.stdout.split("\n", 1)[0]!) as { mcp_servers?: readonly object[] };
      return { ...result, servers: init.mcp_servers };
    },
  };
}

test(
  verifies(["S-107", "S-87"], "a repository gets a variable after a yes that named it, and no value is shown"),
  async () => {
    const { workspace, server, list, sheaf, run, takeSeen } = createPlace();
    list(workspace, { a: server });
    expect((await run("--force")).servers).toBeUndefined();
    const unread = "The .cursor/mcp.json of this workspace is not read: the workspace is not trusted (sheaf trust).\n";
    expect((await sheaf("mcp", "list")).stdout).toContain(unread);
    await sheaf("trust");
    const refused = await run("--force", "--approve-mcps");
    expect(refused.servers).toMatchObject([{ name: "a", status: "not_trusted" }]);
    const shown = await sheaf("mcp", "trust", "a");
    expect(shown.stdout).toContain('variable  TOKEN="<${env:CANARY_TOKEN}>"');
    expect(shown.stdout).toContain('gets      your variable "CANARY_TOKEN"');
    expect(takeSeen()).toBeUndefined();
    const [, digest = ""] = /^ {2}digest +([0-9a-f]{64})$/m.exec(shown.stdout) ?? [];
    // As clients of cursor-agent say yes.
    const enabled = await sheaf("--compat", "cursor-2026", "mcp", "enable", "a", "--digest", digest);
    expect([enabled.code, enabled.stdout]).toEqual([0, "Trusted: a\n"]);
    const { servers, stdout } = await run("--force");
    expect(servers).toMatchObject([{ name: "a", status: "ready" }]);
    expect(stdout).toContain("call 1");
    expect(takeSeen()).toBe(`<${canary}>`);
    const listed = await sheaf("mcp", "list");
    expect(listed.stdout).toBe("a (.cursor/mcp.json): ready (2 tools)\n");
    list(workspace, { a: { ...server, env: { ...server.env, MORE: "${env:HOME}" } } });
    takeSeen();
    expect((await run("--force")).servers).toMatchObject([{ name: "a", status: "changed" }]);
    expect(takeSeen()).toBeUndefined();
    for (const text of [refused.stdout, shown.stdout, stdout, listed.stdout]) expect(text).not.toContain(canary);
  },
);

test(verifies("S-108", "the user's own list counts by a setting, or by --approve-mcps in the profile"), async () => {
  const { outside, server, list, sheaf, run, takeSeen } = createPlace();
  list(outside, { a: server, b: { command: "x", args: ["${workspaceFolder}"] } });
  expect((await run("--approve-mcps")).servers).toBeUndefined();
  await run("--compat", "cursor-2026", "--output-format", "stream-json", "--force");
  expect(takeSeen()).toBeUndefined();

  const approved = await run("--compat", "cursor-2026", "--output-format", "stream-json", "--approve-mcps");
  expect([approved.code, approved.stdout]).toEqual([0, expect.stringContaining("call 1")]);
  expect(takeSeen()).toBe(`<${canary}>`);
  const listed = await sheaf("--compat", "cursor-2026", "--approve-mcps", "mcp", "list");
  const problem = "b: failed (it works in the workspace, which is not trusted)\n";
  expect(listed.stdout).toBe(`a: ready (2 tools)\n${problem}`);

  mkdirSync(join(outside, "home"), { recursive: true });
  writeFileSync(join(outside, "home/config.json"), JSON.stringify({ cursorServers: true }));
  const { servers, stdout } = await run("--allow", "Mcp(a:count)");
  expect(servers).toMatchObject([
    { name: "a", status: "ready" },
    { name: "b", status: "failed" },
  ]);
  expect(stdout).toContain("call 1");
});
