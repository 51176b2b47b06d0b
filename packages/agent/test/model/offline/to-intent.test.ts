import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { readInstruction } from "../../../src/model/offline/instruction.ts";
import type { Language } from "../../../src/model/offline/language.ts";
import { createPromptReader } from "../../../src/model/offline/reading.ts";
import { chinesePhrases } from "../../../src/model/offline/phrases/chinese.ts";
import { englishPhrases } from "../../../src/model/offline/phrases/english.ts";
import { germanPhrases } from "../../../src/model/offline/phrases/german.ts";
import { japanesePhrases } from "../../../src/model/offline/phrases/japanese.ts";
import { turkishPhrases } from "../../../src/model/offline/phrases/turkish.ts";

const reader = createPromptReader();

interface Case {
  readonly name: string;
  readonly intent: Readonly<Record<string, unknown>>;
  readonly prompts: Readonly<Partial<Record<Language, readonly string[]>>>;
}

const cases: readonly Case[] = [
  {
    name: "read a file and write a summary",
    intent: { kind: "summarise", sources: ["README.md"], target: "summary.txt" },
    prompts: {
      en: [
        "Read README.md and create a summary in summary.txt",
        "Read README.md and create a summary",
        'please read "README.md", then write a summary',
        "Create a summary of README.md",
        "Can you go through README.md and make a summary of it?",
      ],
      de: [
        "Lies die README.md und erstelle eine Zusammenfassung",
        "Bitte lies die Datei `README.md` und erstelle daraus eine kurze Zusammenfassung.",
        "Könntest du bitte README.md lesen und eine Zusammenfassung erstellen?",
        "koenntest du README.md lesen und eine zusammenfassung anlegen",
        "Erstelle eine Zusammenfassung der README.md",
      ],
      tr: [
        "README.md dosyasını oku ve bir özet çıkar",
        "README.md'yi oku ve özet çıkar",
        "Lütfen README.md’yi okuyup bir özet oluşturun",
        "README.md dosyasini oku ve bir ozet cikar",
        "`README.md` dosyasını okur musun ve bir özet oluşturur musun?",
      ],
      ja: [
        "README.md を読んで要約を作成して",
        "README.mdを読んで要約を作成してください",
        "ＲＥＡＤＭＥ．ｍｄ　を読み、要約を作ってください。",
        "「README.md」を読んで、まとめを作成していただけますか?",
      ],
      "zh-TW": [
        "讀取 README.md 並建立摘要",
        "讀取README.md並建立摘要",
        "請讀取 README.md，然後建立一份摘要。",
        "请读取 README.md 并创建摘要",
        "幫我閱讀「README.md」並產生摘要",
      ],
    },
  },
  {
    name: "write the summary into a file that is named",
    intent: { kind: "summarise", sources: ["docs/guide.md"], target: "out.md" },
    prompts: {
      en: [
        "Read docs/guide.md and write a summary to out.md",
        "Create a summary of docs/guide.md in `out.md`",
        "Read docs/guide.md and save a summary as out.md",
      ],
      de: [
        "Lies docs/guide.md und schreibe eine Zusammenfassung nach out.md",
        "Erstelle in out.md eine Zusammenfassung von docs/guide.md",
        "Lies docs/guide.md und speichere eine Zusammenfassung in der Datei out.md",
      ],
      tr: [
        "docs/guide.md dosyasını oku ve out.md dosyasına bir özet yaz",
        "docs/guide.md'yi oku, özeti out.md'ye kaydet",
      ],
      ja: ["docs/guide.mdを読んで要約をout.mdに保存して", "docs/guide.md を読み、out.md に要約を書いて"],
      "zh-TW": ["讀取 docs/guide.md 並把摘要寫入 out.md", "閱讀docs/guide.md，然後在 out.md 建立摘要"],
    },
  },
  {
    name: "several sources",
    intent: { kind: "summarise", sources: ["a.md", "b.md"], target: "summary.txt" },
    prompts: {
      en: ["Read a.md and b.md and create a summary"],
      de: ["Lies a.md und b.md und erstelle eine Zusammenfassung"],
      tr: ["a.md ve b.md dosyalarını oku ve bir özet çıkar"],
      ja: ["a.md と b.md を読んで要約を作成して"],
      "zh-TW": ["讀取 a.md 和 b.md 並建立摘要"],
    },
  },
  {
    name: "summarise in the answer",
    intent: { kind: "summarise", sources: ["README.md"] },
    prompts: {
      en: [
        "Summarise README.md",
        "summarize README.md please",
        "Give me a summary of README.md",
        "tl;dr README.md",
        "What is README.md about?",
        "Explain README.md",
      ],
      de: [
        "Fasse README.md zusammen",
        "Fasse bitte die Datei README.md kurz zusammen",
        "Worum geht es in README.md?",
        "Kannst du README.md zusammenfassen?",
        "Was steht in der README.md?",
        "Erklaere mir README.md",
      ],
      tr: [
        "README.md dosyasını özetle",
        "README.md'yi özetler misin?",
        "README.md ne hakkında?",
        "README.md içinde ne var?",
        "README.md dosyasını açıkla",
      ],
      ja: [
        "README.mdを要約して",
        "README.md を要約してください。",
        "README.md には何が書いてありますか?",
        "README.mdを説明して",
      ],
      "zh-TW": [
        "總結 README.md",
        "請幫我總結一下README.md",
        "摘要 README.md",
        "README.md 裡面有什麼？",
        "README.md 在講什麼?",
        "说明 README.md",
      ],
    },
  },
  {
    name: "what is in package.json",
    intent: { kind: "summarise", sources: ["package.json"] },
    prompts: {
      en: ["What is in package.json?", "what's in package.json"],
      de: ["Was steht in package.json?", "Was ist in der package.json?"],
      tr: ["package.json içinde ne var?"],
      ja: ["package.json の内容を教えて"],
      "zh-TW": ["package.json 有什麼內容?"],
    },
  },
  {
    name: "review a file",
    intent: { kind: "summarise", sources: ["src/a.ts"], isReview: true },
    prompts: {
      en: ["Review src/a.ts"],
      de: ["Prüfe src/a.ts"],
      tr: ["src/a.ts dosyasını incele"],
      ja: ["src/a.tsをレビューして"],
      "zh-TW": ["審查 src/a.ts"],
    },
  },
  {
    name: "show a file",
    intent: { kind: "show", paths: ["src/a.ts"] },
    prompts: {
      en: ["Show src/a.ts", "show me `src/a.ts`", "cat src/a.ts", "Read src/a.ts"],
      de: ["Zeige mir src/a.ts", "Gib src/a.ts aus", "Öffne src/a.ts", "Oeffne src/a.ts"],
      tr: ["src/a.ts dosyasını göster", "src/a.ts'i goster"],
      ja: ["src/a.ts を表示して", "src/a.tsを見せて"],
      "zh-TW": ["顯示 src/a.ts", "打開src/a.ts"],
    },
  },
  {
    name: "show lines",
    intent: { kind: "show", paths: ["src/a.ts"], startLine: 10, endLine: 20 },
    prompts: {
      en: ["Show lines 10-20 of src/a.ts", "print src/a.ts:10-20", "show me lines 10 to 20 of src/a.ts"],
      de: ["Zeige Zeilen 10-20 aus src/a.ts", "Zeig mir die Zeilen 10 bis 20 von src/a.ts"],
      tr: ["src/a.ts dosyasının 10-20. satırlarını göster"],
      ja: ["src/a.tsの10行目から20行目を表示してください", "src/a.ts の１０行目から２０行目を見せて"],
      "zh-TW": ["顯示 src/a.ts 第10到20行", "顯示src/a.ts的第 10 行到第 20 行"],
    },
  },
  {
    name: "show the first lines",
    intent: { kind: "show", paths: ["README.md"], startLine: 1, endLine: 5 },
    prompts: {
      en: ["Show the first 5 lines of README.md"],
      de: ["Zeige die ersten 5 Zeilen von README.md"],
      tr: ["README.md'nin ilk 5 satırını göster"],
      ja: ["README.mdの最初の5行を表示して"],
      "zh-TW": ["顯示 README.md 的前5行"],
    },
  },
  {
    name: "find text in a folder",
    intent: { kind: "find_text", term: "TODO", folder: "src" },
    prompts: {
      en: ["find TODO in src", "search src for TODO", "grep TODO in the src folder"],
      de: ["Suche TODO in src", "Durchsuche src nach TODO", 'Finde "TODO" im Ordner src'],
      tr: ["src klasöründe TODO ara", 'src içinde "TODO" bul'],
      ja: ["srcでTODOを探して", "src フォルダで「TODO」を検索して"],
      "zh-TW": ["在 src 中搜尋 TODO", "找出 src 資料夾裡的 TODO", "在src目录搜索「TODO」"],
    },
  },
  {
    name: "find words",
    intent: { kind: "find_text", folder: "docs" },
    prompts: {
      en: ["find error handling in docs"],
      de: ["Suche Fehlerbehandlung in docs"],
      tr: ["docs klasöründe hata yönetimi ara"],
      ja: ["docs フォルダで認証を検索してください"],
      "zh-TW": ["在 docs 中搜尋認證"],
    },
  },
  {
    name: "find a definition",
    intent: { kind: "find_text", term: "createServer", isDefinition: true },
    prompts: {
      en: ["where is createServer defined?", "Where is the function `createServer` defined?"],
      de: ["Wo ist createServer definiert?", "Wo wird die Funktion createServer definiert?"],
      tr: ["createServer nerede tanımlı?", "createServer fonksiyonu nerede tanımlanmış?"],
      ja: ["createServer はどこで定義されていますか?", "createServerの定義はどこ?"],
      "zh-TW": ["createServer 在哪裡定義?", "函式createServer定義在哪裡？"],
    },
  },
  {
    name: "find files",
    intent: { kind: "find_files", pattern: "**/*.ts" },
    prompts: {
      en: ["find all *.ts files", "list all .ts files"],
      de: ["Finde alle *.ts Dateien", "Liste alle .ts-Dateien auf"],
      tr: ["tüm *.ts dosyalarını bul", "*.ts dosyalarını listele"],
      ja: ["*.ts ファイルをすべて探して", "すべての.tsファイルを見つけて"],
      "zh-TW": ["找出所有 *.ts 檔案", "列出所有.ts檔案"],
    },
  },
  {
    name: "explain the layout",
    intent: { kind: "explain_layout", folder: "." },
    prompts: {
      en: [
        "explain the project structure",
        "what is this project?",
        "Describe the architecture of this repo",
        "summarise this project",
      ],
      de: [
        "Erkläre die Projektstruktur",
        "Was ist das für ein Projekt?",
        "Wie ist das Projekt aufgebaut?",
        "Erklaere mir den Aufbau",
      ],
      tr: ["proje yapısını açıkla", "Bu proje nedir?", "projenin yapisini anlat"],
      ja: ["プロジェクトの構成を説明して", "このプロジェクトは何ですか?"],
      "zh-TW": ["說明專案結構", "這個專案是什麼?", "解释项目结构"],
    },
  },
  {
    name: "list a folder",
    intent: { kind: "list_folder", folder: "src" },
    prompts: {
      en: ["list the files in src", "What files are in src/?"],
      de: ["Liste die Dateien in src auf"],
      tr: ["src klasöründeki dosyaları listele"],
      ja: ["src フォルダのファイル一覧を見せて"],
      "zh-TW": ["列出 src 資料夾的檔案"],
    },
  },
  {
    name: "run a command",
    intent: { kind: "run", command: "npm test" },
    prompts: {
      en: ["run `npm test`", "run npm test", 'please execute "npm test"', "run npm test and tell me the result"],
      de: ["Führe `npm test` aus", "führe npm test aus", "Fuehre bitte npm test aus", "Starte `npm test`"],
      tr: ["`npm test` komutunu çalıştır", "npm test çalıştır", "npm test komutunu calistirir misin?"],
      ja: ["`npm test` を実行して", "npm testを実行してください"],
      "zh-TW": ["執行 `npm test`", "請執行 npm test", "运行 `npm test`"],
    },
  },
  {
    name: "run the tests",
    intent: { kind: "run_script", script: "test" },
    prompts: {
      en: ["run the tests"],
      de: ["Führe die Tests aus"],
      tr: ["testleri çalıştır"],
      ja: ["テストを実行して"],
      "zh-TW": ["執行測試"],
    },
  },
  {
    name: "write a file",
    intent: { kind: "write", path: "hello.txt", content: "Hello" },
    prompts: {
      en: [
        'create hello.txt with the content "Hello"',
        'write "Hello" to hello.txt',
        "Create a file hello.txt with the content Hello",
        "create hello.txt: Hello",
      ],
      de: [
        'Erstelle hello.txt mit dem Inhalt "Hello"',
        "Schreibe „Hello“ in hello.txt",
        "Erstelle eine Datei hello.txt mit dem Inhalt Hello",
      ],
      tr: ['"Hello" içeriğiyle hello.txt oluştur', 'hello.txt dosyasına "Hello" yaz'],
      ja: ["hello.txt を「Hello」という内容で作成して", "hello.txtに「Hello」と書いて"],
      "zh-TW": ["建立 hello.txt，內容為「Hello」", "把「Hello」寫入 hello.txt"],
    },
  },
  {
    name: "write an empty file",
    intent: { kind: "write", path: "a.txt", content: "" },
    prompts: {
      en: ["create an empty file a.txt"],
      de: ["Lege die leere Datei a.txt an"],
      tr: ["boş a.txt dosyası oluştur"],
      ja: ["空のファイルa.txtを作成して"],
      "zh-TW": ["建立空白檔案 a.txt"],
    },
  },
  {
    name: "replace a text",
    intent: { kind: "edit", path: "file.txt", from: "a", to: "b" },
    prompts: {
      en: ['replace "a" with "b" in file.txt', "In file.txt replace `a` by `b`"],
      de: ['Ersetze "a" durch "b" in file.txt', "Ändere in file.txt „a“ in „b“"],
      tr: ['file.txt dosyasında "a" yerine "b" yaz', 'file.txt dosyasında "a" ifadesini "b" ile değiştir'],
      ja: ["file.txt の「a」を「b」に置き換えて", 'file.txtの "a" を "b" に変更してください'],
      "zh-TW": ["把 file.txt 中的「a」替換成「b」", "在 file.txt 用「b」取代「a」"],
    },
  },
  {
    name: "delete a file",
    intent: { kind: "delete", paths: ["a.txt"] },
    prompts: {
      en: ["delete a.txt", "please remove the file `a.txt`"],
      de: ["Lösche a.txt", "Loesche die Datei a.txt"],
      tr: ["a.txt dosyasını sil"],
      ja: ["a.txtを削除して"],
      "zh-TW": ["刪除 a.txt"],
    },
  },
  {
    name: "rename a file",
    intent: { kind: "rename", from: "a.txt", to: "b.txt" },
    prompts: {
      en: ["rename a.txt to b.txt", "move a.txt to b.txt"],
      de: ["Benenne a.txt in b.txt um", "Verschiebe a.txt nach b.txt"],
      tr: ["a.txt dosyasını b.txt olarak yeniden adlandır", "a.txt dosyasının adını b.txt olarak değiştir"],
      ja: ["a.txt の名前を b.txt に変更して", "a.txtをb.txtにリネームして"],
      "zh-TW": ["把 a.txt 重新命名為 b.txt", "將a.txt改名為b.txt"],
    },
  },
  {
    name: "plan",
    intent: { kind: "plan" },
    prompts: {
      en: ["plan the move to TypeScript", "Make a plan for adding dark mode", "create a plan to refactor src/app.ts"],
      de: ["Plane den Umstieg auf TypeScript", "Erstelle einen Plan für eine Anmeldung mit JWT"],
      tr: ["TypeScript'e geçiş için plan yap", "Karanlık mod eklemeyi planla"],
      ja: ["TypeScript への移行を計画して", "ログイン機能の追加の計画を立てて"],
      "zh-TW": ["規劃遷移到 TypeScript", "為登入功能制定計畫"],
    },
  },
  {
    name: "todo list",
    intent: { kind: "todo_list", items: ["aa", "bb", "cc"] },
    prompts: {
      en: [
        "make a todo list: aa, bb, cc",
        "Make a todo list:\n- aa\n- bb\n- cc",
        "Create a to-do list with aa, bb and cc",
      ],
      de: ["Mache eine Aufgabenliste: aa, bb, cc", "Erstelle eine To-do-Liste: aa, bb und cc"],
      tr: ["yapılacaklar listesi yap: aa, bb, cc"],
      ja: ["TODOリストを作って: aa、bb、cc", "ＴＯＤＯリストを作成：aa、bb、cc"],
      "zh-TW": ["建立待辦清單：aa、bb、cc"],
    },
  },
  {
    name: "a summary without a file",
    intent: { kind: "missing", what: "file" },
    prompts: {
      en: ["summarise", "summarise a file"],
      de: ["Fasse zusammen", "Fasse eine Datei zusammen"],
      tr: ["özetle", "bir dosyayı özetle"],
      ja: ["要約して", "ファイルを要約して"],
      "zh-TW": ["總結", "總結一個檔案"],
    },
  },
  {
    name: "a command without words",
    intent: { kind: "missing", what: "command" },
    prompts: {
      en: ["run", "run a command"],
      de: ["Führe einen Befehl aus"],
      tr: ["bir komut çalıştır"],
      ja: ["コマンドを実行して"],
      "zh-TW": ["執行命令"],
    },
  },
  {
    name: "a search without a term",
    intent: { kind: "missing", what: "term" },
    prompts: { en: ["find", "search"], de: ["suche"], tr: ["ara"], ja: ["検索して"], "zh-TW": ["搜尋"] },
  },
  {
    name: "a plan without a goal",
    intent: { kind: "missing", what: "goal" },
    prompts: {
      en: ["plan", "make a plan, please"],
      de: ["Mach einen Plan"],
      tr: ["plan yap"],
      ja: ["計画を立てて"],
      "zh-TW": ["制定計畫"],
    },
  },
  {
    name: "ask back",
    intent: { kind: "missing", what: "task" },
    prompts: {
      en: ["ask me what to do"],
      de: ["Frag mich, was zu tun ist"],
      tr: ["Bana ne yapılacağını sor"],
      ja: ["何をすればいいか私に聞いて"],
      "zh-TW": ["問我要做什麼"],
    },
  },
  {
    name: "help",
    intent: { kind: "help" },
    prompts: {
      en: ["help", "What can you do?"],
      de: ["Hilfe", "Was kannst du?"],
      tr: ["yardım", "Neler yapabilirsin?"],
      ja: ["ヘルプ", "何ができますか?"],
      "zh-TW": ["你能做什麼？", "求助"],
    },
  },
  {
    name: "greetings",
    intent: { kind: "greeting" },
    prompts: {
      en: ["hello", "Hi!"],
      de: ["Hallo!", "Guten Morgen"],
      tr: ["merhaba", "Selam!"],
      ja: ["こんにちは"],
      "zh-TW": ["你好"],
    },
  },
  {
    name: "nothing it understands",
    intent: { kind: "unknown" },
    prompts: {
      en: [
        "What is the capital of France?",
        "Implement JWT authentication",
        "Write me a poem about the sea",
        "Fix the bug in src/a.ts",
        "Create a REST API in server.ts",
        "Translate README.md to German",
      ],
      de: ["Wie spät ist es?", "Schreibe mir ein Gedicht", "Baue eine Anmeldung ein"],
      tr: ["Bana bir şiir yaz", "Bugün hava nasıl?"],
      ja: ["東京の天気は?", "詩を書いて"],
      "zh-TW": ["寫一首詩", "今天天氣如何?"],
    },
  },
];

