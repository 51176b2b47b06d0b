/** Which commands a rule allows, by the table of S-10, and what those of the table do in a real bash. */
import { describe, expect, test } from "vitest";
import { toFullReason } from "../src/decision.ts";
import { allowedPrograms, everyday, marking, unclear, unnamed } from "./command-table.ts";
import { createPolicy, decideOn, toRequest } from "./policy.ts";
import { runInRealBash } from "./real-bash.ts";
import { describeWithBubblewrap } from "../../../test/support/bubblewrap.ts";
import { verifies } from "../../../test/support/verifies.ts";

const allow = allowedPrograms.map((words) => `Shell(${words})`);
const toRows = (commands: readonly string[]) => commands.map((command) => [JSON.stringify(command), command] as const);

describe("without force", () => {
  test.each([...toRows(marking), ...toRows(unclear)])(
    verifies(["S-10", "S-11"], "no rule for a program allows %s"),
    async (_, command) => {
      const decision = await decideOn(command, { allow });
      expect(decision.decision).toBe("ask");
      expect(decision).toHaveProperty("reason", expect.stringMatching(/^[^\n]+$/));
    },
  );

  test.each(unnamed)(verifies("S-10", "%j is more than what %s says"), async (command, rule) => {
    expect((await decideOn(command, { allow: [rule] })).decision).toBe("ask");
  });

  test(verifies("S-10", "the table holds at least 150 commands, each once, and at least 30 ordinary ones"), () => {
    expect(marking.length).toBeGreaterThanOrEqual(200);
    expect(unclear.length).toBeGreaterThanOrEqual(200);
    expect(new Set([...marking, ...unclear]).size).toBe(marking.length + unclear.length);
    expect(everyday.length).toBeGreaterThanOrEqual(100);
  });

  test.each(everyday)(verifies("S-10", "%j runs without a question; rule: %s"), async (command, rule) => {
    const decision = await decideOn(command, { allow: rule === undefined ? [] : [rule] });
    expect(decision.decision).toBe("allow");
    expect(decision).toHaveProperty(rule === undefined ? "reason" : "rule", rule ?? "it only reads in the workspace");
  });

  test(verifies("S-11", "a command that needs a permission asks, and the reason says what helps"), async () => {
    expect(await decideOn("npm test")).toEqual({
      decision: "ask",
      reason: "this command needs a permission",
      cause: { code: "no_rule" },
      advice: 'the user passes --allow "Shell(npm test)" or --force',
      always: ["Shell(npm test)"],
    });
    expect(await decideOn("npm test | tee x")).toHaveProperty("advice", expect.stringContaining("--force"));
    expect(await decideOn("find . -delete", { allow })).toHaveProperty("reason", expect.stringContaining('"-delete"'));
    expect(await decideOn("ls $(mark)", { allow })).toHaveProperty("reason", expect.stringContaining("$(…)"));
  });

  test.each([
    ["npm test", {}, { code: "no_rule" }],
    ["ls $(mark)", {}, { code: "not_readable" }],
    ["find . -delete", { allow: ["Shell(find)"] }, { code: "not_covered", value: "Shell(find)" }],
    ["$X push", { force: true, deny: ["Shell(git push)"] }, { code: "not_comparable", value: "Shell(git push)" }],
    ["git push", { force: true, ask: ["Shell(git push)"] }, { code: "ask_rule", value: "Shell(git push)" }],
  ] as const)(verifies("X34", "why a person is asked about %j with %j"), async (command, options, cause) => {
    expect(await decideOn(command, options)).toMatchObject({ decision: "ask", cause });
  });

  test.each([
    ["npm run build && npm test -- a", ["Shell(npm run build)", "Shell(npm test)"]],
    ["cd sub && cargo test | tail", ["Shell(cargo test)"]],
    ["timeout 60 npx vitest run", ["Shell(npx vitest)"]],
    ["python3 -m pytest -q", ["Shell(python3 -m pytest)"]],
    ["node build.js", ["Shell(node build.js)"]],
    // what no narrow rule describes is kept for exactly this call
    ["rm -rf build", []],
    ["git -c a=b status", []],
    ["git config a b", ["Shell(git config)"]],
    ["npm test && rm x", []],
    ["python3 -c 'print(1)'", []],
    ["npm 'a b'", []],
  ])(verifies("X8", "what a person allows for good is narrow: %s"), async (command, always) => {
    expect(await decideOn(command)).toMatchObject({ decision: "ask", always });
    for (const rule of always) expect(await decideOn(rule.slice(6, -1), { allow: [rule] })).toMatchObject({ rule });
  });

  test.each([undefined, null, 1, {}, ["ls"]])(
    verifies("S-14", "a command that is no text asks: %j"),
    async (command) => {
      expect((await decideOn(command, { allow })).decision).toBe("ask");
    },
  );

  test(verifies("S-14", "no other argument changes the decision"), async () => {
    const args = {
      command: "mark x",
      force: true,
      permissions: ["all"],
      approved: true,
      approval: "allow_always",
      answered: { allow: ["Shell(*)"] },
      trusted: true,
      mode: "agent",
      working_directory: "/",
      sandbox: false,
    };
    const request = { toolName: "run_terminal_cmd", access: "command", arguments: args } as const;
    expect((await createPolicy({ allow }).decide(toRequest(request))).decision).toBe("ask");
  });
});

