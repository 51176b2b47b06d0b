import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createOfflineModel } from "../../../src/model/offline/offline.ts";
import type { ModelEvent } from "@sheaf/protocol";
import { runModel, type Call, type Conversation, type World } from "../run-model.ts";

const model = createOfflineModel();
const readme = readFileSync(join(import.meta.dirname, "../../fixtures/texts/readme.md"), "utf8");
const files = {
  "README.md": readme,
  "package.json":
    '{"name":"demo","version":"1.0.0","description":"A demo.","scripts":{"test":"vitest run","lint":"oxlint"}}',
  "src/server.ts":
    "/** Serves. */\nimport { x } from './x.ts';\n\n// TODO: close it\nexport function createServer(): void {}\n\ncreateServer();\n",
  "src/x.ts": "export const x = 1; // TODO\n",
  "docs/guide.md": "# Guide\n\nThe guide tells how the demo is used by everybody.\n",
  "test/server.test.ts": "createServer();\n",
};

const run = (prompt: string, world: World = {}): Promise<Conversation> => runModel(model, prompt, { files, ...world });
const introductions = ["offline model", "Offline-Modell", "çevrimdışı model", "オフラインモデル", "離線模型"];

function saysItIsOffline({ result }: Conversation): void {
  expect(introductions.some((words) => result.includes(words))).toBe(true);
}

test("the model", () => {
  expect([model.id, model.name, model.apiKeySource]).toEqual(["offline", "Sheaf Offline", "none"]);
});

describe("read a file and create a summary: the example sequence of the base text", () => {
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
    expect(turns).toHaveLength(3);
    expect(turns[0]?.deltas).toEqual(before);
    expect(turns[0]?.calls).toEqual([{ tool: "read_file", args: { target_file: "README.md" } }]);
    expect(turns[0]?.end.finishReason).toBe("tool_calls");
    expect(turns[1]?.deltas).toEqual([between]);
    expect(turns[1]?.calls).toEqual([
      { tool: "write_file", args: { target_file: "summary.txt", content: after.get("summary.txt") } },
    ]);
    expect(turns[2]?.deltas).toEqual([]);
    expect(turns[2]?.calls).toEqual([]);
    expect(turns[2]?.end.finishReason).toBe("stop");
    expect(result).toBe(before.join("") + between);
    expect(after.get("summary.txt")?.startsWith(title)).toBe(true);
    expect(after.get("README.md")).toBe(readme);
  });

  test("several sources are read in one turn", async () => {
    const { turns, files: after } = await run("Read README.md and docs/guide.md and write a summary to out.md");
    expect(turns[0]?.calls.map(({ args }) => args["target_file"])).toEqual(["README.md", "docs/guide.md"]);
    expect(after.get("out.md")).toContain("# README and guide summary");
    expect(after.get("out.md")).toContain("The guide tells how the demo is used by everybody.");
  });

  test("what a pattern finds is read in one turn", async () => {
    const { turns, files: after } = await run("Read all *.md files in docs and create a summary in all.txt");
    expect(turns[0]?.calls).toEqual([{ tool: "glob_search", args: { pattern: "docs/**/*.md" } }]);
    expect(turns[1]?.calls).toEqual([{ tool: "read_file", args: { target_file: "docs/guide.md" } }]);
    expect(after.get("all.txt")).toContain("# guide summary");
  });

  test("one source that is missing is told of, the others are summarised", async () => {
    const { answer, files: after } = await run("Read docs/guide.md and gone.md and create a summary");
    expect(after.get("summary.txt")).toContain("The guide tells");
    expect(answer).toContain("`gone.md` could not be read.");
    expect(answer).toContain("FILE_NOT_FOUND");
  });

  test("a guessed name is looked for", async () => {
    const { calls, files: after } = await run("Read the readme and create a summary", {
      files: { "readme.rst": "Demo\n\nThis is a demo that shows something." },
    });
    expect(calls.map(({ tool, args }) => [tool, args["target_file"] ?? args["target_directory"]])).toEqual([
      ["read_file", "README.md"],
      ["list_dir", "."],
      ["read_file", "readme.rst"],
      ["write_file", "summary.txt"],
    ]);
    expect(after.get("summary.txt")).toContain("This is a demo that shows something.");
  });
});

