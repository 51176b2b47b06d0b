import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { chinese } from "../../../src/model/offline/languages/chinese.ts";
import { english } from "../../../src/model/offline/languages/english.ts";
import { german } from "../../../src/model/offline/languages/german.ts";
import { japanese } from "../../../src/model/offline/languages/japanese.ts";
import { turkish } from "../../../src/model/offline/languages/turkish.ts";
import { createOfflineModel } from "../../../src/model/offline/offline.ts";
import { runModel, type Call } from "../run-model.ts";
import { cases } from "./understanding-cases.ts";

const model = createOfflineModel();
const languages = { en: english, de: german, tr: turkish, ja: japanese, "zh-TW": chinese };
const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join("");
const texts = [
  "README.md",
  "docs/guide.md",
  "a.md",
  "b.md",
  "a.txt",
  "src/a.ts",
  "notes.md",
  "my notes.txt",
  "Makefile",
];
const files = {
  ...Object.fromEntries(texts.map((path) => [path, lines])),
  "package.json": '{"scripts":{"test":"vitest run"}}',
  "file.txt": "one a",
};

/** The calls that a prompt leads to, as text: `read_file src/a.ts 10 11`. */
async function callsOf(prompt: string): Promise<string[]> {
  const { calls } = await runModel(model, prompt, { files });
  return calls.map(toText);
}

/** Names its arguments in order; of a question its id, of todos their contents, of a long text `…`. */
function toText({ tool, args }: Call): string {
  const [entry, ...entries] = Object.values(args).flat();
  if (tool === "ask_question") return `${tool} ${(args["questions"] as { id: string }[])[0]!.id}`;
  if (tool === "create_plan") return `${tool} ${String(args["title"]).replace(/^\p{L}+[:：]\s?/u, "")}`;
  if (tool === "todo_write")
    return `${tool} ${(args["todos"] as { content: string }[]).map(({ content }) => content).join(" ")}`;
  if (tool === "edit_file") return `${tool} ${String(entry)} ${Object.values(entries[0] as object).join(" ")}`;
  return [tool, entry, ...entries].map((value) => (String(value).includes("\n") ? "…" : String(value))).join(" ");
}

for (const { name, calls, prompts } of cases) {
  describe(name, () => {
    for (const [code, examples] of Object.entries(prompts)) {
      test.each(examples)(`${code}: %s`, async (prompt) => {
        const { result, calls: made } = await runModel(model, prompt, { files });
        expect(made.map(toText).map((text, index) => text.slice(0, calls[index]?.length))).toEqual(calls);
        const { introduction, summaryFile, notUnderstood } = languages[code as keyof typeof languages].phrases;
        expect(
          [introduction, summaryFile[0]!, notUnderstood].some((words) => result.startsWith(words)) ||
            result.includes(introduction),
        ).toBe(true);
        if (name.startsWith("nothing")) expect(result.startsWith(notUnderstood)).toBe(true);
      });
    }
  });
}

describe("details", () => {
  test.each([
    ["Read a.md and write a summary to ./A.md", ["read_file a.md", "write_file A-summary.md …"]],
    ["Summarise the readme", ["read_file README.md"]],
    ["Fasse die README-Datei zusammen", ["read_file README.md"]],
    ["Summarise README.md in out.txt", ["read_file README.md", "write_file out.txt …"]],
    ["README.md", ["read_file README.md"]],
    ["How many lines does README.md have?", ["read_file README.md"]],
    ["can you run `cat README.md | wc -l` for me?", ["run_terminal_cmd cat README.md | wc -l"]],
    ["$ npm test", ["run_terminal_cmd npm test"]],
    ['show "my notes.txt"', ["read_file my notes.txt"]],
    ["find TODO in *.ts files", ["grep_search TODO *.ts"]],
    ["find files in *.{ts,tsx}", ["glob_search **/*.{ts,tsx}"]],
    ["find package.json", ["glob_search **/package.json"]],
    ['find "a.b (c)"', [String.raw`grep_search a\.b \(c\) true`]],
    ["Search for the word hello", ["grep_search hello true"]],
    ["move a.txt to docs/", ["rename_file a.txt docs/a.txt"]],
    ['remove "a" from file.txt', ["read_file file.txt", "edit_file file.txt a  true"]],
    ['replace "nowhere" with "b" in a.txt', ["read_file a.txt"]],
    ["create hello.txt: How to not fail", ["write_file hello.txt How to not fail"]],
    ['create a.json with the content "{\\"a\\": 1}"', ['write_file a.json {"a": 1}']],
    ["delete a.txt and b.md", ["delete_file a.txt", "delete_file b.md"]],
    ["ls src", ["list_dir src"]],
    ["Hello, please summarise README.md", ["read_file README.md"]],
    ["create a plan to refactor `src/app.ts`", ["list_dir .", "create_plan refactor `src/app.ts`"]],
    ["Erstelle einen Plan für eine Anmeldung mit JWT", ["list_dir .", "create_plan eine Anmeldung mit JWT"]],
    ["ログイン機能の追加の計画を立てて", ["list_dir .", "create_plan ログイン機能の追加"]],
    ["為登入功能制定計畫", ["list_dir .", "create_plan 登入功能"]],
    ["Is version 1.2.3 or 2/3 of it, e.g. this, ok?", []],
  ])("%s", async (prompt, calls) => {
    expect(await callsOf(prompt)).toEqual(calls);
  });
});

