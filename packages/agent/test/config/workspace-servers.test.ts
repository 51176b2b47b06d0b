/** Which entries of a `.mcp.json` a run may use. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { chooseServers, readWorkspaceServers } from "../../src/config/workspace-servers.ts";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";

const top = createTemporaryFolder(undefined, afterAll);
const [workspace, added] = [join(top, "work"), join(top, "added")];
for (const folder of [join(workspace, "tools"), join(top, "work-twin"), added]) mkdirSync(folder, { recursive: true });
for (const file of ["server.js", "tools/mcp.py", "artisan"]) writeFileSync(join(workspace, file), "");
symlinkSync(workspace, join(top, "link"));

function read(text: string) {
  writeFileSync(join(workspace, ".mcp.json"), text);
  return readWorkspaceServers({ workspace, addedFolders: [added], dataFolder: undefined, environment: {} });
}

function readOne(settings: unknown) {
  const [server] = read(JSON.stringify({ mcpServers: { one: settings } }));
  return server!;
}

test.each<[string, object]>([
  ["relative program", { command: "./server.js" }],
  ["absolute program", { command: join(workspace, "server.js") }],
  ["program through a link", { command: join(top, "link/server.js") }],
  ["program in an added folder", { command: join(added, "x") }],
  ["path around", { command: `${top}/work-twin/../work/server.js` }],
  ["program above", { command: "node", args: ["../x.js"] }],
  ["argument", { command: "node", args: ["tools/mcp.py"] }],
  ["file without a suffix", { command: "php", args: ["artisan", "mcp"] }],
  ["this folder", { command: "docker", args: ["run", "-v", ".:/work"] }],
  ["option", { command: "node", args: ["--require=./server.js"] }],
  ["list", { command: "x", args: ["--paths=/srv,./tools"] }],
  ["shell", { command: "sh", args: ["-c", `cd ${workspace}; node server.js`] }],
  ["address of a file", { command: "deno", args: ["run", `file://${workspace}/server.js`] }],
  ["variable", { command: "node", env: { NODE_OPTIONS: `--import=${workspace}/server.js` } }],
  ["relative variable", { command: "python", env: { PYTHONPATH: "." } }],
  ["folder", { command: "npx", args: ["-y", "x"], cwd: workspace }],
  ["this folder as the folder", { command: "npx", args: ["-y", "x"], cwd: "." }],
  ["NUL", { command: "node", args: ["./\u0000"] }],
])(verifies("S-88", "never one that leads into the workspace: %s"), (_name, settings) => {
  expect(readOne(settings)).toMatchObject({
    state: "unusable",
    problem: expect.stringMatching(/it points into the workspace|expected/) as string,
  });
});

test.each<[string, object]>([
  ["package", { command: "npx", args: ["-y", "@acme/server@1.2.3", "--port=80"] }],
  ["image", { command: "docker", args: ["run", "-i", "--rm", "mcp/fetch:1.0", "tools"] }],
  [
    "program elsewhere",
    { command: "/usr/bin/python3", args: ["-m", "server"], env: { A: "b=c", URL: "http://h:1/x" } },
  ],
  ["twin of the workspace", { command: join(top, "work-twin/server") }],
  ["address", { type: "http", url: "https://mcp.example/server.js", headers: { A: "./b" } }],
])(verifies("S-88", "one that does not: %s"), (_name, settings) => {
  expect(readOne(settings).state).toBe("not_trusted");
});

describe("a file that is not as it should be", () => {
  test.each(["{", "[]", '"x"', '{"mcpServers":[]}', '{"mcpServers":7}', "x".repeat(1024 * 1024 + 1)])(
    verifies("S-04", "is an error that names it: %#"),
    (text) => {
      expect(() => read(text)).toThrow(
        /^\/.*\/\.mcp\.json (is|cannot).*: fix it, or revoke the trust with sheaf trust --remove$/,
      );
    },
  );

  test("that is a link is not read", () => {
    rmSync(join(workspace, ".mcp.json"));
    symlinkSync("/etc/passwd", join(workspace, ".mcp.json"));
    const places = { workspace, addedFolders: [], dataFolder: undefined, environment: {} };
    expect(() => readWorkspaceServers(places)).toThrow(/cannot be read as a file/);
    rmSync(join(workspace, ".mcp.json"));
    expect(readWorkspaceServers(places)).toEqual([]);
  });

  test(verifies("S-71", "has entries that are left out one by one"), () => {
    const good = '"good": {"command": "x"}';
    const bad = [
      '"__proto__": {"command": "x"}',
      '"a b": {"command": "x"}',
      '"sse": {"type": "sse", "url": "http://h/"}',
      '"more": {"command": "x", "cwd2": ""}',
      '"none": null',
      '"relative": {"command": "a/b"}',
    ];
    const servers = read(`{"mcpServers": {${[...bad, good].join(", ")}}, "other": 1}`);
    expect(servers.map(({ state }) => state)).toEqual([...bad.map(() => "unusable"), "not_trusted"]);
  });
});

test(verifies("S-06", "a server of the user's takes precedence over one of the same name"), () => {
  read(JSON.stringify({ mcpServers: { one: { command: "theirs" }, two: { command: "theirs" } } }));
  const places = {
    workspace,
    addedFolders: [],
    dataFolder: undefined,
    environment: {},
    mcpServers: { one: { command: "mine" } },
  };
  expect(chooseServers({ ...places, trusted: true })).toEqual({
    servers: { one: { command: "mine" } },
    leftOut: [expect.objectContaining({ name: "two", status: "not_trusted" })],
    own: new Set(["one"]),
  });
  expect(chooseServers({ ...places, trusted: false }).leftOut).toEqual([]);
});
