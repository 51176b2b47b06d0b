/** `Network(@npm)` and the like open the hosts that package managers name by the user's configuration (S-98). */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { skipIfMissing, unless } from "../../../test/support/describe-where.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import type { RegistryName } from "@sheaf/base/command-network";
import { parseRule } from "@sheaf/permissions/rule";
import { createRegistryFinder } from "../src/find/registries.ts";
import { findProgram } from "../src/programs.ts";
import { createFolder, describeWithSandbox, sandbox } from "./sandbox-run.ts";

/** A program that prints by its arguments, and records how it was called. */
function createProgram(name: string, answers: Readonly<Record<string, string>>, folder = createFolder("bin")): string {
  mkdirSync(folder, { recursive: true });
  const cases = Object.entries(answers).map(([words, text], index) => {
    writeFileSync(join(folder, `${index}.txt`), `${text}\n`);
    return `*"${words}"*) cat "${folder}/${index}.txt";;`;
  });
  const record = `{ pwd; env; } >> "${folder}/record"`;
  writeFileSync(join(folder, name), `#!/bin/sh\n${record}\ncase "$*" in ${cases.join("\n")} esac\n`);
  chmodSync(join(folder, name), 0o755);
  return folder;
}

/** Hides the yarn of this machine. */
function createNpm(answers: Readonly<Record<string, string>>): string {
  const bin = createProgram("npm", answers);
  writeFileSync(join(bin, "yarn"), "#!/bin/sh\n", { mode: 0o755 });
  return bin;
}

const findIn = (
  name: RegistryName,
  environment: Readonly<Record<string, string | undefined>>,
  folders = [createFolder("workspace")],
) => createRegistryFinder({ environment, folders, sandbox })(name, false);

const find = (name: RegistryName, bin: string, more: Readonly<Record<string, string>> = {}) =>
  findIn(name, { PATH: `${bin}:/usr/bin:/bin`, HOME: createFolder("home"), ...more });

describeWithSandbox("a package manager", () => {
  test(verifies("S-98", "starts no program that is a link into the workspace"), async () => {
    const workspace = createFolder("workspace");
    writeFileSync(join(workspace, "evil"), `#!/bin/sh\ntouch ${workspace}-ran\n`, { mode: 0o755 });
    const bin = createNpm({});
    writeFileSync(join(bin, "npm"), "#!/usr/bin/env node\nhttps://registry.example/\n", { mode: 0o755 });
    const own = createFolder("bin");
    writeFileSync(join(own, "node"), "#!/bin/sh\ntail -n 1 $1\n", { mode: 0o755 });
    symlinkSync(join(workspace, "evil"), join(bin, "node"));
    const PATH = `${bin}:${own}:/usr/bin:/bin`;
    expect(await findIn("npm", { PATH, HOME: createFolder("home") }, [workspace])).toEqual(["registry.example"]);
    expect(existsSync(`${workspace}-ran`)).toBe(false);
  });
});

