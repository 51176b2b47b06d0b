/**
 * Finds the hosts of package registries (S-98). Each package manager reports where it fetches packages. It runs outside
 * the sandbox, with the user's configuration, never with the workspace's. The code itself lists no hosts.
 */
import { join } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import type { FindRegistryHosts, RegistryName } from "@sheaf/base/command-network";
import { toFixedPath, withoutInnerFolders } from "../environment.ts";
import { isExecutable } from "@sheaf/base/is-executable";
import { runProgram } from "../programs.ts";
import type { Sandbox } from "../sandbox.ts";

/** The user's environment, and the folders that commands write: Sheaf does not run or obey files in them. */
export interface Surroundings {
  readonly environment: Environment;
  /** Absolute paths, links resolved. */
  readonly folders: readonly string[];
  readonly sandbox?: Sandbox | undefined;
}

interface Preset {
  readonly program: string;
  /** Paths below the home folder that it reads or runs. If commands can write one of them, Sheaf does not run it. */
  readonly places: readonly string[];
  /** The arguments of each call; all calls run at once. */
  readonly calls: readonly (readonly string[])[];
  /** Another program for the same packages, which may report no hosts. */
  readonly further?: Preset;
  readonly variables?: Readonly<Record<string, string>>;
  readonly isFailing?: true;
  /** Returns addresses. `outputs` has the output of each call, in order, or its errors if `isFailing` is true. */
  readonly read: (outputs: readonly string[], home: string) => readonly string[];
}

