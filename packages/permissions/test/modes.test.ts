/** What each mode has and refuses (S-15). */
import type { Mode } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { isOffered } from "../src/permissions.ts";
import type { ToolAccess } from "../src/decision.ts";
import { askQuestionTool } from "../../agent/src/tools/ask-question.ts";
import { readFileTool } from "../../agent/src/tools/read-file.ts";
import { describeTool } from "../../agent/src/tools/registry.ts";
import { createPolicy, toRequest } from "./policy.ts";
import { verifies } from "../../../test/support/verifies.ts";

const tools: readonly (readonly [string, ToolAccess])[] = [
  ["read_file", "read"], ["list_dir", "read"], ["glob_search", "read"], ["grep_search", "read"],
  ["write_file", "write"], ["edit_file", "write"], ["delete_file", "write"], ["rename_file", "write"],
  ["run_terminal_cmd", "command"], ["todo_write", "state"], ["create_plan", "state"], ["ask_question", "state"],
  ["web_fetch", "network"], ["some_other", "state"],
]; // prettier-ignore

const reading = ["read_file", "list_dir", "glob_search", "grep_search"];
const offered: Readonly<Record<Mode, readonly string[]>> = {
  agent: tools.map(([name]) => name),
  debug: tools.map(([name]) => name),
  plan: [...reading, "todo_write", "create_plan", "ask_question"],
  ask: [...reading, "ask_question"],
};

const rows = (Object.keys(offered) as Mode[]).flatMap((mode) =>
  tools.map(([name, access]) => [mode, name, access] as const),
);

describe("modes", () => {
  test.each(rows)(
    verifies("S-15", "%s mode: %s (%s) is offered and decided alike, with and without flags"),
    async (mode, name, access) => {
      const isThere = offered[mode].includes(name);
      expect(isOffered(mode, { ...describeTool(name), access })).toBe(isThere);
      for (const force of [false, true]) {
        const allow = ["Shell(*)", "Write(**)", "Read(**)"];
        const permissions = createPolicy({ mode, force, allow });
        const args = { command: "ls", target_file: "a", url: "https://example.org/" };
        const decision = await permissions.decide(toRequest({ toolName: name, access, arguments: args }));
        const whereOffered = access === "network" ? "ask" : "allow";
        expect(decision.decision).toBe(isThere ? whereOffered : "deny");
        if (decision.decision === "deny")
          expect(decision.reason).toMatch(new RegExp(`^${name} .*${mode} mode.*--mode agent`));
      }
    },
  );

  test(verifies("S-15", "a tool that says it only reads gets no write or command by its name"), () => {
    expect(isOffered("plan", { ...askQuestionTool, access: "command" })).toBe(false);
    expect(isOffered("ask", { ...readFileTool, access: "write" })).toBe(false);
  });
});
