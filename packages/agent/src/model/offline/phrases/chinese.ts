import { formatNumber, toCode } from "./format-number.ts";
import type { Phrases, PlanStepText, Unit } from "./phrases.ts";

const units: Readonly<Record<Unit, string>> = {
  lines: "行",
  characters: "個字元",
  words: "個詞",
  headings: "個標題",
  list_items: "個清單項目",
  code_blocks: "個程式碼區塊",
  tables: "個表格",
  files: "個檔案",
  folders: "個資料夾",
  rows: "列資料",
  keys: "個鍵",
  entries: "個項目",
  members: "個宣告",
  comments: "行註解",
  added: "行新增",
  removed: "行刪除",
  errors: "個錯誤",
  warnings: "個警告",
};

const number = (count: number): string => formatNumber(count, ",");
const count = (value: number, unit: Unit): string => `${number(value)} ${units[unit]}`;
const list = (entries: readonly string[]): string =>
  entries.length < 2 ? (entries[0] ?? "") : `${entries.slice(0, -1).join("、")} 和 ${entries.at(-1)}`;
const codes = (entries: readonly string[]): string => list(entries.map(toCode));

export const chinesePhrases: Phrases = {
  language: "zh-TW",
  introduction: "由 Sheaf 的離線模型（規則式，不需金鑰）回答。",
  count,
  number,
  separator: "、",
  list,
  labels: {
    purpose: "用途",
    points: "重點",
    outline: "大綱",
    commands: "指令",
    exports: "匯出",
    members: "宣告",
    imports: "匯入",
    facts: "資料",
    findings: "值得注意",
    contents: "內容",
    scripts: "腳本",
    dependencies: "相依套件",
    dev_dependencies: "開發用相依套件",
    programs: "程式",
    engines: "需要",
    license: "授權",
    version: "版本",
    columns: "欄位",
    changed_files: "變更的檔案",
    first_lines: "開頭幾行",
    errors: "錯誤與警告",
    period: "期間",
    folders: "資料夾",
    files: "檔案",
    title: "標題",
  },
  roles: {
    source: "原始碼",
    tests: "測試",
    documentation: "文件",
    scripts: "腳本與工具",
    packages: "工作區的套件",
    examples: "範例",
    output: "建置輸出",
    configuration: "設定",
    assets: "圖片等素材",
    automation: "自動化（CI）",
    benchmarks: "效能測試",
  },

  announceRead: (files) => ["我是規則式的離線模型，我來", `讀取 ${list(files)} 檔案`],
  announceSummaryFile: (target) => `，然後在 ${target} 建立摘要。`,
  announce: (action, object) =>
    ({
      read: `我來讀取 ${object}。`,
      write: `我來寫入 ${object}。`,
      edit: `我來修改 ${object}。`,
      delete: `我來刪除 ${object}。`,
      rename: `我來重新命名 ${object}。`,
      list: object === "." ? "我來看看資料夾。" : `我來看看資料夾 ${object}。`,
      search: `我來搜尋 ${toCode(object)}。`,
      run: `我來執行 ${toCode(object)}。`,
      plan: "我依此擬定計畫。",
      todo: "我來寫待辦清單。",
      ask: "還缺一項資訊：",
    })[action],

  summaryTitle: (name) => `${name} 摘要`,
  summarySource: (source, counts) => `由 Sheaf 的離線模型取自 ${source}（${counts}）：句子都是挑選的，沒有杜撰。`,
  summaryOf: (source) => `以下是 ${source} 的內容，用的是原文的字句：`,
  reviewOf: (source) => `規則對 ${source} 只能說這些；它們不評斷其意義：`,
  pipedText: "隨提示傳來的文字",
  pipedTitle: "摘要",
  cutNote: "文字很長：標題是完整的，重點取自部分段落。",
  partlyRead: (source, read, total) => `${source} 共 ${number(total)} 行，只讀了 ${number(read)} 行。`,
  emptySource: (source) => `${source} 是空的，沒有可以摘要的內容。`,
  nothingToSummarise: (source) => `${source} 沒有能代表全文的句子；以下是它的資料。`,
  more: (value) => `… 還有 ${number(value)} 個`,
  noFindings: "沒有規則要找的東西（未完成的 TODO、忘了移除的除錯、過長的行）。",
  line: (value) => `第 ${number(value)} 行`,
  invalidJson: (reason) => `不是有效的 JSON：${reason}`,

  showing: (path, start, end) =>
    `${toCode(path)},${start === end ? `第 ${number(start)} 行` : `第 ${number(start)} 到 ${number(end)} 行`}:`,
  shownPart: (shown, total) =>
    `這是 ${number(total)} 行中的 ${number(shown)} 行。其餘請用：第${shown + 1}到${Math.min(total, 2 * shown)}行。`,
  beyondEnd: (path, start) => `${toCode(path)} 沒有第 ${number(start)} 行。`,

  hits: (value, files, term) => `${toCode(term)} 在 ${count(files, "files")}中有 ${number(value)} 處：`,
  noHits: (term, place) =>
    `${place === undefined ? "" : `在 ${toCode(place)} 中`}找不到 ${toCode(term)}。換一種寫法或用較短的字試試。`,
  definitions: (value, name) => `${toCode(name)} ${value === 1 ? "定義在這裡：" : `有 ${number(value)} 處定義：`}`,
  noDefinition: (name) => `規則沒有找到 ${toCode(name)} 的定義；它出現在這些地方：`,
  foundFiles: (value, pattern) => `符合 ${toCode(pattern)} 的有 ${count(value, "files")}：`,
  noFiles: (pattern) => `沒有符合 ${toCode(pattern)} 的檔案。`,
  folderContents: (folder, folders, files) =>
    `${folder === "." ? "資料夾" : toCode(folder)} 最上層有 ${count(folders, "folders")}和 ${count(files, "files")}：`,
  emptyFolder: (folder) => `${folder === "." ? "資料夾" : toCode(folder)} 是空的。`,

  commandEnded: (command, exitCode) =>
    `${toCode(command)} 以結束代碼 ${exitCode} ${exitCode === 0 ? "結束。" : "失敗。"}`,
  commandOutput: "輸出：",
  lastLines: (shown, total) => `輸出共 ${count(total, "lines")}，最後 ${number(shown)} 行：`,
  noOutput: "沒有任何輸出。",
  noScript: (script, available) =>
    `package.json 沒有名為 ${toCode(script)} 的腳本。${available.length > 0 ? `有的是：${codes(available)}。` : "沒有任何腳本。"}請用反引號寫出指令：執行 \`…\`。`,

  written: (path, lines) => `已寫入 ${toCode(path)}（${count(lines, "lines")}）。`,
  edited: (path, places) => `${toCode(path)} 已修改 ${number(places)} 處。`,
  notInFile: (text, path) => `${toCode(path)} 中沒有 ${toCode(text)}：沒有任何變更。大小寫有別。`,
  sameText: "新舊文字相同：沒有任何變更。",
  deleted: (paths) => `已刪除 ${codes(paths)}。`,
  renamed: (from, to) => `${toCode(from)} 已改名為 ${toCode(to)}。`,

  planTitle: (goal) => `計畫：${goal}`,
  planOverview: (goal) => `「${goal}」的初步計畫，由規則依資料夾中的名稱擬定；它知道結構，不知道程式碼。`,
  planSteps: (facts): PlanStepText[] => [
    {
      id: "look",
      content: `閱讀 ${facts.files.length > 0 ? codes(facts.files) : "相關的檔案"}，記下已有的內容`,
      after: [],
    },
    { id: "goal", content: `寫下如何判斷「${facts.goal}」已完成，並舉一個例子`, after: ["look"] },
    ...facts.parts.map((part, index) => ({
      id: `part-${index + 1}`,
      content: `${part}${facts.sourceFolder === undefined ? "" : `（在 ${toCode(facts.sourceFolder)}）`}`,
      after: ["goal"],
    })),
    {
      id: "tests",
      content: `${facts.testFolder === undefined ? "" : `在 ${toCode(facts.testFolder)} `}為該例子和一種失敗情況加上測試`,
      after: facts.parts.map((_, index) => `part-${index + 1}`),
    },
    {
      id: "check",
      content: facts.testCommand === undefined ? "執行所有測試" : `執行 ${toCode(facts.testCommand)}`,
      after: ["tests"],
    },
    ...(facts.readme === undefined
      ? []
      : [{ id: "docs", content: `在 ${toCode(facts.readme)} 說明`, after: ["check"] }]),
  ],
  planHeadings: { goal: "目標", look: "先看哪裡", steps: "步驟", open: "未定" },
  planOpen: "目標的細節：這個模型只知道檔案的名稱。真正的模型會閱讀程式碼。",
  planReady: (steps) => `計畫有 ${number(steps)} 個步驟。它來自規則和資料夾的結構，請當作起點。`,
  todosReady: (value) => `待辦清單有 ${count(value, "entries")}。`,

  questionTitle: "一個問題",
  questions: {
    file: "哪個檔案？",
    command: "哪個指令？",
    term: "要搜尋什麼？",
    goal: "要規劃什麼？",
    content: "檔案裡要寫什麼？",
    items: "清單上要有什麼？請用頓號或逗號分開。",
    task: "要做什麼？",
    names: "檔案要叫什麼名字？",
    replacement: "要把什麼換成什麼？例如：把檔案中的「舊」替換成「新」。",
  },
  taskOptions: (files) => [...files.map((file) => `總結 ${file}`), "說明專案結構", "列出檔案", "你能做什麼？"],
  askInText: "請用下一則訊息回答。可以選：",

  failed: (action, object) =>
    ({
      read: `無法讀取 ${toCode(object)}。`,
      write: `無法寫入 ${toCode(object)}。`,
      edit: `無法修改 ${toCode(object)}。`,
      delete: `無法刪除 ${toCode(object)}。`,
      rename: `無法重新命名 ${toCode(object)}。`,
      list: `無法列出資料夾 ${toCode(object)}。`,
      search: `搜尋 ${toCode(object)} 失敗。`,
      run: `沒有執行 ${toCode(object)}。`,
      plan: "無法擬定計畫。",
      todo: "無法寫入待辦清單。",
      ask: "無法提問。",
    })[action],
  advice: {
    not_found: "請檢查名稱和拼法（「列出檔案」會顯示有哪些），以及 Sheaf 啟動時所在的資料夾。",
    refused:
      "這需要許可：請加上 `--force` 重新啟動，或用 `--allow RULE` 只允許這一項（見 `sheaf permissions explain`）。",
    read_only: "這裡不能寫入：請檢查模式（`--mode agent`）以及資料夾是否可寫。",
    binary: "這是二進位檔案：規則只讀文字。",
    too_large: "檔案太大：請只要求幾行，例如加上檔名「顯示第1到200行」。",
    outside: "它在工作區之外：請在那個資料夾啟動 Sheaf，或用 `--add-dir DIR` 加入。",
    timeout: "時間太久：請試較小的步驟，或自行執行。",
    is_folder: "這是資料夾：請指定檔案，或對資料夾說「說明」。",
    no_match: "舊文字必須完全相符：請先用「顯示」查看。",
    stale: "檔案在這期間有變更：請再要求一次。",
    exists: "已有同名的檔案：請換個名稱，或先刪除它。",
    cancelled: "已取消。",
    sandbox: "沙箱無法啟動：`sheaf doctor` 會說明原因。",
    other: "原因見上方訊息；`--verbose` 有更多說明。",
  },
  toolMissing: (tool, mode) => `這需要工具 ${toCode(tool)}，而 ${mode} 模式不提供。請用 \`--mode agent\` 重新啟動。`,
  budgetEnds: (action) =>
    `這次執行的預算已用完。尚未完成：${action} 請提高預算（\`--max-turns\`, \`--max-tool-calls\`, \`--max-tokens\`），並用 \`--continue\` 繼續。`,
  summaryInstead: "摘要本身在這裡：",

  greeting: "你好。我是 Sheaf 的離線模型：一組規則，不需金鑰。",
  thanks: "不客氣。我只是 Sheaf 的離線模型，一組規則；還要讀什麼或找什麼嗎？",
  notUnderstood: "我是 Sheaf 的離線模型，只有一組規則，沒有一條符合這個提示。",
  contextNotUnderstood: "隨提示傳來了一段文字，我可以摘要：請在後面寫「總結這個」。",
  abilitiesTitle: "我能做的事：",
  abilities: [
    "讀取並摘要：`讀取 README.md 並建立摘要`、`總結 docs/guide.md`、`package.json 裡面有什麼？`；或用管線傳入文字並說 `總結這個`",
    "顯示：`顯示 src/main.ts`、`顯示 src/main.ts 第10到20行`",
    "尋找：`在 src 中搜尋 TODO`、`createServer 在哪裡定義？`、`找出所有 *.ts 檔案`",
    "說明結構：`說明專案結構`、`列出 src 資料夾的檔案`",
    "執行：``執行 `npm test` ``、`執行測試`",
    "寫入與修改：`建立 hello.txt，內容為「你好」`、`把 hello.txt 中的「a」替換成「b」`、`把 hello.txt 重新命名為 hi.txt`、`刪除 hi.txt`",
    "規劃：`規劃遷移到 TypeScript`、`建立待辦清單：讀取、寫入、測試`",
  ],
  realModel:
    "其他工作請指定真正的模型：`--model anthropic/…` 或 `--model openai/…`（金鑰放在環境變數或用 `--api-key`），或本機模型 `--model ollama/… --base-url http://localhost:11434/v1`。詳見 `sheaf --help`。",
};
