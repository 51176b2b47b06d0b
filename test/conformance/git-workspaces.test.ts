/** Workspaces that come from git: `sheaf serve --workspace NAME=git+URL`, with real git and a repository on this machine. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reduce, type ChatResponse, type ConversationChanges, type ConversationComparison } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { describeWithBubblewrap, missingBubblewrap } from "../support/bubblewrap.ts";
import { skipIfMissing, testDeep } from "../support/describe-where.ts";
import { begin, createCluster, readWhole } from "../support/cluster.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { startGitServer } from "../support/git-server.ts";
import { startServer, startServerProcess, type ServerOptions, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

function git(cwd: string, ...args: string[]): string {
  const words = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args];
  return execFileSync("git", words, { cwd, env: { PATH: process.env.PATH, HOME: cwd }, encoding: "utf8" }).trim();
}

const write = (file: string, content: string) => ({
  call: { tool: "write_file", arguments: { target_file: file, content } },
});
const edit = (file: string, from: string, to: string) => ({
  call: { tool: "edit_file", arguments: { target_file: file, edits: [{ old_string: from, new_string: to }] } },
});
const run = (command: string) => ({ call: { tool: "run_terminal_cmd", arguments: { command } } });
const done = { events: [{ text: "Done." }] };

/** A bare repository with a branch `main`, in which traps are set. */
function createRemote(files: Readonly<Record<string, string>> = { "a.txt": "one\ntwo\n", ".gitignore": "*.log\n" }) {
  const source = folders.newFolder(files);
  const remote = join(folders.newFolder(), "repo.git");
  git(source, "init", "-q", "-b", "main");
  git(source, "add", "-A");
  git(source, "commit", "-qm", "Begin");
  git(source, "clone", "-q", "--bare", source, remote);
  const marker = `${remote}-marker`;
  mkdirSync(join(remote, "hooks"), { recursive: true });
  for (const hook of ["pre-receive", "update", "post-receive", "post-update", "reference-transaction"]) {
    writeFileSync(join(remote, "hooks", hook), `#!/bin/sh\necho ${hook} >> '${marker}'\n`, { mode: 0o755 });
  }
  return {
    source,
    remote,
    address: `git+file://${remote}#main`,
    refs: () => git(remote, "for-each-ref", "--format=%(refname)", "refs/sheaf").split("\n").filter(Boolean),
    isSprung: () => existsSync(marker),
  };
}

