/** The one version of all packages: where it is written. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { privateRooms, publishedPackages } from "./published-packages.ts";

/** A file, and what it says in a release of a version. */
interface Place {
  readonly path: string;
  readonly write: (text: string, version: string, root: string) => string;
}

interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  homepage?: string;
  bugs?: { readonly url: string };
  /** Of a lock file, by folder. */
  packages?: Record<string, Manifest>;
  repository?: { readonly type: string; readonly url: string; readonly directory?: string };
  [dependencies: `${string}ependencies`]: Record<string, string> | undefined;
}

/** `1.2.3` or `1.2.3-rc.1`. */
export const versionPattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$/;

const folders = [...publishedPackages, ...privateRooms, "web"].map((name) => `packages/${name}`);

const places: readonly Place[] = [
  { path: "package.json", write: (text, version) => editJson(text, (root) => void (root.version = version)) },
  ...folders.map((folder) => ({
    path: `${folder}/package.json`,
    write: (text: string, version: string, root: string) =>
      editJson(text, (manifest) => {
        setVersions(manifest, version);
        if (manifest.private !== true) setOrigin(manifest, readManifest(root), folder);
      }),
  })),
  {
    path: "package-lock.json",
    write: (text, version) =>
      editJson(text, (lock) => {
        lock.version = version;
        for (const path of ["", ...folders]) setVersions(lock.packages![path]!, version);
      }),
  },
  {
    path: "packages/base/src/version.ts",
    write: (text, version) => text.replace(/(sheafVersion = )"[^"]+"/, `$1"${version}"`),
  },
  {
    path: "clients/python/pyproject.toml",
    write: (text, version) => text.replace(/^(version = )"[^"]+"/m, `$1"${version}"`),
  },
  { path: "action/action.yml", write: (text, version) => text.replace(/^( {4}default: )\d\S+$/m, `$1${version}`) },
  {
    path: "deploy/acp-registry/agent.json",
    write: (text, version) =>
      text.replace(/("version": )"[^"]+"/, `$1"${version}"`).replace(/\bsheaf@\d[^"]+/, `sheaf@${version}`),
  },
  ...["examples/ci/github-review.yml", "examples/ci/gitlab-review.yml"].map((path) => ({
    path,
    write: (text: string, version: string) => text.replaceAll(/\bsheaf@\d\S+/g, `sheaf@${version}`),
  })),
  { path: "README.md", write: (text, version) => text.replace(/^(Version )\d\S+?(?=\. )/m, `$1${version}`) },
];

/** The files that say another version, or another origin than the root, with the text that they should have. */
export function findStaleFiles(root: string, version: string): { readonly path: string; readonly text: string }[] {
  return places.flatMap(({ path, write }) => {
    const before = readFileSync(join(root, path), "utf8");
    const text = write(before, version, root);
    if (!text.includes(version)) throw new Error(`${path} no longer names the version: mend scripts/versions.ts`);
    return text === before ? [] : [{ path, text }];
  });
}

/** The package.json of the root. Its `repository` is the only place with the address of the repository. */
export function readManifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
}

function editJson(text: string, edit: (value: Manifest) => void): string {
  const value = JSON.parse(text) as Manifest;
  edit(value);
  // A list of one line stays as it is: only what changes is written anew.
  const before = JSON.stringify(JSON.parse(text), undefined, 2);
  return before === JSON.stringify(value, undefined, 2) ? text : `${JSON.stringify(value, undefined, 2)}\n`;
}

function setVersions(manifest: Manifest, version: string): void {
  manifest.version = version;
  for (const kind of ["dependencies", "devDependencies", "peerDependencies"] as const) {
    const needed = manifest[kind] ?? {};
    for (const name of Object.keys(needed)) {
      if (/^(@sheaf\/.+|sheaf|sheaf-conformance)$/.test(name)) needed[name] = version;
    }
  }
}

/** Links of a published package, next to its licence. Left out until the root has an address. */
function setOrigin(manifest: Manifest, { repository }: Manifest, directory: string): void {
  const page = repository?.url.replace(/^git\+/, "").replace(/\.git$/, "");
  if (!repository || page === undefined) return;
  const { homepage: _h, bugs: _b, repository: _r, ...rest } = manifest;
  const entries = Object.entries(rest);
  const at = entries.findIndex(([key]) => key === "license");
  const links = { homepage: `${page}#readme`, bugs: { url: `${page}/issues` } };
  const before = [...entries.slice(0, at), ...Object.entries(links)];
  const ordered = [...before, ...entries.slice(at, at + 1), ["repository", { ...repository, directory }] as const];
  for (const key of Object.keys(manifest)) delete (manifest as object as Record<string, unknown>)[key];
  Object.assign(manifest, Object.fromEntries([...ordered, ...entries.slice(at + 1)]));
}
