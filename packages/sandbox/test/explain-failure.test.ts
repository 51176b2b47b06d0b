/** The log says why a command failed where the sandbox is the reason. */
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { explainFailure } from "../src/follow/explain-failure.ts";

const failed = {
  command: "x",
  exitCode: 1,
  timedOut: false,
  output: "",
  permissions: [],
  workspace: "/srv/project",
} as const;

describe("a failed command", () => {
  test.each([
    ["touch: cannot touch '/etc/x': Read-only file system", /can write the workspace and \/tmp/],
    ["Error: EROFS: read-only file system, open '/x'", /can write the workspace and \/tmp/],
    ["mv: cannot move 'a' to '.git/config': Device or resource busy", /protected places/],
    ["curl: (6) Could not resolve host: example.org", /no network.*Network\(HOST\)/],
    ["npm error code EAI_AGAIN", /no network/],
    ["bash: connect: Network is unreachable", /no network/],
    ["dial tcp: lookup registry.example: no such host", /no network/],
    [
      "Error: ENOENT: no such file or directory, mkdir '/home/u/.config/x'",
      /can write the workspace and \/tmp.*--add-dir/,
    ],
    ["pip: error: the user site is not writable", /virtual environment/],
    ["Error: connect ECONNREFUSED 127.0.0.1:5432", /127\.0\.0\.1 is the sandbox itself.*is_background/],
    ["dial unix /var/run/docker.sock: socket: operation not permitted", /no unix sockets.*--sandbox disabled/],
    ["process_singleton_posix.cc:297] Check failed: . socket() failed: Operation not permitted (1)", /headless shell/],
    ["Failed to create headless user data directory container.", /no unix sockets.*headless shell/],
    ["Error: listen EPERM: operation not permitted /tmp/x.sock", /no unix sockets/],
  ])("[S-100] %s", (output, sentence) => {
    const refusals = explainFailure({ ...failed, output });
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toMatch(sentence);
    expect(explainFailure({ ...failed, exitCode: 0, output })).toEqual([]);
    expect(explainFailure({ ...failed, output, permissions: ["unsandboxed"] })).toEqual([]);
  });

  test(verifies("S-100", "that misses a hidden place hears that the sandbox hides it, also behind a pipe"), () => {
    const program = { tops: ["/srv/project"], environment: { HOME: "/home/u" } };
    const output = "cat: /home/u/.aws/config: No such file or directory";
    for (const exitCode of [0, 1]) {
      const [sentence, ...more] = explainFailure({ ...failed, exitCode, output, program });
      expect(sentence).toMatch(/^The sandbox hides \/home\/u\/\.aws, .*--sandbox disabled\.$/);
      expect(more).toEqual([]);
    }
    expect(explainFailure({ ...failed, output: output.replace(".aws", "aws"), program })).toEqual([]);
  });

  test(verifies("S-100", "that waited for a host until its time was over hears of the network"), () => {
    const output = "Downloading https://registry.example/x (retry 2)";
    const [sentence] = explainFailure({ ...failed, output, exitCode: 124, timedOut: true });
    expect(sentence).toMatch(/no network/);
    expect(explainFailure({ ...failed, output })).toEqual([]);
    expect(explainFailure({ ...failed, output: "test 3 of 9", exitCode: 124, timedOut: true })).toEqual([]);
  });

  test("with a network is told of the proxy", () => {
    const output = "getaddrinfo ENOTFOUND registry.example";
    expect(explainFailure({ ...failed, output, permissions: ["network"] })[0]).toMatch(/HTTPS_PROXY/);
  });

  test.each([
    "npm error code E401",
    "WARNING: 401 Error, Credentials not correct for https://pip.example/simple/x/",
    "Could not transfer artifact t:x:pom:1 from/to m (https://m2.example/): status code: 401, reason phrase: Unauthorized",
    "> Could not GET 'https://m2.example/x.pom'. Received status code 401 from server: Unauthorized",
  ])(verifies("S-104", "that a registry refused names the rule that lets commands see tokens: %s"), (output) => {
    expect(explainFailure({ ...failed, output, permissions: ["network"] })).toEqual([
      expect.stringContaining("Credentials(@npm)"),
    ]);
    expect(explainFailure({ ...failed, output, permissions: ["network", "credentials"] })).toEqual([]);
  });

  test("that says nothing of the kind is not explained", () => {
    expect(explainFailure({ ...failed, output: "1 test failed" })).toEqual([]);
    const ownTest = "expected status: 401, got status: 200";
    expect(explainFailure({ ...failed, output: ownTest, permissions: ["network"] })).toEqual([]);
    const missing = "ENOENT: no such file or directory, mkdir '/srv/project/a/b'";
    expect(explainFailure({ ...failed, output: missing })).toEqual([]);
  });
});

describe("a command whose exit code hides that a program failed", () => {
  const ended = { ...failed, exitCode: 0 };
  const noHost = "curl: (6) Could not resolve host: example.org\n";

  test.each([
    ["curl -s https://example.org/a.json | head -5", ""],
    ["cd a && wget -qO- https://example.org | jq .", "\n"],
    ["curl https://example.org 2>&1 | tail -3", noHost],
    ["npm install 2>&1 | tail -20", "npm error code EAI_AGAIN"],
    ["git clone https://example.org/a || true", "fatal: unable to access: Could not resolve host: example.org"],
    ["pip install x; echo done", "Temporary failure in name resolution"],
  ])(verifies("S-100", "%s: hears of the network"), (command, output) => {
    expect(explainFailure({ ...ended, command, output })[0]).toMatch(/no network.*Network\(HOST\)/);
    expect(explainFailure({ ...ended, command, output, permissions: ["unsandboxed"] })).toEqual([]);
  });

  test.each([
    ["curl -s http://localhost:3000/health | head -5", "ok"],
    ["curl -s http://127.0.0.1:3000 | head -5", ""],
    ["grep -rn ENOTFOUND src | head", "src/a.ts: ENOTFOUND"],
    ["npm test", "ok 1 - retries after EAI_AGAIN"],
    ["npm test | tail", "1 passed"],
  ])("%s: hears nothing", (command, output) => {
    expect(explainFailure({ ...ended, command, output })).toEqual([]);
  });

  test("with a network, only what it printed counts", () => {
    const command = "curl -s https://example.org | head";
    expect(explainFailure({ ...ended, command, permissions: ["network"] })).toEqual([]);
    expect(explainFailure({ ...ended, command, output: noHost, permissions: ["network"] })[0]).toMatch(/HTTPS_PROXY/);
  });
});
