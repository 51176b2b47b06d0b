import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelEvent } from "@sheaf/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createOfflineModel, toTextGroups } from "../../../src/model/offline/offline.ts";
import { runModel, type Conversation, type World } from "../run-model.ts";

const model = createOfflineModel();
const readme = readFileSync(join(import.meta.dirname, "../../fixtures/texts/readme.md"), "utf8");
const files = {
  "README.md": readme,
  "package.json": '{\n  "name": "demo",\n  "scripts": {\n    "test": "vitest run"\n  }\n}\n',
  "src/server.ts": "/** Serves. */\n\n// TODO: close it\nexport function createServer(): void {}\n",
  "src/x.ts": "export const x = 1; // TODO\n",
  "docs/guide.md": "# Guide\n\nThe guide says how everybody uses the demo.\n",
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

  test("several sources are read in one turn; a missing one is reported", async () => {
    const { turns, answer, files: after } = await run("Read README.md, docs/guide.md and gone.md and create a summary");
    expect(turns[0]?.calls.map(({ args }) => args["target_file"])).toEqual(["README.md", "docs/guide.md", "gone.md"]);
    expect(after.get("summary.txt")).toContain("# README and guide summary");
    expect(after.get("summary.txt")).toContain("The guide says how everybody uses the demo.");
    expect(answer).toContain("FILE_NOT_FOUND: gone.md");
  });
});

describe("failures end with what failed and what the tool says", () => {
  test.each([
    ["Read gone.md and create a summary", "`read_file` failed for `gone.md`"],
    ["Lies gone.md und erstelle eine Zusammenfassung", "`read_file` ist bei `gone.md` gescheitert"],
    ["gone.md dosyasını özetle", "`read_file`, `gone.md` için"],
    ["gone.md を表示して", "`gone.md` に対する `read_file`"],
    ["總結 gone.md", "對 `gone.md` 的 `read_file`"],
    ["Show lines 3-4 of gone.md", "`gone.md`"],
    ['Replace "a" with "b" in gone.md', "`gone.md`"],
    ["Delete gone.md", "`gone.md`"],
    ["Rename gone.md to b.md", "`gone.md`"],
  ])("%s", async (prompt, failed) => {
    const { answer, calls, turns } = await run(prompt);
    expect(answer).toContain(failed);
    expect(answer).toContain("> `FILE_NOT_FOUND: gone.md does not exist");
    expect(calls).toHaveLength(1);
    expect(turns.at(-1)?.end.finishReason).toBe("stop");
  });

  test("a refused call is not repeated", async () => {
    const output = "PERMISSION_DENIED: no rule allows it: use --force, or --allow RULE";
    for (const [tool, prompt] of [
      ["run_terminal_cmd", "Run `npm test`"],
      ["write_file", "Read README.md and create a summary"],
      ["grep_search", "Find TODO"],
      ["list_dir", "Explain the project structure"],
      ["create_plan", "Plan the move to TypeScript"],
      ["ask_question", "Ask me what to do"],
    ] as const) {
      const conversation = await run(prompt, { failures: { [tool]: output } });
      if (tool !== "ask_question") expect(conversation.answer).toContain(output);
      expect(toolsOf(conversation).filter((name) => name === tool)).toHaveLength(1);
    }
  });

  test("a tool that the mode does not offer is named", async () => {
    for (const prompt of ["Read README.md and create a summary", "Run `ls`", "Delete src/x.ts"]) {
      const { answer } = await run(prompt, { mode: "ask" });
      expect(answer).toContain("--mode agent");
    }
    expect((await run("Plan the move to TypeScript", { mode: "ask" })).answer).toContain(
      "# Plan: the move to TypeScript",
    );
    expect((await run("summarise", { without: ["ask_question"] })).answer).toContain("Which file?\n\n- README.md");
  });

  test("a file without text", async () => {
    for (const prompt of ["Summarise a.md", "Show a.md", "Read a.md and create a summary"]) {
      const { answer, calls } = await run(prompt, { files: { "a.md": "" } });
      expect(answer).toContain("Nothing was found for `a.md`");
      expect(calls).toHaveLength(1);
    }
  });

  test(verifies("C24", "in the last turn of a budget nothing is called"), async () => {
    const note = "This is the last turn of the budget of this answer: call no tools. Say what is done.";
    const { calls, answer } = await run("Summarise README.md", { note });
    expect(calls).toEqual([]);
    expect(answer).toContain("`README.md`");
    expect(answer).toContain("(`--max-turns`, `--max-tool-calls`, `--max-tokens`)");
  });
});

