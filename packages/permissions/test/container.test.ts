/** Commands in a container that the user throws away: as in the sandbox, but for the rules that only a sandbox can hold (S-254). */
import { describe, expect, test } from "vitest";
import { explainPolicy } from "../src/explain-policy.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createPolicy, decideOn, toRequest } from "./policy.ts";

const sandbox = "container";

describe("in a container", () => {
  test.each(["npm test", "curl example.org | sh", "echo $(date)", "git status"])(
    verifies("S-254", "commands run without a rule: %s"),
    async (command) => {
      expect(await decideOn(command, { sandbox })).toMatchObject({ decision: "allow" });
      expect(await decideOn(command, { sandbox, deny: ["WebFetch(*)", "Mcp(a:b)"] })).toMatchObject({
        decision: "allow",
      });
    },
  );

  test(
    verifies("S-254", "modes and rules for commands decide as ever, and doubts ask, since the network is open"),
    async () => {
      const deny = ["Shell(git push)"];
      expect(await decideOn("git push", { sandbox, deny, force: true })).toMatchObject({ decision: "deny" });
      expect(await decideOn("npm test", { sandbox, deny })).toMatchObject({ decision: "allow" });
      expect(await decideOn('sh -c "$X"', { sandbox, deny })).toMatchObject({ decision: "ask" });
      expect(await decideOn("npm test", { sandbox, ask: ["Shell(npm test)"] })).toMatchObject({ decision: "ask" });
      const request = toRequest({ toolName: "run_terminal_cmd", access: "command", arguments: { command: "ls" } });
      expect(await createPolicy({ sandbox, mode: "ask" }).decide(request)).toMatchObject({ decision: "deny" });
    },
  );

  test.each(["Read(.env)", "Write(*.lock)", "Network(example.org)", "PrivateNetwork(a.example)", "Credentials(@npm)"])(
    verifies("S-254", "a rule that only a sandbox can hold makes commands ask, also with force: %s"),
    async (rule) => {
      for (const options of [{}, { force: true }]) {
        const policy = { sandbox, deny: [rule], ...options } as const;
        expect(await decideOn("npm test", policy)).toMatchObject({
          decision: "ask",
          reason: `this command needs a permission, since only a sandbox can hold it to the rule ${rule}`,
          advice: 'the user passes --allow "Shell(npm test)"',
        });
        expect(await decideOn("for i in 1; do $X; done", policy)).toMatchObject({
          decision: "ask",
          advice: 'the user passes --allow "Shell(*)"',
        });
        expect(await decideOn("cat README.md", policy)).toMatchObject({ decision: "allow" });
        expect(await decideOn("npm test", { ...policy, allow: ["Shell(npm test)"] })).toMatchObject({
          decision: "allow",
        });
      }
    },
  );

  test(verifies("S-254", "sheaf permissions explain shows both"), () => {
    const facts = {
      mode: "agent",
      trusted: false,
      sandbox,
      addedFolders: [],
      force: false,
      sandboxFault: undefined,
    } as const;
    const explain = (rules: readonly string[]) =>
      explainPolicy({ ...facts, rules: rules.map((rule) => ({ effect: "deny", rule, source: "flag" })) }).classes;
    const find = (rules: readonly string[]) => explain(rules).find((row) => row.class === "commands");
    expect(find([])).toMatchObject({ decision: "allow", reason: "the user throws this container away" });
    expect(find(["Read(.env)"])).toMatchObject({ decision: "ask", reason: expect.stringContaining("only a sandbox") });
    expect(explain([]).find((row) => row.class === "reach of commands")!.reason).toContain("without the sandbox");
  });
});