const refusedByCargo = /(?:failed to (?:download from|fetch)|repository|registry) `(https?:[^`]+)`/g;

/**
 * Starts Python without code that installed packages run at its start: `.pth` files and `sitecustomize`. An editable
 * installation of the workspace lists its folders there, and their code would run outside the sandbox.
 */
const startPython =
  "import site; site.addpackage = lambda *_, **__: None; " +
  "site.execsitecustomize = site.execusercustomize = lambda: None; site.main(); ";

function runPython(code: string): string[] {
  return ["-S", "-c", startPython + code];
}

const nodePlaces = [".npmrc", ".yarnrc", ".yarnrc.yml", ".config/yarn"];

const presets: Readonly<Record<RegistryName, Preset>> = {
  npm: {
    program: "npm",
    places: nodePlaces,
    calls: [
      ["config", "list"],
      ["config", "get", "registry"],
    ],
    read: ([configured = "", used = ""]) => [...findAll(/^(?:@[\w.-]+:)?registry = "(.+)"/gm, configured), used],
    further: {
      program: "yarn",
      places: nodePlaces,
      // Calls for yarn 1, and for later versions.
      calls: [
        ["config", "get", "registry"],
        ["config", "get", "npmRegistryServer"],
      ],
      variables: { COREPACK_ENABLE_NETWORK: "0" },
      read: (outputs) => outputs,
    },
  },
  python: {
    program: "python3",
    places: [".config/pip", ".config/pip/pip.conf", ".pip", ".pip/pip.conf", ".local/lib", ".pyenv"],
    calls: [
      runPython("import runpy, sys; sys.argv = ['pip', 'config', 'list']; runpy.run_module('pip', None, '__main__')"),
      runPython(
        "from pip._internal.models.index import PyPI as i; print(i.simple_url, 'https://' + i.file_storage_domain)",
      ),
    ],
    read: readPip,
  },
  go: {
    program: "go",
    places: [".config/go", ".config/go/env"],
    calls: [["env", "GOPROXY", "GOSUMDB"]],
    read: ([output = ""]) => readGo(output),
  },
  rust: {
    program: "cargo",
    places: [".cargo", ".cargo/config", ".cargo/config.toml", ".rustup"],
    // Cargo shows its registry only when it cannot reach it, so the proxy is port 9, which is closed.
    calls: [["info", "serde"]],
    variables: { CARGO_HTTP_PROXY: "http://127.0.0.1:9", CARGO_NET_RETRY: "0", CARGO_NET_GIT_FETCH_WITH_CLI: "false" },
    isFailing: true,
    read: ([output = ""]) => findAll(refusedByCargo, output),
  },
  ruby: {
    program: "gem",
    places: [".gemrc", ".local/share/gem"],
    calls: [["sources"]],
    read: ([output = ""]) => output.split("\n"),
  },
  java: {
    program: "mvn",
    places: [".mavenrc", ".m2", ".m2/settings.xml", ".m2/extensions.xml"],
    // Maven lists its repositories if they lack a plugin. It finds no packages in /proc, and writes none there.
    calls: [["-B", "-q", "-o", "-Dmaven.repo.local=/proc", "sheaf:registries"]],
    read: ([output = ""], home) => [...findAll(/\((https?:[^)]+)\)/g, output), ...readMavenSettings(home)],
  },
};

/** Returns the first group of each match. */
function findAll(pattern: RegExp, text: string): string[] {
  return [...text.matchAll(pattern)].map(([, found = ""]) => found);
}

/** Variables of the user that choose a registry, or the folder of a program. */
const kept = [
  "HOME",
  "PIP_INDEX_URL",
  "PIP_EXTRA_INDEX_URL",
  "GOPROXY",
  "CARGO_HOME",
  "RUSTUP_HOME",
  "PYENV_ROOT",
  "JAVA_HOME",
] as const;

/** Milliseconds. */
const maxDuration = 30_000;
const maxBytes = 64 * 1024;

/** Creates the finder, which runs each package manager once, when its hosts are first needed. */
export function createRegistryFinder(surroundings: Surroundings): FindRegistryHosts {
  const asked = new Map<RegistryName, ReturnType<FindRegistryHosts>>();
  return async (name, isDenial) => {
    const finding = asked.get(name) ?? findAllHosts(name, surroundings);
    asked.set(name, finding);
    const found = await finding;
    if (found.length > 0 || !isDenial) return found;
    return toProblem(name, `${presets[name].program} is not installed`);
  };
}

async function findAllHosts(name: RegistryName, surroundings: Surroundings): Promise<readonly string[] | string> {
  const { further } = presets[name];
  const [hosts, more] = await Promise.all([
    findRegistries(name, presets[name], surroundings),
    further ? findRegistries(name, further, surroundings) : [],
  ]);
  return typeof hosts === "string" || typeof more === "string" ? hosts : [...hosts, ...more];
}

/**
 * Returns no hosts if the program is not installed: then commands fetch such packages in another way, or not at all.
 */
async function findRegistries(
  name: RegistryName,
  preset: Preset,
  { folders, environment: user, sandbox }: Surroundings,
): Promise<readonly string[] | string> {
  const environment = folders.reduce<Environment>(withoutInnerFolders, user);
  const isOutside = (path: string): boolean => !folders.some((folder) => isBelow(toRealPlace(path), folder));
  const file = toFixedPath(environment.PATH)
    .split(":")
    .map((folder) => join(folder, preset.program))
    .find((path) => isExecutable(path) && isOutside(path));
  if (file === undefined) return [];
  const home = environment.HOME ?? "";
  if (!home.startsWith("/") || !isOutside(home)) return toProblem(name, "commands can write the home folder");
  const place = preset.places.find((path) => !isOutside(join(home, path)));
  if (place !== undefined) return toProblem(name, `commands can write ~/${place}`);
  const isSafe = (value: string): boolean => !value.startsWith("/") || isOutside(value);
  const values = kept.flatMap((key) => {
    const value = environment[key];
    return value !== undefined && isSafe(value) ? [[key, value] as const] : [];
  });
  const variables = {
    ...Object.fromEntries(values),
    PATH: toFixedPath(environment.PATH),
    LANG: "C.UTF-8",
    ...preset.variables,
  };
  const outputs = await Promise.all(
    preset.calls.map((args) => runCall(hideFolders([file, ...args], folders, sandbox), variables)),
  );
  const addresses = preset.read(
    outputs.map(({ stdout, stderr }) => (preset.isFailing ? stderr : stdout)),
    home,
  );
  const hosts = [...new Set(addresses.flatMap(toHostName))];
  return hosts.length > 0 ? hosts : toProblem(name, `${preset.program} does not say which host it uses`);
}

/** Hides these folders: a package manager starts programs by name, such as node, which a command could replace. */
function hideFolders(words: readonly string[], folders: readonly string[], sandbox?: Sandbox): readonly string[] {
  if (sandbox?.state !== "enabled") return words;
  if (sandbox.kind === "bubblewrap") {
    return [sandbox.file, "--dev-bind", "/", "/", ...folders.flatMap((folder) => ["--tmpfs", folder]), "--", ...words];
  }
  const definitions = folders.flatMap((folder, index) => ["-D", `FOLDER_${index}=${folder}`]);
  const places = folders.map((_, index) => `(subpath (param "FOLDER_${index}"))`);
  return [
    sandbox.file,
    "-p",
    `(version 1)(allow default)(deny file-read* ${places.join(" ")})`,
    ...definitions,
    ...words,
  ];
}

/** Runs a call outside of every project. Sheaf ignores the output of a program that fails. */
async function runCall(
  [file = "", ...args]: readonly string[],
  environment: Environment,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const decoder = new TextDecoder();
  let stdout = "";
  const { stderr } = await runProgram({
    file,
    args,
    cwd: "/",
    environment,
    signal: AbortSignal.timeout(maxDuration),
    onStdout(chunk) {
      stdout += decoder.decode(chunk, { stream: true });
      return stdout.length < maxBytes;
    },
    maxStderrBytes: maxBytes,
  });
  return { stdout: stdout.trim(), stderr };
}

function readPip([configured = "", defaults = ""]: readonly string[]): string[] {
  // `config list` prints the variables last, which have priority.
  const find = (key: string): string[] =>
    findAll(new RegExp(String.raw`^[\w:]+\.${key}='(.*)'$`, "gm"), configured).flatMap((value) => value.split(/\s+/));
  const index = find("index-url").at(-1);
  return [...(index === undefined ? defaults.trim().split(/\s+/) : [index]), ...find("extra-index-url")];
}

function readGo(output: string): string[] {
  const [proxies = "", sums = ""] = output.split("\n").map((line) => line.trim());
  const [database = "", address] = sums.split(" ");
  return [...proxies.split(/[,|]/), address ?? `https://${database.split("+")[0]}`];
}

/** Lists the addresses that Maven uses for further packages, mirrors or not. */
function readMavenSettings(home: string): string[] {
  const text = readSmallFile(join(home, ".m2/settings.xml"), maxBytes) ?? "";
  return findAll(/<url>\s*(https?:[^<\s]+)\s*<\/url>/g, text.replaceAll(/<!--[^]*?-->/g, ""));
}

function toHostName(address: string): string[] {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  return url && isWeb && url.hostname.includes(".") ? [url.hostname] : [];
}

function toProblem(name: RegistryName, problem: string): string {
  return `the rule for @${name} cannot be used, because ${problem}: write Network(HOST) with the host of the registry`;
}