describe("the registries of a language", () => {
  test(verifies("S-98", "are those that npm has for the user, scopes included"), async () => {
    const list =
      '; "user" config\n@acme:registry = "https://acme.example/npm/"\n//acme.example/:_authToken = (protected)';
    const bin = createNpm({ "config list": list, "config get": "https://registry.example/" });
    expect(await find("npm", bin, { npm_config_registry: "https://hostile.example" })).toEqual([
      "acme.example",
      "registry.example",
    ]);
    const record = readFileSync(join(bin, "record"), "utf8");
    expect(record).not.toContain("hostile");
    expect(record.split("\n")[0]).toBe("/");
  });

  test(verifies("S-98", "are those of yarn too, where it is installed"), async () => {
    const bin = createNpm({ "config get": "https://registry.example/" });
    writeFileSync(join(bin, "yarn"), "#!/bin/sh\n[ $3 = registry ] && echo https://yarn.example || echo undefined\n");
    expect(await find("npm", bin)).toEqual(["registry.example", "yarn.example"]);
  });

  test(verifies("S-98", "are pip's own, with the host of its files, unless the user names an index"), async () => {
    const defaults = { simple_url: "https://index.example/simple https://files.example" };
    const plain = await find("python", createProgram("python3", { ...defaults, run_module: "" }));
    expect(plain).toEqual(["index.example", "files.example"]);
    const list =
      "global.index-url='https://user:CANARY@mirror.example/simple'\nglobal.extra-index-url='https://two.example/ file:///x'";
    expect(await find("python", createProgram("python3", { ...defaults, run_module: list }))).toEqual([
      "mirror.example",
      "two.example",
    ]);
  });

  test(verifies("S-98", "are Go's proxies and its database of sums"), async () => {
    const bin = createProgram("go", { env: "https://proxy.example,https://two.example|direct\nsum.example+1+abc" });
    expect(await find("go", bin)).toEqual(["proxy.example", "two.example", "sum.example"]);
  });

  test(verifies("S-98", "of cargo and gem are found too"), async () => {
    const cargo = createFolder("bin", {
      cargo:
        "#!/bin/sh\necho 'See https://help.example/x' >&2\necho '  failed to download from `https://index.example/config.json`' >&2\nexit 101\n",
    });
    chmodSync(join(cargo, "cargo"), 0o755);
    expect(await find("rust", cargo)).toEqual(["index.example"]);
    const gem = createProgram("gem", { sources: "*** CURRENT SOURCES ***\n\nhttps://gems.example/" });
    expect(await find("ruby", gem)).toEqual(["gems.example"]);
  });

  test(verifies("S-98", "of Java are those that Maven and the user's settings name"), async () => {
    const answer =
      "available from the repositories [local (/proc), central (https://central.example/maven2)] -> [Help 1]";
    const home = createFolder("home", {
      ".m2/settings.xml": `<settings><!-- <url>https://comment.example</url> --><repository>
        <url> http://releases.example/maven </url></repository></settings>`,
    });
    const bin = createProgram("mvn", { "sheaf:": answer });
    expect(await find("java", bin, { HOME: home })).toEqual(["central.example", "releases.example"]);
  });

  for (const [name, program] of [
    ["npm", "npm"],
    ["python", "python3"],
    ["rust", "cargo"],
    ["go", "go"],
    ["java", "mvn"],
  ] as const) {
    const isHere = findProgram(program, process.env) !== undefined;
    test(verifies("S-98", `are found from the ${program} of this machine`), { timeout: 30_000 }, async () => {
      skipIfMissing(unless(isHere, `${program} is not installed`));
      const found = await findIn(name, { ...process.env, PIP_INDEX_URL: undefined });
      expect(found[0]).toMatch(/^[\w-]+\.[\w.-]+$/);
    });
  }

  test(verifies("S-98", "never come from a workspace: neither its programs nor its settings count"), async () => {
    const workspace = createFolder("workspace");
    const bin = createProgram("gem", { sources: "https://hostile.example/" }, join(workspace, "bin"));
    const home = createFolder("home");
    await findIn("ruby", { PATH: bin, HOME: home }, [workspace]);
    expect(existsSync(join(bin, "record"))).toBe(false);
    const own = createProgram("gem", { sources: "https://gems.example/" });
    const path = `${own}:/usr/bin:/bin`;
    expect(await findIn("ruby", { PATH: path, HOME: workspace }, [workspace])).toMatch(
      /commands can write the home folder.*Network\(HOST\)/,
    );
    const settings = { CARGO_HOME: join(workspace, "cargo"), GOPROXY: "https://proxy.example", PATH: path, HOME: home };
    await findIn("ruby", settings, [workspace]);
    expect(readFileSync(join(own, "record"), "utf8")).not.toContain("CARGO_HOME");
  });

  test.each([
    ["ruby", ".gemrc"],
    ["npm", ".yarnrc"],
    ["java", ".mavenrc"],
    ["python", ".config/pip"],
  ] as const)(verifies("S-98", "of %s are not asked for while commands can write ~/%s"), async (name, place) => {
    const workspace = createFolder("workspace", { "settings/x": "" });
    const home = createFolder("home");
    mkdirSync(dirname(join(home, place)), { recursive: true });
    symlinkSync(join(workspace, "settings"), join(home, place));
    const bin = createFolder("bin");
    for (const program of ["gem", "npm", "yarn", "mvn", "python3"]) {
      createProgram(program, { "": "https://hostile.example/ (https://hostile.example/)" }, bin);
    }
    const found = await findIn(name, { PATH: `${bin}:/usr/bin:/bin`, HOME: home }, [workspace]);
    expect(found).toMatch(new RegExp(`commands can write .*${place}.*Network\\(HOST\\)`));
    expect(existsSync(join(bin, "record"))).toBe(false);
  });

  const python = findProgram("python3", process.env);
  test(verifies("S-98", "are found without code of a workspace that is installed as editable"), async () => {
    skipIfMissing(unless(python !== undefined, "python3 is not installed"));
    const workspace = createFolder("workspace");
    const home = createFolder("home");
    const environment = { PATH: process.env.PATH, HOME: home };
    const ask = ["-c", "import site; print(site.getusersitepackages())"];
    const site = execFileSync(python!, ask, { env: environment, encoding: "utf8" }).trim();
    expect(site.startsWith(home)).toBe(true);
    mkdirSync(site, { recursive: true });
    writeFileSync(join(site, "editable.pth"), `${workspace}\nimport started_by_pth\n`);
    for (const name of ["sitecustomize", "usercustomize", "started_by_pth", "pip/__init__", "pip/__main__", "runpy"]) {
      mkdirSync(join(workspace, "pip"), { recursive: true });
      writeFileSync(join(workspace, `${name}.py`), `open(${JSON.stringify(join(home, "ran"))}, "a").write("${name} ")`);
    }
    await findIn("python", environment, [workspace]);
    expect(existsSync(join(home, "ran"))).toBe(false);
  });

  test(verifies("S-98", "that are not named are a problem, which says what to write"), async () => {
    expect(await find("npm", createNpm({}))).toMatch(/npm does not say which host.*Network\(HOST\)/);
    const none = createRegistryFinder({ environment: { PATH: createFolder("bin"), HOME: "/home/x" }, folders: [] });
    expect(await none("ruby", false)).toEqual([]);
    expect(await none("ruby", true)).toMatch(/gem is not installed/);
    expect(() => parseRule("Network(@php)")).toThrow(/names no registries \(@npm, @python/);
    expect(() => parseRule("WebFetch(@npm)")).toThrow(/names no host/);
    expect(parseRule("Network(@npm)")).toMatchObject({ kind: "Network", registry: "npm" });
  });

  test(verifies("S-98", "are asked for once, when a connection needs them"), async () => {
    const bin = createNpm({ "config get": "https://registry.example/" });
    const findRegistryHosts = createRegistryFinder({
      environment: { PATH: `${bin}:/usr/bin:/bin`, HOME: createFolder("home") },
      folders: [createFolder("workspace")],
    });
    const allow = ["Network(@npm)", "Network(other.example)"];
    const network = createCommandNetwork({ allow, deny: [], findRegistryHosts });
    expect(network).toMatchObject({ isOpen: true });
    expect(await network.decide("other.example")).toMatchObject({ decision: "allow", rule: "Network(other.example)" });
    expect(existsSync(join(bin, "record"))).toBe(false);
    expect(await network.decide("registry.example")).toMatchObject({ decision: "allow", rule: "Network(@npm)" });
    expect(await network.decide("third.example")).toMatchObject({ decision: "deny" });
    expect(readFileSync(join(bin, "record"), "utf8").match(/^\/$/gm)).toHaveLength(2);
  });

  test(verifies("S-98", "close every host to commands if a rule denies them and they are not known"), async () => {
    const findRegistryHosts = async (): Promise<string> => "it is not known";
    const decide = async (allow: readonly string[], deny: readonly string[]) =>
      createCommandNetwork({ allow, deny, findRegistryHosts }).decide("a.example");
    expect(await decide(["Network(*)"], ["Network(@npm)"])).toMatchObject({
      decision: "deny",
      reason: "it is not known",
    });
    expect(await decide(["Network(@npm)", "Network(*)"], [])).toMatchObject({ decision: "allow" });
    expect(await decide(["Network(@npm)"], [])).toMatchObject({ decision: "deny", reason: "it is not known" });
  });

  test(verifies("S-103", "are open in a private network by a rule of that name, and hosts too"), async () => {
    const findRegistryHosts = async (): Promise<readonly string[]> => ["mirror.example"];
    const decide = async (host: string, ...allow: readonly string[]) =>
      createCommandNetwork({ allow, deny: ["Network(denied.example)"], findRegistryHosts }).decide(host);
    const inner = { decision: "allow", mayBePrivate: true };
    const outer = { decision: "allow", mayBePrivate: false };
    expect(await decide("mirror.example", "Network(*)", "PrivateNetwork(@npm)")).toMatchObject(inner);
    expect(await decide("other.example", "Network(*)", "PrivateNetwork(@npm)")).toMatchObject(outer);
    expect(await decide("a.corp.example", "PrivateNetwork(*.corp.example)")).toMatchObject(inner);
    expect(await decide("other.example", "PrivateNetwork(*.corp.example)")).toMatchObject({ decision: "deny" });
    expect(await decide("denied.example", "PrivateNetwork(denied.example)")).toMatchObject({ decision: "deny" });
    expect(() => parseRule("PrivateNetwork(*)")).toThrow(/opens every private network/);
  });
});
