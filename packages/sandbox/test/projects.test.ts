/** Projects of each language build and test themselves in the sandbox (S-97): one project for each tool that is installed here. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { skipIfMissing, testDeep, unless } from "../../../test/support/describe-where.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import type { CommandOutcome } from "../src/command.ts";
import { findProgram } from "../src/programs.ts";
import type { RunnerOptions } from "./run-command.ts";
import { createFolder, describeWithSandbox, runHeld } from "./sandbox-run.ts";

/** The user's own variables: tools are where the user has them. */
const user = { PATH: process.env.PATH ?? "", HOME: homedir(), LANG: "C.UTF-8" };
const caches = realpathSync(mkdtempSync(join(homedir(), ".sheaf-sandbox-test-caches-")));
afterAll(() => {
  execFileSync("chmod", ["-R", "u+w", caches]);
  rmSync(caches, { recursive: true, force: true });
});

/** Every change builds with these; each night builds with all. */
const tools: ReadonlySet<string> = new Set(["npm", "git", "make"]);

interface Project {
  readonly tool: string;
  readonly title: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly command: string;
  /** In its output. */
  readonly expected: string;
}

const npmPackage = { "dep/package.json": '{"name":"dep","version":"1.0.0"}', "dep/index.js": "module.exports = 42" };
const readDep = `node -p 'require("dep")'`;
const packDep = "npm pack ./dep --silent >pack.log";

const packWheel = `import zipfile
with zipfile.ZipFile("dep-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("dep.py", "answer = 42")
    wheel.writestr("dep-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: dep\\nVersion: 1.0\\n")
    wheel.writestr("dep-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("dep-1.0.dist-info/RECORD", "")
`;

const projects: readonly Project[] = [
  {
    tool: "npm",
    title: "install of a package file, then ci",
    files: { ...npmPackage, "package.json": "{}" },
    command: `${packDep} && npm install ./dep-1.0.0.tgz && rm -rf node_modules && npm ci && ${readDep}`,
    expected: "42",
  },
  {
    tool: "npm",
    title: "test with a tool that writes ~/.cache",
    files: {
      "package.json": '{"scripts":{"test":"node lint.js"}}',
      "lint.js": `const { mkdirSync, writeFileSync } = require("node:fs");
const folder = require("node:os").homedir() + "/.cache/lint/v1";
const path = process.env.XDG_CACHE_HOME + "/lint/v2";
for (const place of [folder, path]) { mkdirSync(place, { recursive: true }); writeFileSync(place + "/state", "x"); }
console.log("linted");`,
    },
    command: "npm test",
    expected: "linted",
  },
  {
    tool: "pnpm",
    title: "install of a package file",
    files: { ...npmPackage, "package.json": "{}" },
    command: `${packDep} && pnpm add ./dep-1.0.0.tgz && ${readDep} && test ! -e .pnpm-store`,
    expected: "42",
  },
  {
    tool: "yarn",
    title: "install of a package file",
    files: { ...npmPackage, "package.json": "{}", "yarn.lock": "", ".yarnrc.yml": "nodeLinker: node-modules\n" },
    command: `${packDep} && yarn add ./dep-1.0.0.tgz && ${readDep}`,
    expected: "42",
  },
  {
    tool: "python3",
    title: "a virtual environment, a wheel by pip, and its test",
    files: {
      "pack.py": packWheel,
    },
    command:
      "python3 pack.py && python3 -m venv .venv && .venv/bin/pip install ./dep-1.0-py3-none-any.whl && .venv/bin/python -c 'import dep; print(dep.answer)'",
    expected: "42",
  },
  {
    tool: "uv",
    title: "a virtual environment",
    command: "uv venv --offline .venv && .venv/bin/python -c 'print(42)'",
    expected: "42",
  },
  {
    tool: "pytest",
    title: "a test",
    files: { "test_x.py": "def test_x(tmp_path): assert tmp_path.exists()\n" },
    command: "pytest -q",
    expected: "1 passed",
  },
  {
    tool: "go",
    title: "build and test",
    files: {
      "go.mod": "module example.org/x\n\ngo 1.18\n",
      "main.go": "package main\n\nfunc main() { println(42) }\n",
      "main_test.go": 'package main\n\nimport "testing"\n\nfunc TestX(t *testing.T) {}\n',
    },
    command: "go build -o x . && go test ./... && ./x",
    expected: "42",
  },
  {
    tool: "cargo",
    title: "build and test with a package of a folder",
    files: {
      "Cargo.toml":
        '[package]\nname = "x"\nversion = "1.0.0"\nedition = "2021"\n\n[dependencies]\ndep = { path = "dep" }\n',
      "src/main.rs": 'fn main() { println!("{}", dep::answer()) }\n',
      "dep/Cargo.toml": '[package]\nname = "dep"\nversion = "1.0.0"\nedition = "2021"\n',
      "dep/src/lib.rs": "pub fn answer() -> u8 { 42 }\n",
    },
    command: "cargo build && cargo test && cargo run",
    expected: "42",
  },
  {
    tool: "javac",
    title: "a program that measures the machine, as Gradle does",
    files: {
      "M.java":
        "class M { public static void main(String[] a) { System.out.println(java.lang.management.ManagementFactory.getOperatingSystemMXBean().getName()); } }",
    },
    command: "javac M.java && java M",
    expected: "Linux",
  },
  {
    tool: "mvn",
    title: "reads its settings and a project",
    files: {
      "pom.xml":
        "<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><packaging>pom</packaging></project>",
    },
    command: "mvn -o validate",
    expected: "BUILD SUCCESS",
  },
  {
    tool: "gradle",
    title: "a task",
    files: { "settings.gradle": "", "build.gradle": 'task hello { doLast { println "4" + "2" } }\n' },
    command: "gradle --offline --no-daemon -q hello",
    expected: "42",
  },
  {
    tool: "chrome-headless-shell",
    title: "a page without a window",
    command: "chrome-headless-shell --no-sandbox --dump-dom 'data:text/html,<p>42</p>'",
    expected: "<p>42</p>",
  },
  {
    tool: "git",
    title: "a branch with a commit",
    command:
      "git -c user.name=x -c user.email=x commit -q --allow-empty -m one && git switch -qc other && git log --format=%s",
    expected: "one",
  },
  {
    tool: "make",
    title: "jobs side by side",
    files: { Makefile: "all: a b c d\na b c d:\n\t@sleep 0.1; echo made > $@.txt\n" },
    command: "make -j4 && cat *.txt | wc -l",
    expected: "4",
  },
];

