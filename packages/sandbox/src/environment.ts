/** Makes the environment of commands from an allow list, so that keys and tokens never reach a command (S-40). */
import type { Environment } from "@sheaf/base/paths";
import { toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";

const allowedNames = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "TZ", "USER", "LOGNAME", "SHELL"] as const;
/** Variables with absolute paths of programs and certificates, which package managers need. */
const placeNames = [
  "JAVA_HOME", "GOROOT", "RUSTUP_HOME", "PYENV_ROOT", "NVM_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
  "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO",
] as const; // prettier-ignore
const localeName = /^LC_[A-Z]+$/;
const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/** Name of the variable that marks every process of a command. */
export const markerName = "SHEAF_CALL";

/** Returns a command's environment: the allowed variables and its marker (S-40). */
export function toCommandEnvironment(environment: Environment, marker: string): Record<string, string> {
  const names = [...allowedNames, ...Object.keys(environment).filter((name) => localeName.test(name))];
  const values = names.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  for (const name of placeNames) if (environment[name]?.startsWith("/")) values.push([name, environment[name]]);
  return { ...Object.fromEntries(values), PATH: toFixedPath(environment.PATH), [markerName]: marker };
}

/** Returns PATH's absolute folders: relative ones would run programs of the command's working directory (S-12). */
export function toFixedPath(path: string | undefined): string {
  const folders = (path ?? "").split(":").filter((folder) => folder.startsWith("/"));
  return folders.length === 0 ? defaultPath : folders.join(":");
}

/**
 * Returns settings for git in an untrusted repository (S-01), which override all others. The file watcher never runs,
 * and hooks run in the sandbox only. A repository's settings can start other programs: filters, pagers, signing. These
 * run in the sandbox as well, and without a sandbox Sheaf asks before the command (S-82).
 */
export function toUntrustedGitVariables(isSandboxed: boolean): Record<string, string> {
  const watcher = { GIT_CONFIG_KEY_0: "core.fsmonitor", GIT_CONFIG_VALUE_0: "false" };
  if (isSandboxed) return { GIT_CONFIG_COUNT: "1", ...watcher };
  return { GIT_CONFIG_COUNT: "2", ...watcher, GIT_CONFIG_KEY_1: "core.hooksPath", GIT_CONFIG_VALUE_1: "/dev/null" };
}

/** Returns the variables by which programs find the proxy. Addresses in the sandbox need no proxy. */
export function toProxyVariables(port: number): Record<string, string> {
  const address = `http://127.0.0.1:${port}`;
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  const direct = "localhost,127.0.0.1,::1";
  return {
    ...Object.fromEntries(names.map((name) => [name, address])),
    NO_PROXY: direct,
    no_proxy: direct,
    NODE_USE_ENV_PROXY: "1",
  };
}

/** Removes from `PATH` the folders that are inside `root`, by name or through a link. `root` has no links. */
export function withoutInnerFolders<Variables extends { readonly PATH?: string | undefined }>(
  environment: Variables,
  root: string,
): Variables {
  const { PATH } = environment;
  if (PATH === undefined) return environment;
  const kept = PATH.split(":").filter((folder) => !isBelow(folder, root) && !isBelow(toRealPlace(folder), root));
  return { ...environment, PATH: kept.join(":") };
}
