/**
 * `node scripts/set-version.ts VERSION --date YYYY-MM-DD [--commit] [--tag]`: one version in all packages, in their
 * dependencies on each other, in the lock file and in the change log. Commits and tags only if asked.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findStaleFiles, readManifest, versionPattern } from "./versions.ts";

const root = join(import.meta.dirname, "..");

try {
  setVersion();
} catch (error) {
  process.stderr.write(`set-version: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

function setVersion(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { date: { type: "string" }, commit: { type: "boolean" }, tag: { type: "boolean" } },
  });
  const [version = "", ...more] = positionals;
  const { date = "", commit = false, tag = false } = values;
  if (!versionPattern.test(version) || more.length > 0)
    throw new Error(`"${positionals.join(" ")}" is not a version: write one such as 1.2.3 or 1.2.3-rc.1`);
  if (!isDate(date)) throw new Error(`--date "${date}" is not a day: write --date YYYY-MM-DD`);
  if (tag && !commit) throw new Error("--tag needs --commit: a tag names a commit");
  const { version: before } = readManifest(root);
  if (compareVersions(version, before) < 0) throw new Error(`${version} is older than the current ${before}`);
  if (runGit("status", "--porcelain") !== "")
    throw new Error("the working tree has changes: commit them first, so that the release contains nothing else");
  if (runGit("tag", "--list", `v${version}`) !== "")
    throw new Error(`the tag v${version} exists: choose a new version`);
  const changes = dateChanges(version, date);
  const stale = findStaleFiles(root, version);
  for (const { path, text } of [...stale, { path: "CHANGELOG.md", text: changes }])
    writeFileSync(join(root, path), text);
  process.stdout.write(`${version}: ${["CHANGELOG.md", ...stale.map(({ path }) => path)].join(", ")}\n`);
  if (commit) runGit("commit", "--quiet", "--all", "--message", `Release version ${version}`);
  if (tag) runGit("tag", "--annotate", `v${version}`, "--message", `Version ${version}`);
  if (!commit) process.stdout.write("Nothing is committed: look at git diff, or start again with --commit --tag.\n");
}

/** The change log with the day in the heading of what was unreleased. */
function dateChanges(version: string, date: string): string {
  const text = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const headings = text.match(/^## \S+ \(unreleased\)$/gm) ?? [];
  if (headings.length !== 1)
    throw new Error(`CHANGELOG.md has ${headings.length} headings "## VERSION (unreleased)": it needs one`);
  return text.replace(headings[0], `## ${version} (${date})`);
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && (new Date(text).toJSON() ?? "").startsWith(text);
}

/** By number; a version with a suffix comes before the one without. */
function compareVersions(one: string, other: string): number {
  const [first, second] = [one, other].map((version) => {
    const [numbers = "", suffix] = version.split(/-(.*)/);
    return { numbers: numbers.split(".").map(Number), suffix };
  });
  for (const [at, number] of first!.numbers.entries()) {
    const difference = number - second!.numbers[at]!;
    if (difference !== 0) return difference;
  }
  if (first!.suffix === second!.suffix) return 0;
  if (first!.suffix === undefined) return 1;
  return second!.suffix === undefined ? -1 : first!.suffix.localeCompare(second!.suffix, "en", { numeric: true });
}

function runGit(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr.trim()}`);
  return stdout.trim();
}
