/** Read and Write rules against the paths that a model writes. */
import { describe, expect, test } from "vitest";
import { decideFiles } from "../src/permissions.ts";
import type { PermissionDecision, ToolAccess } from "../src/decision.ts";
import { createRuleParser } from "../src/rule.ts";
import { toRequest } from "./policy.ts";
import { verifies } from "../../../test/support/verifies.ts";

function decide(
  deny: readonly string[],
  toolName: string,
  access: ToolAccess,
  args: Record<string, unknown>,
): PermissionDecision {
  return decideFiles(toRequest({ toolName, access, arguments: args }), deny.map(createRuleParser("/w/home")));
}

function decideRead(rule: string, path: string): string {
  return decide([rule], "read_file", "read", { target_file: path }).decision;
}

describe("files", () => {
  test("without rules file tools may read and write", () => {
    expect(decide([], "read_file", "read", { target_file: ".env" })).toMatchObject({ decision: "allow" });
    expect(decide([], "write_file", "write", { target_file: ".env" })).toMatchObject({ decision: "allow" });
    expect(decide([], "grep_search", "read", { pattern: "x" })).toMatchObject({ decision: "allow" });
  });

  const spellings = [
    ".env", "./.env", "a/../.env", "./a/./../.env", "//.env", ".//.env", ".ENV", ".Env", ".env.", ".env ", ".env. .", " .env",
    ".e\u200bnv", "\uff0eenv", ".env\u00ad", "a/.env", "a/b/c/.env", "/.env", "/w/.env", "/w/a/../.env", "../w/.env", "..\\w\\.env",
    ".\\.env", ".env::$DATA", ".env/", ".env/x", "a\\.env", "../../../x/.env", "./../w/a/../.env",
  ]; // prettier-ignore
  test.each(spellings)(verifies("S-20", "Read(.env) denies the spelling %j, also for tools that write"), (path) => {
    expect(decideRead("Read(.env)", path)).toBe("deny");
    expect(decide(["Read(.env)"], "edit_file", "write", { target_file: path }).decision).toBe("deny");
    expect(decide(["Read(.env)"], "rename_file", "write", { source_file: path, destination_file: "x" }).decision).toBe(
      "deny",
    );
    expect(decide(["Write(.env)"], "rename_file", "write", { source_file: "x", destination_file: path }).decision).toBe(
      "deny",
    );
  });

  test.each([".envrc", "env", "a.env", ".env.example", ".en", "x/.env.d", "..env"])(
    "Read(.env) leaves %j alone",
    (path) => {
      expect(decideRead("Read(.env)", path)).toBe("allow");
    },
  );

  test.each([
    ["Read(secrets/**)", "secrets/a/b", "deny"], ["Read(secrets/**)", "secrets", "deny"], ["Read(secrets/**)", "a/secrets/b", "allow"],
    ["Read(secrets/)", "a/secrets/b", "deny"], ["Read(/secrets)", "secrets/b", "deny"], ["Read(/secrets)", "a/secrets", "allow"],
    ["Read(./secrets)", "secrets/b", "deny"], ["Read(**/secrets/**)", "a/secrets/b", "deny"], ["Read(*.pem)", "a/b/KEY.PEM", "deny"],
    ["Read(*.pem)", "a.pem.txt", "allow"], ["Read(src/*.ts)", "src/a.ts", "deny"], ["Read(src/*.ts)", "src/a/b.ts", "allow"],
    ["Read(src/**/*.ts)", "src/a.ts", "deny"], ["Read({a,b}/*.key)", "b/x.key", "deny"], ["Read(**)", "x", "deny"], ["Read(*)", "a/b", "deny"],
    ["Read(id_[rd]sa)", "x/id_rsa", "deny"], ["Read(id_?sa)", "x/ID_DSA", "deny"], ["Read(SECRET.txt)", "secret.TXT", "deny"],
  ] as const)("%s on %s: %s", (rule, path, decision) => {
    expect(decideRead(rule, path)).toBe(decision);
  }); // prettier-ignore

  test.each([
    ["/w/.env", ".env", "deny"], ["/W/.ENV", "a/../.env", "deny"], ["/w/secrets/**", "secrets/a", "deny"], ["/w/*/key", "a/KEY", "deny"], ["/*/.env", ".env", "deny"],
    ["/w/a/../.env", ".env", "deny"], ["/w", "x", "deny"], ["/**/w/a/*.key", "a/x.key", "deny"], ["/w/{a,b}/**", "b/c", "deny"], ["~/../../../../w/.env", ".env", "deny"], ["~/.env", "home/.env", "deny"], ["~/.env", ".env", "allow"],
    ["/v/.env", ".env", "allow"], ["/w/.env", "a/.env", "allow"], ["/w/a", "b", "allow"], ["w/.env", ".env", "allow"], ["**/w/**", "a", "allow"], ["/w/.env", "/v/a/.env", "allow"],
  ] as const)(verifies(["S-06", "S-20"], "a rule for %s, absolute, on %s in the folder /w: %s"), (glob, path, decision) => {
    expect(decideRead(`Read(${glob})`, path)).toBe(decision);
    expect(decide([`Write(${glob})`], "write_file", "write", { target_file: path }).decision).toBe(decision);
  }); // prettier-ignore

  test("Write rules hold for tools that write only, on every path argument", () => {
    expect(decide(["Write(*.lock)"], "read_file", "read", { target_file: "a.lock" }).decision).toBe("allow");
    expect(decide(["Write(*.lock)"], "grep_search", "read", { path: "." }).decision).toBe("allow");
    for (const [tool, field] of [
      ["delete_file", "target_file"],
      ["rename_file", "source_file"],
      ["rename_file", "destination_file"],
    ] as const) {
      const decision = decide(["Write(*.lock)"], tool, "write", { [field]: "x/a.lock" });
      expect(decision).toMatchObject({ decision: "deny", rule: "Write(*.lock)" });
      expect(decision).toHaveProperty("reason", expect.stringContaining("x/a.lock"));
    }
  });
});

