/** The profile for macOS as a text, and how a command is started with it. No Mac runs it here (S-30, S-34). */
import { existsSync, readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import { type SeatbeltPlan, toSeatbeltProfile } from "../src/launch/seatbelt-launcher.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { environment, runCommandIn, toFileRules } from "./run-command.ts";
import { readSeatbeltRules, type SeatbeltRules } from "./seatbelt-rules.ts";
import { createFolder, createProgram } from "./sandbox-run.ts";

const plan: SeatbeltPlan = {
  workspace: "/Users/u/work",
  writable: ["/private/var/folders/x/T/sheaf-run-1"],
  secret: ["/Users/u/.ssh", "/Users/u/work/.aws", "/Users/u/Library/Keychains"],
  readOnly: ["/Users/u/work/.git/hooks", "/Users/u/work/a/b/.envrc"],
  hidden: ["/Users/u/work/config/prod.key"],
};

function read(changes: Partial<SeatbeltPlan> = {}): SeatbeltRules {
  const { text, parameters } = toSeatbeltProfile({ ...plan, ...changes });
  return readSeatbeltRules(text, parameters);
}

describe("the profile", () => {
  const write = "file-write-data";
  const create = "file-write-create";
  const remove = "file-write-unlink";
  test.each([
    // what a command does its work with
    ["file-read-data", "/usr/bin/env", true], ["file-read-data", "/Users/u/other/a.txt", true], ["process-exec", "/bin/ls", true], ["process-fork", "", true],
    [write, "/Users/u/work/a.txt", true], [create, "/Users/u/work/a/new.txt", true], [remove, "/Users/u/work/a/old.txt", true],
    [write, "/private/var/folders/x/T/sheaf-run-1/a", true], [write, "/dev/null", true],
    // nothing else is written
    [write, "/Users/u/work-evil/a", false], [write, "/Users/u/.zshrc", false], [write, "/private/tmp/a", false], [create, "/usr/local/bin/x", false],
    [write, "/private/var/folders/x/T/other", false], [write, "/dev/disk0", false], ["file-write-setugid", "/Users/u/work/a", false],
    // protected places
    [write, "/Users/u/work/.git/hooks/pre-commit", false], [create, "/Users/u/work/.git/hooks/new", false], [remove, "/Users/u/work/.git/hooks", false],
    [remove, "/Users/u/work/.git", false], [remove, "/Users/u/work/a", false], [remove, "/Users/u/work/a/b", false], [remove, "/Users/u/work", false],
    [write, "/Users/u/work/a/b/.envrc", false], ["file-read-data", "/Users/u/work/a/b/.envrc", true], [write, "/Users/u/work/.git/index", true],
    // secrets, in the workspace too
    ["file-read-data", "/Users/u/.ssh/id_ed25519", false], ["file-read-metadata", "/Users/u/Library/Keychains/login.keychain-db", false],
    ["file-read-data", "/Users/u/work/.aws/credentials", false], [write, "/Users/u/work/.aws/credentials", false],
    // what rules hide
    ["file-read-data", "/Users/u/work/config/prod.key", false], [write, "/Users/u/work/config/prod.key", false], [remove, "/Users/u/work/config", false],
    // services of the system and other processes
    ["network-outbound", "localhost:80", false], ["network-bind", "localhost:8000", false], ["mach-lookup", "com.apple.coreservices.launchservicesd", false],
    ["appleevent-send", "", false], ["job-creation", "", false], ["iokit-open", "", false], ["signal", "", false], ["file-mount", "/Users/u/work", false],
  ] as const)(verifies(["S-30", "S-34"], "%s on %s: %s"), (operation, place, isAllowed) => {
    expect(read().isAllowed(operation, place)).toBe(isAllowed);
  }); // prettier-ignore

  test(verifies(["S-30", "S-32"], "lets commands to the port of the proxy and nowhere else"), () => {
    const rules = read({ proxyPort: 4321 });
    expect(rules.isAllowed("network-outbound", "localhost:4321")).toBe(true);
    for (const place of ["localhost:4322", "localhost:80", "192.0.2.1:4321", "/private/var/run/mDNSResponder"])
      expect(rules.isAllowed("network-outbound", place)).toBe(false);
    expect(rules.isAllowed("network-inbound", "localhost:4321")).toBe(false);
    for (const proxyPort of [0, 70_000, 1.5, Number.NaN]) expect(() => read({ proxyPort })).toThrow(/not a port/);
  });

  test(verifies("S-34", "a secret folder around the workspace is closed but for the workspace"), () => {
    const rules = read({ secret: ["/Users/u"] });
    expect(rules.isAllowed("file-read-data", "/Users/u/work/a")).toBe(true);
    expect(rules.isAllowed("file-read-data", "/Users/u/other")).toBe(false);
  });

  test.each([
    'a"b', "a\\", 'a\\"b', 'x")) (allow default) ((literal "', "a\nb", "a\r\nb", "ä 文書 \u0301", "(param \"PATH_0\")", "; comment", "#b", "a=b", "-D X=", "🦊", "\u2028", "a'b$(c)`d`",
  ])(verifies(["S-30", "S-34"], "no path says anything in the profile's language: %j"), (name) => {
    const hostile = {
      workspace: `/Users/u/${name}`,
      writable: [`/private/tmp/${name}`],
      secret: [`/Users/u/${name}-secret`],
      readOnly: [`/Users/u/${name}/${name}`],
      hidden: [`/Users/u/${name}/h/${name}`],
    };
    const tame = Object.fromEntries(
      Object.entries(hostile).map(([key, value]) => [key, JSON.parse(JSON.stringify(value).replaceAll(JSON.stringify(name).slice(1, -1), "n"))]),
    ) as unknown as SeatbeltPlan;
    const profile = toSeatbeltProfile(hostile);
    expect(profile.text).toBe(toSeatbeltProfile(tame).text);
    expect(Object.values(profile.parameters)).toContain(hostile.workspace);
    const rules = readSeatbeltRules(profile.text, profile.parameters);
    expect(rules.isAllowed("file-write-data", `/Users/u/${name}/a`)).toBe(true);
    expect(rules.isAllowed("file-write-data", `/Users/u/${name}/${name}`)).toBe(false);
    expect(rules.isAllowed("file-read-data", `/Users/u/${name}/h/${name}`)).toBe(false);
    expect(rules.isAllowed("file-read-data", `/Users/u/${name}-secret/x`)).toBe(false);
    expect(rules.isAllowed("file-write-data", "/etc/hosts")).toBe(false);
  }); // prettier-ignore
});

/** In the place of sandbox-exec: notes its arguments and runs the command without any profile. */
const standIn = `#!/bin/bash
printf '%s\\0' "$@" > "$(dirname "$0")/words"
while [ "$1" = -p ] || [ "$1" = -D ]; do shift 2; done
exec "$@"
`;

describe("a command in it", () => {
  const setUp = (script = standIn) => {
    const file = createProgram("sandbox-exec", script);
    const readProfile = (): SeatbeltRules => {
      const words = readFileSync(join(file, "../words"), "utf8").split("\0");
      const pairs = words.flatMap((word, at) =>
        words[at - 1] === "-D" ? [word.split(/=(.*)/s) as [string, string]] : [],
      );
      return readSeatbeltRules(words[1]!, Object.fromEntries(pairs));
    };
    return { sandbox: { state: "enabled", kind: "seatbelt", file } as const, readProfile };
  };

  test(
    verifies(["S-30", "S-33", "S-06"], "gets the profile of this workspace, of the protected places and of the rules"),
    async () => {
      const { sandbox, readProfile } = setUp();
      const files = { ".vscode/tasks.json": "x", "a/.env": "x", "db/1.sql": "x" };
      const workspace = createFolder("work space", files);
      const home = createFolder("home", { ".ssh/id": "x" });
      const denials = toFileRules("Read(.env)", "Write(db/**)");
      const variables = { ...environment, HOME: home };
      const request = { workingDirectory: workspace };
      const outcome = await runCommandIn(
        sandbox,
        "echo x > inside; echo $TMPDIR; echo e >&2; exit 3",
        request,
        variables,
        { denials },
      );
      expect(outcome).toMatchObject({ exitCode: 3, stderr: "e\n", permissions: [], startError: "" });
      const temporary = outcome.stdout.trim();
      expect(existsSync(join(workspace, "inside"))).toBe(true);
      expect(existsSync(temporary)).toBe(false);
      const rules = readProfile();
      const writes = (path: string): boolean => rules.isAllowed("file-write-data", path);
      const reads = (path: string): boolean => rules.isAllowed("file-read-data", path);
      expect([writes(join(workspace, "b")), writes(join(temporary, "b")), writes("/tmp/b")]).toEqual([
        true,
        true,
        false,
      ]);
      expect([writes(join(workspace, ".vscode/tasks.json")), writes(join(workspace, "db/1.sql"))]).toEqual([
        false,
        false,
      ]);
      expect([
        reads(join(workspace, "db/1.sql")),
        reads(join(workspace, "a/.env")),
        reads(join(home, ".ssh/id")),
      ]).toEqual([true, false, false]);
      expect(rules.isAllowed("network-outbound", "localhost:3128")).toBe(false);
    },
  );

  test(verifies("S-22", "what it makes under a protected name is moved away"), async () => {
    const { sandbox } = setUp();
    const workspace = createFolder("workspace");
    const { refusals } = await runCommandIn(sandbox, "echo x > .envrc", { workingDirectory: workspace });
    expect(refusals.join()).toContain('".envrc" is protected');
    expect(existsSync(join(workspace, ".envrc"))).toBe(false);
  });

  test(verifies(["S-32", "S-33"], "with a rule for a host it gets a proxy's port, which refuses others"), async () => {
    const { sandbox, readProfile } = setUp();
    const workspace = createFolder("workspace");
    const network = createCommandNetwork({ allow: ["Network(example.org)"], deny: [] });
    const command =
      'port=${HTTPS_PROXY##*:}; exec 3<>/dev/tcp/127.0.0.1/$port; printf "CONNECT other.example:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" >&3; head -1 <&3; echo $port';
    const outcome = await runCommandIn(sandbox, command, { workingDirectory: workspace }, environment, { network });
    expect(outcome.permissions).toEqual(["network"]);
    const [answer = "", port = ""] = outcome.stdout.split(/\r?\n/);
    expect(answer).toMatch(/^HTTP\/1\.1 403/);
    expect(outcome.refusals.join()).toContain("other.example");
    expect(readProfile().isAllowed("network-outbound", `localhost:${port}`)).toBe(true);
    const closed = await new Promise((resolve) =>
      createConnection({ host: "127.0.0.1", port: Number(port) })
        .once("error", resolve)
        .once("connect", () => resolve("open")),
    );
    expect(closed).toMatchObject({ code: "ECONNREFUSED" });
  });

  test(verifies("S-31", "that never started says why"), async () => {
    const { sandbox } = setUp("#!/bin/sh\necho 'sandbox-exec: sandbox_apply: Operation not permitted' >&2\nexit 71\n");
    const workspace = createFolder("workspace");
    const { exitCode, startError } = await runCommandIn(sandbox, "touch ran", { workingDirectory: workspace });
    expect([exitCode, startError]).toEqual([
      -1,
      expect.stringContaining("could not start (sandbox-exec: sandbox_apply"),
    ]);
  });
});
