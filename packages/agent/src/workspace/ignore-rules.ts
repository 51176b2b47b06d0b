/** What .gitignore files leave out; they are foreign text, and the matcher takes linear time (S-72). */
import { posix } from "node:path";
import ignore, { type Ignore } from "ignore";
import { readWholeFile } from "./read-file.ts";
import { decodeText } from "./text-format.ts";
import type { Workspace } from "./workspace.ts";

/** A larger .gitignore is not looked at. */
const MAX_RULES_BYTES = 1024 * 1024;

/** The rules of a workspace; each .gitignore is read once, when a path below it is asked for. */
export class IgnoreRules {
  readonly #workspace: Workspace;
  readonly #folders = new Map<string, Ignore | undefined>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /**
   * Whether an entry is left out. `.git` always is. A deeper file wins over a higher one; what lies in a folder that is
   * left out is left out.
   */
  async isIgnored(relative: string, isFolder: boolean): Promise<boolean> {
    if (relative === ".") return false;
    if (await this.isIgnored(posix.dirname(relative), true)) return true;
    return this.isEntryIgnored(relative, isFolder);
  }

  /** The same for an entry of a folder that is known not to be left out. */
  async isEntryIgnored(relative: string, isFolder: boolean): Promise<boolean> {
    if (posix.basename(relative) === ".git") return true;
    return this.#decide(posix.dirname(relative), relative + (isFolder ? "/" : ""));
  }

  /** By the rules of `folder`, else by those of the folders above it. */
  async #decide(folder: string, entry: string): Promise<boolean> {
    const rules = await this.#read(folder);
    const result = rules?.test(folder === "." ? entry : entry.slice(folder.length + 1));
    if (result?.ignored || result?.unignored) return result.ignored;
    return folder === "." ? false : this.#decide(posix.dirname(folder), entry);
  }

  async #read(folder: string): Promise<Ignore | undefined> {
    if (!this.#folders.has(folder)) this.#folders.set(folder, await this.#parse(folder));
    return this.#folders.get(folder);
  }

  async #parse(folder: string): Promise<Ignore | undefined> {
    const resolved = this.#workspace.resolve(posix.join(folder, ".gitignore"));
    if (!resolved.ok) return undefined;
    const file = await readWholeFile(this.#workspace.root, resolved.path, MAX_RULES_BYTES);
    if (!file.ok) return undefined;
    const text = decodeText(file.value.bytes, { encoding: "utf-8", hasMark: false });
    return text === undefined ? undefined : ignore().add(text);
  }
}
