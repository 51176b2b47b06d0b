/** What deny rules name, by the table of S-85. */
import { describe, expect, test } from "vitest";
import { toFullReason } from "../src/decision.ts";
import {
  containedLines,
  deniedEveryDay,
  everydayLines,
  otherCommands,
  otherEvasions,
  pushEvasions,
} from "./deny-table.ts";
import { decideOn } from "./policy.ts";
import { verifies } from "../../../test/support/verifies.ts";

/** Ways to let every command run. */
const permissions = [{ force: true }, { sandbox: "enabled" as const }, { allow: ["Shell(*)"] }];

/** What lets every command run, and lets those that the line does not show leave the sandbox or do without one. */
const openPermissions = [
  { force: true },
  { sandbox: "enabled" as const, allow: ["Network(example.org)"] },
  { sandbox: "enabled" as const, force: true, allow: ["PrivateNetwork(@npm)"] },
  { allow: ["Shell(*)"] },
];

/** The lines that run, or whose refusal does not name the rule and what else to do, in one line. */
async function findLeaks(lines: readonly string[], rule: string): Promise<string[]> {
  const leaks: string[] = [];
  for (const line of lines) {
    for (const flags of openPermissions) {
      const decision = await decideOn(line, { ...flags, deny: [rule] });
      const reason = toFullReason(decision);
      if (decision.decision === "allow" || !reason.includes(rule) || !/^[^\n]+: \S[^\n]+$/.test(reason)) {
        leaks.push(`${line} → ${reason}`);
      }
    }
  }
  return leaks;
}

describe("lines of every day", () => {
  test.each(everydayLines.map((line) => [JSON.stringify(line), line]))(
    verifies("S-85", "%s runs under rules that do not name its commands"),
    async (_, line) => {
      for (const flags of permissions) {
        expect(await decideOn(line, { ...flags, deny: deniedEveryDay })).toMatchObject({ decision: "allow" });
      }
    },
  );

  test.each(otherCommands)(verifies("S-85", "%s names none of %j"), async (rule, lines) => {
    for (const line of lines) {
      expect(await decideOn(line, { force: true, deny: [rule] }), line).toMatchObject({ decision: "allow" });
    }
  });
});

describe("lines that try to get past a rule", () => {
  test.each(pushEvasions.map((line) => [JSON.stringify(line.slice(0, 100)), line]))(
    verifies("S-85", "Shell(git push) does not let %s run"),
    async (_, line) => expect(await findLeaks([line], "Shell(git push)")).toEqual([]),
  );

  test.each(otherEvasions)(verifies("S-85", "%s lets none of %j run"), async (rule, lines) => {
    expect(await findLeaks(lines, rule)).toEqual([]);
  });
});

describe("in the sandbox, where no rule opens a host", () => {
  const contained = [{ sandbox: "enabled" as const }, { sandbox: "enabled" as const, force: true }];

  test(verifies("S-85", "a command that the line shows is refused, however it is written"), async () => {
    const rows = [["Shell(git push)", pushEvasions] as const, ...otherEvasions];
    let refused = 0;
    for (const [rule, lines] of rows) {
      for (const line of lines) {
        const { decision } = await decideOn(line, { force: true, deny: [rule] });
        if (decision !== "deny") continue;
        refused += 1;
        for (const flags of contained) {
          expect(await decideOn(line, { ...flags, deny: [rule] }), line).toMatchObject({ decision: "deny", rule });
        }
      }
    }
    expect(refused).toBeGreaterThan(400);
  });

  test.each(containedLines.map((line) => [JSON.stringify(line), line]))(
    verifies("S-85", "%s runs, since the line does not show what it starts"),
    async (_, line) => {
      for (const flags of contained) {
        expect(await decideOn(line, { ...flags, deny: ["Shell(git push)"] })).toMatchObject({ decision: "allow" });
      }
      expect(await findLeaks([line], "Shell(git push)")).toEqual([]);
    },
  );

  test(verifies("S-85", "a line that cannot be read is refused"), async () => {
    for (const line of ["git push $(", "ls; (git push", "\u200bgit push"]) {
      for (const flags of contained) {
        expect(await decideOn(line, { ...flags, deny: ["Shell(git push)"] })).toMatchObject({ decision: "ask" });
      }
    }
  });
});

test(verifies("S-85", "a wildcard is an option only if a file could have that name"), async () => {
  for (const line of ["rm -f *.log", "rm -f a*", "rm -f [ab].txt", 'rm -f "$DIR/x"', "rm -f *.l?g"]) {
    expect(await decideOn(line, { force: true, deny: ["Shell(rm -rf)"] }), line).toMatchObject({ decision: "allow" });
  }
  for (const line of ["rm -f *", "rm -f *r*", "rm -f *rf", "rm -f -?", "rm -f [^a]rf", 'rm -f "$X"']) {
    expect(await decideOn(line, { force: true, deny: ["Shell(rm -rf)"] }), line).toMatchObject({ decision: "ask" });
  }
});

test(verifies("S-85", "the table has at least 150 lines of every day and 300 evasions, each once"), () => {
  expect(new Set(everydayLines).size).toBe(everydayLines.length);
  expect(new Set(pushEvasions).size).toBe(pushEvasions.length);
  expect(everydayLines.length).toBeGreaterThanOrEqual(150);
  expect(pushEvasions.length).toBeGreaterThanOrEqual(300);
});
