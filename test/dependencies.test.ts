/** What an installation brings along, and what proves where it comes from (S-73). */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "./support/verifies.ts";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly publishConfig?: object;
}

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly integrity?: string;
}

const root = join(import.meta.dirname, "..");
const read = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"));

const manifests = globSync("packages/*/package.json", { cwd: root })
  .map((path) => read(path) as Manifest)
  .filter((manifest) => manifest.private !== true);
const own = new Set(manifests.map(({ name }) => name));
const locked = Object.entries((read("package-lock.json") as { packages: Record<string, Locked> }).packages);
/** What a user of the published packages gets. */
const installed = locked.filter(
  ([path, { dev, devOptional, link }]) => path.startsWith("node_modules/") && !dev && !devOptional && !link,
);

test(verifies("S-73", "at most 15 packages of others are needed, at exact versions"), () => {
  expect(own.size).toBe(5);
  const needed = manifests.flatMap(({ dependencies = {} }) => Object.entries(dependencies));
  const others = new Set(needed.map(([name]) => name).filter((name) => !own.has(name)));
  expect(others.size).toBeGreaterThan(0);
  expect(others.size).toBeLessThanOrEqual(15);
  for (const [name, range] of needed) expect(range, name).toMatch(/^\d+\.\d+\.\d+$/);
});

test(verifies("S-73", "the lock file knows the content of every package, and none of them runs a script"), () => {
  expect(installed.length).toBeGreaterThan(0);
  for (const [path, entry] of installed) {
    expect(entry.integrity, path).toMatch(/^sha512-/);
    expect(entry.hasInstallScript, path).toBeUndefined();
  }
  for (const { name, scripts = {} } of manifests)
    for (const script of ["preinstall", "install", "postinstall", "prepare"])
      expect(scripts[script], name).toBeUndefined();
});

test(verifies("S-73", "there is an address for reports, and releases are signed"), () => {
  expect(readFileSync(join(root, "SECURITY.md"), "utf8")).toMatch(/^## Report$/m);
  for (const { name, publishConfig } of manifests)
    expect(publishConfig, name).toEqual({ access: "public", provenance: true });
});