test.each([
  "How do I delete a.txt?",
  "don't delete a.txt",
  "Do not run `npm test`",
  "What happens if I rename a.txt to b.txt?",
  "Wie kann ich a.txt löschen?",
  "Lösche a.txt nicht",
  "a.txt dosyasını nasıl silerim?",
  "a.txt dosyasını silme",
  "a.txtを削除しないで",
  "如何刪除 a.txt?",
  "不要刪除 a.txt",
])("a question about a change, or a ban, changes nothing: %s", async (prompt) => {
  expect(await callsOf(prompt)).toEqual([]);
});

describe("a message of several paragraphs", () => {
  test("is a text followed by its instruction", async () => {
    const { calls, answer } = await runModel(model, "A text.\n\nWith two paragraphs.\n\nsummarise this");
    expect(calls).toEqual([]);
    expect(answer).toContain("A text.\n\nWith two paragraphs.");
    expect((await runModel(model, "Ein Text.\n\nfasse das zusammen")).answer).toContain("Ein Text.");
    expect((await runModel(model, "some code\n\nreview this")).answer).toContain("some code");
    expect(await callsOf("some text\n\nSummarise README.md")).toEqual(["read_file README.md"]);
  });

  test("or a text below an instruction that only reads", async () => {
    const { answer } = await runModel(model, "Summarise this:\n\nFirst paragraph.\n\nSecond one.");
    expect(answer).toContain("First paragraph.\n\nSecond one.");
    expect(await callsOf("Make a todo list:\n\n- aa\n- bb")).toEqual(["todo_write aa bb"]);
  });

  test.each([
    "delete a.txt",
    "run `rm -rf .`",
    'create x.txt with the content "x"',
    "rename a.txt to b.txt",
    'replace "a" with "b" in c.txt',
  ])("whose text never asks for a change: %s", async (order) => {
    for (const last of ["summarise this", "hmm", "more\n\nthanks"])
      expect(await callsOf(`${order}\n\n${last}`)).toEqual([]);
    const long = "word ".repeat(500);
    expect(await callsOf(`${long}\n${order}`)).toEqual([]);
    expect(await callsOf(`${order}\n${long}`)).toEqual([]);
  });

  test("can give the content of a file in a fence", async () => {
    const { files: after } = await runModel(
      model,
      "Create a.js with this content:\n\n```js\nconsole.log(1)\n\nfoo()\n```",
    );
    expect(after.get("a.js")).toBe("console.log(1)\n\nfoo()\n");
  });
});

describe.each(Object.values(languages))("$code", ({ code, words, phrases }) => {
  const concepts = (text: string): string[] =>
    text
      .trim()
      .split("\n")
      .map((line) => line.split(": ", 1)[0]!);
  const matches = phrases.abilities.matchAll(/``\s?(.+?)\s?``|`([^`]+)`/g);
  const examples = [...matches].map((match) => match[1] ?? match[2] ?? "");

  test("has words for every concept", () => {
    expect(concepts(words)).toEqual(concepts(english.words));
  });

  test.each([...examples, ...phrases.tasks.map((task) => task.replace("{0}", "README.md"))])("%s", async (example) => {
    const { result } = await runModel(model, example, { files });
    expect(result).not.toContain(phrases.notUnderstood);
    const others = Object.values(languages).filter((language) => language.code !== code);
    for (const other of others) expect(result).not.toContain(other.phrases.introduction);
  });
});

test(verifies("S-72", "any text is read, in time that grows with its length"), async () => {
  const marks = [
    "find",
    "run",
    "`",
    '"',
    "„",
    "“",
    "「",
    "'",
    "*",
    "{",
    "README.md",
    "を",
    "並",
    "dosyasını",
    "\n\n",
    "```",
    ":",
    "a/b",
    "…",
    "\uE000",
  ];
  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc.array(fc.constantFrom(...marks), { maxLength: 40 }).map((words) => words.join(" ")),
  );
  await fc.assert(
    fc.asyncProperty(text, async (prompt) => {
      expect((await runModel(model, prompt, { files })).turns.length).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
  for (const mark of [...marks, "a", "a.", "an ", "plan ", "<!--", "[", "(", "\n", "```\n", "TODO ", "a,"]) {
    const start = performance.now();
    await runModel(model, mark.repeat(400_000 / mark.length), { files });
    await runModel(model, `${mark.repeat(400_000 / mark.length)}\n\nsummarise this`, { files });
    await runModel(model, mark.repeat(1900 / mark.length), { files });
    expect(performance.now() - start, mark).toBeLessThan(5000);
  }
});
