/** `Network(@npm)` and the like open the hosts that package managers name by the user's configuration (S-98). */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { parseRule } from "../../../src/guard/permissions/rule.ts";
import { findRegistries } from "../../../src/guard/sandbox/find/registries.ts";
import { findProgram } from "../../../src/guard/sandbox/programs.ts";
import { createFolder } from "./sandbox-run.ts";

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

const find = (name: Parameters<typeof findRegistries>[0], bin: string, more: Readonly<Record<string, string>> = {}) =>
  findRegistries(name, {
    environment: { PATH: `${bin}:/usr/bin:/bin`, HOME: createFolder("home"), ...more },
    folders: [createFolder("workspace")],
    isDenial: false,
  });

describe("the registries of a language", () => {
  test(verifies("S-98", "are those that npm has for the user, scopes included"), async () => {
    const list =
      '; "user" config\n@acme:registry = "https://acme.example/npm/"\n//acme.example/:_authToken = (protected)';
    const bin = createProgram("npm", { "config list": list, "config get": "https://registry.example/" });
    expect(await find("npm", bin, { npm_config_registry: "https://hostile.example" })).toEqual({
      hosts: ["acme.example", "registry.example"],
      variables: {},
    });
    const record = readFileSync(join(bin, "record"), "utf8");
    expect(record).not.toContain("hostile");
    expect(record.split("\n")[0]).toBe("/");
  });

  test(verifies("S-98", "are pip's own, with the host of its files, unless the user names an index"), async () => {
    const defaults = { simple_url: "https://index.example/simple https://files.example" };
    const plain = await find("python", createProgram("python3", { ...defaults, run_module: "" }));
    expect(plain).toEqual({ hosts: ["index.example", "files.example"], variables: {} });
    const list =
      "global.index-url='https://mirror.example/simple'\nglobal.extra-index-url='https://two.example/ file:///x'";
    expect(await find("python", createProgram("python3", { ...defaults, run_module: list }))).toEqual({
      hosts: ["mirror.example", "two.example"],
      variables: { PIP_INDEX_URL: "https://mirror.example/simple", UV_DEFAULT_INDEX: "https://mirror.example/simple" },
    });
    const secret = "global.index-url='https://user:CANARY@mirror.example/simple'";
    expect(await find("python", createProgram("python3", { ...defaults, run_module: secret }))).toEqual({
      hosts: ["mirror.example"],
      variables: {},
    });
  });

  test(verifies("S-98", "are Go's proxies and its database of sums"), async () => {
    const bin = createProgram("go", { env: "https://proxy.example,https://two.example|direct\nsum.example+1+abc" });
    expect(await find("go", bin)).toEqual({
      hosts: ["proxy.example", "two.example", "sum.example"],
      variables: { GOPROXY: "https://proxy.example,https://two.example|direct" },
    });
  });

  test(verifies("S-98", "of cargo and gem are found too"), async () => {
    const cargo = createFolder("bin", {
      cargo:
        "#!/bin/sh\necho 'See https://help.example/x' >&2\necho '  failed to download from `https://index.example/config.json`' >&2\nexit 101\n",
    });
    chmodSync(join(cargo, "cargo"), 0o755);
    expect((await find("rust", cargo))?.hosts).toEqual(["index.example"]);
    const gem = createProgram("gem", { sources: "*** CURRENT SOURCES ***\n\nhttps://gems.example/" });
    expect((await find("ruby", gem))?.hosts).toEqual(["gems.example"]);
  });

  for (const [name, program] of [
    ["npm", "npm"],
    ["python", "python3"],
    ["rust", "cargo"],
    ["go", "go"],
  ] as const) {
    const isHere = findProgram(program, process.env) !== undefined;
    test.skipIf(!isHere)(verifies("S-98", `are found from the ${program} of this machine`), async () => {
      const found = await findRegistries(name, {
        environment: { ...process.env, PIP_INDEX_URL: undefined },
        folders: [createFolder("workspace")],
        isDenial: false,
      });
      expect(found?.hosts.length).toBeGreaterThan(0);
    });
  }

  test(verifies("S-98", "never come from a workspace: neither its programs nor its settings count"), async () => {
    const workspace = createFolder("workspace");
    const bin = createProgram("gem", { sources: "https://hostile.example/" }, join(workspace, "bin"));
    const home = createFolder("home");
    const order = { environment: { PATH: bin, HOME: home }, folders: [workspace], isDenial: false };
    await findRegistries("ruby", order).catch(() => undefined);
    expect(existsSync(join(bin, "record"))).toBe(false);
    const own = createProgram("gem", { sources: "https://gems.example/" });
    const path = `${own}:/usr/bin:/bin`;
    const inner = { ...order, environment: { PATH: path, HOME: workspace } };
    await expect(findRegistries("ruby", inner)).rejects.toThrow(/commands can write the home folder.*Network\(HOST\)/);
    const settings = { CARGO_HOME: join(workspace, "cargo"), GOPROXY: "https://proxy.example", PATH: path, HOME: home };
    await findRegistries("ruby", { ...order, environment: settings });
    expect(readFileSync(join(own, "record"), "utf8")).not.toContain("CARGO_HOME");
  });

  const python = findProgram("python3", process.env);
  test.skipIf(python === undefined)(
    verifies("S-98", "are found without code of a workspace that is installed as editable"),
    async () => {
      const workspace = createFolder("workspace");
      const home = createFolder("home");
      const environment = { PATH: process.env.PATH, HOME: home };
      const ask = ["-c", "import site; print(site.getusersitepackages())"];
      const site = execFileSync(python!, ask, { env: environment, encoding: "utf8" }).trim();
      expect(site.startsWith(home)).toBe(true);
      mkdirSync(site, { recursive: true });
      writeFileSync(join(site, "editable.pth"), `${workspace}\nimport started_by_pth\n`);
      for (const name of [
        "sitecustomize",
        "usercustomize",
        "started_by_pth",
        "pip/__init__",
        "pip/__main__",
        "runpy",
      ]) {
        mkdirSync(join(workspace, "pip"), { recursive: true });
        writeFileSync(
          join(workspace, `${name}.py`),
          `open(${JSON.stringify(join(home, "ran"))}, "a").write("${name} ")`,
        );
      }
      await findRegistries("python", { environment, folders: [workspace], isDenial: false }).catch(() => undefined);
      expect(existsSync(join(home, "ran"))).toBe(false);
    },
  );

  test(verifies("S-98", "that are not named are an error, which says what to write"), async () => {
    await expect(find("npm", createProgram("npm", {}))).rejects.toThrow(/npm does not say which host.*Network\(HOST\)/);
    const denial = { environment: { PATH: createFolder("bin"), HOME: "/home/x" }, folders: [], isDenial: true };
    await expect(findRegistries("ruby", denial)).rejects.toThrow(/gem is not installed/);
    expect(() => parseRule("Network(@java)")).toThrow(/names no registries \(@npm, @python/);
    expect(() => parseRule("WebFetch(@npm)")).toThrow(/names no host/);
    expect(parseRule("Network(@npm)")).toMatchObject({ kind: "Network", registry: "npm" });
  });
});
