import { appendFileSync, chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openPromptHistory } from "../../src/interactive/prompt-history.ts";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const folders = createTestFolder();

describe("the history of prompts", () => {
  test(
    verifies("C63", "lasts over sessions in a private file, without what begins with a blank or is repeated"),
    () => {
      const folder = join(folders.newFolder(), "data");
      const history = openPromptHistory(folder);
      for (const text of ["one", " secret", "one", "two\nlines", "", "x".repeat(10_001)]) history.add(text);
      expect(history.entries.slice(0, 2)).toEqual(["one", "two\nlines"]);
      expect(openPromptHistory(folder).entries).toEqual(["one", "two\nlines"]);
      expect(statSync(join(folder, "history.jsonl")).mode & 0o777).toBe(0o600);
    },
  );

  test(verifies("C63", "is bounded, and survives lines that are cut or foreign"), () => {
    const folder = folders.newFolder();
    const file = join(folder, "history.jsonl");
    const lines = Array.from({ length: 2500 }, (_, index) => `${JSON.stringify(`prompt ${index}`)}\n`).join("");
    writeFileSync(file, `{"no": 1}\n"cut\n${lines}`, { mode: 0o600 });
    expect(openPromptHistory(folder).entries.length).toBe(1000);
    expect(readFileSync(file, "utf8").split("\n").length).toBe(1001);
    appendFileSync(file, "not json");
    expect(openPromptHistory(folder).entries.at(-1)).toBe("prompt 2499");
  });

  test(verifies(["C63", "S-42"], "that others can read is refused; without a folder nothing is written"), () => {
    const folder = folders.newFolder({ "history.jsonl": '"one"\n' });
    chmodSync(join(folder, "history.jsonl"), 0o644);
    expect(() => openPromptHistory(folder)).toThrow(/can be opened by others/);
    const unsaved = openPromptHistory(undefined);
    unsaved.add("one");
    expect(unsaved.entries).toEqual(["one"]);
  });
});
