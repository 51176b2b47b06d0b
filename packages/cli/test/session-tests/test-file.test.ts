/** Faults in the file of a test. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readTestFile } from "../../src/session-tests/test-file.ts";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const folders = createTestFolder();
const response = "responses: [{ prompt: x, turns: [] }]";

test.each([
  [`${response}\nexpect: { answer: ["a", "("] }`, "expect.answer[1]"],
  [`${response}\nexpect: { sees: ["["] }`, "expect.sees[0]"],
  ["responses: []", "responses"],
])(verifies(["C191", "C192"], "%s is invalid, with the place"), async (text, place) => {
  const file = join(folders.newFolder(), "a.yaml");
  writeFileSync(file, text);
  const message = expect.stringContaining(`is not valid: ${place}`) as string;
  await expect(readTestFile(file)).rejects.toMatchObject({ code: "CONFIG_INVALID", message });
});
