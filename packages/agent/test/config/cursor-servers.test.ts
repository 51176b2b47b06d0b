/** Entries of Cursor's lists: those of a workspace (S-107) and those of the user (S-108). */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { chooseServers, readWorkspaceServers } from "../../src/config/workspace-servers.ts";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";

const top = createTemporaryFolder(undefined, afterAll);
const workspace = join(top, "work");
mkdirSync(join(workspace, ".cursor"), { recursive: true });
const canary = "CANARY-value";
const places = {
  workspace,
  addedFolders: [],
  dataFolder: undefined,
  environment: { TOKEN: canary, HERE: workspace, EMPTY: "" },
};

function writeList(file: string, servers: object): string {
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  return file;
}

describe("of a workspace", () => {
  const readOne = (entry: object) => {
    writeList(join(workspace, ".cursor/mcp.json"), { one: entry });
    return readWorkspaceServers(places)[0]!;
  };

  test(verifies("S-107", "words are filled in; what is shown has none of the values"), () => {
    const entry = {
      command: "npx",
      args: ["-y", "x", "${userHome}${/}data", "${workspaceFolderBasename}", "$HOME"],
      env: { A: "Bearer ${env:TOKEN}", B: "${env:EMPTY}" },
    };
    const server = readOne(entry);
    expect(server).toMatchObject({
      name: "one",
      file: ".cursor/mcp.json",
      state: "not_trusted",
      settings: { args: ["-y", "x", `${homedir()}/data`, "work", "$HOME"], env: { A: `Bearer ${canary}`, B: "" } },
      written: entry,
      variables: ["TOKEN", "EMPTY"],
    });
    const address = readOne({ url: "https://h.example/${env:TOKEN}", headers: { A: "${env:TOKEN}" } });
    expect(address).toMatchObject({ settings: { url: `https://h.example/${canary}` }, variables: ["TOKEN"] });
  });

  test.each<[string, object, RegExp]>([
    ["unknown word", { command: "x", args: ["${input:key}"] }, /^\$\{input:key\} is unknown: /],
    ["word of a shell", { command: "sh", args: ["-c", "echo ${HOME}"] }, /^\$\{HOME\} is unknown/],
    ["word in a word", { command: "x", args: ["${env:A${env:TOKEN}}"] }, /is unknown/],
    ["open word", { command: "x", args: ["${env:TOKEN"] }, /^\$\{env:TOKEN is unknown/],
    ["variable that is not set", { command: "x", env: { A: "${env:OTHER}" } }, /^your variable OTHER is not set$/],
    ["host", { url: "https://${env:TOKEN}.example/" }, /^its address has /],
    ["end of a host", { url: "https://h.example${env:TOKEN}" }, /^its address has /],
    ["host after one slash", { url: "https:/${env:TOKEN}.example/" }, /^its address has /],
    ["host after three slashes", { url: "https:///${env:TOKEN}.example/" }, /^its address has /],
    ["host after a tab", { url: "https:/\t/${env:TOKEN}.example/" }, /^its address has /],
    ["password", { url: "https:///h@${env:TOKEN}.example/" }, /^its address has /],
    ["whole address", { url: "${env:TOKEN}" }, /^its address has /],
    ["file of variables", { command: "x", envFile: "/srv/.env" }, /^it has an envFile/],
    ["the workspace", { command: "x", args: ["${workspaceFolder}"] }, /^it points into the workspace, where/],
    [
      "the workspace by a variable",
      { command: "x", args: ["${env:HERE}/x.js"] },
      /^it points into the workspace, where/,
    ],
    ["long entry", { command: "x", args: ["${env:EMPTY}".repeat(400)] }, /more than a person reads/],
    ["unknown field", { command: "x", disabled: true }, /does not know/],
  ])(verifies("S-107", "never started: %s"), (_name, entry, problem) => {
    const server = readOne(entry);
    const expected: unknown = expect.stringMatching(problem);
    expect(server).toMatchObject({ state: "unusable", problem: expected });
    expect(JSON.stringify(server)).not.toContain(canary);
  });

  test(verifies("S-107", "of two with one name that of .mcp.json counts; a yes to it is none for the other"), () => {
    writeList(join(workspace, ".cursor/mcp.json"), { one: { command: "x" }, two: { command: "y" } });
    const [other] = readWorkspaceServers(places);
    writeList(join(workspace, ".mcp.json"), { one: { command: "x" } });
    const servers = readWorkspaceServers(places);
    rmSync(join(workspace, ".mcp.json"));
    expect(servers.map(({ name, file }) => [name, file])).toEqual([
      ["one", ".mcp.json"],
      ["two", ".cursor/mcp.json"],
    ]);
    expect(servers[0]).not.toMatchObject({ digest: (other as { digest: string }).digest });
  });
});

describe("of the user", () => {
  const file = join(top, "mcp.json");
  const choose = (trusted = true) =>
    chooseServers({ ...places, mcpServers: { mine: { command: "m" } }, trusted, cursorFile: file });
  rmSync(join(workspace, ".cursor/mcp.json"), { force: true });

  test(verifies("S-108", "are the user's own, after those of Sheaf's configuration"), () => {
    rmSync(join(workspace, ".cursor/mcp.json"), { force: true });
    writeFileSync(join(top, "variables"), 'A="from the file"\nB=2\n');
    writeList(file, {
      mine: { command: "other" },
      two: { command: "x", env: { B: "${env:TOKEN}" }, envFile: join(top, "variables") },
      three: { command: "node", args: ["${workspaceFolder}/server.js"] },
    });
    const two = { command: "x", env: { A: "from the file", B: canary } };
    expect(choose()).toMatchObject({
      servers: { mine: { command: "m" }, two, three: { args: [`${workspace}/server.js`] } },
      leftOut: [],
    });
    expect(choose().own).toEqual(new Set(["mine", "two", "three"]));
    const untrusted = choose(false);
    expect(Object.keys(untrusted.servers)).toEqual(["mine", "two"]);
    expect(untrusted.leftOut).toMatchObject(
      [{ name: "three", status: "failed", problem: /not trusted/ }].map((state) => ({
        ...state,
        problem: expect.stringMatching(state.problem) as string,
      })),
    );
  });

  test.each<[string, object, RegExp]>([
    ["file of variables in the workspace", { command: "x", envFile: "${workspaceFolder}/.env" }, /is in the workspace/],
    ["relative file of variables", { command: "x", envFile: ".env" }, /not an absolute path/],
    ["missing file of variables", { command: "x", envFile: "/does/not/exist" }, /cannot be read/],
    ["variable that is not set", { command: "x", args: ["${env:OTHER}"] }, /OTHER is not set/],
    ["unknown form", { command: 1 }, /does not know/],
    ["no entry", [], /does not know/],
  ])(verifies("S-108", "what cannot be used is left out with the reason: %s"), (_name, entry, problem) => {
    writeList(file, { two: entry });
    const expected: unknown = expect.stringMatching(problem);
    expect(choose()).toMatchObject({ servers: { mine: {} }, leftOut: [{ name: "two", problem: expected }] });
  });

  test(verifies("S-108", "a file that is no list is left out by its name"), () => {
    writeFileSync(file, "// none\n");
    expect(choose().leftOut).toMatchObject([{ name: ".cursor/mcp.json", status: "failed" }]);
    rmSync(file);
    expect(choose().leftOut).toEqual([]);
  });
});
