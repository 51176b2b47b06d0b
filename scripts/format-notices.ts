/** The licences of the packages whose code a build contains. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const own = /^(sheaf|@sheaf\/.*)$/;

interface Notice {
  readonly title: string;
  readonly text: string;
}

/** One text for all packages that the files belong to. Files outside `node_modules` count as ours. */
export function formatNotices(files: readonly string[]): string {
  const folders = new Set(files.map(toPackageFolder).filter((folder) => folder !== undefined));
  const notices = [...folders].map(readNotice).filter((notice) => notice !== undefined);
  const byTitle = new Map(notices.map((notice) => [notice.title, notice.text]));
  const parts = [...byTitle.keys()]
    .toSorted()
    .map((title) => `${title}\n${"-".repeat(title.length)}\n\n${byTitle.get(title)}\n`);
  return ["Sheaf contains code of these packages.\n", ...parts].join("\n");
}

function toPackageFolder(file: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file.replaceAll("\\", "/"))?.[0];
}

/** Undefined for one of our packages. @throws Error when a package has no licence. */
function readNotice(folder: string): Notice | undefined {
  const path = join(folder, "package.json");
  if (!existsSync(path)) return undefined;
  const manifest = JSON.parse(readFileSync(path, "utf8")) as { name: string; version: string; license?: string };
  if (own.test(manifest.name)) return undefined;
  const title = `${manifest.name} ${manifest.version}`;
  const [file] = readdirSync(folder)
    .filter((name) => /^(licen[cs]e|copying)\b/i.test(name))
    .toSorted();
  if (file !== undefined) return { title, text: readFileSync(join(folder, file), "utf8").trim() };
  if (manifest.license === undefined)
    throw new Error(`${title} has no licence: it cannot be distributed with Sheaf, so replace it`);
  const inReadme = readSection(join(folder, "README.md"));
  return { title, text: [`Licence: ${manifest.license}`, ...inReadme].join("\n\n") };
}

/** What a package without a file for it says of its licence: its text must come along. */
function readSection(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const sections = readFileSync(path, "utf8").split(/^#+ */m);
  return sections.filter((text) => /^licen[cs]e\s*\n/i.test(text)).map((text) => text.replace(/^.*\n/, "").trim());
}
