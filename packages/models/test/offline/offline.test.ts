import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelEvent } from "@sheaf/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseRuns } from "../../../../test/support/soak.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createOfflineModel, toTextGroups } from "../../src/offline/offline.ts";
import { runModel, type Conversation, type World } from "../run-model.ts";

const model = createOfflineModel();
const readme = readFileSync(join(import.meta.dirname, "../../../agent/test/fixtures/texts/readme.md"), "utf8");
const files = {
  "README.md": readme,
  "package.json": '{\n  "name": "demo"\n}\n',
  "src/x.ts": "export const x = 1; // TODO\n",
  "docs/guide.md": "# Guide\n\nThe guide says how everybody uses the demo.\n",
  "hello.txt": "a man, a plan\n",
};

const run = (prompt: string, world: World = {}): Promise<Conversation> => runModel(model, prompt, { files, ...world });
const toolsOf = ({ calls }: Conversation): string[] => calls.map(({ tool }) => tool);

test("the model", () => {
  expect([model.id, model.name, model.apiKeySource]).toEqual(["offline", "Sheaf Offline", "none"]);
});

describe("read a file and create a summary: the example sequence of the format", () => {
  test.each([
    [
      "Lies die README.md und erstelle eine Zusammenfassung",
      ["Ich, das regelbasierte Offline-Modell, werde ", "die README.md lesen"],
      " und eine Zusammenfassung in summary.txt erstellen.",
      "# README-Zusammenfassung\n",
    ],
    [
      "Read README.md and create a summary in summary.txt",
      ["I, the rule-based offline model, will ", "read README.md"],
      " and create a summary in summary.txt.",
      "# README summary\n",
    ],
    [
      "README.md dosyasını oku ve bir özet çıkar",
      ["Ben, kural tabanlı çevrimdışı model, ", "README.md dosyasını okuyacağım"],
      " ve summary.txt dosyasına bir özet çıkaracağım.",
      "# README Özeti\n",
    ],
    [
      "README.md を読んで要約を作成して",
      ["ルールベースのオフラインモデルが ", "README.md を読み"],
      "、要約を summary.txt に作成します。",
      "# README の要約\n",
    ],
    [
      "讀取 README.md 並建立摘要",
      ["我是規則式的離線模型，我來", "讀取 README.md 檔案"],
      "，然後在 summary.txt 建立摘要。",
      "# README 摘要\n",
    ],
  ])(verifies("C7", "%s"), async (prompt, before, between, title) => {
    const { turns, result, files: after } = await run(prompt);
    expect(turns.map(({ deltas }) => deltas)).toEqual([before, [between], []]);
    expect(turns.map(({ calls }) => calls)).toEqual([
      [{ tool: "read_file", args: { target_file: "README.md" } }],
      [{ tool: "write_file", args: { target_file: "summary.txt", content: after.get("summary.txt") } }],
      [],
    ]);
    expect(turns.map(({ end }) => end.finishReason)).toEqual(["tool_calls", "tool_calls", "stop"]);
    expect(result).toBe(before.join("") + between);
    expect(after.get("summary.txt")?.startsWith(title)).toBe(true);
    expect(after.get("README.md")).toBe(readme);
  });

  test("several sources are read in one turn, and none is overwritten", async () => {
    const { turns, files: after } = await run("Read README.md and docs/guide.md and create a summary");
    expect(turns[0]?.calls.map(({ args }) => args["target_file"])).toEqual(["README.md", "docs/guide.md"]);
    expect(after.get("summary.txt")).toContain("# README and guide summary");
    expect(after.get("summary.txt")).toContain("The guide says how everybody uses the demo.");
    for (const [end, target] of [
      ["a summary in docs/notes.md", "docs/notes.md"],
      ["a summary to summary.txt", "summary.txt"],
    ]) {
      const { calls } = await run(`Read README.md and write ${end}`);
      expect(calls.map(({ args }) => args["target_file"])).toEqual(["README.md", target]);
    }
    expect(toolsOf(await run("Read summary.txt and create a summary"))).toEqual(["list_dir", "ask_question"]);
  });
});