function runProject({ files, tool }: Project, command: string): Promise<CommandOutcome> {
  const workspace = createFolder("project", files);
  if (tool === "git") execFileSync("git", ["init", "-q", workspace]);
  const cacheFolder = join(caches, workspace.slice(-6));
  return runHeld(command, workspace, { timeoutMs: 120_000 }, user, { cacheFolder });
}

/** A registry of this machine, for npm, pip, Maven and Gradle, in place of `registry.test`. */
const registry = createServer((request, response) => {
  const origin = `http://${request.headers.host}`;
  const file = downloads[request.url ?? ""];
  const version = { name: "dep", version: "1.0.0", dist: { tarball: `${origin}/dep.tgz` } };
  if (file !== undefined) response.end(readFileSync(file));
  else if (request.url === "/dep")
    response.end(JSON.stringify({ name: "dep", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } }));
  else if (request.url === "/dep/")
    response.setHeader("content-type", "text/html").end(`<a href="${origin}/${wheelName}">${wheelName}</a>`);
  else response.writeHead(404).end();
});
const wheelName = "dep-1.0-py3-none-any.whl";
const downloads: Record<string, string> = {};
beforeAll(() => new Promise<void>((resolve) => void registry.listen(0, "127.0.0.1", resolve)));
afterAll(() => void registry.close());

function toPom(name: string, more: string): string {
  return `<project><modelVersion>4.0.0</modelVersion><groupId>t</groupId><artifactId>${name}</artifactId><version>1</version>${more}</project>`;
}

