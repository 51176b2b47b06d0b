/** The place where two sessions part, for texts of any size (C198, C271). */
import { findParting } from "@sheaf/agent/output/session-tests/compare-sessions";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";

const toLines = (word: string, count = 30_000): string =>
  Array.from({ length: count }, (_, n) => `${word}${n}`).join("\n");
const toSession = (prompt: string) => ({ workspace: "/w", responses: [{ prompt, turns: [] }] });

test(verifies(["C198", "C271"], "texts that differ too much show their first lines only"), () => {
  const parting = findParting(toSession(`same\n${toLines("a")}`), toSession(`same\n${toLines("b")}`))!;
  expect(parting).toMatchObject({ place: "response 1", message: "the prompt differs" });
  const lines = parting.diff.split("\n");
  expect(lines.slice(0, 2)).toEqual(["@@ -3,20 +3,20 @@", "-a0"]);
  expect(lines.slice(20, 22)).toEqual(["-a19", "+b0"]);
  expect(lines.slice(40)).toEqual(["+b19", "\\ More than 1000 lines differ: these are the first."]);
});

test("a long end that only one text has starts after the other text", () => {
  const parting = findParting(toSession("same"), toSession(`same\n${toLines("b", 3000)}`))!;
  expect(parting.diff.split("\n").slice(0, 2)).toEqual(["@@ -3,0 +3,20 @@", "+b0"]);
});
