/** What commands destroy comes back by a revert. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { describe, expect, test } from "vitest";
import { missingBubblewrap } from "../../../../../test/support/bubblewrap.ts";
import { chooseRows } from "../../../../../test/support/depth.ts";
import { skipIfMissing } from "../../../../../test/support/describe-where.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createTemporaryFolder } from "../../../../base/test/files/temporary-workspace.ts";
import { createAgent } from "../../../src/index.ts";
import { revertConversation } from "../../../src/run/conversations/revert.ts";
import { createUndoPorts } from "../../../src/run/conversations/undo-ports.ts";

const destructive = [
  "mv a.txt t && mv src a.txt && mv t src",
  "mv a.txt t && mkdir a.txt && mv t a.txt/inner && mv src/deep/code.ts t && rm -r src && mv t src",
  "rm -rf ./* .env .hidden",
  "find . -path ./.git -prune -o -type f -exec rm {} +",
  "find . -mindepth 1 -maxdepth 1 ! -name .git -print0 | xargs -0 rm -rf",
  "mv src moved && mv a.txt b.txt",
  "sed -i s/one/two/ a.txt src/deep/code.ts",
  "chmod -R 700 src && chmod 600 a.txt && chmod -x run.sh",
  "truncate -s 0 a.txt data.db",
  "ln -sf /etc/hostname a.txt && ln -sfn /tmp link",
  "rm -rf src && echo file > src",
  "rm a.txt && mkdir a.txt && echo inner > a.txt/inner",
  "rm -rf src && ln -s /tmp src",
  "echo new > new.txt && mkdir -p deep/new && echo x > deep/new/x.txt && chmod 777 deep",
  "for i in $(seq 60); do rm -f many/$i.txt; done",
  "dd if=/dev/zero of=data.db bs=1k count=300 status=none",
  "cp a.txt src/deep/code.ts && rm .env",
  "tar cf all.tar a.txt src && rm -rf a.txt src && tar xf all.tar",
];

const withGit = [
  "git reset -q --hard && git clean -qfdx",
  "git checkout -q -- .",
  "git stash -q -u && git stash drop -q",
  "git stash drop -q",
  "git branch -q -D side",
  "git commit -q -a --amend -m amended",
  "git checkout -q -b other && git add -A && git commit -q -m all && git rebase -q side",
  "git add -A && git commit -q -m more && git tag -d v1 && git tag v2",
  "git rm -q -r -f --cached . && git add src",
  "git switch -q -f side",
  "git merge -q -m merged side || git merge --abort",
  "git update-ref -d refs/heads/side && git checkout -q --detach",
];

interface Kind {
  readonly hasGit: boolean;
  readonly ignored: string;
}

const kinds: Readonly<Record<string, Kind>> = {
  git: { hasGit: true, ignored: "" },
  "no git": { hasGit: false, ignored: "" },
  "ignored files": { hasGit: true, ignored: "data.db\n.env\nmany\n" },
};

function git(root: string, ...words: readonly string[]): string {
  const environment = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  return execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.c", ...words], {
    cwd: root,
    env: environment,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function write(root: string, path: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  chmodSync(join(root, path), mode);
}

function createProject({ hasGit, ignored }: Kind): string {
  const root = createTemporaryFolder();
  write(root, "a.txt", "one\r\n");
  write(root, "run.sh", "#!/bin/sh\n", 0o755);
  write(root, "src/deep/code.ts", "one\n");
  chmodSync(join(root, "src"), 0o750);
  write(root, ".hidden", "hidden\n", 0o600);
  symlinkSync("a.txt", join(root, "link"));
  if (hasGit) {
    write(root, ".gitattributes", "* text=auto eol=lf\n");
    write(root, ".gitignore", ignored);
    git(root, "init", "-q", "-b", "main");
    git(root, "config", "user.name", "A");
    git(root, "config", "user.email", "a@b.c");
    git(root, "add", "-A");
    git(root, "commit", "-q", "-m", "first");
    git(root, "tag", "v1");
    git(root, "switch", "-q", "-c", "side");
    write(root, "side.txt", "side\n");
    git(root, "add", "-A");
    git(root, "commit", "-q", "-m", "side");
    git(root, "switch", "-q", "main");
    write(root, "src/deep/code.ts", "stashed\n");
    git(root, "stash");
    write(root, "staged.txt", "staged\n");
    git(root, "add", "staged.txt");
    write(root, "staged.txt", "edited after\n");
  }
  write(root, "src/deep/code.ts", "one uncommitted\n");
  write(root, "data.db", Buffer.from(Array.from({ length: 3000 }, (_, at) => at % 251)));
  write(root, ".env", "KEY=1\n", 0o600);
  for (let at = 1; at <= 60; at += 1) write(root, `many/${at}.txt`, `${at}\n`);
  return root;
}

/** Bytes, modes, links and refs. */
function readAll(root: string, { hasGit }: Kind): Record<string, string> {
  const state: Record<string, string> = {};
  const read = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (path === ".git") continue;
      const stats = lstatSync(join(root, path));
      const mode = (stats.mode & 0o7777).toString(8);
      if (entry.isDirectory()) {
        state[path] = `folder ${mode}`;
        read(path);
      } else if (entry.isSymbolicLink()) state[path] = `link ${readlinkSync(join(root, path))}`;
      else state[path] = `file ${mode} ${readFileSync(join(root, path), "latin1")}`;
    }
  };
  read("");
  if (hasGit) {
    const refs = git(root, "for-each-ref", "refs/heads", "refs/tags", "refs/stash");
    state[".git"] = [
      refs,
      git(root, "rev-parse", "--abbrev-ref", "HEAD"),
      git(root, "stash", "list", "--format=%H %gs"),
      git(root, "ls-files", "-s"),
      git(root, "status", "--porcelain"),
    ].join("\n");
  }
  return state;
}