/** Each downloads with a rule for the host, and finds what it downloaded in a later run without a network. */
const downloaders = [
  {
    tool: "npm",
    files: { ...npmPackage, "package.json": "{}" },
    prepare: "npm pack ./dep --silent",
    packed: { "/dep.tgz": "dep-1.0.0.tgz" },
    toDownload: (address: string) => `npm install dep --registry ${address} && ${readDep}`,
    offline: `rm -rf node_modules && npm ci --offline && ${readDep}`,
  },
  {
    tool: "python3",
    files: { "pack.py": packWheel },
    prepare: "python3 pack.py",
    packed: { [`/${wheelName}`]: wheelName },
    toDownload: (address: string) =>
      `python3 -m venv .venv && .venv/bin/pip install --trusted-host registry.test --index-url ${address} dep && .venv/bin/python -c 'import dep; print(dep.answer)'`,
    offline: ".venv/bin/python -c 'import dep; print(dep.answer)'",
  },
  {
    tool: "mvn",
    files: {
      "parent.xml": toPom("parent", "<packaging>pom</packaging><name>42</name>"),
      "pom.xml": toPom(
        "x",
        "<parent><groupId>t</groupId><artifactId>parent</artifactId><version>1</version><relativePath/></parent><packaging>pom</packaging>",
      ),
    },
    prepare: "true",
    packed: { "/t/parent/1/parent-1.pom": "parent.xml" },
    toDownload: (address: string) =>
      `echo '<settings><mirrors><mirror><id>m</id><url>${address}</url><mirrorOf>*</mirrorOf></mirror></mirrors></settings>' > mirror.xml && mvn -B -s mirror.xml validate && echo 42`,
    offline: "mvn -B -o -s mirror.xml validate && echo 42",
  },
  {
    tool: "gradle",
    files: {
      "dep.xml": toPom("dep", ""),
      "dep.txt": "42",
      "settings.gradle": "",
      "build.gradle": `repositories { maven { url = uri(file("address").text.trim())
  if (delegate.metaClass.hasProperty(delegate, "allowInsecureProtocol")) allowInsecureProtocol = true } }
configurations { fetched }
dependencies { fetched "t:dep:1@txt" }
task show { doLast { configurations.fetched.each { println it.text } } }`,
    },
    prepare: "true",
    packed: { "/t/dep/1/dep-1.pom": "dep.xml", "/t/dep/1/dep-1.txt": "dep.txt" },
    toDownload: (address: string) => `echo ${address} > address && gradle --no-daemon -q show`,
    offline: "gradle --no-daemon --offline -q show",
  },
] as const;

describeWithSandbox("a registry that a rule allows", () => {
  for (const { tool, files, prepare, packed, toDownload, offline } of downloaders) {
    const testTool = tools.has(tool) ? test : testDeep;
    const body = async () => {
      skipIfMissing(unless(findProgram(tool, user) !== undefined, `${tool} is not installed`));
      const workspace = createFolder("project", files);
      const cacheFolder = join(caches, workspace.slice(-6));
      const run = (command: string, options: RunnerOptions = {}): Promise<CommandOutcome> =>
        runHeld(command, workspace, { timeoutMs: 120_000 }, user, { cacheFolder, ...options });
      await run(prepare);
      for (const [path, file] of Object.entries(packed)) downloads[path] = join(workspace, file);
      const { port } = registry.address() as AddressInfo;
      const networkPorts = {
        resolveHost: async () => [{ address: "127.0.0.1", family: 4 }],
        isAllowed: (address: string) => address === "127.0.0.1",
      };
      const network = createCommandNetwork({ allow: ["Network(registry.test)"], deny: [] });
      const downloaded = await run(toDownload(`http://registry.test:${port}/`), { network, networkPorts });
      expect(downloaded, downloaded.output).toMatchObject({ exitCode: 0, refusals: [] });
      const { exitCode, output } = await run(offline);
      expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
      expect(output).toContain("42");
    };
    testTool(verifies(["S-97", "S-32"], `is used by ${tool}`), body, 150_000);
  }
});

describeWithSandbox("a project", () => {
  for (const project of projects) {
    const { tool, title, command, expected } = project;
    const testTool = tools.has(tool) ? test : testDeep;
    const body = async () => {
      skipIfMissing(unless(findProgram(tool, user) !== undefined, `${tool} is not installed`));
      const { exitCode, output, refusals } = await runProject(project, command);
      expect({ exitCode, output, refusals }).toMatchObject({ exitCode: 0, refusals: [] });
      expect(output).toContain(expected);
    };
    testTool(verifies("S-97", `builds with ${tool}: ${title}`), body, 150_000);
  }
});
