/** Prompts in each language, and the calls that they lead to. */

interface Case {
  readonly name: string;
  readonly calls: readonly string[];
  readonly prompts: Readonly<Record<"en" | "de" | "tr" | "ja" | "zh-TW", readonly string[]>>;
}

export const cases: readonly Case[] = [
  {
    name: "read a file and write a summary",
    calls: ["read_file README.md", "write_file summary.txt …"],
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
    calls: ["read_file docs/guide.md", "write_file out.md …"],
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
    calls: ["read_file a.md", "read_file b.md", "write_file summary.txt …"],
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
    calls: ["read_file README.md"],
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
    calls: ["read_file package.json"],
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
    calls: ["read_file src/a.ts"],
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
    calls: ["read_file src/a.ts"],
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
    calls: ["read_file src/a.ts 10 11"],
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
    calls: ["read_file README.md 1 5"],
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
    calls: ["grep_search TODO src"],
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
    calls: ["grep_search"],
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
    calls: ["grep_search createServer"],
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
    calls: ["glob_search **/*.ts"],
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
    calls: ["list_dir .", "read_file README.md", "read_file package.json"],
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
    calls: ["list_dir src"],
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
    calls: ["run_terminal_cmd npm test"],
    prompts: {
      en: ["run `npm test`", 'please execute "npm test"'],
      de: ["Führe `npm test` aus", "Starte `npm test`"],
      tr: ["`npm test` komutunu çalıştır", "`npm test` komutunu calistirir misin?"],
      ja: ["`npm test` を実行して"],
      "zh-TW": ["執行 `npm test`", "运行 `npm test`"],
    },
  },
  {
    name: "run a script",
    calls: ["read_file package.json", "run_terminal_cmd npm run test"],
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
    calls: ["write_file hello.txt Hello"],
    prompts: {
      en: ['create hello.txt with the content "Hello"', 'write "Hello" to hello.txt', "create hello.txt: Hello"],
      de: ['Erstelle hello.txt mit dem Inhalt "Hello"', "Schreibe „Hello“ in hello.txt"],
      tr: ['"Hello" içeriğiyle hello.txt oluştur', 'hello.txt dosyasına "Hello" yaz'],
      ja: ["hello.txt を「Hello」という内容で作成して", "hello.txtに「Hello」と書いて"],
      "zh-TW": ["建立 hello.txt，內容為「Hello」", "把「Hello」寫入 hello.txt"],
    },
  },
  {
    name: "replace a text",
    calls: ["read_file file.txt", "edit_file file.txt a b true"],
    prompts: {
      en: ['replace "a" with "b" in file.txt', "In file.txt replace `a` by `b`"],
      de: ['Ersetze "a" durch "b" in file.txt', "Ändere in file.txt „a“ in „b“"],
      tr: ['file.txt dosyasında "a" yerine "b" yaz', 'file.txt dosyasında "a" ifadesini "b" ile değiştir'],
      ja: ["file.txt の「a」を「b」に置き換えて", 'file.txtの "a" を "b" に変更してください'],
      "zh-TW": ["把 file.txt 中的「a」替換成「b」"],
    },
  },
  {
    name: "delete a file",
    calls: ["delete_file a.txt"],
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
    calls: ["rename_file a.txt b.txt"],
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
    calls: ["list_dir .", "create_plan"],
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
    calls: ["todo_write aa bb cc"],
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
    calls: ["list_dir .", "ask_question file"],
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
    calls: ["ask_question command"],
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
    calls: ["ask_question term"],
    prompts: { en: ["find", "search"], de: ["suche"], tr: ["ara"], ja: ["検索して"], "zh-TW": ["搜尋"] },
  },
  {
    name: "a plan without a goal",
    calls: ["ask_question goal"],
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
    calls: ["list_dir .", "ask_question task"],
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
    calls: [],
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
    calls: [],
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
    calls: [],
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
