/** What a conversation changed in its tree of git, in the form in which changes are shown and reverted. */
import { join } from "node:path";
import type { FileSpan } from "@sheaf/agent/run/conversations/revert-files";
import type { RevertPorts } from "@sheaf/agent/run/conversations/revert";
import { listTreeChanges, readObject, type TreeEntry } from "@sheaf/agent/workspace/trees/list-tree-changes";
import { toHash } from "@sheaf/base/files/read-file";
import type { GitSetup } from "@sheaf/base/git/run-git";
import type { TreeStates } from "./git-trees.ts";

/** Larger contents are neither compared nor reverted. Bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Of all contents together; further ones are not compared. Bytes. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/** Reads what changed when it is asked for, and keeps the contents for as long as it is used. */
export function createTreePorts(
  readStates: (before?: string) => Promise<TreeStates>,
): Pick<Required<RevertPorts>, "readSpans" | "checkpoints"> {
  const contents = new Map<string, Buffer>();
  let bytes = 0;
  const read = async (mirror: GitSetup, entry: TreeEntry | undefined): Promise<FileSpan["before"]> => {
    if (!entry) return { kind: "absent" };
    if (entry.kind !== "file" && entry.kind !== "program") return { kind: "unknown" };
    const content =
      bytes < MAX_TOTAL_BYTES ? await readObject(mirror, entry, MAX_BYTES).catch(() => undefined) : undefined;
    if (!content) return { kind: "unknown" };
    const hash = toHash(content);
    contents.set(hash, content);
    bytes += content.length;
    return { kind: "content", hash, mode: entry.kind === "program" ? 0o755 : 0o644 };
  };
  return {
    async readSpans(before) {
      const { tree, from, to } = await readStates(before);
      const spans: FileSpan[] = [];
      for (const change of await listTreeChanges(tree.mirror, from, to)) {
        const { path } = change;
        const place = { path: join(tree.files, path), filePath: path, workspace: tree.files };
        const states = { before: await read(tree.mirror, change.before), after: await read(tree.mirror, change.after) };
        spans.push({ ...place, ...states, isInterrupted: false, isImported: false });
      }
      return spans;
    },
    checkpoints: {
      read: async (hash) => contents.get(hash),
      async keep(hash, content) {
        contents.set(hash, Buffer.from(content));
        return undefined;
      },
    },
  };
}
