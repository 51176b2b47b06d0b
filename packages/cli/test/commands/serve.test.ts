/** Starts of `sheaf serve` whose secrets commands could read. */
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { parseArguments } from "../../src/arguments.ts";
import { createServeOptions } from "../../src/commands/serve.ts";
import { createMemoryPorts } from "../../../../test/support/memory-ports.ts";
import { sheafDialect } from "../../src/dialects/sheaf/sheaf.ts";

const token = "t".repeat(40);

/** A folder that is not below `/tmp`, of which commands see nothing anyway. */
function createPlace() {
  const top = realpathSync(mkdtempSync(join(homedir(), ".sheaf-secrets-test-")));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const write = (path: string, text = `${token}\n`): string => {
    const file = join(top, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const data = join(top, "data");
  for (const name of ["app", "home", "data"]) mkdirSync(join(top, name));
  let log = "";
  const open = (args: readonly string[], home = data): readonly string[] => {
    const io = {
      cwd: join(top, "app"),
      environment: { PATH: process.env.PATH, HOME: join(top, "home"), SHEAF_HOME: home },
      dialect: sheafDialect,
      ...createMemoryPorts(),
    } as const;
    const parsed = parseArguments(["serve", "--model", "offline", ...args]);
    return createServeOptions(parsed, io, ({ event }) => void (log += String(event))).settings.hiddenPlaces ?? [];
  };
  /** A bare repository with one commit. */
  const createRepository = (path: string): string => {
    const work = join(top, "work");
    const git = (...words: string[]): unknown =>
      execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...words], { cwd: top });
    git("init", "-q", "-b", "main", work);
    git("-C", work, "commit", "-q", "--allow-empty", "-m", "Begin");
    git("clone", "-q", "--bare", work, join(top, path));
    return join(top, path);
  };
  return { top, write, open, createRepository, log: () => log };
}

test(verifies("S-241", "the folders of secrets are hidden, not the files"), () => {
  const { top, write, open, createRepository } = createPlace();
  const tokens = write("secrets/tokens");
  const [key, ssh] = [write("git/app-token"), write("ssh/deploy")];
  symlinkSync(key, join(top, "secrets/linked"));
  const repository = createRepository("repo.git");
  const gitWorkspaces = {
    app: { tokenFile: key, stateRemote: "none" },
    other: { tokenFile: join(top, "secrets/linked"), sshKeyFile: ssh },
  };
  write("data/config.json", JSON.stringify({ gitWorkspaces }));
  const args = [
    "--token-file",
    tokens,
    "--workspace",
    `app=git+file://${repository.replace(/\.git$/, "")}`,
    "--trees",
    join(top, "trees"),
  ];
  const hidden = ["data", "git", "secrets", "ssh", "trees", "repo.git"].map((name) => join(top, name));
  expect(new Set(open(args))).toEqual(new Set(hidden));
  // Without a token file there is the server's own, in the data folder.
  expect(open(["--workspace", join(top, "app")])).toContain(join(top, "data"));
});

test(verifies("S-242", "a start with a secret that commands could read fails, and says what to do"), () => {
  const { top, write, open, createRepository } = createPlace();
  const repository = createRepository("repo.git");
  const git = `app=git+file://${repository}`;
  const app = join(top, "app");
  const outside = write("secrets/tokens");
  const inside = write("app/keys/tokens");
  mkdirSync(join(app, "trees"));
  symlinkSync(join(top, "secrets"), join(app, "link"));
  symlinkSync(app, join(top, "way"));
  symlinkSync(join(app, "link"), join(top, "round"));
  const twin = write("twins/tokens");
  linkSync(twin, join(app, "twin"));
  const loose = write("home/tokens");
  const shared = write("shared/tokens");
  const inWorkspace = /is in the workspace app \(.*\/app\): move it to its own folder, outside of all workspaces$/;
  const failures: readonly (readonly [readonly string[], RegExp])[] = [
    [["--token-file", inside], inWorkspace],
    [["--token-file", join(top, "way/keys/tokens")], inWorkspace],
    [["--token-file", join(app, "link/tokens")], inWorkspace],
    [["--token-file", join(top, "round/tokens")], inWorkspace],
    [["--token-file", shared, "--add-dir", join(top, "shared")], /is in --add-dir .*: move it/],
    [
      ["--token-file", twin],
      /has 2 names \(hard links\).*: cp -p .*tokens .*tokens\.new && mv .*tokens\.new .*tokens$/,
    ],
    [["--token-file", loose], /because commands need .*\/home: move it to its own folder/],
    [
      ["--trees", join(app, "trees"), "--workspace", git, "--workspace", `docs=${app}`],
      /^--trees .* is in the workspace docs .*: use a folder that is apart/,
    ],
    [["--trees", top, "--workspace", git, "--workspace", `docs=${app}`], /^--trees .*the workspace docs .* is in /],
    [
      ["--workspace", git, "--workspace", `all=${top}`],
      /^the (data folder|repository of the workspace app) .* is in the workspace all /,
    ],
  ];
  for (const [args, message] of failures) {
    expect(() => open(args), args.join(" ")).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringMatching(message) }),
    );
  }
  expect(() => open([], join(app, ".sheaf-home"))).toThrow(
    /^the data folder .*: serve another folder, or set SHEAF_HOME/,
  );
  write("data/config.json", JSON.stringify({ gitWorkspaces: { elsewhere: { tokenFile: inside } } }));
  expect(() => open([])).toThrow(/^gitWorkspaces\.elsewhere\.tokenFile .*is in the workspace app/);
  expect(() => open(["--token-file", outside])).toThrow(/^gitWorkspaces/);
});

test(verifies("S-242", "without the sandbox, the log says that commands can read the secrets"), () => {
  const { open, log } = createPlace();
  open([]);
  expect(log()).toBe("");
  open(["--sandbox", "disabled"]);
  expect(log()).toBe("secrets_not_hidden");
});
