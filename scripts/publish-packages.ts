/**
 * `node scripts/publish-packages.ts FOLDER [NPM-FLAG…]`: packs all packages into a folder, and publishes each after those
 * that it depends on. What npm has already is left as it is, so a release that broke off can be started again; but if
 * npm has a version with other content than this build's, nothing is published.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { publishedPackages } from "./published-packages.ts";

const root = join(import.meta.dirname, "..");
const [folder, ...flags] = process.argv.slice(2);

interface Archive {
  readonly name: string;
  readonly version: string;
  readonly file: string;
}

try {
  if (folder === undefined) throw new Error("name a folder for the archives");
  mkdirSync(folder, { recursive: true });
  // All are packed before the first is published: a package that cannot be packed leaves no half release.
  const archives = publishedPackages.map((name) => pack(name, resolve(folder)));
  const published = new Set(archives.filter(isPublished));
  for (const archive of archives) {
    if (published.has(archive)) process.stdout.write(`${archive.name}@${archive.version} is there already\n`);
    else publish(archive);
  }
} catch (error) {
  process.stderr.write(`publish-packages: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

function pack(name: string, target: string): Archive {
  const cwd = join(root, "packages", name);
  const manifest = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")) as { name: string; version: string };
  const { status, stdout, stderr } = runNpm(
    ["pack", "--silent", "--ignore-scripts", "--pack-destination", target],
    cwd,
  );
  if (status !== 0) throw new Error(`${manifest.name} cannot be packed: ${stderr}`);
  return { name: manifest.name, version: manifest.version, file: join(target, stdout.trim()) };
}

/** @throws Error when npm has the version with other content: what depends on it was built and tested with this one. */
function isPublished({ name, version, file }: Archive): boolean {
  const there = readPublished(name, version);
  if (there === undefined) return false;
  const own = toIntegrity(file);
  if (there === own) return true;
  const advice = "nothing was published: publish from the commit of that version, or set a new version";
  throw new Error(`npm has ${name}@${version} with other content (${there}, this build's is ${own}); ${advice}`);
}

function publish({ name, version, file }: Archive): void {
  // A version with a suffix is for those who ask for it.
  const tag = version.includes("-") ? "next" : "latest";
  const { status, stderr } = runNpm(["publish", file, "--ignore-scripts", "--tag", tag, ...flags], root);
  if (status !== 0) throw new Error(`${name}@${version} was not published: ${stderr}`);
  process.stdout.write(`${name}@${version} is published as ${tag}\n`);
}

/** The hash of a version that npm has; undefined: it has none. @throws Error when npm does not say. */
function readPublished(name: string, version: string): string | undefined {
  const { status, stdout, stderr } = runNpm(["view", `${name}@${version}`, "dist.integrity", "--json"], root);
  if (status === 0) return stdout.trim() === "" ? undefined : (JSON.parse(stdout) as string);
  if (/\bE404\b/.test(stdout + stderr)) return undefined;
  throw new Error(`npm does not say whether ${name}@${version} is there: ${stderr}`);
}

function toIntegrity(file: string): string {
  return `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`;
}

function runNpm(args: readonly string[], cwd: string) {
  return spawnSync("npm", args, { cwd, encoding: "utf8" });
}