interface NodeOptions {
  readonly address: string;
  readonly turns: readonly unknown[];
  readonly home?: string;
  readonly config?: object;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const startNode = (options: NodeOptions): Promise<TestServer> => startServer(prepareNode(options));

function prepareNode({
  address,
  turns,
  home = folders.newFolder(),
  config,
  args = [],
  environment,
}: NodeOptions): ServerOptions {
  if (config) writeFileSync(join(home, "config.json"), JSON.stringify({ gitWorkspaces: { app: config } }));
  const words = ["--workspace", `app=${address}`, "--force", ...args];
  const script = { turns, after: "loop" };
  return { home, cwd: folders.newFolder(), script, args: words, ...(environment && { environment }) };
}

/** Why a server does not start; "" if it does. */
async function readFailure(options: NodeOptions): Promise<string> {
  try {
    await startNode(options);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

async function chat(server: TestServer, conversationId?: string): Promise<ChatResponse & { conversation: string }> {
  const answer = await server.chat({ message: "Go", ...(conversationId !== undefined && { conversationId }) });
  const body = (await answer.json()) as ChatResponse;
  expect([answer.status, body]).toEqual([200, expect.anything()]);
  return { ...body, conversation: answer.headers.get("x-conversation-id")! };
}

const post = (server: TestServer, path: string, body: object): Promise<Response> =>
  server.fetch(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });

const readChanges = async (server: TestServer, id: string): Promise<ConversationChanges["files"]> =>
  (await server.read<ConversationChanges>(`/v1/conversations/${id}/changes`)).files;

/** The files of the trees of a server. */
function readTrees(home: string): Record<string, string[]> {
  const [key = ""] = readdirSync(join(home, "workspaces"));
  const trees = join(home, "workspaces", key, "trees");
  const names = existsSync(trees) ? readdirSync(trees) : [];
  return Object.fromEntries(names.map((name) => [name, readdirSync(join(trees, name, "files")).toSorted()]));
}

test(verifies(["R-50", "R-51"], "each conversation has a tree, and its states are commits at the remote"), async () => {
  skipIfMissing(missingBubblewrap);
  const { remote, address, refs, isSprung } = createRemote();
  const turns = [{ events: [edit("a.txt", "one", "1"), run("echo x > new.txt; echo y > noise.log")] }, done];
  const server = await startNode({ address, turns });
  const one = await chat(server);
  const two = await chat(server);
  expect(one.conversation).not.toBe(two.conversation);
  const files = [".git", ".gitignore", "a.txt", "new.txt", "noise.log"];
  expect(readTrees(server.home)).toEqual({ [one.conversation]: files, [two.conversation]: files });
  expect(refs()).toEqual(
    [one, two]
      .flatMap(({ conversation, id }) => [`refs/sheaf/${conversation}/base`, `refs/sheaf/${conversation}/${id}`])
      .toSorted(),
  );
  const state = `refs/sheaf/${one.conversation}/${one.id}`;
  expect(git(remote, "diff", "--name-status", "main", state)).toBe("M\ta.txt\nA\tnew.txt");
  expect(git(remote, "show", `${state}:a.txt`)).toBe("1\ntwo");
  expect(git(remote, "log", "--format=%s %an", "main")).toBe("Begin Ada");
  const summary = (await server.read(`/v1/conversations/${one.conversation}`)) as { workspace: string };
  expect(summary.workspace).toBe("app");
  const found = await server.read("/v1/workspaces/app/files?query=a.txt");
  expect(found).toMatchObject({ files: [{ path: "a.txt" }] });
  const deleted = await server.fetch(`/v1/conversations/${one.conversation}`, { method: "DELETE" });
  expect(deleted.status).toBe(204);
  await expect.poll(() => Object.keys(readTrees(server.home))).toEqual([two.conversation]);
  await expect.poll(refs).toEqual([`refs/sheaf/${two.conversation}/base`, `refs/sheaf/${two.conversation}/${two.id}`]);
  expect(isSprung()).toBe(false);
});

test(verifies("R-52", "a server without the tree gets the last state, and works on"), async () => {
  skipIfMissing(missingBubblewrap);
  const { remote, address, refs } = createRemote();
  const home = folders.newFolder();
  const turns = [{ events: [edit("a.txt", "one", "1"), write("b.txt", "b\n")] }, done];
  const first = await startServerProcess(prepareNode({ address, turns, home }));
  const { conversation } = await chat(first);
  await first.stop("SIGKILL");
  // As another machine with the same store: nothing of the files is left.
  rmSync(join(home, "workspaces"), { recursive: true });
  const more = [done, done, { events: [edit("a.txt", "two", "2"), run("cat b.txt && git status --short")] }, done];
  const second = await startNode({ address, turns: more, home });
  const next = await chat(second, conversation);
  const tools = next.documents.filter(({ type }) => type === "terminal_command");
  expect(tools).toMatchObject([{ metadata: { output: "b\n M a.txt\n?? b.txt\n" } }]);
  expect(git(remote, "show", `refs/sheaf/${conversation}/${next.id}:a.txt`)).toBe("1\n2");
  expect(refs()).toHaveLength(3);
  // The branch moves on; the conversation stays with its start.
  expect(git(remote, "rev-parse", `refs/sheaf/${conversation}/base`)).toBe(git(remote, "rev-parse", "main"));
});

test(verifies("R-52", "what a killed server left in its tree stays"), async () => {
  const { address } = createRemote();
  const home = folders.newFolder();
  const turns = [{ events: [write("b.txt", "b\n")] }, { events: [{ text: "…" }, { wait_ms: 60_000 }] }];
  const first = await startServerProcess(prepareNode({ address, turns, home }));
  void first.chat({ message: "Go" }).catch(() => undefined);
  await expect
    .poll(() => Object.values(existsSync(join(home, "workspaces")) ? readTrees(home) : {}))
    .toEqual([[".git", ".gitignore", "a.txt", "b.txt"]]);
  await first.stop("SIGKILL");
  const second = await startNode({ address, turns: [done], home });
  const list = (await (await second.fetch("/v1/conversations")).json()) as { conversations: { id: string }[] };
  const { id } = list.conversations[0]!;
  await expect
    .poll(async () => (await second.chat({ message: "Go", conversationId: id })).status, { timeout: 15_000 })
    .toBe(200);
  expect((await readChanges(second, id)).map(({ filePath }) => filePath)).toEqual(["b.txt"]);
});

test(verifies(["R-54", "X56"], "changes and reverts are those of the states, commands included"), async () => {
  skipIfMissing(missingBubblewrap);
  const { remote, address } = createRemote();
  const turns = [
    { events: [edit("a.txt", "one", "1"), run("echo x > made.txt")] },
    done,
    { events: [run("sed -i s/two/2/ a.txt; rm made.txt")] },
    done,
  ];
  const server = await startNode({ address, turns });
  const first = await chat(server);
  const id = first.conversation;
  expect(await readChanges(server, id)).toMatchObject([
    { filePath: "a.txt", operation: "edit", linesAdded: 1, linesRemoved: 1 },
    { filePath: "made.txt", operation: "create" },
  ]);
  const second = await chat(server, id);
  const changes = await readChanges(server, id);
  expect(changes.map(({ filePath, patch }) => [filePath, patch])).toEqual([
    ["a.txt", expect.stringContaining("-one\n-two\n+1\n+2\n")],
  ]);
  const reverted = await post(server, `/v1/conversations/${id}/revert`, { responseId: second.id });
  expect([reverted.status, await reverted.json()]).toEqual([
    200,
    {
      responseIds: [second.id],
      files: [
        { filePath: "a.txt", action: "restored" },
        { filePath: "made.txt", action: "restored" },
      ],
      conflicts: [],
    },
  ]);
  expect(git(remote, "show", `refs/sheaf/${id}/${first.id}:a.txt`)).toBe("1\ntwo");
  const [change] = await readChanges(server, id);
  const hunk = await post(server, `/v1/conversations/${id}/changes/revert`, {
    filePath: "a.txt",
    hash: change!.hash,
    hunk: 0,
  });
  expect([hunk.status, await hunk.json()]).toEqual([
    200,
    { files: [expect.objectContaining({ filePath: "made.txt" })] },
  ]);
  expect(git(remote, "diff", "--name-status", "main", `refs/sheaf/${id}/${first.id}`)).toBe("A\tmade.txt");
});

test(verifies("R-56", "a fork has the files of its response, in a tree of its own"), async () => {
  const { address } = createRemote();
  const turns = [{ events: [write("b.txt", "b\n")] }, done, { events: [write("c.txt", "c\n")] }, done, done];
  const server = await startNode({ address, turns });
  const first = await chat(server);
  await chat(server, first.conversation);
  const fork = await post(server, `/v1/conversations/${first.conversation}/fork`, { responseId: first.id });
  const { id } = (await fork.json()) as { id: string };
  await chat(server, id);
  const trees = readTrees(server.home);
  expect(trees[first.conversation]).toEqual([".git", ".gitignore", "a.txt", "b.txt", "c.txt"]);
  expect(trees[id]).toEqual(expect.arrayContaining(["b.txt"]));
});

test(verifies("C271", "a comparison shows the files that differ between two trees"), async () => {
  const { address } = createRemote();
  const toTurns = (text: string) => [{ events: [write("b.txt", text), write(`${text}.txt`, "z")] }, done];
  const script = join(folders.newFolder(), "other.json");
  writeFileSync(script, JSON.stringify({ turns: toTurns("y") }));
  const server = await startNode({ address, turns: toTurns("x"), args: ["--offer", `scripted:${script}`] });
  const { conversation: one } = await chat(server);
  const answer = await server.chat({ message: "Go", model: "scripted:other.json" });
  const other = answer.headers.get("x-conversation-id")!;
  const found = await server.read<ConversationComparison>(`/v1/conversations/${one}/diff?with=${other}`);
  expect(found.files).toEqual(["b.txt", "x.txt", "y.txt"]);
  expect(found.conversations.map(({ files }) => files)).toEqual([
    ["b.txt", "x.txt"],
    ["b.txt", "y.txt"],
  ]);
});

test(verifies(["X55", "R-57"], "publish makes one commit on a branch, and never on another's"), async () => {
  const { source, remote, address, isSprung } = createRemote();
  const server = await startNode({ address, turns: [{ events: [edit("a.txt", "one", "1")] }, done] });
  const { conversation: id } = await chat(server);
  const publish = async (branch: string, message = "Count from 1\n\nAs asked.") => {
    const answer = await post(server, `/v1/conversations/${id}/publish`, { branch, message });
    return { status: answer.status, body: (await answer.json()) as { commit?: string; error?: { errorCode: string } } };
  };
  const first = await publish("feature/count");
  expect(first).toEqual({
    status: 201,
    body: { branch: "feature/count", commit: expect.stringMatching(/^[0-9a-f]{40}$/) },
  });
  expect(git(remote, "log", "--format=%s|%b", "feature/count")).toBe("Count from 1|As asked.\n\nBegin|");
  expect((await publish("feature/count", "Again")).status).toBe(201);
  expect(git(remote, "rev-parse", "feature/count~1")).toBe(first.body.commit);
  git(source, "commit", "-qm", "Other", "--allow-empty");
  git(source, "push", "-q", remote, "HEAD:other");
  const refused: readonly (readonly [string, number, string])[] = [
    ["main", 403, "FORBIDDEN"],
    ["other", 409, "FILES_CHANGED"],
    ["-x", 400, "USAGE"],
    ["refs/heads/x", 400, "USAGE"],
    ["a..b", 400, "USAGE"],
  ];
  for (const [branch, status, errorCode] of refused) {
    expect([branch, await publish(branch)]).toEqual([
      branch,
      { status, body: expect.objectContaining({ error: expect.objectContaining({ errorCode }) }) },
    ]);
  }
  expect(isSprung()).toBe(true);
  const unknown = await post(server, "/v1/conversations/conv_none/publish", { branch: "x", message: "x" });
  expect(unknown.status).toBe(404);
});

test(verifies("R-51", "states may go to another repository, or stay at the server"), async () => {
  const { address, refs } = createRemote();
  const states = join(folders.newFolder(), "states.git");
  git(folders.path, "init", "-q", "--bare", states);
  const turns = [{ events: [write("b.txt", "b\n")] }, done];
  const apart = await startNode({ address, turns, config: { stateRemote: `file://${states}` } });
  await chat(apart);
  const own = await startNode({ address, turns, config: { stateRemote: "none" } });
  await chat(own);
  expect(refs()).toEqual([]);
  expect(git(states, "for-each-ref", "--format=%(refname)").split("\n")).toHaveLength(2);
});

test(verifies("S-126", "a token reaches git alone: no log, no answer, no command, no file has it"), async () => {
  skipIfMissing(missingBubblewrap);
  const { remote } = createRemote();
  const password = `secret-${"7f3a".repeat(6)}`;
  const server = await startGitServer(join(remote, ".."), "bot", password);
  const address = `git+${server.address}/repo.git#main`;
  const commands = "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; cat .git/config";
  const turns = [{ events: [run(commands), write("b.txt", "b\n")] }, done];
  const refused = await readFailure({ address, turns });
  expect(refused).toMatch(/could not read Username|Authentication failed|terminal prompts disabled/);
  expect(server.refused()).toBeGreaterThan(0);
  const config = { username: "bot", tokenEnv: "APP_TOKEN" };
  const missing = await readFailure({ address, turns, config });
  expect(missing).toContain("the workspace app has no token: set APP_TOKEN");
  const node = await startNode({ address, turns, config, environment: { APP_TOKEN: password } });
  const answer = await chat(node);
  expect(git(remote, "show", `refs/sheaf/${answer.conversation}/${answer.id}:b.txt`)).toBe("b");
  const wrong = join(folders.newFolder(), "token");
  writeFileSync(wrong, "wrong\n");
  const other = await readFailure({ address, turns, config: { username: "bot", tokenFile: wrong } });
  for (const text of [JSON.stringify(answer), node.log(), other, missing]) expect(text).not.toContain(password);
  expect(spawnSync("grep", ["-rlaF", password, node.home], { encoding: "utf8" }).stdout).toBe("");
});

describeWithBubblewrap("a setup", () => {
  test(verifies("S-127", "runs in the sandbox, once for each tree, and comes from the server alone"), async () => {
    const hostile = {
      "a.txt": "a\n",
      "setup.sh": "touch setup-of-repository\n",
      "config.json": '{"setup":"sh setup.sh"}',
    };
    const { address } = createRemote(hostile);
    const outside = join(folders.newFolder(), "outside");
    const setup = `echo ready >> ready.txt; touch '${outside}' 2>/dev/null; echo "$XDG_CACHE_HOME" > cache.txt`;
    const turns = [{ events: [run("cat ready.txt")] }, done];
    const server = await startNode({ address, turns, config: { setup } });
    const first = await chat(server);
    await chat(server, first.conversation);
    const { [first.conversation]: files } = readTrees(server.home);
    expect(files).toEqual([".git", "a.txt", "cache.txt", "config.json", "ready.txt", "setup.sh"]);
    expect(first.documents).toMatchObject([{ metadata: { output: "ready\n" } }, {}]);
    expect(existsSync(outside)).toBe(false);
    expect((await chat(server)).documents).toMatchObject([{ metadata: { output: "ready\n" } }, {}]);
  });

  test(verifies("S-127", "that fails is a notice, and the response goes on"), async () => {
    const { address } = createRemote();
    const server = await startNode({ address, turns: [done], config: { setup: "echo no npm >&2; exit 3" } });
    const answer = await chat(server);
    expect(answer.status).toBe("completed");
    expect(answer.metadata.notices).toEqual([
      { code: "SETUP_FAILED", message: "the setup of the working tree failed (exit code 3): no npm" },
    ]);
  });
});

describeWithPostgres("two servers", (postgres) => {
  testDeep(
    verifies(["R-52", "R-53"], "files follow the conversation, also when its server is lost or stops"),
    async () => {
      const { remote, address } = createRemote();
      const turns = [
        { events: [write("b.txt", "b\n")] },
        done,
        { events: [edit("b.txt", "b", "B")] },
        done,
        // A server is lost, in a turn after the one that made a file, and in the middle of a call.
        { events: [run("cat a.txt b.txt > c.txt")] },
        { events: [{ text: "I go on. " }, run("echo x > d.txt; sleep 60")] },
        { events: [run("ls")] },
        // Another one goes down.
        { events: [run("echo y > e.txt; sleep 60")] },
        { events: [{ text: "All done." }] },
      ];
      const args = ["--workspace", `app=${address}`, "--force", "--on-node-loss", "resume", "--grace", "0"];
      const cluster = await createCluster(postgres, folders, { script: { turns, after: "repeat_last" }, args });
      const [one, other] = [await cluster.startProcess("a"), await cluster.start("b")];
      const { conversation } = await chat(one);
      expect(Object.keys(readTrees(other.home))).toEqual([]);
      const second = await chat(other, conversation);
      expect(git(remote, "show", `refs/sheaf/${conversation}/${second.id}:b.txt`)).toBe("B");
      expect(await readChanges(one, conversation)).toMatchObject([{ filePath: "b.txt", operation: "create" }]);

      const readTree = (server: TestServer): string[] | undefined => readTrees(server.home)[conversation];
      const { path, seen, read } = await begin(one, { conversationId: conversation });
      await expect.poll(() => readTree(one), { timeout: 10_000 }).toContain("d.txt");
      await one.stop("SIGKILL");
      await read;
      await expect.poll(() => readTree(other), { timeout: 15_000 }).toContain("e.txt");
      const third = await cluster.start("c");
      await other.stop();
      const answer = reduce(await readWhole(third, path, seen));
      expect(answer.status).toBe("completed");
      const commands = answer.documents.filter(({ type }) => type === "terminal_command");
      expect(commands.map(({ metadata }) => (metadata as { output?: string }).output)).toEqual([
        "",
        expect.anything(),
        "a.txt\nb.txt\nc.txt\n",
        expect.anything(),
      ]);
      const texts = await postgres.run(cluster.store, "SELECT events FROM sheaf.event_groups");
      const log = texts.map(({ events }) => events).join("\n");
      expect(log).toMatch(/INTERRUPTED[^]*its changes of files may be lost/);
      expect(log).toMatch(/The files have their last recorded state.*may be lost: look/);
      // What a call had done when its server went down is recorded: nothing of it is lost.
      expect(readTree(third)).toEqual([".git", ".gitignore", "a.txt", "b.txt", "c.txt", "e.txt"]);
      const filePaths = ["b.txt", "c.txt", "e.txt"];
      expect((await readChanges(third, conversation)).map(({ filePath }) => filePath)).toEqual(filePaths);
      const published = await post(third, `/v1/conversations/${conversation}/publish`, { branch: "x", message: "x" });
      expect(published.status).toBe(201);
      expect(git(remote, "diff", "--name-only", "main", "x").split("\n")).toEqual(filePaths);
      const reverted = await post(third, `/v1/conversations/${conversation}/revert`, { responseId: answer.id });
      expect(reverted.status).toBe(200);
      expect((await readChanges(third, conversation)).map(({ filePath }) => filePath)).toEqual(["b.txt"]);
    },
  );

  test(verifies("R-53", "without a repository for states a response is ended with its server"), async () => {
    const { address } = createRemote();
    const turns = [{ events: [write("b.txt", "b\n")] }, { events: [{ text: "…" }, { wait_ms: 60_000 }] }, done];
    const args = ["--workspace", `app=${address}`, "--force", "--on-node-loss", "resume"];
    const cluster = await createCluster(postgres, folders, { script: { turns }, args });
    const config = JSON.stringify({ gitWorkspaces: { app: { stateRemote: "none" } } });
    for (const name of ["a", "b"]) {
      mkdirSync(`${cluster.cwd}-${name}`);
      writeFileSync(join(`${cluster.cwd}-${name}`, "config.json"), config);
    }
    const [one, other] = [await cluster.startProcess("a"), await cluster.start("b")];
    const { path, read } = await begin(one);
    await one.stop("SIGKILL");
    await read;
    const readStatus = async () => (await other.read<ChatResponse>(path)).status;
    await expect.poll(readStatus, { timeout: 15_000 }).toBe("error");
  });
});

test(verifies("R-50", "an address that cannot be used is an error at the start, without its secrets"), async () => {
  const { remote } = createRemote();
  const words: readonly (readonly [string, string])[] = [
    [`git+file://${remote}#none`, "couldn't find remote ref refs/heads/none"],
    [`git+file://${remote}#-x`, "is not the name of a branch"],
    ["git+https://ada:geheim@example.org/x.git", "has credentials in it"],
    ["git+http://example.org/x.git", "is not encrypted"],
    ["git+ext::sh -c true", "cannot be read"],
    ["git+ssh://-oProxyCommand=x/y", "the address of the repository"],
  ];
  for (const [address, reason] of words) {
    const failure = await readFailure({ address, turns: [done] });
    expect(failure).toContain(reason);
    expect(failure).not.toContain("geheim");
  }
});