for (const { name, intent, prompts } of cases) {
  describe(name, () => {
    for (const [language, texts] of Object.entries(prompts)) {
      test.each(texts)(`${language}: %s`, (text) => {
        const instruction = readInstruction(reader, text, "en");
        expect(instruction.intent).toMatchObject(intent);
        expect(instruction.reading.language).toBe(language);
        if (intent["kind"] === "summarise" && !("target" in intent))
          expect(instruction.intent).not.toHaveProperty("target");
        if (intent["kind"] === "show" && !("startLine" in intent))
          expect(instruction.intent).not.toHaveProperty("startLine");
      });
    }
  });
}

describe("details", () => {
  const intentOf = (text: string): unknown => readInstruction(reader, text, "en").intent;

  test("a summary never overwrites its source", () => {
    expect(intentOf("Read summary.txt and create a summary")).toMatchObject({
      sources: ["summary.txt"],
      target: "summary-summary.txt",
    });
    expect(intentOf("Read notes.md and write a summary to ./NOTES.md")).toMatchObject({
      sources: ["notes.md"],
      target: "NOTES-summary.md",
    });
  });

  test("a pattern brings its files in", () => {
    expect(intentOf("Read all *.md files in docs and create a summary in all.txt")).toMatchObject({
      glob: "docs/**/*.md",
      target: "all.txt",
    });
  });

  test("the readme without its ending is a guess", () => {
    expect(intentOf("Summarise the readme")).toMatchObject({ sources: ["README.md"], isGuessed: true });
    expect(intentOf("Fasse die README-Datei zusammen")).toMatchObject({ sources: ["README.md"], isGuessed: true });
  });

  test.each([
    ["plan the move to TypeScript", "the move to TypeScript"],
    ["Plan: add a login page, write tests and update the docs.", "add a login page, write tests and update the docs"],
    ["create a plan to refactor `src/app.ts`", "refactor `src/app.ts`"],
    ["Erstelle einen Plan für eine Anmeldung mit JWT", "eine Anmeldung mit JWT"],
    ["TypeScript'e geçiş için plan yap", "TypeScript'e geçiş"],
    ["ログイン機能の追加の計画を立てて", "ログイン機能の追加"],
    ["為登入功能制定計畫", "登入功能"],
  ])("the goal of: %s", (text, goal) => {
    expect(intentOf(text)).toMatchObject({ kind: "plan", goal });
  });

  test.each([
    ['run git commit -m "a and b"', 'git commit -m "a and b"'],
    ["can you run `cat README.md | wc -l` for me?", "cat README.md | wc -l"],
    ["run ls -la please", "ls -la"],
    ["run ./build.sh", "./build.sh"],
    ["run node src/a.ts --flag=x", "node src/a.ts --flag=x"],
    ["führe npm run build aus und sag mir das Ergebnis", "npm run build"],
    ["git status komutunu çalıştırır mısın?", "git status"],
  ])("the command of: %s", (text, command) => {
    expect(intentOf(text)).toEqual({ kind: "run", command });
  });

  test.each([
    ["find 設計.md", { kind: "find_files", pattern: "**/設計.md" }],
    ["讀取設計.md並建立摘要", { kind: "summarise", sources: ["設計.md"] }],
    ["設計.mdを要約して", { kind: "summarise", sources: ["設計.md"] }],
    ["Fasse Übersicht.md zusammen", { kind: "summarise", sources: ["Übersicht.md"] }],
    ["özet.md dosyasını göster", { kind: "show", paths: ["özet.md"] }],
    ['show "my notes.txt"', { kind: "show", paths: ["my notes.txt"] }],
    ["show .env", { kind: "show", paths: [".env"] }],
    ["show ./src/a.ts.", { kind: "show", paths: ["src/a.ts"] }],
    ["show Makefile", { kind: "show", paths: ["Makefile"] }],
    ["find usages of app.use in src/", { kind: "find_text", term: "app.use", folder: "src" }],
    ["find TODO in *.ts files", { kind: "find_text", term: "TODO", glob: "*.ts" }],
    ["find files in *.{ts,tsx}", { kind: "find_files", pattern: "**/*.{ts,tsx}" }],
    ["show the last 10 lines of log.txt", { kind: "show", paths: ["log.txt"], lastLines: 10 }],
    ["move a.txt to docs/", { kind: "rename", from: "a.txt", to: "docs/a.txt" }],
    ['remove "foo" from a.txt', { kind: "edit", path: "a.txt", from: "foo", to: "" }],
    ['replace "a.txt" with "b.txt" in list.md', { kind: "edit", path: "list.md", from: "a.txt", to: "b.txt" }],
    ["replace foo with bar in a.txt", { kind: "edit", path: "a.txt", from: "foo", to: "bar" }],
    ['create a.json with the content "{\\"a\\": 1}"', { kind: "write", path: "a.json", content: '{"a": 1}' }],
    ["delete a.txt and b.txt", { kind: "delete", paths: ["a.txt", "b.txt"] }],
    ["README.md", { kind: "summarise", sources: ["README.md"] }],
    ["Summarise README.md in out.txt", { kind: "summarise", sources: ["README.md"], target: "out.txt" }],
    ["Fasse README.md in kurz.txt zusammen", { kind: "summarise", sources: ["README.md"], target: "kurz.txt" }],
    ["README.mdをsummary.mdに要約して", { kind: "summarise", sources: ["README.md"], target: "summary.md" }],
    ["Where is TODO used?", { kind: "find_text", term: "TODO" }],
    ["Search for the word hello", { kind: "find_text", term: "hello" }],
    ["How many lines does README.md have?", { kind: "summarise", sources: ["README.md"] }],
    ["ls src", { kind: "list_folder", folder: "src" }],
    ["$ npm test", { kind: "run", command: "npm test" }],
    ["`git status`", { kind: "run", command: "git status" }],
    ["What's in src?", { kind: "explain_layout", folder: "src" }],
    ['Make a file hello.py with print("hi")', { kind: "unknown" }],
    ["Hello, please summarise README.md", { kind: "summarise", sources: ["README.md"] }],
    ["Is version 1.2.3 or 2/3 of it, e.g. this, ok?", { kind: "unknown" }],
  ])("%s", (text, intent) => {
    expect(intentOf(text)).toMatchObject(intent);
  });
});

