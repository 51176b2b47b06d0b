/** Trees of conversations over time, with real git and a clock that the test sets. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createGitWorkspace } from "../../src/config/git-workspaces.ts";
import { createGitTrees, toGitRoot } from "../../src/server/git-trees.ts";
import type { SharedStore } from "../../src/store/store.ts";
import { createFolder, git } from "../workspace/trees/repository.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The trees of a workspace whose repository has one commit, and the log of the server. */
function createWorkspace() {
  const remote = createFolder();
  git(remote, "init", "-q", "-b", "main");
  writeFileSync(join(remote, "a.txt"), "one\n");
  git(remote, "add", "-A");
  git(remote, "commit", "-qm", "Begin");
  const word = `git+file://${remote}#main`;
  const order = { name: "app", word, settings: {}, folder: createFolder(), environment: process.env };
  const workspace = createGitWorkspace(order);
  const events: string[] = [];
  const open = (now: number) => {
    const log = ({ event }: Readonly<Record<string, unknown>>): void => void events.push(String(event));
    const trees = createGitTrees({ workspaces: [workspace], environment: process.env, log, now: () => now });
    onTestFinished(() => trees.close());
    return trees;
  };
  return { remote, root: toGitRoot(workspace), events, open };
}

const toStore = (...ids: string[]): SharedStore =>
  ({ listResponses: async () => ids.map((id) => ({ id, ended: true, reverted: false })) }) as unknown as SharedStore;

test(verifies("R-55", "a tree that nobody uses is removed, and made again from its state"), async () => {
  const { root, open } = createWorkspace();
  const first = open(0);
  await first.open();
  const owner = { id: "conv_1", workspace: first.toFolder(root, "conv_1") };
  expect(await first.prepare(owner, toStore(), "chat_1")).toEqual({ isNew: true });
  writeFileSync(join(owner.workspace, "b.txt"), "two\n");
  await first.record(owner, "chat_1");
  first.close();
  const soon = open(6 * DAY_MS);
  await soon.open();
  await expect.poll(() => existsSync(owner.workspace)).toBe(true);
  soon.close();
  const late = open(8 * DAY_MS);
  await late.open();
  await expect.poll(() => existsSync(owner.workspace)).toBe(false);
  expect(await late.prepare(owner, toStore("chat_1"), "chat_2")).toEqual({ isNew: true });
  expect(existsSync(join(owner.workspace, "b.txt"))).toBe(true);
  expect(await late.prepare(owner, toStore("chat_1"), "chat_2")).toEqual({ isNew: false });
});

test(verifies("R-51", "what a deleted conversation had is removed, here and at the repository"), async () => {
  const { remote, root, open } = createWorkspace();
  const trees = open(0);
  await trees.open();
  for (const id of ["conv_1", "conv_2"]) {
    const owner = { id, workspace: trees.toFolder(root, id) };
    await trees.prepare(owner, toStore(), "chat_1");
    writeFileSync(join(owner.workspace, "b.txt"), id);
    await trees.record(owner, "chat_1");
  }
  await trees.forget("conv_1");
  await trees.forget("conv_3");
  expect([existsSync(trees.toFolder(root, "conv_1")), existsSync(trees.toFolder(root, "conv_2"))]).toEqual([
    false,
    true,
  ]);
  const refs = git(remote, "for-each-ref", "--format=%(refname)", "refs/sheaf").split("\n");
  expect(refs).toEqual(["refs/sheaf/conv_2/base", "refs/sheaf/conv_2/chat_1"]);
});

test(verifies(["R-50", "R-51"], "without the repository, what is known is used, and pushed later"), async () => {
  const { remote, root, events, open } = createWorkspace();
  const trees = open(0);
  await trees.open();
  git(remote, "branch", "-m", "main", "away");
  const owner = { id: "conv_1", workspace: trees.toFolder(root, "conv_1") };
  await trees.prepare(owner, toStore(), "chat_1");
  expect(events).toEqual(["repository_unreachable"]);
  git(remote, "config", "transfer.hideRefs", "refs/sheaf");
  writeFileSync(join(owner.workspace, "b.txt"), "two\n");
  await trees.record(owner, "chat_1");
  expect(events).toEqual(["repository_unreachable", "state_not_pushed"]);
  git(remote, "config", "--unset", "transfer.hideRefs");
  writeFileSync(join(owner.workspace, "c.txt"), "three\n");
  await trees.record(owner, "chat_2");
  expect(git(remote, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/sheaf").split("\n")).toEqual([
    "base",
    "chat_1",
    "chat_2",
  ]);
});

test(verifies(["R-57", "X55"], "publish moves no branch of another, not even one that is behind"), async () => {
  const { remote, root, open } = createWorkspace();
  git(remote, "branch", "production");
  writeFileSync(join(remote, "c.txt"), "c\n");
  git(remote, "add", "-A");
  git(remote, "commit", "-qm", "Go on");
  const before = git(remote, "rev-parse", "production");
  const trees = open(0);
  await trees.open();
  const owner = { id: "conv_1", workspace: trees.toFolder(root, "conv_1") };
  await trees.prepare(owner, toStore(), "chat_1");
  writeFileSync(join(owner.workspace, "b.txt"), "two\n");
  await trees.record(owner, "chat_1");
  const publish = (branch: string) => trees.publish(owner, { branch, message: "Two" }, toStore("chat_1"));
  await expect(publish("production")).rejects.toThrow("the branch production has other commits");
  expect(git(remote, "rev-parse", "production")).toBe(before);
  const { commit } = await publish("mine");
  expect((await publish("mine")).commit).not.toBe(commit);
  expect(git(remote, "rev-parse", "mine~1")).toBe(commit);
});

test(verifies("R-55", "a tree is not removed while it is made"), async () => {
  const { root, events, open } = createWorkspace();
  const trees = open(8 * DAY_MS);
  const owner = { id: "conv_1", workspace: trees.toFolder(root, "conv_1") };
  mkdirSync(owner.workspace, { recursive: true });
  const held = Promise.withResolvers<never[]>();
  const store = { listResponses: () => held.promise } as unknown as SharedStore;
  const made = trees.prepare(owner, store, "chat_1");
  // It looks for unused trees at once.
  await trees.open();
  held.resolve([]);
  await made;
  await trees.record(owner, "chat_1");
  expect([events, existsSync(join(owner.workspace, "a.txt"))]).toEqual([[], true]);
});
