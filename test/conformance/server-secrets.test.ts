/** What a tenant's commands, searches and requests get of a server's secrets and of other tenants: the real server, with real git. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { startServer } from "../support/server.ts";
import { verifies } from "../support/verifies.ts";

const call = (tool: string, args: object) => ({ call: { tool, arguments: args } });
const run = (command: string) => call("run_terminal_cmd", { command });
const done = { events: [{ text: "Done." }] };

/** Not below `/tmp`, of which commands see nothing anyway. */
function createPlace() {
  const top = realpathSync(mkdtempSync(join(homedir(), ".sheaf-tenants-test-")));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const write = (path: string, text: string): string => {
    const file = join(top, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  return { top, write };
}

function createRepository(top: string): string {
  const git = (...words: string[]): unknown =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...words], { cwd: top });
  writeFileSync(join(top, "work/a.txt"), "one\n");
  git("init", "-q", "-b", "main", "work");
  git("-C", "work", "add", "a.txt");
  git("-C", "work", "commit", "-qm", "Begin");
  git("clone", "-q", "--bare", "work", "repo.git");
  return join(top, "repo.git");
}

describeWithBubblewrap("a server of several tenants", () => {
  test(verifies(["S-241", "S-126"], "shows a tenant nothing of its secrets and of other tenants"), async () => {
    const { top, write } = createPlace();
    mkdirSync(join(top, "work"));
    const repository = createRepository(top);
    const tokens = { ada: `CANARY-ada-${"a".repeat(30)}`, bob: `CANARY-bob-${"b".repeat(30)}` };
    const tokenFile = write("secrets/tokens", `ada ${tokens.ada}\nbob ${tokens.bob}\n`);
    const key = write("git/app-token", "CANARY-GIT-TOKEN\n");
    write("data/config.json", JSON.stringify({ gitWorkspaces: { app: { tokenFile: key } } }));
    const trees = join(top, "trees");
    const secret = "CANARY-FILE-OF-ADA";
    const probes = [
      `cat ${tokenFile} ${key} ${top}/data/* /proc/self/root${tokenFile} /proc/1/root${tokenFile}; ls -R ${trees} ${top}/secrets`,
      `grep -rs CANARY ${top} --exclude=data-script.json; git --git-dir ${repository} log --all -p; git log --all -p; git ls-remote ${repository}`,
      `ln -s ${tokenFile} linked; ln -s ${trees} trees; ln ${tokenFile} hard; cat linked hard; ls trees; pwd; ls`,
      "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'",
    ];
    const reads = [tokenFile, "linked", `/proc/self/root${tokenFile}`, `../../..${tokenFile}`].map((target_file) =>
      call("read_file", { target_file }),
    );
    const finds = ["trees", trees, top].flatMap((path) => [
      call("grep_search", { pattern: "CANARY", path }),
      call("list_dir", { target_directory: path }),
    ]);
    const turns = [{ events: [...probes.map(run), ...reads, ...finds, call("grep_search", { pattern: "one" })] }, done];
    const probing = write("bob.json", JSON.stringify({ turns }));
    const server = await startServer({
      home: join(top, "data"),
      cwd: join(top, "work"),
      script: {
        turns: [
          { events: [call("write_file", { target_file: "ada.txt", content: `${secret}\n` }), run("cat ada.txt")] },
          done,
        ],
      },
      args: [
        "--token-file",
        tokenFile,
        "--trees",
        trees,
        "--workspace",
        `app=git+file://${repository}#main`,
        "--offer",
        `scripted:${probing}`,
        "--force",
      ],
    });
    const [ada, bob] = [server.as(tokens.ada), server.as(tokens.bob)];
    const own = await ada.ask({ message: "Go" });
    expect(JSON.stringify(own)).toContain(`${secret}\\n`);
    const foreign = JSON.stringify(await bob.ask({ message: "Go", model: "scripted:bob.json" }));
    expect(foreign).toContain("a.txt");
    expect(foreign).not.toContain("CANARY-");
    for (const path of ["linked", "trees", tokenFile, `../../..${tokenFile}`]) {
      const answer = await bob.fetch(`/v1/workspaces/app/files/${encodeURIComponent(path)}`);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(await answer.text()).not.toContain("CANARY-");
    }
  });
});