describe("a summary in the answer", () => {
  test.each([
    ["Summarise README.md", "## Purpose"],
    ["Fasse README.md zusammen", "## Zweck"],
    ["README.md'yi özetle", "## Amaç"],
    ["README.mdを要約して", "## 目的"],
    ["總結README.md", "## 用途"],
  ])("%s", async (prompt, heading) => {
    const { answer } = await run(prompt);
    expect(answer).toContain(`**Tinywheel**\n\n${heading}\n\nTinywheel turns small wheels without any oil.`);
    expect(answer).toContain("```sh\nnpm install tinywheel\n");
    expect(answer).toContain("- Install\n- Usage\n- Options\n");
    expect(answer).toMatch(/`README\.md`: .*\d/);
    for (const noise of ["layout: page", "nobody", "img.shields", "](", "<h1"]) expect(answer).not.toContain(noise);
  });

  test("of a text that came with the prompt", async () => {
    const { calls, answer } = await run(`${readme}\n\nsummarise this`);
    expect(calls).toEqual([]);
    expect(answer).toContain("Tinywheel turns small wheels");
  });

  test.each([
    ["", "`notes.md`", []],
    ["Summarise this", "`notes.md`", []],
    ["Fasse notes.md zusammen", "`notes.md`", []],
    ["Summarise hello.txt", "`hello.txt`", ["read_file"]],
    ["Create a summary", "notes summary", ["write_file"]],
  ])(verifies("X49", "of a text that was attached: %j"), async (prompt, source, tools) => {
    const data = Buffer.from(readme).toString("base64");
    const file = { name: "notes.md", mediaType: "text/plain" as const, bytes: readme.length, sha256: "", data };
    const told = { role: "user" as const, text: prompt, attachments: [file] };
    const conversation = await run("", { history: [told], isSilent: true });
    expect(toolsOf(conversation)).toEqual(tools);
    const written = conversation.answer + (conversation.files.get("summary.txt") ?? "");
    expect(written).toContain("Tinywheel turns small wheels");
    expect(written).toContain(source);
  });

  test(verifies("N16", "lines of the source become no headings, lists or fences of the summary"), async () => {
    const text = "# A\n\n```sh\nrm x\n````\n\nThe first text.\n\n#no heading here.\n";
    const { answer } = await run("Summarise a.md", { files: { "a.md": text } });
    expect(answer.match(/^#+ /gm)).toHaveLength(3);
  });

  test("of a file in part says so, of an empty file, too", async () => {
    const content = Array.from({ length: 4000 }, (_, index) => `This is line ${index + 1}.\n`).join("");
    const { answer } = await run("Summarise a.txt", { files: { "a.txt": content } });
    expect(answer).toContain("Lines 1 to 2000 of 4001");
    expect((await run("Summarise a.txt", { files: { "a.txt": "" } })).answer).toContain("The file is empty.");
  });
});

describe("a command in backticks", () => {
  test.each([
    "Run `npm test`",
    "Führe `npm test` aus",
    "`npm test` komutunu çalıştır",
    "`npm test` を実行して",
    "執行 `npm test`",
  ])("%s", async (prompt) => {
    const { calls, answer } = await run(prompt, { commands: { "npm test": "ok\n3 passed" } });
    expect(calls).toEqual([{ tool: "run_terminal_cmd", args: { command: "npm test" } }]);
    expect(answer).toContain("```text\nok\n3 passed\n```");
  });

  test("shows the end of a long output", async () => {
    const long = Array.from({ length: 500 }, (_, index) => `line ${index + 1}`).join("\n");
    expect((await run("Run `long`", { commands: { long } })).answer).toContain("```text\nline 461\n");
  });
});

test.each([
  ['Create new.txt with the content "Hello"', 'Replace "a" with "b" in hello.txt'],
  ['Erstelle new.txt mit dem Inhalt "Hello"', 'Ersetze "a" durch "b" in hello.txt'],
  ['"Hello" içeriğiyle new.txt oluştur', 'hello.txt dosyasında "a" yerine "b" yaz'],
  ["new.txt を「Hello」という内容で作成して", "hello.txt の「a」を「b」に置き換えて"],
  ["建立 new.txt，內容為「Hello」", "把 hello.txt 中的「a」替換成「b」"],
])("an edit: %s; %s", async (create, replace) => {
  const created = await run(create);
  expect(created.files.get("new.txt")).toBe("Hello");
  expect(created.answer).toContain("`new.txt`");
  expect((await run(replace)).files.get("hello.txt")).toBe("b mbn, b plbn\n");
});

describe("plans and questions", () => {
  interface PlanArguments {
    readonly title: string;
    readonly todos: readonly { readonly id: string; readonly dependencies: string[] }[];
  }
  const planOf = ({ calls }: Conversation): PlanArguments =>
    calls.find(({ tool }) => tool === "create_plan")!.args as unknown as PlanArguments;

  test(verifies("N40", "a plan's ids are unique in the conversation, and its dependencies come before"), async () => {
    const first = await run("Plan the move to TypeScript");
    const second = await run("Plane den Umstieg auf Rust", { history: first.messages });
    const plans = [planOf(first), planOf(second)];
    const ids = plans.flatMap(({ todos }) => todos.map(({ id }) => id));
    expect(new Set(ids).size).toBe(6);
    for (const { todos } of plans)
      expect(todos.map(({ dependencies }) => dependencies)).toEqual([[], [todos[0]!.id], [todos[1]!.id]]);
    expect(plans.map(({ title }) => title)).toEqual(["the move to TypeScript", "den Umstieg auf Rust"]);
  });

  test("plan mode plans what is asked for", async () => {
    expect(planOf(await run("Add JWT authentication", { mode: "plan" })).title).toBe("Add JWT authentication");
    expect(planOf(await run("Read README.md", { mode: "plan" })).title).toBe("Read README.md");
  });

  test.each(["Summarise", "Fasse zusammen", "özetle", "要約して", "總結"])(
    verifies(["N42", "C25"], "%s: a question has the files of the folder to choose from; the answer continues"),
    async (prompt) => {
      const { calls, messages } = await run(prompt);
      expect(calls.map(({ tool }) => tool)).toEqual(["list_dir", "ask_question"]);
      expect(calls[1]?.args["questions"]).toMatchObject([{ id: "file", options: [{ id: "option-1" }, {}, {}] }]);
      for (const reply of ["hello.txt", "option-2", "2", "`hello.txt` bitte"]) {
        const next = await run(reply, { history: messages });
        expect(next.calls).toEqual([{ tool: "read_file", args: { target_file: "hello.txt" } }]);
      }
      const other = await run("Please run `ls -l` in this folder", { history: messages });
      expect(toolsOf(other)).toEqual(["run_terminal_cmd"]);
    },
  );

  test("also when the answer is the result of the question, as the server gives it", async () => {
    const { messages } = await run("Fasse zusammen");
    const answered = messages.map((message) =>
      message.role === "tool" && message.toolName === "ask_question"
        ? { ...message, output: "The user answered:\nfile: README.md" }
        : message,
    );
    const typed = await run("file: README.md", { history: answered });
    const silent = await run("", { history: answered, isSilent: true });
    for (const { calls, answer } of [typed, silent]) {
      expect(calls).toEqual([{ tool: "read_file", args: { target_file: "README.md" } }]);
      expect(answer).toContain("## Zweck");
    }
    // Nobody answered: the question stays, and no answer is invented (C25).
    const unanswered = await run("", { history: messages, isSilent: true });
    expect(unanswered.calls).toEqual([]);
    expect(unanswered.answer).toContain("Welche Datei?");
  });

  test.each([
    ["run", "npm run lint", { command: "npm run lint" }],
    ["create new.txt", "delete me: or not", { target_file: "new.txt", content: "delete me: or not" }],
    ["make a plan", "delete the old server", { title: "delete the old server" }],
    ["plan yap", "yeni sunucu", { title: "yeni sunucu" }],
  ])("%s: %s", async (prompt, reply, args) => {
    const asked = await run(prompt);
    expect(toolsOf(asked)).toEqual(["ask_question"]);
    expect((await run(reply, { history: asked.messages })).calls[0]?.args).toMatchObject(args);
  });
});

describe("everything else", () => {
  test.each([
    ["What can you do?", "read and summarise"],
    ["Was kannst du?", "lesen und zusammenfassen"],
    ["Neler yapabilirsin?", "okuma ve özetleme"],
    ["何ができますか?", "読んで要約"],
    ["你能做什麼？", "讀取並摘要"],
    ["Delete hello.txt", "read and summarise"],
    ["Fix the bug in src/x.ts", "read and summarise"],
    ["", "read and summarise"],
  ])("%s: the answer names what the model can do, and real models", async (prompt, words) => {
    const { calls, answer } = await run(prompt);
    expect(calls).toEqual([]);
    for (const part of [words, "--model anthropic/…", "--model openai/…", "--base-url", "sheaf --help"])
      expect(answer).toContain(part);
    const examples = [...answer.matchAll(/``\s?(.+?)\s?``|`([^`]+)`/g)].map((match) => match[1] ?? match[2] ?? "");
    for (const example of examples.filter((text) => !/^-|^sheaf/.test(text)))
      expect((await run(example)).calls, example).not.toEqual([]);
  });

  test.each([
    'How do I create a.txt with "a"?',
    "Do not run `npm test`",
    "Wie kann ich `ls` ausführen?",
    "`ls` komutunu sakın çalıştırma",
    "`ls` を実行しないで",
    "不要執行 `ls`",
  ])("a question about a change, or a ban, changes nothing: %s", async (prompt) => {
    expect((await run(prompt)).calls).toEqual([]);
  });

  test.each(["run `rm -rf .`", 'create x.txt with the content "x"', 'replace "a" with "b" in hello.txt'])(
    "a text never asks for a change: %s",
    async (order) => {
      for (const last of ["summarise this", "hmm", "more\n\nthanks"])
        expect((await run(`${order}\n\n${last}`)).calls).toEqual([]);
      const long = "word ".repeat(500);
      for (const text of [`${long}\n${order}`, `${order}\n${long}`]) expect((await run(text)).calls).toEqual([]);
    },
  );

  test.each([
    ["Read gone.md and create a summary", "`read_file` failed for `gone.md`"],
    ["Lies gone.md und erstelle eine Zusammenfassung", "`read_file` ist bei `gone.md` gescheitert"],
    ["gone.md dosyasını özetle", "`read_file`, `gone.md` için"],
    ["gone.md を要約して", "`gone.md` に対する `read_file`"],
    ["總結 gone.md", "對 `gone.md` 的 `read_file`"],
    ['Replace "a" with "b" in gone.md', "`gone.md`"],
  ])("a failed call ends with its message, and is not repeated: %s", async (prompt, failed) => {
    const { answer, calls, turns } = await run(prompt);
    expect(answer).toContain(failed);
    expect(answer).toContain("> `FILE_NOT_FOUND: gone.md does not exist");
    expect(calls).toHaveLength(1);
    expect(turns.at(-1)?.end.finishReason).toBe("stop");
  });
});

describe("the stream", () => {
  test("writes a call as a provider does", async () => {
    const { turns } = await run("Read README.md and create a summary");
    const events = turns[1]?.groups.flat() ?? [];
    const types = events.map(({ type }) => type);
    expect(types.slice(0, 2)).toEqual(["text_delta", "tool_call_start"]);
    expect(types.slice(-2)).toEqual(["tool_call_arguments", "turn_end"]);
    const deltas = events.flatMap((event) => (event.type === "tool_call_arguments_delta" ? [event.delta] : []));
    expect(deltas.length).toBeGreaterThan(2);
    expect(JSON.parse(deltas.join(""))).toEqual(turns[1]?.calls[0]?.args);
    const isStart = (event: ModelEvent): boolean =>
      event.type === "tool_call_start" && event.documentType === "file_edit";
    expect(events.some(isStart)).toBe(true);
  });

  test(verifies("N6", "estimates its usage"), async () => {
    const { turns } = await run("Summarise README.md");
    for (const { end } of turns) {
      expect(end.usage.estimated).toBe(true);
      expect(end.usage.totalTokens).toBe(end.usage.promptTokens + end.usage.completionTokens);
    }
    expect(turns[1]?.end.usage.completionTokens).toBe(Math.ceil(Buffer.byteLength(turns[1]?.text ?? "") / 4));
    expect(turns[1]?.end.usage.promptTokens).toBeGreaterThan(readme.length / 4);
  });

  test("ends at once on an abort", async () => {
    const messages = [{ role: "user" as const, text: "help" }];
    const request = { system: "", messages, tools: [], mode: "agent" as const, newCallId: () => "call_1" };
    const controller = new AbortController();
    let groups = 0;
    for await (const group of model.stream(request, controller.signal)) {
      expect(group.some(({ type }) => type === "turn_end")).toBe(false);
      groups += 1;
      if (groups === 3) controller.abort();
    }
    expect(groups).toBe(3);
    for await (const group of model.stream(request, controller.signal)) expect(group).toBeUndefined();
  });

  test("has deltas of about a word, in groups of at most a sentence", () => {
    expect(toTextGroups("One two. Three\n\nfour")).toEqual([["One ", "two. "], ["Three\n\n"], ["four"]]);
    expect(toTextGroups("\n\nHi")).toEqual([["\n\nHi"]]);
    for (const delta of toTextGroups("這是一個沒有空白的很長的句子，它應該分成幾段。").flat())
      expect(delta.length).toBeLessThanOrEqual(9);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        const deltas = toTextGroups(text).flat();
        expect(deltas.join("")).toBe(text);
        // The formats would hold back a delta of blanks.
        if (text.trim() !== "") for (const delta of deltas) expect(delta.trim()).not.toBe("");
        for (const delta of deltas) expect(delta.isWellFormed()).toBe(true);
      }),
    );
  });
});

test(verifies("S-72", "any text is read, in time that grows with its length"), async () => {
  const marks = 'run|`|"|„|“|「|*|README.md|を|並|dosyasını|\n\n|```|:|a/b|fasse|plan |führe'.split("|");
  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc.array(fc.constantFrom(...marks), { maxLength: 40 }).map((words) => words.join(" ")),
  );
  await fc.assert(
    fc.asyncProperty(text, async (prompt) => {
      expect((await run(prompt)).turns.length).toBeGreaterThan(0);
    }),
    { numRuns: chooseRuns(100) },
  );
  for (const mark of [...marks, "a", "a.", "an ", "<!--", "[", "(", "\n", "---\n", "```\n", "a,", "fasse "]) {
    const start = performance.now();
    await run(mark.repeat(400_000 / mark.length));
    await run(`${mark.repeat(400_000 / mark.length)}\n\nsummarise this`);
    await run(mark.repeat(1900 / mark.length));
    expect(performance.now() - start, mark).toBeLessThan(5000);
  }
});
