/** Rules that put a person before what would run anyway. */
import { describe, expect, test } from "vitest";
import type { ToolAccess } from "../src/decision.ts";
import type { PermissionOptions } from "../src/permissions.ts";
import { createPolicy, decideOn, toRequest } from "./policy.ts";
import { verifies } from "../../../test/support/verifies.ts";

function decideFile(toolName: string, access: ToolAccess, file: string, options: Partial<PermissionOptions>) {
  return createPolicy(options).decide(toRequest({ toolName, access, arguments: { target_file: file } }));
}

describe("ask rules", () => {
  const edits = { ask: ["Write(src/**)"] };

  test(verifies("C64", "put a person before edits of the files that they name, and before no others"), async () => {
    const asked = await decideFile("edit_file", "write", "src/a.ts", edits);
    expect(asked).toMatchObject({ decision: "ask", always: ["Write(src/**)"] });
    expect(await decideFile("edit_file", "write", "README.md", edits)).toMatchObject({ decision: "allow" });
    expect(await decideFile("read_file", "read", "src/a.ts", edits)).toMatchObject({ decision: "allow" });
  });

  test(verifies("C64", "win over force, the sandbox and allow rules; deny rules win over them"), async () => {
    const ask = ["Shell(git push)"];
    for (const options of [{ force: true }, { sandbox: "enabled" as const }, { allow: ["Shell(git push)"] }]) {
      expect(await decideOn("git push", { ...options, ask })).toMatchObject({ decision: "ask", always: ask });
      const isContained = "sandbox" in options;
      expect(await decideOn("$X push", { ...options, ask })).toMatchObject({ decision: isContained ? "allow" : "ask" });
      expect(await decideOn("git push", { ...options, ask, deny: ["Shell(git)"] })).toMatchObject({ decision: "deny" });
    }
    expect(await decideOn("git status", { force: true, ask })).toMatchObject({ decision: "allow" });
    expect(await decideOn("ls", { ask: ["Shell(*)"] })).toMatchObject({ decision: "ask" });
  });

  test(verifies("C64", "end for a conversation in which a person said always"), async () => {
    const request = toRequest({ toolName: "edit_file", access: "write", arguments: { target_file: "src/a.ts" } });
    const decide = (allow: readonly string[]) =>
      createPolicy(edits).decide({ ...request, answered: { allow, deny: [] } });
    expect(await decide(["Write(src/**)"])).toMatchObject({ decision: "allow" });
    expect(await decide(["Write(**)"])).toMatchObject({ decision: "ask" });
  });

  test(verifies("C64", "are about pages and tools of servers, too, and not about hosts of commands"), async () => {
    const policy = createPolicy({
      ask: ["WebFetch(example.org)", "Mcp(files:*)"],
      allow: ["WebFetch(*)", "Mcp(files:read)"],
    });
    const page = { toolName: "web_fetch", access: "network", arguments: { url: "https://example.org/" } } as const;
    expect(await policy.decide(toRequest(page))).toMatchObject({ decision: "ask" });
    const tool = { toolName: "read", access: "mcp", arguments: {}, mcp: { server: "files", tool: "read" } } as const;
    expect(await policy.decide(toRequest(tool))).toMatchObject({ decision: "ask" });
    for (const rule of ["Network(example.org)", "PrivateNetwork(@npm)", "Credentials(@npm)"]) {
      expect(() => createPolicy({ ask: [rule] }), rule).toThrow(/cannot ask/);
    }
  });
});