describe("failures end with what failed and what to do", () => {
  test.each([
    ["Read gone.md and create a summary", "`gone.md` could not be read.", "list the files"],
    [
      "Lies gone.md und erstelle eine Zusammenfassung",
      "`gone.md` konnte nicht gelesen werden.",
      "liste die Dateien auf",
    ],
    ["gone.md dosyasını oku ve bir özet çıkar", "`gone.md` okunamadı.", "dosyaları listele"],
    ["gone.md を読んで要約を作成して", "`gone.md` を読めませんでした。", "ファイルの一覧を見せて"],
    ["讀取 gone.md 並建立摘要", "無法讀取 `gone.md`。", "列出檔案"],
  ])("%s", async (prompt, failed, advice) => {
    const conversation = await run(prompt);
    expect(conversation.answer).toContain(failed);
    expect(conversation.answer).toContain("FILE_NOT_FOUND");
    expect(conversation.answer).toContain(advice);
    expect(conversation.calls).toHaveLength(1);
    expect(conversation.turns.at(-1)?.end.finishReason).toBe("stop");
    saysItIsOffline(conversation);
  });

  test.each([
    [
      "read_file",
      "BINARY_FILE: README.md is a binary file: use run_terminal_cmd",
      "These rules read text only".toLowerCase(),
    ],
    ["read_file", "FILE_TOO_LARGE: README.md is too large for this tool", "show lines 1-200 of"],
    ["read_file", "PATH_OUTSIDE_WORKSPACE: ../README.md lies outside", "--add-dir"],
    ["read_file", "PERMISSION_DENIED: a rule denies read_file", "--allow"],
    ["read_file", "PERMISSION_DENIED: README.md may not be used by this user: change its permissions", "message above"],
    ["read_file", "IS_A_DIRECTORY: README.md is a folder", "is a folder"],
    ["read_file", "SOMETHING_NEW: nobody knows", "message above"],
    ["read_file", "no such file or directory", "spelling"],
  ])("%s: %s", async (tool, output, advice) => {
    const { answer, turns } = await run("Summarise README.md", { failures: { [tool]: output } });
    expect(answer).toContain(output);
    expect(answer.toLowerCase()).toContain(advice.toLowerCase());
    expect(turns.at(-1)?.end.finishReason).toBe("stop");
  });

  test("a summary that cannot be written is in the answer", async () => {
    const failures = { write_file: "READ_ONLY: summary.txt lies on a read-only file system: write somewhere else" };
    const { answer } = await run("Lies README.md und erstelle eine Zusammenfassung", { failures });
    expect(answer).toContain("`summary.txt` konnte nicht geschrieben werden.");
    expect(answer).toContain("# README-Zusammenfassung");
    expect(answer).toContain("Tinywheel turns small wheels");
  });

  test("a tool that the mode does not offer is named, and the summary is in the answer", async () => {
    const { answer, calls } = await run("Read README.md and create a summary", { mode: "ask" });
    expect(calls.map(({ tool }) => tool)).toEqual(["read_file"]);
    expect(answer).toContain("`write_file`");
    expect(answer).toContain("--mode agent");
    expect(answer).toContain("# README summary");
    expect((await run("run `ls`", { mode: "ask" })).answer).toContain("`run_terminal_cmd`");
  });

  test("an empty file is said to be empty", async () => {
    const world = { files: { "a.md": "" } };
    expect((await run("Summarise a.md", world)).answer).toContain("`a.md` is empty");
    const { calls, answer } = await run("Read a.md and create a summary", world);
    expect(calls.map(({ tool }) => tool)).toEqual(["read_file"]);
    expect(answer).toContain("empty");
    expect((await run("Show a.md", world)).answer).toContain("`a.md` is empty");
  });

  test(verifies("C24", "in the last turn of a budget nothing is called"), async () => {
    const system = "x\n\nThis is the last turn of the budget: call no tools. Say what is done.";
    const { calls, answer } = await run("Summarise README.md", { system });
    expect(calls).toEqual([]);
    expect(answer).toContain("I am reading README.md.");
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
    const conversation = await run(prompt);
    expect(conversation.calls).toEqual([{ tool: "read_file", args: { target_file: "README.md" } }]);
    expect(conversation.answer).toContain(heading);
    expect(conversation.answer).toContain("Tinywheel turns small wheels");
    expect(conversation.turns.at(-1)?.deltas.length).toBeGreaterThan(10);
    saysItIsOffline(conversation);
  });

  test("what is in package.json", async () => {
    const { answer } = await run("What is in package.json?");
    expect(answer).toContain("**demo**");
    expect(answer).toContain("- `test`: vitest run");
  });

  test("a text that came with the prompt needs no tool", async () => {
    const { calls, answer } = await run(`${readme}\n\nsummarise this`);
    expect(calls).toEqual([]);
    expect(answer).toContain("Tinywheel turns small wheels");
  });

  test("a text that came with the prompt can be summarised into a file", async () => {
    const { calls, result, files: after } = await run(`${readme}\n\ncreate a summary of this in out.txt`);
    expect(calls.map(({ tool }) => tool)).toEqual(["write_file"]);
    expect(after.get("out.txt")?.startsWith("# Summary\n\n**Tinywheel**")).toBe(true);
    expect(result).toContain("I am writing out.txt.");
  });

  test("a review tells what is left open", async () => {
    expect((await run("Review src/server.ts")).answer).toContain("`// TODO: close it` (line 4)");
    expect((await run("Review docs/guide.md")).answer).toContain("## Worth a look");
    const diff = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,3 @@\n one\n+console.log(1);\n-two\n";
    const { answer } = await run(`${diff}\n\nreview this`);
    expect(answer).toContain("`a.ts`: +1 −1");
    expect(answer).toContain("`console.log(1);` (line 2): a.ts");
  });

  test(verifies("N19", "a file is quoted as a reference with its lines"), async () => {
    const { answer, calls } = await run("Show src/x.ts");
    expect(calls).toEqual([{ tool: "read_file", args: { target_file: "src/x.ts" } }]);
    expect(answer).toContain("```1:1:src/x.ts\nexport const x = 1; // TODO\n```");
  });

  test("lines are asked for and quoted with their numbers", async () => {
    const { answer, calls } = await run("Zeige Zeilen 4-5 aus src/server.ts");
    expect(calls).toEqual([{ tool: "read_file", args: { target_file: "src/server.ts", offset: 4, limit: 2 } }]);
    expect(answer).toContain("```4:5:src/server.ts\n// TODO: close it\nexport function createServer(): void {}\n```");
    expect((await run("show the last 2 lines of src/server.ts")).answer).toContain(
      "```6:7:src/server.ts\n\ncreateServer();\n```",
    );
    expect((await run("show lines 90-95 of src/x.ts")).answer).toContain("`src/x.ts` has no line 90.");
  });

  test(verifies("N16", "a fence is longer than every one inside"), async () => {
    const content = "````md\n```js\nx\n```\n````\n";
    const { answer } = await run("Show a.md", { files: { "a.md": content } });
    expect(answer).toContain(`\`\`\`\`\`1:5:a.md\n${content}\`\`\`\`\``);
  });

  test("a long file is shown in part, and says so", async () => {
    const content = Array.from({ length: 1000 }, (_, index) => `line ${index + 1}\n`).join("");
    const { answer } = await run("Show a.txt", { files: { "a.txt": content } });
    expect(answer).toContain("```1:300:a.txt\nline 1\n");
    expect(answer).toContain("300 of 1,000 lines");
    expect(answer).not.toContain("line 301\n");
  });

  test("a file that was read in part is summarised in part, and says so", async () => {
    const content = Array.from(
      { length: 4000 },
      (_, index) => `This is sentence number ${index + 1} of a story.\n\n`,
    ).join("");
    const { answer } = await run("Summarise a.txt", { files: { "a.txt": content } });
    expect(answer).toContain("Only 2,000 of 8,001 lines of a.txt were read.");
  });

  test.each([
    ["find TODO in src", { pattern: "TODO", path: "src" }],
    ["Suche TODO in src", { pattern: "TODO", path: "src" }],
    ["src klasöründe TODO ara", { pattern: "TODO", path: "src" }],
    ["srcでTODOを探して", { pattern: "TODO", path: "src" }],
    ["在 src 中搜尋 TODO", { pattern: "TODO", path: "src" }],
  ])("text in files: %s", async (prompt, args) => {
    const conversation = await run(prompt);
    expect(conversation.calls).toEqual([{ tool: "grep_search", args }]);
    expect(conversation.answer).toContain("- `src/server.ts:4` `// TODO: close it`");
    expect(conversation.answer).toContain("`src/x.ts:1`");
    saysItIsOffline(conversation);
  });

  test("words in lower case are looked for in any case, and literally", async () => {
    expect((await run('find "a.b (c)"')).calls[0]?.args).toEqual({
      pattern: String.raw`a\.b \(c\)`,
      case_insensitive: true,
    });
    expect((await run("find nothing like this")).answer).toContain("was not found");
  });

  test("a definition is looked for first, then every mention", async () => {
    const found = await run("where is createServer defined?");
    expect(found.calls).toHaveLength(1);
    expect(found.answer).toContain("`createServer` is defined here:\n\n- `src/server.ts:5`");
    const mentioned = await run("where is createServer defined?", { files: { "a.ts": "createServer();\n" } });
    expect(mentioned.calls).toHaveLength(2);
    expect(mentioned.answer).toContain("found no definition of `createServer`");
    expect(mentioned.answer).toContain("`a.ts:1`");
    expect((await run("where is nowhereAtAll defined?")).answer).toContain("`nowhereAtAll` was not found");
  });

  test("files by name", async () => {
    const { calls, answer } = await run("find all *.ts files");
    expect(calls).toEqual([{ tool: "glob_search", args: { pattern: "**/*.ts" } }]);
    expect(answer).toContain("3 files for `**/*.ts`:\n\n- `src/server.ts`\n- `src/x.ts`\n- `test/server.test.ts`");
    expect((await run("find all *.rs files")).answer).toContain("No file fits `**/*.rs`.");
  });

  test.each([
    ["explain the project structure", "documentation"],
    ["Erkläre die Projektstruktur", "Dokumentation"],
    ["proje yapısını açıkla", "belgeler"],
    ["プロジェクトの構成を説明して", "ドキュメント"],
    ["說明專案結構", "文件"],
  ])("the layout: %s", async (prompt, role) => {
    const { turns, answer } = await run(prompt);
    expect(
      turns.map(({ calls }) =>
        calls.map(({ tool, args }) => `${tool} ${String(args["target_file"] ?? args["target_directory"])}`),
      ),
    ).toEqual([["list_dir ."], ["read_file README.md", "read_file package.json"], []]);
    expect(answer).toContain("Tinywheel turns small wheels");
    expect(answer).toContain(`- \`docs/\`: ${role}`);
    expect(answer).toContain("- `test`: `vitest run`");
  });

  test("the layout of a folder without README and manifest", async () => {
    const { turns, answer } = await run("explain the structure of the folder src/");
    expect(turns).toHaveLength(2);
    expect(answer).toContain("`server.ts`, `x.ts`");
  });

  test("a listing", async () => {
    const { answer } = await run("list the files in src");
    expect(answer).toContain("```text\nserver.ts\nx.ts\n```");
  });

  test("help names real models, in the language of the prompt", async () => {
    for (const prompt of ["help", "Hilfe", "yardım", "ヘルプ", "你能做什麼？"]) {
      const conversation = await run(prompt);
      expect(conversation.calls).toEqual([]);
      for (const words of ["--model anthropic/…", "--model openai/…", "--base-url", "sheaf --help", "README.md"])
        expect(conversation.answer).toContain(words);
      saysItIsOffline(conversation);
    }
    expect((await run("Wie spät ist es?")).answer).toContain("Das kann ich:");
    expect((await run("some text\n\nblah")).answer).toContain("summarise this");
  });
});

