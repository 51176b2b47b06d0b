/** `node scripts/check-release.ts TAG`: that the tag, all versions, the change log and the repository's address agree. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findStaleFiles, readManifest, versionPattern } from "./versions.ts";

const root = join(import.meta.dirname, "..");
const tag = process.argv[2] ?? "";
const problems = findProblems(tag, process.env["GITHUB_REPOSITORY"]);
for (const problem of problems) process.stderr.write(`check-release: ${problem}\n`);
if (problems.length === 0) process.stdout.write(`${tag} can be published\n`);
else process.exitCode = 1;

/** `builder`: owner and name of the repository whose workflow publishes; npm accepts a provenance from no other. */
function findProblems(name: string, builder: string | undefined): string[] {
  const version = name.replace(/^v/, "");
  if (!name.startsWith("v") || !versionPattern.test(version))
    return [`"${name}" is not a tag of a release: it is v and a version, such as v1.2.3`];
  const stale = findStaleFiles(root, version).map(
    ({ path }) => `${path} does not belong to version ${version}: run node scripts/set-version.ts`,
  );
  const heading = new RegExp(`^## ${version.replaceAll(".", String.raw`\.`)} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, "m");
  const isDescribed = heading.test(readFileSync(join(root, "CHANGELOG.md"), "utf8"));
  return [
    ...stale,
    ...(isDescribed ? [] : [`CHANGELOG.md has no heading "## ${version} (YYYY-MM-DD)"`]),
    ...findOriginProblems(readManifest(root).repository?.url ?? "", builder),
  ];
}

function findOriginProblems(url: string, builder: string | undefined): string[] {
  const [, repository] = /^git\+https:\/\/github\.com\/([^/]+\/[^/]+)\.git$/.exec(url) ?? [];
  if (repository === undefined) {
    const wanted = "git+https://github.com/<owner>/<name>.git";
    const command = `npm pkg set repository.type=git repository.url="${wanted}" && npm run fix`;
    const found = url === "" ? "is missing" : `is "${url}", not of the form ${wanted}`;
    return [`"repository" of package.json ${found}: run ${command}, then node scripts/set-version.ts`];
  }
  if (builder === undefined || builder === repository) return [];
  return [`"repository" of package.json is ${repository}, but ${builder} publishes: npm would refuse the provenance`];
}
