/**
 * Gives package managers and build tools a cache folder for each workspace, so that they never write into the user's
 * caches (S-97). Commands see it at `~/.cache`; variables point tools there that keep their caches elsewhere in the
 * home.
 */
import { hash } from "node:crypto";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { isFolder, makeFolder } from "@sheaf/base/make-folder";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { isBelow } from "@sheaf/base/files/workspace";
import { tokenLike } from "./cleaned-files.ts";
import { type Mount, toExistingPath } from "./mounts.ts";
import { listHomes } from "./secret-places.ts";

export interface ToolCaches {
  readonly mounts: readonly Mount[];
  readonly variables: Readonly<Record<string, string>>;
}

export interface CachePlan {
  readonly environment: Environment;
  /** Sheaf's folder for the caches, absolute. Commands may have changed everything in it. */
  readonly folder: string;
  /** The path at which commands find the caches if `~/.cache` is not free; absolute. */
  readonly substitute: string;
  /** All other mounts of the sandbox, absolute; undefined if the sandbox cannot mount. */
  readonly otherPlaces: readonly string[] | undefined;
  /** Hidden places, absolute. A secret place inside a cache stays hidden. */
  readonly secretPlaces: readonly string[];
  /** Port of the proxy through which commands download; undefined if they have no network. */
  readonly proxyPort: number | undefined;
  /** True if commands may reach the registry of that language. */
  readonly mayDownload: (registry: string) => boolean;
}

/** Returns the cache folder of a workspace, by its path without links: each workspace has another one. */
export function toCacheFolder(dataFolder: string, workspace: string): string {
  return join(dataFolder, "caches", hash("sha256", workspace, "hex").slice(0, 32));
}

/** Creates the caches and plans their mounts. Commands cannot see a mount's source, so they cannot replace it. */
export function planToolCaches(plan: CachePlan): ToolCaches {
  const { environment, folder, substitute, otherPlaces, secretPlaces } = plan;
  const home = [environment.HOME ?? "", ...listHomes(environment)].find((place) => place.startsWith("/"));
  if (home === undefined) return { mounts: [], variables: {} };
  const source = join(folder, "cache");
  makeFolder(source);
  if (!otherPlaces) return { mounts: [], variables: toCacheVariables(plan, home, substitute) };
  const [places, secrets] = [otherPlaces, secretPlaces].map((all) =>
    all.map((place) => toExistingPath(place) ?? place),
  );
  const findFree = (name: string): string | undefined => {
    const path = toExistingPath(join(home, name));
    if (path === undefined || !isFolder(path)) return undefined;
    if (secrets!.some((place) => isBelow(path, place))) return undefined;
    return places!.some((place) => isBelow(place, path) || isBelow(path, place)) ? undefined : path;
  };
  const usual = findFree(".cache");
  // pnpm refuses packages that were linked from a store at another path.
  const pnpmStore = findFree(".local/share/pnpm/store");
  const path = usual ?? substitute;
  const { PNPM_HOME = "", ...variables } = toCacheVariables(plan, home, path);
  const mounts: Mount[] = [{ path, access: "writable", source }];
  if (pnpmStore === undefined) return { mounts, variables: { ...variables, PNPM_HOME } };
  const pnpmSource = join(folder, "pnpm-store");
  makeFolder(pnpmSource);
  mounts.push({ path: pnpmStore, access: "writable", source: pnpmSource });
  return { mounts, variables };
}

/** True for a folder that is not a link, since a link would redirect the mount. */
function isOwnFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns the variables that point tools to their caches. `path` is the caches' path in the sandbox. */
function toCacheVariables(
  { environment, folder, proxyPort, mayDownload }: CachePlan,
  home: string,
  path: string,
): Record<string, string> {
  const goDownloads = join(home, "go/pkg/mod/cache/download");
  /** True if the tool needs Sheaf's cache. The user's store is better than an empty cache that no download fills. */
  const isNeeded = (registry: string, name: string, store: string): boolean =>
    mayDownload(registry) || isOwnFolder(join(folder, "cache", name)) || !isFolder(join(home, store));
  return {
    XDG_CACHE_HOME: path,
    npm_config_cache: join(path, "npm"),
    PNPM_HOME: join(path, "pnpm"),
    YARN_GLOBAL_FOLDER: join(path, "yarn-berry"),
    GOMODCACHE: join(path, "go-mod"),
    // Go can use the user's downloads as a proxy that needs no network.
    ...(!mayDownload("go") && isFolder(goDownloads) && { GOPROXY: `file://${goDownloads}` }),
    ...(mayDownload("go") && isPlain(environment.GOPROXY) && { GOPROXY: environment.GOPROXY }),
    ...(mayDownload("python") && toIndexVariables(environment.PIP_INDEX_URL ?? readPipIndex(home))),
    GRADLE_USER_HOME: join(path, "gradle"),
    // Retries would only cost minutes without a network.
    ...(proxyPort === undefined && { npm_config_fetch_retries: "0", CARGO_NET_RETRY: "0" }),
    // pip retries even if the proxy refuses a host: five retries take 10 to 25 s.
    PIP_RETRIES: proxyPort === undefined ? "0" : "2",
    ...(isFolder(join(home, ".gradle/caches/modules-2")) && { GRADLE_RO_DEP_CACHE: join(home, ".gradle/caches") }),
    ...(isNeeded("rust", "cargo", ".cargo/registry") && { CARGO_HOME: join(path, "cargo") }),
    ...(isNeeded("java", "m2", ".m2/repository") && { MAVEN_OPTS: toMavenOptions(join(path, "m2"), home, proxyPort) }),
    ...(proxyPort !== undefined && { GRADLE_OPTS: toJavaOptions(toJavaProxy(proxyPort)) }),
  };
}

/** True for an address without a token, which commands may see (S-99). */
function isPlain(address: string | undefined): address is string {
  return address !== undefined && !/[@?]/.test(address) && !tokenLike.test(address);
}

/** Variables for pip and uv: uv does not read pip's configuration. */
function toIndexVariables(index: string | undefined): Record<string, string> {
  return isPlain(index) ? { PIP_INDEX_URL: index, UV_DEFAULT_INDEX: index } : {};
}

function readPipIndex(home: string): string | undefined {
  const text = readSmallFile(join(home, ".config/pip/pip.conf"), 64 * 1024) ?? "";
  return /^index-url\s*=\s*(https?:\S+)\s*$/m.exec(text)?.[1];
}

/** Options that make Maven 3.9 use the cache, and read the user's repository after it. */
function toMavenOptions(repository: string, home: string, proxyPort: number | undefined): string {
  return toJavaOptions({
    "maven.repo.local": repository,
    "maven.repo.local.tail": join(home, ".m2/repository"),
    ...(proxyPort !== undefined && {
      "aether.connector.http.useSystemProperties": "true",
      ...toJavaProxy(proxyPort),
    }),
  });
}

/** Proxy settings for Java programs, which ignore the usual variables. */
function toJavaProxy(port: number): Record<string, string> {
  const schemes = ["http", "https"].flatMap((scheme) => [
    [`${scheme}.proxyHost`, "127.0.0.1"],
    [`${scheme}.proxyPort`, String(port)],
  ]);
  return Object.fromEntries(schemes);
}

function toJavaOptions(options: Readonly<Record<string, string>>): string {
  return Object.entries(options)
    .map(([name, value]) => `-D${name}=${value}`)
    .join(" ");
}