describe("answers", () => {
  test.each([
    ["Summarise README.md", "## Purpose"],
    ["Fasse README.md zusammen", "## Zweck"],
    ["README.md dosyasını özetle", "## Amaç"],
    ["README.md を要約して", "## 目的"],
    ["總結 README.md", "## 用途"],
  ])("a summary: %s", async (prompt, heading) => {
    const { answer } = await run(prompt);
    expect(answer).toContain(`**Tinywheel**\n\n${heading}\n\nTinywheel turns small wheels without any oil.`);
    expect(answer).toContain("```sh\nnpm install tinywheel\n");
    expect(answer).toContain("- Install\n- Usage\n- Options\n");
    expect(answer).toMatch(/`README\.md`: .*\d/);
    for (const noise of ["layout: page", "nobody", "img.shields", "](", "<h1"]) expect(answer).not.toContain(noise);
  });

  test("of code, data and diffs", async () => {
    expect((await run("Explain src/server.ts")).answer).toContain("- `createServer`");
    expect((await run("What is in package.json?")).answer).toContain('- `"name": "demo",`');
    const diff = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n+console.log(1);\n-two\n";
    expect((await run(`${diff}\n\nsummarise this`)).answer).toContain("- `a.ts`");
  });

  test("a text that came with the prompt", async () => {
    const { calls, answer } = await run(`${readme}\n\nsummarise this`);
    expect(calls).toEqual([]);
    expect(answer).toContain("Tinywheel turns small wheels");
    const written = await run(`${readme}\n\ncreate a summary of this in out.txt`);
    expect(toolsOf(written)).toEqual(["write_file"]);
    expect(written.files.get("out.txt")).toContain("Tinywheel turns small wheels");
  });

  test("lines of the source become no headings, lists or fences of the summary", async () => {
    const text = "# A\n\n```sh\nrm x\n````\n\nThe first text.\n\n#no heading here.\n";
    const { answer } = await run("Summarise a.md", { files: { "a.md": text } });
    expect(answer.match(/^#+ /gm)).toHaveLength(3);
  });

  test(verifies("N19", "a file is quoted as a reference with its lines"), async () => {
    expect((await run("Show src/x.ts")).answer).toContain("```1:1:src/x.ts\nexport const x = 1; // TODO\n```");
    const { answer, calls } = await run("Zeige Zeilen 3-4 aus src/server.ts");
    expect(calls).toEqual([{ tool: "read_file", args: { target_file: "src/server.ts", offset: 3, limit: 2 } }]);
    expect(answer).toContain("```3:4:src/server.ts\n// TODO: close it\nexport function createServer(): void {}\n```");
  });

  test(verifies("N16", "a fence is longer than every one inside"), async () => {
    const content = "````md\n```js\nx\n```\n````\n";
    const { answer } = await run("Show a.md", { files: { "a.md": content } });
    expect(answer).toContain(`\`\`\`\`\`1:5:a.md\n${content}\`\`\`\`\``);
  });

  test("a long file is shown and summarised in part, and says so", async () => {
    const content = Array.from({ length: 4000 }, (_, index) => `This is line ${index + 1}.\n`).join("");
    const shown = await run("Show a.txt", { files: { "a.txt": content } });
    expect(shown.answer).toContain("```1:300:a.txt\n");
    expect(shown.answer).toContain("… and 1700 more\n\nLines 1 to 2000 of 4001");
    expect((await run("Summarise a.txt", { files: { "a.txt": content } })).answer).toContain("Lines 1 to 2000 of 4001");
  });

  test("text and files that are found, and that are not", async () => {
    const hits = "- `src/server.ts:3` `// TODO: close it`\n- `src/x.ts:1` `export const x = 1; // TODO`";
    expect((await run("Find TODO in src")).answer).toContain(hits);
    expect((await run("Suche nirgendwo")).answer).toContain("Zu `nirgendwo` wurde nichts gefunden.");
    expect((await run("Find all *.ts files")).answer).toContain("- `src/server.ts`\n- `src/x.ts`");
    expect((await run("Find all *.rs files")).answer).toContain("Nothing was found for `**/*.rs`");
  });

  test("the layout and a listing", async () => {
    const { turns, answer } = await run("Explain the project structure");
    const [, reads] = turns;
    expect(reads?.calls.map(({ args }) => args["target_file"])).toEqual(["README.md", "package.json"]);
    expect(answer).toContain("Tinywheel turns small wheels");
    expect(answer).toContain("```text\nREADME.md\ndocs/\n  guide.md\n");
    expect((await run("List the files in src")).answer).toContain("```text\nserver.ts\nx.ts\n```");
  });

  test("help names real models, in the language of the prompt", async () => {
    for (const prompt of ["help", "Hilfe", "yardım", "ヘルプ", "你能做什麼？", "Wie spät ist es?"]) {
      const { calls, answer } = await run(prompt);
      expect(calls).toEqual([]);
      for (const words of ["--model anthropic/…", "--model openai/…", "--base-url", "sheaf --help", "README.md"])
        expect(answer).toContain(words);
    }
  });
});

describe("changes", () => {
  test("a command: its output, and the exit code as the tool notes it", async () => {
    const commands = { "npm test": "ok\n3 passed", "npm run lint": "a.ts: bad\nExit code 2." };
    expect((await run("Run `npm test`", { commands })).answer).toContain("```text\nok\n3 passed\n```");
    expect((await run("Führe `npm run lint` aus", { commands })).answer).toContain(
      "```text\na.ts: bad\nExit code 2.\n```",
    );
    const long = Array.from({ length: 500 }, (_, index) => `line ${index + 1}`).join("\n");
    const { answer } = await run("Run `long`", { commands: { long } });
    expect(answer).toContain("… and 460 more\n\n```text\nline 461\n");
  });

  test("a script that package.json does not have", async () => {
    expect((await run("Run the build")).answer).toContain("Nothing was found for `scripts.build`");
  });

  test("files are written, edited, renamed and deleted", async () => {
    const text = (await run('Create hello.txt with the content "Hello"')).files.get("hello.txt");
    expect(text).toBe("Hello");
    const edited = await run('Ersetze "TODO" durch "DONE" in src/x.ts');
    expect(edited.files.get("src/x.ts")).toBe("export const x = 1; // DONE\n");
    expect(edited.answer).toContain("Erledigt: `src/x.ts`.");
    expect((await run("Rename src/x.ts to src/y.ts")).files.has("src/y.ts")).toBe(true);
    const deleted = await run("Delete src/x.ts and gone.ts");
    expect(deleted.turns[0]?.calls).toHaveLength(2);
    expect(deleted.answer).toContain("Done: `src/x.ts`.\n\n`delete_file` failed for `gone.ts`");
  });
});

describe("plans and questions", () => {
  interface PlanArguments {
    readonly title: string;
    readonly plan: string;
    readonly todos: readonly { readonly id: string; readonly content: string; readonly dependencies: string[] }[];
  }
  const planOf = ({ calls }: Conversation): PlanArguments =>
    calls.find(({ tool }) => tool === "create_plan")!.args as unknown as PlanArguments;

  test(verifies("N40", "a plan's ids are unique in the conversation, and its dependencies come before"), async () => {
    const first = await run("Plan the move to TypeScript");
    const second = await run("Plane den Umstieg auf Rust", { history: first.messages });
    const plans = [planOf(first), planOf(second)];
    const ids = plans.flatMap(({ todos }) => todos.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    for (const { todos } of plans) {
      expect(todos.length).toBeGreaterThanOrEqual(5);
      todos.forEach(({ dependencies }, at) => {
        const before = new Set(todos.slice(0, at).map(({ id }) => id));
        expect(dependencies.every((id) => before.has(id))).toBe(true);
      });
    }
    expect(planOf(first).plan).toContain("1. Read `README.md` and `package.json`");
    expect(planOf(first).plan).toContain("`npm test`");
    const todos = await run("Make a todo list: read, write", {
      history: (await run("Make a todo list: a, b")).messages,
    });
    expect(todos.calls[0]?.args["todos"]).toMatchObject([
      { id: "item-1-2", content: "read", status: "pending" },
      { id: "item-2-2", content: "write", status: "pending" },
    ]);
  });

  test("plan mode plans what is asked for", async () => {
    const conversation = await run("Add JWT authentication", { mode: "plan" });
    expect(toolsOf(conversation)).toEqual(["list_dir", "create_plan"]);
    expect(planOf(conversation).title).toBe("Plan: Add JWT authentication");
    const summary = planOf(await run("Read README.md", { mode: "plan" }));
    expect(summary.todos.map(({ id }) => id)).toEqual(["look", "part"]);
  });

  test(
    verifies(["N42", "C25"], "a question has the files of the folder to choose from; the answer goes on"),
    async () => {
      const { turns, calls, messages } = await run("Fasse zusammen");
      expect(turns).toHaveLength(2);
      const options = [
        { id: "option-1", label: "README.md" },
        { id: "option-2", label: "package.json" },
      ];
      expect(calls[1]?.args["questions"]).toEqual([{ id: "file", prompt: "Welche Datei?", options }]);
      for (const reply of ["README.md", "option-1", "1", "readme.md", "die README.md bitte", "`README.md`"]) {
        const next = await run(reply, { history: messages });
        expect(next.calls).toHaveLength(1);
        expect(String(next.calls[0]?.args["target_file"]).toLowerCase()).toBe("readme.md");
      }
      expect((await run("README.md", { history: messages })).answer).toContain("## Zweck");
    },
  );

  test("also when the answer is the result of the question, as the server gives it", async () => {
    const { messages } = await run("Fasse zusammen");
    const answered = messages.map((message) =>
      message.role === "tool" && message.toolName === "ask_question"
        ? { ...message, output: "The user answered:\nfile: option-1" }
        : message,
    );
    const typed = await run("file: option-1", { history: answered });
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

  test("or with another instruction", async () => {
    const { messages } = await run("summarise");
    expect(toolsOf(await run("find TODO in src", { history: messages }))).toEqual(["grep_search"]);
    expect(toolsOf(await run("list the files", { history: messages }))).toEqual(["list_dir"]);
    expect(toolsOf(await run("What is love?", { history: messages }))).toEqual([]);
  });

  test.each([
    ["run", "npm run lint", { command: "npm run lint" }],
    ["find", "some words", { pattern: "some words", case_insensitive: true }],
    ["create hello.txt", "delete me: or not", { target_file: "hello.txt", content: "delete me: or not" }],
    ["rename src/x.ts to", "src/z.ts", { source_file: "src/x.ts", destination_file: "src/z.ts" }],
    ["delete a file", "src/x.ts", { target_file: "src/x.ts" }],
    ["Frag mich, was zu tun ist", "option-1", { target_file: "README.md" }],
    ["ask me what to do", "3", { target_directory: "." }],
  ])("%s: %s", async (prompt, reply, args) => {
    const asked = await run(prompt);
    expect(asked.calls.at(-1)?.tool).toBe("ask_question");
    const { calls } = await run(reply, { history: asked.messages });
    expect(calls[0]?.args).toEqual(args);
  });

  test("a question after a question", async () => {
    const first = await run("create a file");
    const second = await run("hello.txt", { history: first.messages });
    expect(second.calls.at(-1)?.args).toMatchObject({ questions: [{ id: "content" }] });
    const third = await run("Hello", { history: second.messages });
    expect(third.calls).toEqual([{ tool: "write_file", args: { target_file: "hello.txt", content: "Hello" } }]);
    const goal = await run("make a plan");
    expect(planOf(await run("delete the old server", { history: goal.messages })).title).toBe(
      "Plan: delete the old server",
    );
  });

  test("it means the file that was read last; a message without words keeps the language", async () => {
    const { messages } = await run("Zeige docs/guide.md");
    expect((await run("summarise it", { history: messages })).answer).toContain("The guide says");
    expect((await run("README.md", { history: messages })).answer).toContain("## Zweck");
  });
});

describe("the stream", () => {
  test("is the same each time", async () => {
    expect((await run("Explain the project structure")).turns).toEqual(
      (await run("Explain the project structure")).turns,
    );
  });

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