describe("the size of a command", () => {
  const allowed = { allow: ["Shell(ls)"] };
  /** The thread's own time: what else the machine does is left out. */
  const time = async (command: string): Promise<{ readonly decision: string; readonly ms: number }> => {
    const start = process.threadCpuUsage();
    const { decision } = await decideOn(command, allowed);
    const { user, system } = process.threadCpuUsage(start);
    return { decision, ms: (user + system) / 1000 };
  };

  test(verifies("S-12", "makes no verdict softer, and no decision long"), async () => {
    await decideOn("ls -l");
    const huge = await time(`ls ${"a".repeat(1_000_000)}`);
    expect(huge.decision).toBe("ask");
    expect(huge.ms).toBeLessThan(200);
    const many = await time(`${"ls;".repeat(10_000)}ls`);
    expect(many.decision).toBe("allow");
    expect(many.ms).toBeLessThan(1000);
    for (const command of [
      `${"ls;".repeat(10_000)}mark`,
      `mark;${"ls;".repeat(10_000)}`,
      `${"ls;".repeat(5000)}mark;${"ls;".repeat(5000)}`,
    ]) {
      expect((await time(command)).decision).toBe("ask");
    }
  });

  test.each([
    "a=(",
    "<<a\n",
    "for i in ;do ",
    "(",
    "{ ",
    "$(",
    "${",
    "((",
    "[[ ",
    "case x in ",
    "'",
    '"',
    "`",
    "<(",
    "@(",
    "! ",
    "nice ",
    "\\\n",
  ])(verifies("S-12", "%j many times is decided in a bounded time"), async (piece) => {
    const { decision, ms } = await time(piece.repeat(Math.floor(65_536 / piece.length)));
    expect(decision).toBe("ask");
    expect(ms).toBeLessThan(1500);
  });
});

describe("force and deny", () => {
  test("force allows every command", async () => {
    for (const command of [...marking, ...unclear]) {
      expect((await decideOn(command, { force: true })).decision).toBe("allow");
    }
  });

  const denied = [
    ["Shell(rm)", "rm x"], ["Shell(rm)", "/bin/rm x"], ["Shell(rm)", "RM x"], ["Shell(rm)", "sudo rm x"], ["Shell(rm)", "env A=1 rm x"],
    ["Shell(rm)", "xargs rm"], ["Shell(rm)", "find . -exec rm x +"], ["Shell(rm -rf)", "rm -v -rf x"], ["Shell(git push)", "git push"],
    ["Shell(git push)", "git -c a=b push"], ["Shell(git push)", "git -C x push -f"], ["Shell(*)", "ls"], ["Shell(*)", ""],
    ["Shell(/bin/rm)", "rm x"], ["Shell(rm)", "ls; rm x"], ["Shell(rm)", "ls | (cat; r''m x)"], ["Shell(rm)", "\"rm\" x"], ["Shell(rm)", "timeout 5 rm x"],
    ["Shell(cd)", "cd src && ls"], ["Shell(rm)", "bash -c 'r''m x'"], ["Shell(rm)", "eval 'r''m x'"], ["Shell(ls)", "ls"],
  ] as const; // prettier-ignore
  test.each(denied)(verifies("S-06", "%s wins over force, sandbox and allow: %j"), async (rule, command) => {
    for (const flags of [
      { force: true },
      { sandbox: "enabled" as const },
      { allow: ["Shell(*)"] },
      { allow: ["Shell(rm)", "Shell(git push)"] },
      {},
    ]) {
      const decision = await decideOn(command, { ...flags, deny: [rule] });
      expect(decision).toMatchObject({ decision: "deny", rule });
      expect(decision).toHaveProperty("reason", expect.stringContaining(rule));
    }
  });

  test(verifies("S-11", "with a deny rule, a command that is not fully known asks even with force"), async () => {
    for (const command of [
      "$(echo rm) x",
      "x=rm; $x y",
      "ls ./*; l[s] x",
      'bash -c "$x"',
      "eval $x",
      "cat <<E",
      "git ./p*",
      "echo 'rm x' | sh",
      "cat x | bash -s",
      "cat x | xargs -I% %",
      "cat x | xargs env",
      "echo push | xargs git",
    ]) {
      const network = { sandbox: "enabled" as const, allow: ["Network(example.org)"] };
      for (const flags of [{ force: true }, network, { allow: ["Shell(*)"] }]) {
        const decision = await decideOn(command, { ...flags, deny: ["Shell(rm)", "Shell(git push)"] });
        expect(decision, command).toMatchObject({ decision: "ask" });
        expect(toFullReason(decision)).toMatch(/cannot be compared with Shell\(.*, because .+: /);
      }
    }
    for (const command of [
      "ls -l",
      "ls; pwd | cat 'x y'",
      "sed -n 's/a b/c/p' x",
      "npm run 'a b'",
      "bash x.sh",
      "ls | xargs wc",
    ]) {
      expect((await decideOn(command, { force: true, deny: ["Shell(rm)"] })).decision).toBe("allow");
    }
    expect((await decideOn("ls $x; rm x", { force: true, deny: ["Read(.env)"] })).decision).toBe("allow");
  });
});

describeWithBubblewrap("in a real bash", () => {
  const programs = [
    "awk", "bash", "cat", "env", "find", "git", "grep", "head", "ls", "make", "nice", "nohup", "perl", "rm", "sed", "sh", "sort", "tar",
    "tee", "time", "timeout", "touch", "uniq", "wc", "xargs",
  ]; // prettier-ignore

  test(verifies("S-10", "the forbidden program of the table runs: each refusal has its reason"), () => {
    const commands = marking.filter((command) => !/python3/.test(command));
    const marked = runInRealBash(commands, programs);
    expect(commands.filter((_, index) => !marked[index])).toEqual([]);
  });

  test(verifies("S-10", "what is allowed writes nothing that the rule does not say"), () => {
    const commands = everyday
      .filter(([, rule]) => rule === undefined)
      .map(([command]) => `${command}\n[ -z "$(ls -A)" ] || > MARK`);
    expect(runInRealBash(commands, programs)).toEqual(commands.map(() => false));
  });
});
