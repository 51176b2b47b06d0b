/** The differences between two commits of a mirror, file by file. */
import { askGit, type GitSetup } from "@sheaf/base/git/run-git";

/** A file in a commit. */
export interface TreeEntry {
  readonly kind: "file" | "program" | "link" | "repository";
  readonly id: string;
}

export interface TreeChange {
  /** Relative, with `/`. */
  readonly path: string;
  /** Undefined: it does not exist there. */
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

const kinds: Readonly<Record<string, TreeEntry["kind"]>> = {
  "100644": "file",
  "100664": "file",
  "100755": "program",
  "120000": "link",
  "160000": "repository",
};

/** Changes in the order of their paths. @throws SheafError INTERNAL. */
export async function listTreeChanges(mirror: GitSetup, from: string, to: string): Promise<TreeChange[]> {
  const words = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to];
  const output = (await askGit(mirror, words, { purpose: "compare states" })).toString().split("\0");
  const changes: TreeChange[] = [];
  for (let index = 0; index + 1 < output.length; index += 2) {
    const [oldMode = "", newMode = "", oldId = "", newId = ""] = output[index]!.slice(1).split(" ");
    const before = toEntry(oldMode, oldId);
    const after = toEntry(newMode, newId);
    changes.push({ path: output[index + 1]!, before, after });
  }
  return changes;
}

function toEntry(mode: string, id: string): TreeEntry | undefined {
  const kind = kinds[mode];
  return kind && { kind, id };
}
