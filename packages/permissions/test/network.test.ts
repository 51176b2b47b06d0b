/** Rules for hosts and for tools of MCP servers. */
import { describe, expect, test } from "vitest";
import { parseHostPattern, toHost } from "@sheaf/base/host-pattern";
import { createPolicy, toRequest } from "./policy.ts";
import { verifies } from "../../../test/support/verifies.ts";

const decideUrl = async (url: unknown, allow: readonly string[], deny: readonly string[] = [], force = false) =>
  createPolicy({ allow, deny, force }).decide(
    toRequest({ toolName: "web_fetch", access: "network", arguments: { url } }),
  );

describe("hosts", () => {
  test.each([
    ["http://example.org", "example.org"], ["https://EXAMPLE.org:8443/a?b#c", "example.org"], ["http://example.org./", "example.org"],
    ["http://bücher.example/", "xn--bcher-kva.example"], ["http://[::1]/", "[::1]"], ["http://0x7f.1/", "127.0.0.1"], ["http://127.1/", "127.0.0.1"],
    ["http://example.org?@evil.example", "example.org"], ["HTTPS://example.org/%00", "example.org"], ["http://a.b.c.example.org/", "a.b.c.example.org"],
  ])(verifies("S-32", "of %s is %s"), (url, host) => {
    expect(toHost(url)).toBe(host);
  }); // prettier-ignore

  test.each([
    "", "example.org", "//example.org", "ftp://example.org", "file:///etc/passwd", "javascript:alert(1)", "http://", "http:///x", "http:example.org",
    "http://user@example.org", "http://user:pass@example.org", "http://@example.org", "http://evil.example@example.org/", "http://example.org%2f.evil.example/",
    "http://exa%6Dple.org/", "http://example.org\\@evil.example/", "http://example.org\\.evil.example", "http://example.org\n.evil.example/", "http://example.org\t/",
    "http://example.org \r\nHost: x", "http://example.org\0.evil.example", " http://example.org", "http://exa mple.org", "http://example.org../", "http://./", "data:text/plain,x",
  ])(verifies("S-32", "of %j is none"), (url) => {
    expect(toHost(url)).toBeUndefined();
  }); // prettier-ignore

  test.each([
    ["example.org", "example.org", true], ["example.org", "a.example.org", false], ["example.org", "evilexample.org", false], ["example.org", "example.org.evil.example", false],
    ["*.example.org", "a.example.org", true], ["*.example.org", "a.b.example.org", true], ["*.example.org", "example.org", false], ["*.example.org", "evilexample.org", false],
    ["EXAMPLE.org", "example.org", true], ["bücher.example", "xn--bcher-kva.example", true], ["*", "anything.example", true], ["[::1]", "[::1]", true], ["127.0.0.1", "127.0.0.1", true],
  ])("%s against %s: %s", (pattern, host, isMatch) => {
    expect(parseHostPattern(pattern)?.isMatch(host)).toBe(isMatch);
  }); // prettier-ignore

  test.each([
    "",
    "a b",
    "http://example.org",
    "example.org/",
    "example.org:80",
    "user@example.org",
    "*.*.org",
    "a*",
    "%41.org",
    "\0",
    "::1",
  ])("%j is no pattern", (pattern) => {
    expect(parseHostPattern(pattern)).toBeUndefined();
  });
});