describe("changes", () => {
  test("a command: exit code and output", async () => {
    const commands = {
      "npm test": "ok\n3 passed",
      "npm run lint": "a.ts: bad\nExit code 2.",
      true: "Exit code 0, no output.",
      sleep: "The command was ended after 1000 ms; raise timeout_ms (at most 600000).",
    };
    const passed = await run("run `npm test`", { commands });
    expect(passed.calls).toEqual([{ tool: "run_terminal_cmd", args: { command: "npm test" } }]);
    expect(passed.answer).toContain("`npm test` ended with exit code 0. Its output:\n\n```text\nok\n3 passed\n```");
    expect((await run("Führe `npm run lint` aus", { commands })).answer).toContain(
      "endete mit dem Exit-Code 2, also mit einem Fehler.",
    );
    expect((await run("run `true`", { commands })).answer).toContain("exit code 0. It printed nothing.");
    expect((await run("run `sleep`", { commands })).answer).toContain("exit code 124");
  });

  test("only the end of a long output", async () => {
    const output = Array.from({ length: 500 }, (_, index) => `line ${index}`).join("\n");
    const { answer } = await run("run `npm test`", { commands: { "npm test": output } });
    expect(answer).toContain("The last 40 of 500 lines of its output:");
    expect(answer).toContain("line 499\n");
    expect(answer).not.toContain("line 459\n");
  });

  test("a refused command says how to allow it", async () => {
    const failures = { run_terminal_cmd: "PERMISSION_DENIED: no rule allows this command" };
    const { answer } = await run("`npm test` komutunu çalıştır", { failures });
    expect(answer).toContain("`npm test` çalıştırılmadı.");
    expect(answer).toContain("--force");
    expect(answer).toContain("--allow");
  });

  test("the tests are run as package.json says", async () => {
    const { calls } = await run("run the tests");
    expect(calls.map(({ tool, args }) => [tool, args["command"] ?? args["target_file"]])).toEqual([
      ["read_file", "package.json"],
      ["run_terminal_cmd", "npm test"],
    ]);
    expect((await run("run the build")).answer).toContain(
      "package.json has no script named `build`. It has: `test` and `lint`.",
    );
  });

  test("a file with a given text", async () => {
    const { calls, answer } = await run('create hello.txt with the content "Hello"');
    expect(calls).toEqual([{ tool: "write_file", args: { target_file: "hello.txt", content: "Hello" } }]);
    expect(answer).toContain("`hello.txt` is written (1 line).");
  });

  test("a replacement reads first", async () => {
    const { calls, answer, files: after } = await run('replace "createServer" with "createApp" in src/server.ts');
    expect(calls.map(({ tool }) => tool)).toEqual(["read_file", "edit_file"]);
    expect(calls[1]?.args).toEqual({
      target_file: "src/server.ts",
      edits: [{ old_string: "createServer", new_string: "createApp", replace_all: true }],
    });
    expect(answer).toContain("changed in 2 places");
    expect(after.get("src/server.ts")).not.toContain("createServer");
  });

  test("a text that is not there changes nothing", async () => {
    const { calls, answer } = await run('Ersetze "nirgends" durch "b" in src/x.ts');
    expect(calls.map(({ tool }) => tool)).toEqual(["read_file"]);
    expect(answer).toContain("`nirgends` kommt in `src/x.ts` nicht vor");
    expect((await run('replace "a" with "a" in src/x.ts')).calls).toEqual([]);
  });

  test("deleting and renaming", async () => {
    const deleted = await run("delete src/x.ts and gone.ts");
    expect(deleted.turns[0]?.calls).toHaveLength(2);
    expect(deleted.answer).toContain("`src/x.ts` is deleted.");
    expect(deleted.answer).toContain("`gone.ts` could not be deleted.");
    const renamed = await run("把 src/x.ts 重新命名為 src/y.ts");
    expect(renamed.calls).toEqual([
      { tool: "rename_file", args: { source_file: "src/x.ts", destination_file: "src/y.ts" } },
    ]);
    expect(renamed.answer).toContain("`src/x.ts` 已改名為 `src/y.ts`。");
    expect((await run("rename src/x.ts to README.md")).answer).toContain("There is a file of that name already");
  });
});

