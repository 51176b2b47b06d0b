/** `sheaf diff`, through the built command line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

const edit = (file: string, from: string, to: string) => ({
  call: { tool: "edit_file", arguments: { target_file: file, edits: [{ old_string: from, new_string: to }] } },
});

test(verifies("C198", "two sessions part at the first difference; exit code 0"), async () => {
  const cwd = folders.newFolder({ "a.txt": "one\n", "b.txt": "two\n" });
  const home = folders.newFolder();
  const run = (...words: readonly string[]) => runSheaf(words, { cwd, home });
  const script = join(home, "s.json");
  const prompt = async (events: readonly object[], text: string): Promise<string> => {
    writeFileSync(script, JSON.stringify({ turns: [{ events }, { events: [{ text: "Done." }] }] }));
    return String(parseStream((await run("-p", "--model", `scripted:${script}`, text)).stdout)[0]!.session_id);
  };
  const first = await prompt([edit("a.txt", "one", "ONE")], "Count");
  writeFileSync(join(cwd, "a.txt"), "one\n");
  const same = await prompt([edit("a.txt", "one", "ONE")], "Count");
  writeFileSync(join(cwd, "a.txt"), "one\n");
  const other = await prompt([edit("b.txt", "two", "TWO")], "Count");
  const asked = await prompt([edit("a.txt", "ONE", "one")].slice(1), "Count more");
  const compare = async (one: string, two: string) => {
    const { code, stdout } = await run("diff", one, two, "--json");
    expect(code).toBe(0);
    return JSON.parse(stdout);
  };
  expect(await compare(first, same)).toMatchObject({ parting: null, files: [] });
  expect(await compare(first, other)).toMatchObject({
    sessions: [{ session_id: first, turns: 2, calls: 1, end: "completed", files: ["a.txt"] }, { files: ["b.txt"] }],
    parting: { place: "response 1, turn 1, call 1 (edit_file)", message: "the call differs" },
    files: ["a.txt", "b.txt"],
  });
  expect(await compare(first, asked)).toMatchObject({
    parting: { place: "response 1", message: "the prompt differs" },
  });
  const text = (await run("diff", first, other)).stdout;
  expect(text).toContain("They part at response 1, turn 1, call 1 (edit_file): the call differs.\n@@");
  expect(text).toContain("Files that differ: a.txt, b.txt\n");
  const missing = await run("diff", first);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("run sheaf ls to list them")]);
});
