/** Entries that .gitignore and .sheafignore files exclude. Their text is hostile; matching takes linear time (S-72). */
import { lstatSync } from "node:fs";
import { posix } from "node:path";
import ignore, { type Ignore } from "ignore";
import { withFolder } from "./open-folder.ts";
import { readWholeFile } from "./read-file.ts";
import { decodeText } from "./text-format.ts";
import type { Workspace } from "./workspace.ts";

/** Each file can exclude an entry: .sheafignore can exclude more than .gitignore. */
const FILE_NAMES = [".gitignore", ".sheafignore"] as const;

/** Most bytes of a file; larger ones are ignored. */
const MAX_RULES_BYTES = 1024 * 1024;

/** The rules of one file, and the folder to which they apply. */
interface RuleFile {
  readonly folder: string;
  readonly rules: Ignore;
  /** True if no pattern has a slash: the entry's name then decides, which is faster than its path. */
  readonly isByName: boolean;
}

/** Rules that apply in one folder: for each kind of file, this folder's first, then those above it. */
type FolderRules = readonly (readonly RuleFile[])[];

/** The rules of a workspace. It reads each file once, when it first checks a path below the file's folder. */
export class IgnoreRules {
  readonly #workspace: Workspace;
  readonly #folders = new Map<string, FolderRules>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** True if an entry is excluded, as is `.git`, or is in an excluded folder. Deeper rule files have priority. */
  async isIgnored(relative: string, isFolder: boolean): Promise<boolean> {
    if (relative === ".") return false;
    const folder = posix.dirname(relative);
    if (await this.isIgnored(folder, true)) return true;
    return isLeftOut(await this.#readFolder(folder), relative, isFolder);
  }

  /** Returns the entries that are not excluded, of a folder that is not excluded itself. */
  async filterEntries<Entry extends { readonly path: string; readonly kind: string }>(
    folder: string,
    entries: readonly Entry[],
  ): Promise<readonly Entry[]> {
    const paths = new Set(FILE_NAMES.map((name) => posix.join(folder, name)));
    const present = new Set(entries.map(({ path }) => path).filter((path) => paths.has(path)));
    const rules = await this.#readFolder(folder, present);
    return entries.filter(({ path, kind }) => !isLeftOut(rules, path, kind === "folder"));
  }

  /** Reads the rules of a folder. `given` are its existing rule files, if known. */
  async #readFolder(folder: string, given?: ReadonlySet<string>): Promise<FolderRules> {
    const known = this.#folders.get(folder);
    if (known) return known;
    const present = given ?? findRuleFiles(this.#workspace.root, folder);
    const above = folder === "." ? FILE_NAMES.map(() => []) : await this.#readFolder(posix.dirname(folder));
    const rules: (readonly RuleFile[])[] = [];
    for (const [index, name] of FILE_NAMES.entries()) {
      const path = posix.join(folder, name);
      const own = present.has(path) ? await this.#readFile(path) : undefined;
      rules.push(own ? [{ folder, ...own }, ...above[index]!] : above[index]!);
    }
    this.#folders.set(folder, rules);
    return rules;
  }

  async #readFile(path: string): Promise<Omit<RuleFile, "folder"> | undefined> {
    const resolved = this.#workspace.resolve(path);
    if (!resolved.ok) return undefined;
    const file = await readWholeFile(this.#workspace.root, resolved.path, MAX_RULES_BYTES);
    if (!file.ok) return undefined;
    const text = decodeText(file.value.bytes, { encoding: "utf-8", hasMark: false });
    if (text === undefined) return undefined;
    const isByName = text.split("\n").every((line) => line.startsWith("#") || !/\/\s*\S/.test(line));
    return { rules: ignore().add(text), isByName };
  }
}

/** Finds existing rule files: most folders lack them, and trying to read one takes longer. */
function findRuleFiles(root: string, folder: string): ReadonlySet<string> {
  try {
    const names = withFolder(root, folder, (opened) =>
      FILE_NAMES.filter((name) => lstatSync(opened.entry(name), { throwIfNoEntry: false })),
    );
    return new Set(names.map((name) => posix.join(folder, name)));
  } catch {
    return new Set();
  }
}

function isLeftOut(rules: FolderRules, path: string, isFolder: boolean): boolean {
  if (posix.basename(path) === ".git") return true;
  return rules.some((files) => files.length > 0 && isMatched(files, isFolder ? `${path}/` : path));
}

/** True if the nearest file with a matching rule excludes the entry. */
function isMatched(files: readonly RuleFile[], entry: string): boolean {
  for (const { folder, rules, isByName } of files) {
    const start = isByName ? entry.lastIndexOf("/", entry.length - 2) + 1 : folder === "." ? 0 : folder.length + 1;
    const result = rules.test(start === 0 ? entry : entry.slice(start));
    if (result.ignored || result.unignored) return result.ignored;
  }
  return false;
}