describe.each(Object.entries(kinds))("%s", (_, kind) => {
  const commands = [...destructive, ...(kind.hasGit ? withGit : [])];
  const rows = [
    ...chooseRows(commands, 10).map((command) => ({ command, sandbox: "disabled" }) as const),
    ...chooseRows(commands, 3).map((command) => ({ command, sandbox: "enabled" }) as const),
  ];
  test.each(rows)(verifies(["R-76", "R-79"], "$command, the sandbox is $sandbox"), async ({ command, sandbox }) => {
    if (sandbox === "enabled") skipIfMissing(missingBubblewrap);
    const root = createProject(kind);
    const dataFolder = createTemporaryFolder();
    const script = join(dataFolder, "script.json");
    const call = { call: { tool: "run_terminal_cmd", arguments: { command } } };
    writeFileSync(script, JSON.stringify({ turns: [{ events: [call] }, { events: [{ text: "Done." }] }] }));
    const before = readAll(root, kind);
    const file = join(dataFolder, "store.db");
    const options = {
      workspace: root,
      dataFolder,
      store: file,
      sandbox,
      permissions: { force: true },
    } as const;
    const agent = createAgent({ ...options, model: `scripted:${script}` });
    const run = agent.run("go");
    const events = [];
    for await (const event of run.events) events.push(event);
    await agent.close();
    const result = events.find((event) => event.type === "tool_result");
    expect(result, JSON.stringify(result)).toMatchObject({ status: "success", effect: { exitCode: 0 } });
    expect(readAll(root, kind)).not.toEqual(before);
    const isLost = !readdirSync(root).includes("many") || readdirSync(join(root, "many")).length === 0;
    const sentence = `sheaf revert ${run.conversation.replace("conv_", "")}`;
    expect(JSON.stringify(result).includes(sentence), "the way back is named").toBe(isLost);
    const store = createSqliteStore(file);
    const conversationId = run.conversation;
    const request = { conversationId, responseId: undefined, onConflict: "refuse" } as const;
    const reverted = await revertConversation(
      request,
      createUndoPorts({ store, conversationId, dataFolder, environment: process.env }),
    );
    await store.close();
    expect(reverted).toMatchObject({ reverted: true, conflicts: [] });
    const after = readAll(root, kind);
    const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const different = paths.filter((path) => before[path] !== after[path]);
    expect(different.map((path) => [path, before[path], after[path]])).toEqual([]);
  });
});