test("the reason stays in one line, whatever the path holds", () => {
  const decision = decide(["Read(*)"], "read_file", "read", { target_file: "a\nb\u001b[31m" });
  expect(decision).toHaveProperty("reason", expect.stringMatching(/^[ -~]+$/));
});

describe("searches", () => {
  test.each([
    ["Read(secrets/**)", "grep_search", { path: "./secrets" }], ["Read(secrets/**)", "grep_search", { path: "secrets/deep/er" }],
    ["Read(secrets/**)", "list_dir", { target_directory: "SECRETS" }], ["Read(secrets/**)", "grep_search", { path: "src/../secrets" }],
    ["Read(secrets/**)", "grep_search", { path: "/w/secrets" }],
    ["Read(.env)", "grep_search", { path: ".env" }], ["Read(**)", "list_dir", {}], ["Read(**)", "grep_search", { path: 7 }],
  ] as const)(verifies("S-243", "%s refuses %s %j, which names what is denied"), (rule, toolName, args) => {
    const decision = decide([rule], toolName, "read", args);
    expect(decision).toMatchObject({ decision: "deny", rule });
    expect(decision).toHaveProperty("reason", expect.stringMatching(/leave this file, and tell the user/));
  }); // prettier-ignore

  test.each([
    ["Read(secrets/**)", "some_tool", { path: "src" }], ["Read(/.env)", "some_tool", {}],
  ] as const)(verifies("S-243", "%s refuses %s, which does not say what it reads"), (rule, toolName, args) => {
    const decision = decide([rule], toolName, "read", args);
    expect(decision).toMatchObject({ decision: "deny", rule });
    expect(decision).toHaveProperty("reason", expect.stringMatching(/could show a file.*read_file/));
  }); // prettier-ignore

  test.each([
    ["Read(secrets/**)", "grep_search", { path: "src" }], ["Read(secrets/**)", "list_dir", { target_directory: "./src/a/" }],
    ["Read(.env)", "grep_search", {}], ["Read(.env)", "glob_search", { target_directory: "a" }], ["Read(a/b/c.txt)", "grep_search", { path: "a/b" }],
    ["Read(*)", "list_dir", {}],
    // fields that the tool does not have
    ["Read(secrets/**)", "grep_search", { target_directory: "secrets" }], ["Read(secrets/**)", "list_dir", { path: "secrets" }],
  ] as const)(verifies("S-243", "%s lets %s %j pass, whose result leaves out what is denied"), (rule, toolName, args) => {
    expect(decide([rule], toolName, "read", args)).toMatchObject({ decision: "allow" });
  }); // prettier-ignore
});
