/** Trees of conversations over time, with real git and a clock that the test sets. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { testDeep } from "../../../test/support/describe-where.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createGitWorkspace } from "@sheaf/agent/config/git-workspaces";
import { createGitTrees, toGitRoot } from "../src/git-trees.ts";
import type { SharedStore } from "@sheaf/store/store";
import { createTemporaryFolder } from "../../base/test/files/temporary-workspace.ts";
import { git } from "../../agent/test/workspace/trees/repository.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The trees of a workspace whose repository has one commit, and the log of the server. */
function createWorkspace({ isShallow = false } = {}) {
  const origin = createTemporaryFolder();
  git(origin, "init", "-q", "-b", "main");
  writeFileSync(join(origin, "a.txt"), "one\n");
  git(origin, "add", "-A");
  git(origin, "commit", "-qm", "Begin");
  if (isShallow) git(origin, "commit", "-qm", "Go on", "--allow-empty");
  const remote = isShallow ? createTemporaryFolder() : origin;
  if (isShallow) git(origin, "clone", "-q", "--depth=1", `file://${origin}`, remote);
  const word = `git+file://${remote}#main`;
  const toWorkspace = (folder: string) =>
    createGitWorkspace({ name: "app", word, settings: {}, folder, environment: process.env });
  const workspace = toWorkspace(createTemporaryFolder());
  const events: string[] = [];
  const open = (time: number | (() => number), opened = workspace) => {
    const now = typeof time === "number" ? () => time : time;
    const log = ({ event }: Readonly<Record<string, unknown>>): void => void events.push(String(event));
    const trees = createGitTrees({ workspaces: [opened], environment: process.env, log, now });
    onTestFinished(() => trees.close());
    return trees;
  };
  /** Another server, with a disk of its own. */
  const openOther = () => {
    const other = toWorkspace(createTemporaryFolder());
    return { trees: open(0, other), root: toGitRoot(other) };
  };
  return { remote, root: toGitRoot(workspace), events, open, openOther };
}

const begins = (responseId: string) => ({ responseId, takesOver: false });
const takesOver = (responseId: string) => ({ responseId, takesOver: true });

/** A response in the tree of its conversation, which writes one file. */
async function respond(trees: ReturnType<typeof createGitTrees>, root: string, id = "conv_1") {
  await trees.open();
  const owner = { id, workspace: trees.toFolder(root, id) };
  await trees.prepare(owner, toStore(), begins("chat_1"));
  writeFileSync(join(owner.workspace, "b.txt"), "two\n");
  return owner;
}

const toStore = (...ids: string[]): SharedStore =>
  ({ listResponses: async () => ids.map((id) => ({ id, ended: true, reverted: false })) }) as unknown as SharedStore;

test(verifies("R-55", "a tree that nobody uses is removed, and made again from its state"), async () => {
  const { root, open } = createWorkspace();
  const first = open(0);
  await first.open();
  const owner = { id: "conv_1", workspace: first.toFolder(root, "conv_1") };
  expect(await first.prepare(owner, toStore(), begins("chat_1"))).toEqual({ isNew: true });
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
  expect(await late.prepare(owner, toStore("chat_1"), begins("chat_2"))).toEqual({ isNew: true });
  expect(existsSync(join(owner.workspace, "b.txt"))).toBe(true);
  expect(await late.prepare(owner, toStore("chat_1"), begins("chat_2"))).toEqual({ isNew: false });
});

test(verifies("R-51", "what a deleted conversation had is removed, here and at the repository"), async () => {
  const { remote, root, open } = createWorkspace();
  const trees = open(0);
  for (const id of ["conv_1", "conv_2"]) await trees.record(await respond(trees, root, id), "chat_1");
  await trees.forget("conv_1");
  await trees.forget("conv_3");
  expect(["conv_1", "conv_2"].filter((id) => existsSync(trees.toFolder(root, id)))).toEqual(["conv_2"]);
  const refs = git(remote, "for-each-ref", "--format=%(refname)", "refs/sheaf").split("\n");
  expect(refs).toEqual(["refs/sheaf/conv_2/base", "refs/sheaf/conv_2/chat_1"]);
});