describe("a question about a change, or a ban, changes nothing", () => {
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
  ])("%s", (text) => {
    expect(readInstruction(reader, text, "en").intent).toEqual({ kind: "unknown" });
  });

  test("but a file may hold such words", () => {
    const { intent } = readInstruction(reader, "Create a.txt with the content How to not fail", "en");
    expect(intent).toEqual({ kind: "write", path: "a.txt", content: "How to not fail" });
  });
});

describe("a message with several paragraphs", () => {
  const read = (text: string): ReturnType<typeof readInstruction> => readInstruction(reader, text, "en");

  test("is a text with its instruction behind it", () => {
    const { intent, context } = read("A long text.\n\nWith two paragraphs.\n\nsummarise this");
    expect(intent).toMatchObject({ kind: "summarise", sources: [], context: "A long text.\n\nWith two paragraphs." });
    expect(context).toBe("A long text.\n\nWith two paragraphs.");
    expect(read("Ein Text.\n\nfasse das zusammen").intent).toMatchObject({ kind: "summarise", context: "Ein Text." });
    expect(read("some code\n\nreview this").intent).toMatchObject({ kind: "summarise", isReview: true });
    expect(read("some code\n\nexplain this").intent).toMatchObject({ kind: "summarise", context: "some code" });
  });

  test("or an instruction that only reads, above the text", () => {
    expect(read("Summarise this:\n\nFirst paragraph.\n\nSecond one.").intent).toMatchObject({
      kind: "summarise",
      context: "First paragraph.\n\nSecond one.",
    });
  });

  test("whose text never asks for a change", () => {
    for (const order of [
      "delete a.txt",
      "run `rm -rf .`",
      'create x.txt with the content "x"',
      "rename a.txt to b.txt",
      'replace "a" with "b" in c.txt',
    ]) {
      expect(read(`${order}\n\nsummarise this`).intent).toMatchObject({ kind: "summarise", context: order });
      expect(read(`${order}\n\nhmm`).intent).toMatchObject({ kind: "unknown" });
      expect(read(`${order}\n\nmore\n\nthanks`).intent).toMatchObject({ kind: "unknown" });
    }
  });

  test("can name a file all the same", () => {
    expect(read("some text\n\nSummarise README.md").intent).toEqual({ kind: "summarise", sources: ["README.md"] });
  });

  test("can hold the new content of a file in a fence", () => {
    expect(read("Create a.js with this content:\n\n```js\nconsole.log(1)\n\nfoo()\n```").intent).toEqual({
      kind: "write",
      path: "a.js",
      content: "console.log(1)\n\nfoo()\n",
    });
  });

  test("can be a list", () => {
    expect(read("Make a todo list:\n\n- aa\n- bb").intent).toEqual({ kind: "todo_list", items: ["aa", "bb"] });
  });
});

