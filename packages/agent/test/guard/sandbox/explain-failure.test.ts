/** The log says why a command failed where the sandbox is the reason. */
import { describe, expect, test } from "vitest";
import { explainFailure } from "../../../src/guard/sandbox/follow/explain-failure.ts";

describe("a failed command", () => {
  test.each([
    ["touch: cannot touch '/etc/x': Read-only file system", /can write the workspace and \/tmp/],
    ["Error: EROFS: read-only file system, open '/x'", /can write the workspace and \/tmp/],
    ["mv: cannot move 'a' to '.git/config': Device or resource busy", /protected places/],
    ["curl: (6) Could not resolve host: example.org", /no network.*Network\(HOST\)/],
    ["npm error code EAI_AGAIN", /no network/],
    ["bash: connect: Network is unreachable", /no network/],
  ])("%s", (output, sentence) => {
    const refusals = explainFailure({ exitCode: 1, output, permissions: [] });
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toMatch(sentence);
    expect(explainFailure({ exitCode: 0, output, permissions: [] })).toEqual([]);
    expect(explainFailure({ exitCode: 1, output, permissions: ["unsandboxed"] })).toEqual([]);
  });

  test("with a network is told of the proxy", () => {
    const output = "getaddrinfo ENOTFOUND registry.example";
    expect(explainFailure({ exitCode: 1, output, permissions: ["network"] })[0]).toMatch(/HTTPS_PROXY/);
  });

  test("that says nothing of the kind is not explained", () => {
    expect(explainFailure({ exitCode: 1, output: "1 test failed", permissions: [] })).toEqual([]);
  });
});