test(verifies(["R-50", "R-51"], "without the repository, what is known is used, and pushed later"), async () => {
  const { remote, root, events, open } = createWorkspace();
  const trees = open(0);
  await trees.open();
  git(remote, "branch", "-m", "main", "away");
  const owner = { id: "conv_1", workspace: trees.toFolder(root, "conv_1") };
  await trees.prepare(owner, toStore(), begins("chat_1"));
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

testDeep(
  verifies(["R-50", "R-52"], "a repository without its whole history gives trees, and takes their states"),
  async () => {
    const { remote, root, events, open, openOther } = createWorkspace({ isShallow: true });
    expect(existsSync(join(remote, ".git/shallow"))).toBe(true);
    const trees = open(0);
    const owner = await respond(trees, root);
    await trees.record(owner, "chat_1");
    const other = openOther();
    await other.trees.open();
    const workspace = other.trees.toFolder(other.root, "conv_1");
    await other.trees.prepare({ id: "conv_1", workspace }, toStore("chat_1"), begins("chat_2"));
    expect(["a.txt", "b.txt"].map((name) => existsSync(join(workspace, name)))).toEqual([true, true]);
    expect(events).toEqual([]);
  },
);

testDeep(verifies(["R-57", "X55"], "publish moves no branch of another, not even one that is behind"), async () => {
  const { remote, root, open, openOther } = createWorkspace();
  git(remote, "branch", "production");
  writeFileSync(join(remote, "c.txt"), "c\n");
  git(remote, "add", "-A");
  git(remote, "commit", "-qm", "Go on");
  const before = git(remote, "rev-parse", "production");
  const trees = open(0);
  const owner = await respond(trees, root);
  await trees.record(owner, "chat_1");
  const publish = (branch: string) => trees.publish(owner, { branch, message: "Two" }, toStore("chat_1"));
  await expect(publish("production")).rejects.toThrow("the branch production has other commits");
  expect(git(remote, "rev-parse", "production")).toBe(before);
  const { commit } = await publish("mine");
  expect((await publish("mine")).commit).not.toBe(commit);
  expect(git(remote, "rev-parse", "mine~1")).toBe(commit);
  // Any server goes on with the branch of its conversation.
  const other = openOther();
  const there = { id: "conv_1", workspace: other.trees.toFolder(other.root, "conv_1") };
  await other.trees.publish(there, { branch: "mine", message: "Three" }, toStore("chat_1"));
  await publish("mine");
  expect(git(remote, "log", "--format=%s", "mine").split("\n").slice(0, 4)).toEqual(["Two", "Three", "Two", "Two"]);
});

test(verifies("R-55", "a tree is not removed while it is made"), async () => {
  const { root, events, open } = createWorkspace();
  const trees = open(8 * DAY_MS);
  const owner = { id: "conv_1", workspace: trees.toFolder(root, "conv_1") };
  mkdirSync(owner.workspace, { recursive: true });
  const held = Promise.withResolvers<never[]>();
  const store = { listResponses: () => held.promise } as unknown as SharedStore;
  const made = trees.prepare(owner, store, begins("chat_1"));
  // It looks for unused trees at once.
  await trees.open();
  held.resolve([]);
  await made;
  await trees.record(owner, "chat_1");
  expect([events, existsSync(join(owner.workspace, "a.txt"))]).toEqual([[], true]);
});

test(
  verifies(["R-53", "R-72"], "another server goes on with what was pushed; the lost one pushes nothing over it"),
  async () => {
    const { remote, root, events, open, openOther } = createWorkspace();
    const [lost, { trees, root: otherRoot }] = [open(0), openOther()];
    await trees.open();
    const there = await respond(lost, root);
    const here = { id: "conv_1", workspace: trees.toFolder(otherRoot, "conv_1") };
    expect(await lost.record(there, "chat_1", true)).toBe(true);
    const readState = (): string => git(remote, "rev-parse", "refs/sheaf/conv_1/chat_1");
    const pushed = readState();
    expect(await lost.record(there, "chat_1", true)).toBe(true);
    expect(readState()).toBe(pushed);
    writeFileSync(join(there.workspace, "lost.txt"), "lost\n");
    await trees.fetch(here);
    expect(await trees.prepare(here, toStore("chat_1"), takesOver("chat_1"))).toEqual({ isNew: true });
    expect(readdirSync(here.workspace).toSorted()).toEqual([".git", "a.txt", "b.txt"]);
    const claimed = readState();
    expect(git(remote, "rev-parse", `${claimed}~1`)).toBe(pushed);
    // It comes back, and has not noticed yet.
    expect(await lost.record(there, "chat_1", true)).toBe(false);
    expect([readState(), events]).toEqual([claimed, ["state_not_pushed"]]);
    writeFileSync(join(here.workspace, "c.txt"), "c\n");
    expect(await trees.record(here, "chat_1")).toBe(true);
    expect(await lost.prepare(there, toStore("chat_1"), begins("chat_2"))).toEqual({ isNew: true });
    expect(readdirSync(there.workspace).toSorted()).toEqual([".git", "a.txt", "b.txt", "c.txt"]);
  },
);

testDeep(
  verifies(["R-53", "R-72"], "what a lost server records last is not taken for the end of the response"),
  async () => {
    const { remote, root, open, openOther } = createWorkspace();
    const [lost, { trees, root: otherRoot }] = [open(0), openOther()];
    await trees.open();
    const there = await respond(lost, root);
    const here = { id: "conv_1", workspace: trees.toFolder(otherRoot, "conv_1") };
    await lost.record(there, "chat_1", true);
    await trees.prepare(here, toStore("chat_1"), takesOver("chat_1"));
    writeFileSync(join(here.workspace, "c.txt"), "c\n");
    // It was stopped after it had looked for its lease.
    writeFileSync(join(there.workspace, "lost.txt"), "lost\n");
    expect(await lost.record(there, "chat_1")).toBe(false);
    await trees.record(here, "chat_1");
    const end = git(remote, "rev-parse", "refs/sheaf/conv_1/chat_1");
    expect(await lost.prepare(there, toStore("chat_1"), begins("chat_2"))).toEqual({ isNew: true });
    expect(readdirSync(there.workspace).toSorted()).toEqual([".git", "a.txt", "b.txt", "c.txt"]);
    writeFileSync(join(there.workspace, "d.txt"), "d\n");
    expect(await lost.record(there, "chat_2")).toBe(true);
    expect(git(remote, "rev-parse", "refs/sheaf/conv_1/chat_1", "refs/sheaf/conv_1/chat_2~1").split("\n")).toEqual([
      end,
      end,
    ]);
  },
);

test(verifies("R-72", "a lost server that returns while the repository is away pushes no stale files"), async () => {
  const { remote, root, events, open, openOther } = createWorkspace();
  const [lost, { trees, root: otherRoot }] = [open(0), openOther()];
  await trees.open();
  const there = await respond(lost, root);
  const here = { id: "conv_1", workspace: trees.toFolder(otherRoot, "conv_1") };
  expect(await lost.record(there, "chat_1", true)).toBe(true);
  await trees.prepare(here, toStore("chat_1"), takesOver("chat_1"));
  writeFileSync(join(here.workspace, "c.txt"), "c\n");
  await trees.record(here, "chat_1");
  const end = git(remote, "rev-parse", "refs/sheaf/conv_1/chat_1");
  renameSync(remote, `${remote}-away`);
  writeFileSync(join(there.workspace, "stale.txt"), "stale\n");
  expect(await lost.record(there, "chat_1")).toBe(false);
  await lost.prepare(there, toStore("chat_1"), begins("chat_2"));
  renameSync(`${remote}-away`, remote);
  writeFileSync(join(there.workspace, "d.txt"), "d\n");
  expect(await lost.record(there, "chat_2")).toBe(false);
  expect(events.at(-1)).toBe("state_not_pushed");
  expect(git(remote, "for-each-ref", "--format=%(refname:lstrip=3) %(objectname)", "refs/sheaf").split("\n")).toEqual([
    expect.stringMatching(/^base /),
    `chat_1 ${end}`,
  ]);
});

test(verifies("R-51", "a server that has not seen a state removes it, too"), async () => {
  const { remote, root, open, openOther } = createWorkspace();
  const [trees, other] = [open(0), openOther()];
  await other.trees.open();
  const owner = await respond(trees, root);
  await trees.record(owner, "chat_1");
  await other.trees.forget("conv_1");
  expect(git(remote, "for-each-ref", "refs/sheaf")).toBe("");
});

testDeep(
  verifies("R-53", "a server that goes on with its own response has its files; a failed push is said"),
  async () => {
    const { remote, root, open } = createWorkspace();
    const first = open(0);
    const owner = await respond(first, root);
    git(remote, "config", "transfer.hideRefs", "refs/sheaf");
    expect(await first.record(owner, "chat_1", true)).toBe(false);
    git(remote, "config", "--unset", "transfer.hideRefs");
    expect(await first.record(owner, "chat_1", true)).toBe(true);
    writeFileSync(join(owner.workspace, "c.txt"), "c\n");
    const again = open(0);
    expect(await again.prepare(owner, toStore("chat_1"), takesOver("chat_1"))).toEqual({ isNew: false });
    expect(await again.record(owner, "chat_1")).toBe(true);
    const states = git(remote, "log", "--format=%s", "refs/sheaf/conv_1/chat_1").split("\n");
    expect(states).toEqual(["State after chat_1", "Another server continues chat_1", "State in chat_1", "Begin"]);
  },
);

test.each([
  [{}, "-o BatchMode=yes"],
  [{ sshKeyFile: "/keys/it's mine" }, "-o BatchMode=yes -o IdentitiesOnly=yes -i /keys/it's mine"],
])(verifies(["R-50", "R-51"], "states go to a repository by ssh, with the settings %j"), async (settings, words) => {
  const { remote } = createWorkspace();
  // It runs the command here, in place of the other machine.
  const programs = createTemporaryFolder();
  const program = join(programs, "ssh");
  writeFileSync(program, `#!/bin/sh\necho "$@" >> "${programs}/calls"\nfor last; do :; done\nexec sh -c "$last"\n`);
  chmodSync(program, 0o755);
  const environment = { PATH: `${programs}:${process.env.PATH}` };
  const word = `git+ssh://ada@git.example${remote}#main`;
  const workspace = createGitWorkspace({ name: "app", word, settings, folder: createTemporaryFolder(), environment });
  const log: unknown[] = [];
  const trees = createGitTrees({ workspaces: [workspace], environment, log: (entry) => log.push(entry), now: () => 0 });
  onTestFinished(() => trees.close());
  const owner = await respond(trees, toGitRoot(workspace));
  expect([await trees.record(owner, "chat_1"), log]).toEqual([true, []]);
  expect(git(remote, "show", "refs/sheaf/conv_1/chat_1:b.txt")).toBe("two");
  const calls = readFileSync(join(programs, "calls"), "utf8").trim().split("\n");
  expect(calls.filter((call) => !call.startsWith(words))).toEqual([]);
  const asked = calls.map((call) => call.slice(call.indexOf("ada@")));
  expect(new Set(asked)).toEqual(
    new Set(["upload", "receive"].map((name) => `ada@git.example git-${name}-pack '${remote}'`)),
  );
});

test.each(["git+/srv/app.git", "git+./app", "git+C:\\app", "git+ada@git.example:app.git", "git+"])(
  verifies("R-50", "%s is no address, and the error shows the forms of one"),
  (word) => {
    expect(() => createGitWorkspace({ name: "app", word, settings: {}, folder: "/w", environment: {} })).toThrow(
      /^the address of the repository of --workspace app .*: write git\+https:.*git\+ssh:.* or git\+file:\/\/\/PATH$/,
    );
  },
);

test(verifies("R-55", "a tree is not removed while a response runs in it, however long that takes"), async () => {
  const { root, open } = createWorkspace();
  let days = 0;
  const trees = open(() => days * DAY_MS);
  await trees.open();
  const owner = { id: "conv_1", workspace: trees.toFolder(root, "conv_1") };
  await trees.prepare(owner, toStore(), begins("chat_1"));
  days = 8;
  await trees.open();
  // In turn with the look for unused trees.
  await trees.prepare({ ...owner, id: "conv_2" }, toStore());
  await trees.record(owner, "chat_1");
  expect(existsSync(owner.workspace)).toBe(true);
  days = 16;
  await trees.open();
  await expect.poll(() => existsSync(owner.workspace)).toBe(false);
});