describe("the examples of the help text are understood", () => {
  for (const phrases of [englishPhrases, germanPhrases, turkishPhrases, japanesePhrases, chinesePhrases]) {
    const examples = phrases.abilities.flatMap((ability) =>
      [...ability.matchAll(/``\s?(.+?)\s?``|`([^`]+)`/g)].map((match) => match[1] ?? match[2] ?? ""),
    );
    test.each(examples)(`${phrases.language}: %s`, (example) => {
      const { intent, reading } = readInstruction(reader, example, phrases.language);
      expect(intent.kind).not.toBe("unknown");
      expect(reading.language).toBe(phrases.language);
    });
    test.each(phrases.taskOptions(["README.md"]))(`${phrases.language}, as an option: %s`, (option) => {
      const { intent } = readInstruction(reader, option, phrases.language);
      expect(["summarise", "explain_layout", "list_folder", "help"]).toContain(intent.kind);
    });
  }
});

test(verifies("S-72", "any text is read, whatever it holds"), () => {
  const word = fc.constantFrom(
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
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "grapheme", maxLength: 300 }),
        fc.array(word, { maxLength: 40 }).map((words) => words.join(" ")),
      ),
      (text) => {
        const { intent } = readInstruction(reader, text, "en");
        expect(typeof intent.kind).toBe("string");
        if (intent.kind === "missing") expect(typeof intent.fill("x").kind).toBe("string");
      },
    ),
    { numRuns: 500 },
  );
});