describe("plans and questions", () => {
  const planOf = (calls: readonly Call[]): PlanArguments => {
    const plan = calls.find(({ tool }) => tool === "create_plan");
    if (!plan) throw new Error("no plan was made");
    return plan.args as unknown as PlanArguments;
  };

  interface PlanArguments {
    readonly title: string;
    readonly plan: string;
    readonly todos: readonly {
      readonly id: string;
      readonly content: string;
      readonly dependencies: readonly string[];
    }[];
  }

  test.each([
    ["plan the move to TypeScript", "Plan: the move to TypeScript"],
    ["Plane den Umstieg auf TypeScript", "Plan: den Umstieg auf TypeScript"],
    ["TypeScript'e geçiş için plan yap", "Plan: TypeScript'e geçiş"],
    ["TypeScript への移行を計画して", "計画：TypeScript への移行"],
    ["規劃遷移到 TypeScript", "計畫：遷移到 TypeScript"],
  ])(verifies("N40", "%s"), async (prompt, title) => {
    const { turns, answer } = await run(prompt);
    expect(turns.map(({ calls }) => calls.map(({ tool }) => tool))).toEqual([["list_dir"], ["create_plan"], []]);
    const plan = planOf(turns[1]?.calls ?? []);
    expect(plan.title).toBe(title);
    expect(plan.plan).toContain("1. ");
    const ids = plan.todos.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(5);
    // Each depends only on ones before it, so there is no cycle.
    plan.todos.forEach(({ dependencies }, index) => {
      for (const dependency of dependencies) expect(ids.slice(0, index)).toContain(dependency);
    });
    expect(plan.todos.some(({ content }) => content.includes("`npm test`"))).toBe(true);
    expect(plan.todos.some(({ content }) => content.includes("`README.md`"))).toBe(true);
    expect(answer).toContain(String(ids.length));
  });

  test("a goal of several parts gives several steps, and files that fit are named", async () => {
    const { calls } = await run("Plan: add a server page, write the guide, and remove old tests");
    const { todos, plan } = planOf(calls);
    expect(todos.map(({ id }) => id)).toEqual(["look", "goal", "part-1", "part-2", "part-3", "tests", "check", "docs"]);
    expect(plan).toContain("- `src/server.ts`");
    expect(plan).toContain("- `docs/guide.md`");
  });

  test("ids stay unique in the conversation", async () => {
    const first = await run("plan the move to TypeScript");
    const second = await run("plan the move to Rust", { history: first.messages });
    const ids = [first, second].flatMap(({ calls }) => planOf(calls).todos.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("plan mode plans what is asked for", async () => {
    const { turns, calls } = await run("Add JWT authentication", { mode: "plan" });
    expect(turns.map((turn) => turn.calls.map(({ tool }) => tool))).toEqual([["list_dir"], ["create_plan"], []]);
    expect(planOf(calls).title).toBe("Plan: Add JWT authentication");
    const summary = await run("Read README.md and create a summary", { mode: "plan" });
    expect(planOf(summary.calls).todos.map(({ id }) => id)).toEqual(["look", "part-1", "part-2"]);
  });

  test("ask mode gives the plan as text", async () => {
    const { answer, calls } = await run("plan the move to TypeScript", { mode: "ask" });
    expect(calls.map(({ tool }) => tool)).toEqual(["list_dir"]);
    expect(answer).toContain("# Plan: the move to TypeScript");
  });

  test("a todo list", async () => {
    const { calls, answer } = await run("make a todo list: read the code, write tests, write tests");
    expect(calls).toEqual([
      {
        tool: "todo_write",
        args: {
          todos: [
            { id: "read-the-code", content: "read the code", status: "pending" },
            { id: "write-tests", content: "write tests", status: "pending" },
            { id: "write-tests-2", content: "write tests", status: "pending" },
          ],
          merge: false,
        },
      },
    ]);
    expect(answer).toContain("3 entries");
    const japanese = await run("TODOリストを作って: 読む、書く");
    expect(japanese.calls[0]?.args["todos"]).toMatchObject([
      { id: "step-1", content: "読む" },
      { id: "step-2", content: "書く" },
    ]);
  });

  test.each([
    ["summarise", "Which file?"],
    ["Fasse zusammen", "Welche Datei?"],
    ["özetle", "Hangi dosya?"],
    ["要約して", "どのファイルですか？"],
    ["總結", "哪個檔案？"],
  ])(
    verifies(["N42", "C25"], "%s asks for the file, with those of the folder to choose from"),
    async (prompt, question) => {
      const { turns, calls } = await run(prompt);
      expect(turns.map((turn) => turn.calls.map(({ tool }) => tool))).toEqual([["list_dir"], ["ask_question"]]);
      expect(calls[1]?.args["questions"]).toEqual([
        {
          id: "file",
          prompt: question,
          options: [
            { id: "option-1", label: "README.md" },
            { id: "option-2", label: "package.json" },
          ],
        },
      ]);
    },
  );

  test("and goes on with the answer", async () => {
    const { messages } = await run("summarise");
    for (const reply of ["README.md", "option-1", "1", "readme.md", "the README.md please", "`README.md`"]) {
      const { calls, answer } = await run(reply, { history: messages });
      expect(calls).toHaveLength(1);
      expect(String(calls[0]?.args["target_file"]).toLowerCase()).toBe("readme.md");
      if (reply === "option-1") expect(answer).toContain("Tinywheel turns small wheels");
    }
    const other = await run("docs/guide.md", { history: messages });
    expect(other.answer).toContain("The guide tells");
  });

  test("also when the answer is the result of the question, as the server gives it", async () => {
    const { messages } = await run("Fasse zusammen");
    const answered = messages.map((message) =>
      message.role === "tool" && message.toolName === "ask_question"
        ? { ...message, output: "The user answered:\nfile: option-1" }
        : message,
    );
    // With a message of its own, and without.
    const typed = await run("file: option-1", { history: answered });
    expect(typed.calls).toEqual([{ tool: "read_file", args: { target_file: "README.md" } }]);
    const silent = await run("", { history: answered, isSilent: true });
    expect(silent.calls).toEqual([{ tool: "read_file", args: { target_file: "README.md" } }]);
    expect(silent.answer).toContain("## Zweck");
    expect(silent.turns).toHaveLength(2);
    // Nobody answered: the question stays, and nothing is made up (C25).
    const unanswered = await run("", { history: messages, isSilent: true });
    expect(unanswered.calls).toEqual([]);
    expect(unanswered.answer).toContain("Welche Datei?");
  });

  test("in the language of the question", async () => {
    const { messages } = await run("Fasse zusammen");
    expect((await run("README.md", { history: messages })).answer).toContain("## Zweck");
  });

  test("or with another instruction", async () => {
    const { messages } = await run("summarise");
    expect((await run("find TODO in src", { history: messages })).calls[0]?.tool).toBe("grep_search");
    expect((await run("list the files", { history: messages })).calls[0]?.tool).toBe("list_dir");
    expect((await run("What is love?", { history: messages })).calls).toEqual([]);
  });

  test("a command, a term, a goal, a content are taken as they are answered", async () => {
    const cases = [
      ["run", "npm run lint", "run_terminal_cmd", { command: "npm run lint" }],
      ["find", "some words", "grep_search", { pattern: "some words", case_insensitive: true }],
      [
        "create hello.txt",
        "delete me: or not",
        "write_file",
        { target_file: "hello.txt", content: "delete me: or not" },
      ],
      ["rename src/x.ts to", "src/z.ts", "rename_file", { source_file: "src/x.ts", destination_file: "src/z.ts" }],
    ] as const;
    for (const [prompt, reply, tool, args] of cases) {
      const asked = await run(prompt);
      expect(asked.calls.at(-1)?.tool).toBe("ask_question");
      const { calls } = await run(reply, { history: asked.messages });
      expect(calls[0]).toEqual({ tool, args });
    }
    const asked = await run("make a plan");
    const { calls } = await run("delete the old server", { history: asked.messages });
    expect(planOf(calls).title).toBe("Plan: delete the old server");
  });

  test("ask me: each option is an instruction", async () => {
    const asked = await run("Frag mich, was zu tun ist");
    const questions = asked.calls.at(-1)?.args["questions"] as
      | { options: { id: string; label: string }[] }[]
      | undefined;
    expect(questions?.[0]?.options.map(({ label }) => label)).toEqual([
      "Fasse README.md zusammen",
      "Fasse package.json zusammen",
      "Erkläre die Projektstruktur",
      "Liste die Dateien auf",
      "Was kannst du?",
    ]);
    expect((await run("option-1", { history: asked.messages })).answer).toContain("## Zweck");
    expect((await run("3", { history: asked.messages })).calls).toHaveLength(3);
  });

  test("a question in a chain of questions", async () => {
    const first = await run("create a file");
    expect(first.calls.at(-1)?.args).toMatchObject({ questions: [{ id: "names" }] });
    const second = await run("hello.txt", { history: first.messages });
    expect(second.calls.at(-1)?.args).toMatchObject({ questions: [{ id: "content" }] });
    const third = await run("Hello", { history: second.messages });
    expect(third.calls).toEqual([{ tool: "write_file", args: { target_file: "hello.txt", content: "Hello" } }]);
  });

  test("without the tool the question is in the answer", async () => {
    const { answer, calls } = await run("summarise", { without: ["ask_question"] });
    expect(calls.map(({ tool }) => tool)).toEqual(["list_dir"]);
    expect(answer).toContain("Which file?");
    expect(answer).toContain("- README.md");
  });

  test("it means the file that was read last", async () => {
    const { messages } = await run("Show docs/guide.md");
    expect((await run("summarise it", { history: messages })).answer).toContain("The guide tells");
  });

  test("a message without words keeps the language of the conversation", async () => {
    const { messages } = await run("Zeige docs/guide.md");
    expect((await run("README.md", { history: messages })).answer).toContain("## Zweck");
  });
});

describe("the stream", () => {
  test("is the same each time", async () => {
    const [first, second] = [await run("explain the project structure"), await run("explain the project structure")];
    expect(second.turns).toEqual(first.turns);
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
    expect(
      events.find((event): event is ModelEvent & { type: "tool_call_start" } => event.type === "tool_call_start")
        ?.documentType,
    ).toBe("file_edit");
  });

  test(verifies("N6", "estimates its usage"), async () => {
    const { turns } = await run("Summarise README.md");
    for (const { end } of turns) {
      expect(end.usage.estimated).toBe(true);
      expect(end.usage.totalTokens).toBe(end.usage.promptTokens + end.usage.completionTokens);
    }
    const bytes = Buffer.byteLength(turns[1]?.text ?? "");
    expect(turns[1]?.end.usage.completionTokens).toBe(Math.ceil(bytes / 4));
    expect(turns[1]?.end.usage.promptTokens).toBeGreaterThan(readme.length / 4);
  });

  test("ends at once on an abort", async () => {
    const request = {
      system: "",
      messages: [{ role: "user" as const, text: "help" }],
      tools: [],
      mode: "agent" as const,
      newCallId: () => "call_1",
    };
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

  test("has no delta of blanks only, which the formats would hold back", async () => {
    for (const prompt of ["help", "ヘルプ", "Summarise README.md", "Show src/server.ts"]) {
      const { turns } = await run(prompt);
      for (const { deltas } of turns) for (const delta of deltas) expect(delta.trim()).not.toBe("");
    }
  });
});