describe("web pages", () => {
  test(
    verifies("S-32", "ask without a rule, also with --force; a rule for the host allows them; deny wins"),
    async () => {
      const url = "https://docs.example.org/a";
      expect(await decideUrl(url, [])).toMatchObject({ decision: "ask", always: ["WebFetch(docs.example.org)"] });
      expect(await decideUrl(url, [], [], true)).toMatchObject({ decision: "ask" });
      expect(await decideUrl(url, ["WebFetch(*.example.org)"])).toMatchObject({
        decision: "allow",
        rule: "WebFetch(*.example.org)",
      });
      expect(await decideUrl(url, ["WebFetch(example.org)", "Shell(*)", "Read(**)"])).toMatchObject({
        decision: "ask",
      });
      const denied = await decideUrl(url, ["WebFetch(*)"], ["WebFetch(docs.example.org)"]);
      expect(denied).toMatchObject({ decision: "deny", rule: "WebFetch(docs.example.org)" });
    },
  );

  test.each([
    "http://127.0.0.1/", "http://127.1:8080/", "http://[::1]/", "http://[::ffff:10.0.0.1]/", "http://localhost:3000/", "http://a.localhost./", "http://169.254.169.254/",
  ])(verifies("S-32", "of %s are refused, whatever the rules say, and no rule is suggested"), async (url) => {
    for (const allow of [[], ["WebFetch(*)"], [`WebFetch(${toHost(url)})`]]) {
      const decision = await decideUrl(url, allow);
      expect(decision).toEqual({ decision: "deny", reason: expect.stringContaining("whatever the rules say") });
    }
  }); // prettier-ignore

  test.each([undefined, 7, "file:///etc/passwd", "http://user@example.org"])(
    verifies(["S-14", "S-32"], "of %j are refused"),
    async (url) => {
      expect(await decideUrl(url, ["WebFetch(*)"])).toMatchObject({ decision: "deny" });
    },
  );
});

describe("tools of MCP servers", () => {
  const decide = (tool: string, allow: readonly string[], deny: readonly string[] = []) =>
    createPolicy({ allow, deny, force: true }).decide({
      tool: { name: `lab-${tool}`, access: "mcp" },
      arguments: {},
      mcp: { server: "lab", tool },
    });

  test("need a rule with both names; deny wins", async () => {
    expect(await decide("read", [])).toMatchObject({ decision: "ask", always: ["Mcp(lab:read)"] });
    expect(await decide("read", ["Mcp(lab:read)"])).toMatchObject({ decision: "allow", rule: "Mcp(lab:read)" });
    expect(await decide("write", ["Mcp(lab:read)"])).toMatchObject({ decision: "ask" });
    expect(await decide("write", ["Mcp(lab:*)"])).toMatchObject({ decision: "allow" });
    expect(await decide("write", ["Mcp(other:*)"])).toMatchObject({ decision: "ask" });
    expect(await decide("write", ["Mcp(lab:*)"], ["Mcp(lab:write)"])).toMatchObject({
      decision: "deny",
      rule: "Mcp(lab:write)",
    });
    expect(await decide("a b", [])).toMatchObject({ decision: "ask", always: [] });
  });

  test(verifies("S-15", "are not there in plan and ask mode"), async () => {
    for (const mode of ["plan", "ask"] as const) {
      const request = { tool: { name: "x", access: "mcp" }, arguments: {}, mcp: { server: "lab", tool: "x" } } as const;
      expect(await createPolicy({ mode, allow: ["Mcp(lab:*)"] }).decide(request)).toMatchObject({ decision: "deny" });
    }
  });
});

describe("rules", () => {
  test.each([
    "", "Shell", "Shell()", "Shell( )", "shell(ls)", "Bash(ls)", "Shell(ls", "Shell(ls *)", "Shell(ls;rm)", "Shell('ls')", "Shell(A=1 ls)", "Shell(ls\nrm)",
    "Read(../x)", "Write(a/../b)", "Read(../**)", "Read({a,..}/x)", "Write(a/..)", "Read()", "Write", "ls", "*", "Network()", "Network(a b)", "Net(x)", "WebFetch()", "WebFetch(http://a)", "WebFetch(a b)", "Mcp(a)", "Mcp(a:)", "Mcp(:b)", "Mcp(a:b:c)", "Mcp(*)",
  ])(verifies(["S-04", "S-06"], "%j is a usage error that names the rule and the valid forms"), (rule) => {
    for (const flags of [{ allow: [rule] }, { deny: [rule] }]) {
      expect(() => createPolicy(flags)).toThrow(
        expect.objectContaining({ code: "USAGE", message: expect.stringMatching(/^the .*Shell\(words\).*WebFetch\(domain\).*Mcp\(server:tool\)/) }),
      );
      expect(() => createPolicy(flags)).toThrow(JSON.stringify(rule));
    }
  }); // prettier-ignore
});
