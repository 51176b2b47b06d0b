/** `sheaf worktrees ls`, `rm` and `merge`: the working trees of `--worktree` (C73, C74). */
import { now } from "@sheaf/agent/assemble/wire";
import { SheafError } from "@sheaf/base/errors";
import { createConfig } from "@sheaf/agent/config/config";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import { findRepository, toRealPlace } from "@sheaf/base/files/repository";
import { listTreeChanges } from "@sheaf/agent/workspace/trees/list-tree-changes";
import { mergeChanges, type MergeResult } from "@sheaf/agent/workspace/trees/merge-changes";
import { pushRefs, toLocalRemote } from "@sheaf/agent/workspace/trees/mirror";
import {
  listTrees,
  holdTree,
  type NamedTree,
  readTreeRecord,
  removeNamedTree,
  type TreeRecord,
  writeTreeRecord,
} from "@sheaf/agent/workspace/trees/named-trees";
import { askGit } from "@sheaf/base/git/run-git";
import type { ParsedArguments } from "../arguments.ts";
import { chooseWord, toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { recordTree, toMirror } from "../run-tree.ts";
import { printJson, printText } from "../standard-output.ts";

/** A tree with its record. */
interface KnownTree {
  readonly tree: NamedTree;
  readonly record: TreeRecord;
}

/** Runs the one that is named. @throws SheafError USAGE, CONVERSATION_BUSY, PERMISSION_REQUIRED. */
export async function runWorktrees(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [action = "ls", ...names] = parsed.positionals;
  switch (action) {
    case "ls":
      if (names.length > 0)
        throw new SheafError("USAGE", `worktrees ls takes no words; "${names.join(" ")}" was given`);
      return printTrees(parsed, io);
    case "rm":
      return removeTrees(parsed, io, names);
    case "merge":
      return mergeTree(parsed, io, names);
    default:
      throw new SheafError("USAGE", `worktrees "${action}" is unknown: use ls, rm or merge`);
  }
}

function findTrees({ flags }: ParsedArguments, { environment, cwd }: CommandIo): readonly KnownTree[] {
  const { workspace, dataFolder } = createConfig({ workspace: flags.workspace?.at(-1) }, environment, cwd);
  const source = flags.all ? undefined : findRepository(workspace).root;
  return listTrees(toRealPlace(dataFolder), source).flatMap((tree) => {
    const record = readTreeRecord(tree);
    return record ? [{ tree, record }] : [];
  });
}

/** As last recorded: a run that is still going may have changed more. */
async function printTrees(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const rows = [];
  for (const { tree, record } of findTrees(parsed, io)) {
    const changes = await listTreeChanges(toMirror(tree, io.environment), record.base, record.state);
    const merged = record.merged === record.state;
    const created = new Date(record.createdAt).toISOString();
    const { name, files: folder } = tree;
    rows.push({ name, source: record.source, folder, created, changed_files: changes.length, merged });
  }
  if (toCommandFormat(parsed) === "json") return printJson(io, rows);
  if (rows.length === 0) {
    return printText(
      io,
      parsed.flags.all ? "There is no working tree.\n" : "There is no working tree of this repository.\n",
    );
  }
  const lines = rows.map(({ name, source, folder, created, changed_files: count, merged }) => {
    const state = merged ? "merged" : count === 1 ? "1 file changed" : `${count} files changed`;
    const place = parsed.flags.all ? `${source}  ${folder}` : folder;
    return `${name}  ${created.slice(0, 16).replace("T", " ")}  ${state}  ${toVisibleLine(place)}\n`;
  });
  return printText(io, lines.join(""));
}

function findTree(trees: readonly KnownTree[], name: string): KnownTree {
  const found = trees.find(({ tree }) => tree.name === name);
  if (found) return found;
  const known = trees.length === 0 ? "it has none" : `use one of ${trees.map(({ tree }) => tree.name).join(", ")}`;
  throw new SheafError("USAGE", `there is no working tree ${JSON.stringify(name)} of this repository: ${known}`);
}

/** Calls `work` while no run uses the tree, with its state as it is now. @throws SheafError CONVERSATION_BUSY. */
async function withTree<Result>(
  { tree }: KnownTree,
  { environment }: CommandIo,
  work: (known: KnownTree) => Promise<Result>,
): Promise<Result> {
  const release = holdTree(tree);
  try {
    const known = readTreeRecord(tree)!;
    const ref = `refs/sheaf-base/${tree.name}-state`;
    const { record } = await recordTree(toMirror(tree, environment), tree, known, ref);
    return await work({ tree, record });
  } finally {
    await release();
  }
}

/** All or none. */
async function removeTrees(parsed: ParsedArguments, io: CommandIo, names: readonly string[]): Promise<number> {
  if (names.length === 0)
    throw new SheafError("USAGE", "worktrees rm takes names, and none was given: see worktrees ls");
  const trees = findTrees(parsed, io);
  const wanted = [...new Set(names)].map((name) => findTree(trees, name));
  for (const known of wanted) {
    if (parsed.flags.force) continue;
    await withTree(known, io, async ({ tree, record }) => {
      if (record.state === record.base || record.merged === record.state) return;
      const advice = `merge it with sheaf worktrees merge ${tree.name}, or remove it with --force`;
      throw new SheafError(
        "PERMISSION_REQUIRED",
        `the working tree ${tree.name} has changes that are not merged: ${advice}`,
        {
          source: "user",
        },
      );
    });
  }
  for (const { tree } of wanted) {
    holdTree(tree);
    await removeNamedTree(tree);
  }
  return 0;
}

async function mergeTree(parsed: ParsedArguments, io: CommandIo, names: readonly string[]): Promise<number> {
  const [name, ...rest] = names;
  if (name === undefined || rest.length > 0) {
    throw new SheafError("USAGE", `worktrees merge takes one name; "${names.join(" ")}" was given`);
  }
  const { "on-conflict": given = "refuse" } = parsed.flags;
  const onConflict = chooseWord("--on-conflict", given, ["refuse", "leave", "mark"], "refuse, leave or mark");
  return withTree(findTree(findTrees(parsed, io), name), io, async (known) => {
    if (parsed.flags.branch) return mergeAsBranch(known, io);
    const { tree, record } = known;
    // What was merged before is in the user's files: only the rest is to come.
    const from = record.merged ?? record.base;
    const order = { from, to: record.state, root: record.source, environment: io.environment, name, onConflict };
    const result = await mergeChanges(toMirror(tree, io.environment), order);
    if (!result.merged) throw createConflictError(result);
    if (result.conflicts.length === 0) writeTreeRecord(tree, { ...record, merged: record.state });
    return toCommandFormat(parsed) === "json" ? printJson(io, result) : printText(io, formatMerge(result, record));
  });
}

/** One commit, whatever number of states there was. */
async function mergeAsBranch({ tree, record }: KnownTree, io: CommandIo): Promise<number> {
  const { environment } = io;
  const mirror = toMirror(tree, environment);
  const branch = `sheaf/${tree.name}`;
  const words = ["commit-tree", `${record.state}^{tree}`, "-p", record.base, "-F", "-"];
  const input = `Changes of the working tree ${tree.name}\n`;
  const made = await askGit(mirror, words, { purpose: "make the commit", input, now: now() });
  const remote = toLocalRemote(findRepository(record.source), environment);
  const pushed = await pushRefs(mirror, remote, [`${made.toString().trim()}:refs/heads/${branch}`]);
  if (!pushed.ok) {
    const advice = "delete or rename the branch, and try again";
    throw new SheafError("USAGE", `the branch ${branch} was not made (${pushed.reason}): ${advice}`);
  }
  writeTreeRecord(tree, { ...record, merged: record.state });
  return printText(
    io,
    `The branch ${branch} of ${toVisibleLine(record.source)} has the changes: git merge ${branch}\n`,
  );
}

function createConflictError({ conflicts }: MergeResult): SheafError {
  const list = conflicts.map(({ path, reason }) => toVisibleLine(`${path}: ${reason}`));
  const more = list.length > 5 ? `; and ${list.length - 5} more` : "";
  const advice = "write --on-conflict leave to merge the rest, mark to see both sides in the files, or --branch";
  return new SheafError("PERMISSION_REQUIRED", `nothing was merged, ${list.slice(0, 5).join("; ")}${more}: ${advice}`, {
    source: "user",
    details: list.join("\n"),
  });
}

function formatMerge({ files, marked, conflicts }: MergeResult, { source }: TreeRecord): string {
  const lines = [
    `Merged into ${toVisibleLine(source)}: ${files.length} ${files.length === 1 ? "file" : "files"}.`,
    ...files.map((path) => `  ${toVisibleLine(path)}`),
    ...(marked.length > 0 ? ["With conflict marks, to be resolved by you:"] : []),
    ...marked.map((path) => `  ${toVisibleLine(path)}`),
    ...(conflicts.length > 0 ? ["Left unchanged:"] : []),
    ...conflicts.map(({ path, reason }) => `  ${toVisibleLine(`${path}: ${reason}`)}`),
  ];
  return `${lines.join("\n")}\n`;
}
