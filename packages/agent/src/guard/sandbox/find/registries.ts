/**
 * The hosts of package registries (S-98). Each package manager says where it fetches packages: outside the sandbox, by the
 * user's configuration, never by that of a workspace. No host is known here.
 */
import { join } from "node:path";
import { SheafError } from "../../../base/errors.ts";
import { isFolder } from "../../../base/make-folder.ts";
import type { Environment } from "../../../base/paths.ts";
import { toRealPlace } from "../../../workspace/repository.ts";
import { isBelow } from "../../../workspace/workspace.ts";
import type { RegistryName } from "../../permissions/rule.ts";
import { toFixedPath, withoutInnerFolders } from "../environment.ts";
import { isExecutable, runProgram } from "../programs.ts";

export interface Registries {
  /** As in addresses, without a port. */
  readonly hosts: readonly string[];
  /** For commands: what their programs cannot read in the sandbox. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The user's, and the folders that commands write: nothing of them is run or obeyed. */
interface Surroundings {
  readonly environment: Environment;
  /** Absolute, links resolved. */
  readonly folders: readonly string[];
  /** The rule denies: then a missing program is an error. */
  readonly isDenial: boolean;
}

interface Preset {
  readonly program: string;
  /** One call for each; all of them at once. */
  readonly calls: readonly (readonly string[])[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly isFailing?: true;
  /** `outputs`: what each call printed, in order: its errors where `isFailing`. */
  readonly read: (outputs: readonly string[], home: string) => Answer;
}

interface Answer {
  readonly addresses: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

const refusedByCargo = /(?:failed to (?:download from|fetch)|repository|registry) `(https?:[^`]+)`/g;

/**
 * Python without what installed packages start with it: `.pth` files and `sitecustomize`. An editable installation of the
 * workspace names its folders there, and code in them would run outside the sandbox.
 */
const startPython =
  "import site; site.addpackage = lambda *_, **__: None; " +
  "site.execsitecustomize = site.execusercustomize = lambda: None; site.main(); ";

function runPython(code: string): string[] {
  return ["-S", "-c", startPython + code];
}

const presets: Readonly<Record<RegistryName, Preset>> = {
  npm: {
    program: "npm",
    calls: [
      ["config", "list"],
      ["config", "get", "registry"],
    ],
    read: ([configured = "", used = ""]) => ({
      addresses: [
        ...[...configured.matchAll(/^(?:@[\w.-]+:)?registry = "(.+)"/gm)].map(([, address = ""]) => address),
        used,
      ],
    }),
  },
  python: {
    program: "python3",
    calls: [
      runPython("import runpy, sys; sys.argv = ['pip', 'config', 'list']; runpy.run_module('pip', None, '__main__')"),
      runPython(
        "from pip._internal.models.index import PyPI as i; print(i.simple_url, 'https://' + i.file_storage_domain)",
      ),
    ],
    read: readPip,
  },
  go: { program: "go", calls: [["env", "GOPROXY", "GOSUMDB"]], read: ([output = ""], home) => readGo(output, home) },
  rust: {
    program: "cargo",
    // Cargo names its registry only when it cannot reach it; on port 9 nothing listens.
    calls: [["info", "serde"]],
    variables: { CARGO_HTTP_PROXY: "http://127.0.0.1:9", CARGO_NET_RETRY: "0", CARGO_NET_GIT_FETCH_WITH_CLI: "false" },
    isFailing: true,
    read: ([output = ""]) => ({ addresses: [...output.matchAll(refusedByCargo)].map(([, address = ""]) => address) }),
  },
  ruby: {
    program: "gem",
    calls: [["sources"]],
    read: ([output = ""]) => ({ addresses: output.split("\n") }),
  },
};

/** Variables of the user that choose a registry, or the folder of a program. */
const kept = [
  "HOME",
  "PIP_INDEX_URL",
  "PIP_EXTRA_INDEX_URL",
  "GOPROXY",
  "CARGO_HOME",
  "RUSTUP_HOME",
  "PYENV_ROOT",
] as const;

/** Milliseconds. */
const maxDuration = 15_000;
const maxBytes = 64 * 1024;

/**
 * Undefined if the program is not installed: then no command can use it either.
 * @throws SheafError USAGE with the rule to write if the program does not say its host, or if commands can change what it says.
 */
export async function findRegistries(name: RegistryName, surroundings: Surroundings): Promise<Registries | undefined> {
  const { folders } = surroundings;
  const preset = presets[name];
  const environment = folders.reduce<Environment>(withoutInnerFolders, surroundings.environment);
  const isOutside = (path: string): boolean => !folders.some((folder) => isBelow(toRealPlace(path), folder));
  const file = toFixedPath(environment.PATH)
    .split(":")
    .map((folder) => join(folder, preset.program))
    .find((path) => isExecutable(path) && isOutside(path));
  if (file === undefined) {
    if (surroundings.isDenial) throw createError(name, `${preset.program} is not installed`);
    return undefined;
  }
  const home = environment.HOME ?? "";
  if (!home.startsWith("/") || !isOutside(home)) throw createError(name, "commands can write the home folder");
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
  const outputs = await Promise.all(preset.calls.map((args) => runCall(file, args, variables)));
  const answer = preset.read(
    outputs.map(({ stdout, stderr }) => (preset.isFailing ? stderr : stdout)),
    home,
  );
  const hosts = [...new Set(answer.addresses.flatMap(toHostName))];
  if (hosts.length === 0) throw createError(name, `${preset.program} does not say which host it uses`);
  return { hosts, variables: answer.variables ?? {} };
}

/** Outside of every project. A program that fails prints nothing that counts. */
async function runCall(
  file: string,
  args: readonly string[],
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

function readPip([configured = "", defaults = ""]: readonly string[]): Answer {
  // `config list` prints the variables last, which count most.
  const find = (key: string): string[] =>
    [...configured.matchAll(new RegExp(String.raw`^[\w:]+\.${key}='(.*)'$`, "gm"))].map(([, value = ""]) => value);
  const index = find("index-url").at(-1);
  const extra = find("extra-index-url").at(-1)?.split(/\s+/) ?? [];
  const addresses = [...(index === undefined ? defaults.trim().split(/\s+/) : [index]), ...extra];
  if (index === undefined || /[@?]/.test(index)) return { addresses };
  return { addresses, variables: { PIP_INDEX_URL: index, UV_DEFAULT_INDEX: index } };
}

/** The user's own downloads come first: they need no network. */
function readGo(output: string, home: string): Answer {
  const [proxies = "", sums = ""] = output.split("\n").map((line) => line.trim());
  const downloads = join(home, "go/pkg/mod/cache/download");
  const chain = isFolder(downloads) ? `file://${downloads},${proxies}` : proxies;
  const [database = "", address] = sums.split(" ");
  return {
    addresses: [...proxies.split(/[,|]/), address ?? `https://${database.split("+")[0]}`],
    variables: proxies === "" || proxies.includes("@") ? {} : { GOPROXY: chain },
  };
}

function toHostName(address: string): string[] {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  return url && isWeb && url.hostname.includes(".") ? [url.hostname] : [];
}

function createError(name: RegistryName, problem: string): SheafError {
  return new SheafError(
    "USAGE",
    `the rule "Network(@${name})" cannot be used, because ${problem}: write Network(HOST) with the host of the registry`,
  );
}
