import { formatNumber, toCode } from "./format-number.ts";
import type { Phrases, PlanStepText, Unit } from "./phrases.ts";

const units: Readonly<Record<Unit, string>> = {
  lines: "行",
  characters: "文字",
  words: "語",
  headings: "個の見出し",
  list_items: "個の箇条書き",
  code_blocks: "個のコードブロック",
  tables: "個の表",
  files: "個のファイル",
  folders: "個のフォルダー",
  rows: "件のデータ行",
  keys: "個のキー",
  entries: "件",
  members: "個の宣言",
  comments: "行のコメント",
  added: "行の追加",
  removed: "行の削除",
  errors: "件のエラー",
  warnings: "件の警告",
};

const number = (count: number): string => formatNumber(count, ",");
const count = (value: number, unit: Unit): string => `${number(value)} ${units[unit]}`;
const list = (entries: readonly string[]): string => entries.join("、");
const codes = (entries: readonly string[]): string => list(entries.map(toCode));

export const japanesePhrases: Phrases = {
  language: "ja",
  introduction: "Sheaf のオフラインモデル（ルールベース、キー不要）がお答えします。",
  count,
  number,
  separator: "、",
  list,
  labels: {
    purpose: "目的",
    points: "要点",
    outline: "構成",
    commands: "コマンド",
    exports: "エクスポート",
    members: "宣言",
    imports: "インポート",
    facts: "データ",
    findings: "気になる箇所",
    contents: "内容",
    scripts: "スクリプト",
    dependencies: "依存パッケージ",
    dev_dependencies: "開発用の依存パッケージ",
    programs: "プログラム",
    engines: "動作環境",
    license: "ライセンス",
    version: "バージョン",
    columns: "列",
    changed_files: "変更されたファイル",
    first_lines: "最初の行",
    errors: "エラーと警告",
    period: "期間",
    folders: "フォルダー",
    files: "ファイル",
    title: "タイトル",
  },
  roles: {
    source: "ソースコード",
    tests: "テスト",
    documentation: "ドキュメント",
    scripts: "スクリプトとツール",
    packages: "ワークスペースのパッケージ",
    examples: "例",
    output: "ビルドの出力",
    configuration: "設定",
    assets: "画像などの素材",
    automation: "自動化（CI）",
    benchmarks: "ベンチマーク",
  },

  announceRead: (files) => ["ルールベースのオフラインモデルが ", `${list(files)} を読み`],
  announceSummaryFile: (target) => `、要約を ${target} に作成します。`,
  announce: (action, object) =>
    ({
      read: `${object} を読みます。`,
      write: `${object} を書き込みます。`,
      edit: `${object} を変更します。`,
      delete: `${object} を削除します。`,
      rename: `${object} の名前を変更します。`,
      list: object === "." ? "フォルダーを確認します。" : `フォルダー ${object} を確認します。`,
      search: `${toCode(object)} を検索します。`,
      run: `${toCode(object)} を実行します。`,
      plan: "これをもとに計画を立てます。",
      todo: "TODO リストを書きます。",
      ask: "一つ足りない情報があります。",
    })[action],

  summaryTitle: (name) => `${name} の要約`,
  summarySource: (source, counts) =>
    `${source}（${counts}）から Sheaf のオフラインモデルが抜き出したものです。文は選んだだけで、作った文はありません。`,
  summaryOf: (source) => `${source} の内容を、本文のことばのまま示します。`,
  reviewOf: (source) => `${source} についてルールで分かることは次のとおりです。意味の良し悪しは判断しません。`,
  pipedText: "渡された文章",
  pipedTitle: "要約",
  cutNote: "長い文章のため、見出しはすべて、要点は段落の一部から選んでいます。",
  partlyRead: (source, read, total) => `${source} は全 ${number(total)} 行のうち ${number(read)} 行だけを読みました。`,
  emptySource: (source) => `${source} は空です。要約するものがありません。`,
  nothingToSummarise: (source) => `${source} には全体を表せる文がありません。分かることは次のとおりです。`,
  more: (value) => `… ほか ${number(value)} 件`,
  noFindings: "ルールで探すもの（残った TODO、消し忘れたデバッグ、とても長い行）はありません。",
  line: (value) => `${number(value)} 行目`,
  invalidJson: (reason) => `正しい JSON ではありません：${reason}`,

  showing: (path, start, end) =>
    `${toCode(path)} の ${start === end ? `${number(start)} 行目` : `${number(start)} 行目から ${number(end)} 行目`}：`,
  shownPart: (shown, total) =>
    `全 ${number(total)} 行のうち ${number(shown)} 行です。続きは「${shown + 1}行目から${Math.min(total, 2 * shown)}行目」と指定してください。`,
  beyondEnd: (path, start) => `${toCode(path)} に ${number(start)} 行目はありません。`,

  hits: (value, files, term) => `${toCode(term)} は ${count(files, "files")}に ${number(value)} 件見つかりました。`,
  noHits: (term, place) =>
    `${toCode(term)} は${place === undefined ? "" : ` ${toCode(place)} には`}見つかりませんでした。別の書き方や、短くした語で試してください。`,
  definitions: (value, name) =>
    `${toCode(name)} の定義は${value === 1 ? "ここです。" : ` ${number(value)} か所にあります。`}`,
  noDefinition: (name) => `ルールでは ${toCode(name)} の定義が見つかりませんでした。出てくる場所は次のとおりです。`,
  foundFiles: (value, pattern) => `${toCode(pattern)} に合うのは ${count(value, "files")}です。`,
  noFiles: (pattern) => `${toCode(pattern)} に合うファイルはありません。`,
  folderContents: (folder, folders, files) =>
    `${folder === "." ? "フォルダー" : toCode(folder)} の直下には ${count(folders, "folders")}と ${count(files, "files")}があります。`,
  emptyFolder: (folder) => `${folder === "." ? "フォルダー" : toCode(folder)} は空です。`,

  commandEnded: (command, exitCode) =>
    `${toCode(command)} は終了コード ${exitCode} で${exitCode === 0 ? "終了しました。" : "失敗しました。"}`,
  commandOutput: "出力：",
  lastLines: (shown, total) => `出力 ${count(total, "lines")}のうち最後の ${number(shown)} 行：`,
  noOutput: "出力はありませんでした。",
  noScript: (script, available) =>
    `package.json に ${toCode(script)} というスクリプトはありません。${available.length > 0 ? `あるのは ${codes(available)} です。` : "スクリプトが一つもありません。"}コマンドをバッククォートで囲んで指定してください：\`…\` を実行して。`,

  written: (path, lines) => `${toCode(path)} を書き込みました（${count(lines, "lines")}）。`,
  edited: (path, places) => `${toCode(path)} を ${number(places)} か所変更しました。`,
  notInFile: (text, path) =>
    `${toCode(text)} は ${toCode(path)} にありません。何も変更していません。大文字と小文字は区別されます。`,
  sameText: "元の文字列と新しい文字列が同じです。何も変更していません。",
  deleted: (paths) => `${codes(paths)} を削除しました。`,
  renamed: (from, to) => `${toCode(from)} の名前を ${toCode(to)} に変更しました。`,

  planTitle: (goal) => `計画：${goal}`,
  planOverview: (goal) =>
    `「${goal}」の最初の計画です。フォルダー内の名前からルールで作りました。コードの中身は見ていません。`,
  planSteps: (facts): PlanStepText[] => [
    {
      id: "look",
      content: `${facts.files.length > 0 ? codes(facts.files) : "関係するファイル"} を読み、今あるものを書き出す`,
      after: [],
    },
    { id: "goal", content: `「${facts.goal}」ができたと分かる条件を、例を一つ付けて書く`, after: ["look"] },
    ...facts.parts.map((part, index) => ({
      id: `part-${index + 1}`,
      content: `${part}${facts.sourceFolder === undefined ? "" : `(${toCode(facts.sourceFolder)})`}`,
      after: ["goal"],
    })),
    {
      id: "tests",
      content: `${facts.testFolder === undefined ? "" : `${toCode(facts.testFolder)} に`}例と失敗する場合のテストを追加する`,
      after: facts.parts.map((_, index) => `part-${index + 1}`),
    },
    {
      id: "check",
      content: facts.testCommand === undefined ? "すべてのテストを実行する" : `${toCode(facts.testCommand)} を実行する`,
      after: ["tests"],
    },
    ...(facts.readme === undefined
      ? []
      : [{ id: "docs", content: `${toCode(facts.readme)} に説明を書く`, after: ["check"] }]),
  ],
  planHeadings: { goal: "目標", look: "最初に見る場所", steps: "手順", open: "未確定" },
  planOpen: "目標の細かい意味：このモデルはファイルの名前しか知りません。本物のモデルはコードを読みます。",
  planReady: (steps) =>
    `計画は ${number(steps)} 段階です。ルールとフォルダーの構成から作ったものなので、たたき台としてお読みください。`,
  todosReady: (value) => `TODO リストに ${count(value, "entries")}あります。`,

  questionTitle: "質問",
  questions: {
    file: "どのファイルですか？",
    command: "どのコマンドですか？",
    term: "何を探しますか？",
    goal: "何を計画しますか？",
    content: "ファイルに何を書きますか？",
    items: "リストに何を入れますか？読点かコンマで区切ってください。",
    task: "何をしますか？",
    names: "ファイルの名前は何にしますか？",
    replacement: "何を何に置き換えますか？例：ファイル名を添えて「古い」を「新しい」に置き換えて。",
  },
  taskOptions: (files) => [
    ...files.map((file) => `${file} を要約して`),
    "プロジェクトの構成を説明して",
    "ファイルの一覧を見せて",
    "何ができますか？",
  ],
  askInText: "次のメッセージでお答えください。候補は次のとおりです。",

  failed: (action, object) =>
    ({
      read: `${toCode(object)} を読めませんでした。`,
      write: `${toCode(object)} を書き込めませんでした。`,
      edit: `${toCode(object)} を変更できませんでした。`,
      delete: `${toCode(object)} を削除できませんでした。`,
      rename: `${toCode(object)} の名前を変更できませんでした。`,
      list: `フォルダー ${toCode(object)} を一覧できませんでした。`,
      search: `${toCode(object)} の検索に失敗しました。`,
      run: `${toCode(object)} は実行されませんでした。`,
      plan: "計画を作れませんでした。",
      todo: "TODO リストを書けませんでした。",
      ask: "質問できませんでした。",
    })[action],
  advice: {
    not_found:
      "名前とつづり（「ファイルの一覧を見せて」で確かめられます）、Sheaf を起動したフォルダーを確かめてください。",
    refused:
      "許可が必要です。`--force` を付けて起動し直すか、`--allow RULE` でこれだけ許可してください（`sheaf permissions explain` を参照）。",
    read_only: "ここには書き込めません。モード（`--mode agent`）と、フォルダーに書き込めるかを確かめてください。",
    binary: "バイナリファイルです。ルールで読めるのはテキストだけです。",
    too_large: "大きすぎます。名前を添えて「1行目から200行目を表示」のように一部を指定してください。",
    outside: "ワークスペースの外にあります。そのフォルダーで Sheaf を起動するか、`--add-dir DIR` で加えてください。",
    timeout: "時間がかかりすぎました。もっと小さく分けるか、ご自分で実行してください。",
    is_folder: "これはフォルダーです。ファイルを指定するか、フォルダーを「説明して」と言ってください。",
    no_match: "元の文字列はそのまま含まれている必要があります。先に「表示して」で確かめてください。",
    stale: "その間にファイルが変わりました。もう一度お願いしてください。",
    exists: "同じ名前のファイルがすでにあります。別の名前にするか、先にそれを削除してください。",
    cancelled: "取り消されました。",
    sandbox: "サンドボックスを起動できませんでした。理由は `sheaf doctor` で分かります。",
    other: "理由は上のメッセージのとおりです。`--verbose` で詳しく分かります。",
  },
  toolMissing: (tool, mode) =>
    `これには ${toCode(tool)} というツールが必要ですが、${mode} モードでは使えません。\`--mode agent\` で起動し直してください。`,
  budgetEnds: (action) =>
    `この実行の予算を使い切りました。残り：${action} 予算（\`--max-turns\`, \`--max-tool-calls\`, \`--max-tokens\`）を増やし、\`--continue\` で続けてください。`,
  summaryInstead: "要約そのものはこちらです。",

  greeting: "こんにちは。Sheaf のオフラインモデルです。ルールの集まりで、キーは要りません。",
  thanks: "どういたしまして。Sheaf のオフラインモデル（ルールの集まり）です。ほかに読むもの、探すものはありますか？",
  notUnderstood: "Sheaf のオフラインモデル（ルールの集まり）です。この指示に合うルールがありません。",
  contextNotUnderstood: "指示と一緒に文章が渡されました。後ろに「これを要約して」と書けば要約できます。",
  abilitiesTitle: "できること：",
  abilities: [
    "読んで要約：`README.md を読んで要約を作成して`、`docs/guide.md を要約して`、`package.json には何が書いてありますか?`。文章をパイプで渡して `これを要約して` でも使えます",
    "表示：`src/main.ts を表示して`、`src/main.ts の10行目から20行目を表示して`",
    "検索：`src で TODO を探して`、`createServer はどこで定義されていますか?`、`*.ts ファイルをすべて探して`",
    "構成の説明：`プロジェクトの構成を説明して`、`src フォルダのファイル一覧を見せて`",
    "実行：`` `npm test` を実行して``、`テストを実行して`",
    "書き込みと変更：`hello.txt を「こんにちは」という内容で作成して`、`hello.txt の「a」を「b」に置き換えて`、`hello.txt の名前を hi.txt に変更して`、`hi.txt を削除して`",
    "計画：`TypeScript への移行を計画して`、`TODOリストを作って: 読む、書く、試す`",
  ],
  realModel:
    "それ以外には本物のモデルを指定してください。`--model anthropic/…` または `--model openai/…`（キーは環境変数か `--api-key`）、手元のモデルなら `--model ollama/… --base-url http://localhost:11434/v1`。詳しくは `sheaf --help`。",
};
