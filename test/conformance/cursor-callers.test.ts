/** Public programs that call `cursor-agent`: what they write runs as it is, and the text comes once. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, runSheaf, toLines } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";
import { cursorCalls, type CursorCall } from "./cursor-callers.ts";

const folders = createTestFolder();
const prompt = "What is\nin README.md?";
const texts = ["I will look. ", "It counts ", "words."] as const;
const script = {
  turns: [
    { events: [{ text: texts[0] }, { call: { tool: "read_file", arguments: { target_file: "README.md" } } }] },
    { events: [{ text: texts[1] }, { text: texts[2] }] },
  ],
};

interface Line {
  readonly type: string;
  readonly message?: { readonly content: readonly [{ readonly text: string }] };
  readonly result?: string;
}

/** Runs the program under the name that the callers look for; gives its stdout. */
async function start({ args, input = "" }: CursorCall): Promise<string> {
  const cwd = folders.newFolder({ "README.md": "# Wordy\n", "s.json": JSON.stringify(script) });
  const values: Readonly<Record<string, string>> = { WORKSPACE: cwd, SESSION: randomUUID(), PROMPT: prompt };
  const fill = (text: string): string => text.replace(/\b(WORKSPACE|SESSION|PROMPT)\b/g, (name) => values[name]!);
  const { code, stdout, stderr } = await runSheaf(args.map(fill), {
    cwd,
    home: join(cwd, "home"),
    input: fill(input),
    program: join(cwd, "cursor-agent"),
    environment: { SHEAF_MODEL: "scripted:s.json", CURSOR_API_KEY: "key_0123" },
  });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return stdout;
}

test.each(cursorCalls.map((one) => [one.repository, one.args.join(" "), one] as const))(
  verifies(["C30", "C43", "C44", "C45", "C47"], "%s: %s"),
  async (_repository, words, one) => {
    const stdout = await start(one);
    if (one.expects) {
      expect(stdout).toMatch(one.expects);
    } else if (words.includes("stream-json")) {
      const lines = toLines(stdout).map((line) => JSON.parse(line) as Line);
      const texted = (type: string): string =>
        lines.flatMap((line) => (line.type === type ? [line.message!.content[0].text] : [])).join("");
      expect(texted("user").trim()).toBe(prompt);
      expect(texted("assistant")).toBe(texts.join(""));
      expect(lines.at(-1)).toMatchObject({ type: "result", subtype: "success", result: texts.join("") });
    } else if (words.includes("json")) {
      expect(JSON.parse(stdout)).toMatchObject({ type: "result", subtype: "success", result: texts.join("") });
    } else {
      expect(stdout).toBe(`${texts[1]}${texts[2]}\n`);
    }
  },
);

test(verifies("C30", "the reference lists every one of these programs"), () => {
  const guide = readFileSync(join(import.meta.dirname, "../../docs/reference/cursor.md"), "utf8");
  const missing = cursorCalls.filter(
    (one) => !guide.includes(one.repository) || !guide.includes(one.commit.slice(0, 7)),
  );
  expect([...new Set(missing.map(({ repository }) => repository))]).toEqual([]);
});
