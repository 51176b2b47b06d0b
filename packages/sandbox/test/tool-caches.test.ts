/** Caches of tools are Sheaf's own, and what commands leave in them stays there (S-97). */
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import { toCacheFolder } from "../src/hold/tool-caches.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox, runHeld, stateFolder } from "./sandbox-run.ts";

const run = async (command: string, home: string, cacheFolder?: string, workspace = createFolder("workspace")) => {
  const outcome = await runHeld(command, workspace, {}, { ...environment, HOME: home }, { cacheFolder });
  expect(outcome.startError).toBe("");
  return outcome.stdout;
};

describeWithSandbox("caches of tools", () => {
  test.each([
    ["the cache by its path", (cache: string) => cache],
    ["a folder in it that a later command makes", (cache: string) => `${cache}/cache/later`],
    ["the cache by a relative path", (cache: string, workspace: string) => relative(workspace, cache)],
    ["the cache through a process", (cache: string) => `/proc/self/root${cache}`],
    ["the process's folder", () => "/proc/self/cwd/../x"],
    ["the cache through another link", (cache: string) => `${dirname(cache)}-link/cache`],
    ["a git folder", () => ".git/logs/y"],
    ["a git folder elsewhere", () => "/srv/x/.git/modules/y"],
    ["the files of runs", () => `${stateFolder}/refused`],
  ])(verifies("S-252", "no link leads from the workspace to %s"), async (_, toTarget) => {
    const workspace = createFolder("workspace", { ".git/HEAD": "ref: refs/heads/main", "d/x": "" });
    const cacheFolder = join(createFolder("data"), "cache");
    symlinkSync(dirname(cacheFolder), `${dirname(cacheFolder)}-link`);
    const target = toTarget(cacheFolder, workspace);
    const command = `ln -s ${target} vend; ln -s /usr/bin/env env; ln -s d/x same; true`;
    const { refusals } = await runHeld(command, workspace, {}, environment, { cacheFolder });
    expect(refusals.join()).toContain('"vend" points into a folder of git or of Sheaf');
    expect(readdirSync(workspace).toSorted()).toEqual([".git", "d", "env", "same"]);
  });

  test.each([
    ["at ~/.cache, if that exists", { ".cache/own": "the user's" }],
    ["in /tmp, if it does not", { "other/own": "the user's" }],
  ])(
    "[S-97] are %s, last longer than a run, and are nothing of the user's",
    async (_, files: Record<string, string>) => {
      const home = createFolder("home", files);
      const caches = createFolder("caches");
      expect(await run('ls -A ~/.cache/own; echo new > "$XDG_CACHE_HOME/new"', home, caches)).toBe("");
      expect(await run('cat "$XDG_CACHE_HOME/new"', home, caches)).toBe("new\n");
      expect(await run('ls -A "$XDG_CACHE_HOME"', home, createFolder("caches"))).toBe("");
      expect(readFileSync(join(home, Object.keys(files)[0]!), "utf8")).toBe("the user's");
      expect(readdirSync(home)).toEqual([Object.keys(files)[0]!.split("/")[0]]);
      expect(readdirSync(dirname(join(home, Object.keys(files)[0]!)))).toEqual(["own"]);
    },
  );

  test(verifies("S-97", "last as long as the run where nothing is stored"), async () => {
    const home = createFolder("home", { ".cache/own": "" });
    expect(await run("echo x > ~/.cache/new; ls ~/.cache", home)).toBe("new\n");
    expect(await run("ls -A ~/.cache", home)).toBe("");
  });

  test(verifies("S-97", "leave the rest of the home read-only, and what is installed there usable"), async () => {
    const files = {
      ".cache/ms-playwright/browser": "installed",
      ".cargo/bin/cargo": "installed",
      ".local/share/pnpm/pnpm": "installed",
      ".local/share/pnpm/store/v10/file": "the user's",
      "go/bin/tool": "installed",
    };
    const home = createFolder("home", files);
    const places = ["~", "~/.cargo", "~/.cargo/bin", "~/go", "~/.local/share/pnpm"];
    const command = `ls ~/.cache; cat ~/.cargo/bin/* ~/go/bin/* ~/.local/share/pnpm/pnpm; for place in ${places.join(" ")}; do echo x > $place/new; done; echo x > ~/.local/share/pnpm/store/new; ls ~/.local/share/pnpm/store`;
    expect(await run(command, home, createFolder("caches"))).toBe("installedinstalledinstallednew\n");
    expect(readdirSync(home, { recursive: true }).filter((name) => String(name).endsWith("new"))).toEqual([]);
  });

  test(verifies("S-97", "lead nowhere else, whatever links commands leave in them"), async () => {
    const home = createFolder("home", { ".cache/own": "", "secret/file": "old" });
    const caches = createFolder("caches");
    const workspace = createFolder("workspace");
    await run('ls "$XDG_CACHE_HOME"', home, caches);
    const secret = join(home, "secret");
    const links = ["ms-playwright", "npm", "go-mod", "cargo", "pnpm", "m2", "puppeteer"];
    const link = links.map((name) => `rm -rf ~/.cache/${name}; ln -s ${secret} ~/.cache/${name}`).join("; ");
    await run(`${link}; cd ..; rmdir ~/.cache; mv ~/.cache ~/x; ln -sfn ${secret} ~/.cache`, home, caches, workspace);
    const writes = links.map((name) => `echo new > ~/.cache/${name}/file`).join("; ");
    await run(`${writes}; echo new > "$npm_config_cache/more"`, home, caches, workspace);
    expect(readdirSync(secret)).toEqual(["file"]);
    expect(readFileSync(join(secret, "file"), "utf8")).toBe("old");
    expect(readdirSync(join(home, ".cache"))).toEqual(["own"]);
  });

  test(verifies("S-97", "leave the user's own downloads readable, until a rule lets new ones come"), async () => {
    const home = createFolder("home", {
      ".cargo/registry/x": "",
      "go/pkg/mod/cache/download/x": "",
      ".m2/repository/x": "",
    });
    const variables = { ...environment, HOME: home };
    const read = async (...allow: readonly string[]): Promise<string> => {
      const network = createCommandNetwork({ allow, deny: [] });
      const command = "echo $CARGO_HOME $GOPROXY $MAVEN_OPTS";
      return (await runHeld(command, createFolder("workspace"), {}, variables, { network })).stdout.trim();
    };
    const downloads = `file://${home}/go/pkg/mod/cache/download`;
    expect(await read()).toBe(downloads);
    expect(await read("Network(@npm)")).toBe(downloads);
    expect(await read("Network(@rust)")).toBe(`/tmp/.cache/cargo ${downloads}`);
    expect(await read("Network(registry.example)")).toMatch(
      /^\/tmp\/\.cache\/cargo -Dmaven\.repo\.local=.*proxyPort=3128$/,
    );
  });

  test(verifies(["S-98", "S-99"], "come with the registries that variables name, without tokens"), async () => {
    const home = createFolder("home", { ".config/pip/pip.conf": "[global]\nindex-url = https://pip.example/simple\n" });
    const read = async (more: Readonly<Record<string, string>>, ...allow: readonly string[]): Promise<string> => {
      const network = createCommandNetwork({ allow, deny: [] });
      const command = "echo $GOPROXY,$PIP_INDEX_URL,$UV_DEFAULT_INDEX,$GRADLE_OPTS";
      const variables = { ...environment, HOME: home, ...more };
      return (await runHeld(command, createFolder("workspace"), {}, variables, { network })).stdout.trim();
    };
    const more = { GOPROXY: "https://go.example", PIP_INDEX_URL: "https://two.example/" };
    expect(await read(more)).toBe(",,,");
    expect(await read(more, "Network(@go)")).toMatch(/^https:\/\/go\.example,,,-Dhttp\.proxyHost=127\.0\.0\.1 /);
    expect(await read({}, "Network(@python)")).toMatch(/^,(https:\/\/pip\.example\/simple),\1,/);
    expect(await read(more, "Network(@python)")).toMatch(/^,(https:\/\/two\.example\/),\1,/);
    expect(await read({ PIP_INDEX_URL: "https://u:p@two.example/" }, "Network(@python)")).toMatch(/^,,,/);
  });

  test(verifies("S-97", "do not cover what commands write or must not see"), async () => {
    const home = createFolder("home", { ".cache/sheaf/key": "CANARY", ".cache/project/file": "old", "x/.cache/y": "" });
    const workspace = join(home, ".cache/project");
    const variables = { ...environment, HOME: home, SHEAF_HOME: join(home, ".cache/sheaf") };
    const { output } = await runHeld(
      'cat ~/.cache/sheaf/key; cat file; echo x > "$XDG_CACHE_HOME/new"; echo new > file',
      workspace,
      {},
      variables,
    );
    expect(output).not.toContain("CANARY");
    // The order of stdout and stderr is open.
    expect(output.replace(/cat: .*\n/, "")).toBe("old");
    expect(readFileSync(join(workspace, "file"), "utf8")).toBe("new\n");
    expect(existsSync(join(home, ".cache/new"))).toBe(false);
  });

  test(verifies("S-97", "are those of one workspace, by its real path"), () => {
    const [one, two] = [toCacheFolder("/data", "/src/one"), toCacheFolder("/data", "/src/one/../two")];
    expect(one).toMatch(/^\/data\/caches\/[0-9a-f]{32}$/);
    expect(one).not.toBe(two);
  });
});

describeWithSandbox("files that may contain tokens", () => {
  const files = {
    ".npmrc": [
      "registry=https://registry.example/npm/",
      "@acme:registry=https://acme.example/",
      "//registry.example/:_authToken=CANARY-1",
      "@two:registry=https://user:CANARY-2@registry.example/",
      "@three:registry=https://registry.example/CANARY3abcdef0123/npm/",
      "registry=https://registry.example/?token=CANARY-4",
      "@letters:registry=https://registry.example/basic/CANARYxYzQwErTy/npm/",
    ].join("\n"),
    ".config/pip/pip.conf":
      "[global]\nindex-url = https://u:CANARY-5@pip.example/simple\nextra-index-url = https://pip.example/simple\n",
    ".m2/settings.xml":
      "<settings><servers><server><password>CANARY-6</password></server></servers><mirrors><mirror><id>m</id><!-- CANARY-7 --><url>https://m2.example/</url><mirrorOf>*</mirrorOf></mirror></mirrors></settings>",
    ".yarnrc.yml": 'npmAuthToken: CANARY-8\nnpmRegistryServer: "https://yarn.example"\n',
    ".pip/pip.conf": "[global]\nindex-url = https://old.example/\npassword = CANARY-10\n",
    ".config/pnpm/rc": "registry=https://pnpm.example/\n//pnpm.example/:_authToken=CANARY-11\n",
    ".cargo/credentials.toml": "CANARY-9",
    ".config/pnpm/auth.ini": "CANARY-12",
    ".config/pypoetry/auth.toml": "CANARY-13",
    ".config/composer/auth.json": "CANARY-14",
    ".local/share/uv/credentials/credentials.toml": "CANARY-15",
    ".sbt/.credentials": "CANARY-16",
    ".ivy2/.credentials": "CANARY-17",
  };

  test(verifies(["S-99", "S-34"], "name registries to commands, and nothing else"), async () => {
    const home = createFolder("home", files);
    const paths = Object.keys(files).map((name) => `~/${name}`);
    const { output, stdout } = await runHeld(
      `cat ${paths.join(" ")}; echo x >> ~/.npmrc`,
      createFolder("workspace"),
      {},
      {
        ...environment,
        HOME: home,
      },
    );
    expect(output).not.toContain("CANARY");
    expect(stdout.trim()).toBe(
      [
        "registry=https://registry.example/npm/",
        "@acme:registry=https://acme.example/",
        "[global]",
        "extra-index-url = https://pip.example/simple",
        "<settings><mirrors><mirror><id>m</id><url>https://m2.example/</url><mirrorOf>*</mirrorOf></mirror></mirrors></settings>",
        'npmRegistryServer: "https://yarn.example"',
        "[global]",
        "index-url = https://old.example/",
        "registry=https://pnpm.example/",
      ].join("\n"),
    );
    expect(readFileSync(join(home, ".npmrc"), "utf8")).toBe(files[".npmrc"]);
  });
});
