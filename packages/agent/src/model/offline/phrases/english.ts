import { formatList, formatNumber, toCode } from "./format-number.ts";
import type { Phrases, PlanStepText, Unit } from "./phrases.ts";

const units: Readonly<Record<Unit, readonly [string, string]>> = {
  lines: ["line", "lines"],
  characters: ["character", "characters"],
  words: ["word", "words"],
  headings: ["heading", "headings"],
  list_items: ["list item", "list items"],
  code_blocks: ["code block", "code blocks"],
  tables: ["table", "tables"],
  files: ["file", "files"],
  folders: ["folder", "folders"],
  rows: ["row", "rows"],
  keys: ["key", "keys"],
  entries: ["entry", "entries"],
  members: ["declaration", "declarations"],
  comments: ["comment line", "comment lines"],
  added: ["line added", "lines added"],
  removed: ["line removed", "lines removed"],
  errors: ["error", "errors"],
  warnings: ["warning", "warnings"],
};

const number = (count: number): string => formatNumber(count, ",");
const count = (value: number, unit: Unit): string => `${number(value)} ${units[unit][value === 1 ? 0 : 1]}`;
const list = (entries: readonly string[]): string => formatList(entries, ", ", " and ");
const codes = (entries: readonly string[]): string => list(entries.map(toCode));

export const englishPhrases: Phrases = {
  language: "en",
  introduction: "Sheaf's offline model (rule-based, no key needed) answers.",
  count,
  number,
  separator: ", ",
  list,
  labels: {
    purpose: "Purpose",
    points: "Main points",
    outline: "Outline",
    commands: "Commands",
    exports: "Exports",
    members: "Declarations",
    imports: "Imports",
    facts: "Facts",
    findings: "Worth a look",
    contents: "Contents",
    scripts: "Scripts",
    dependencies: "Dependencies",
    dev_dependencies: "Development dependencies",
    programs: "Programs",
    engines: "Needs",
    license: "Licence",
    version: "Version",
    columns: "Columns",
    changed_files: "Changed files",
    first_lines: "First lines",
    errors: "Errors and warnings",
    period: "Period",
    folders: "Folders",
    files: "Files",
    title: "Title",
  },
  roles: {
    source: "source code",
    tests: "tests",
    documentation: "documentation",
    scripts: "scripts and tools",
    packages: "packages of the workspace",
    examples: "examples",
    output: "build output",
    configuration: "configuration",
    assets: "assets",
    automation: "automation (CI)",
    benchmarks: "benchmarks",
  },

  announceRead: (files) => ["I, the rule-based offline model, will ", `read ${list(files)}`],
  announceSummaryFile: (target) => ` and create a summary in ${target}.`,
  announce: (action, object) =>
    ({
      read: `I am reading ${object}.`,
      write: `I am writing ${object}.`,
      edit: `I am changing ${object}.`,
      delete: `I am deleting ${object}.`,
      rename: `I am renaming ${object}.`,
      list: object === "." ? "I am looking at the folder." : `I am looking at the folder ${object}.`,
      search: `I am searching for ${toCode(object)}.`,
      run: `I am running ${toCode(object)}.`,
      plan: "I am making a plan from it.",
      todo: "I am writing the todo list.",
      ask: "One thing is missing:",
    })[action],

  summaryTitle: (name) => `${name} summary`,
  summarySource: (source, counts) =>
    `Taken from ${source} (${counts}) by Sheaf's offline model: sentences are picked, none is invented.`,
  summaryOf: (source) => `This is what ${source} says, in its own words:`,
  reviewOf: (source) => `These rules can tell the following about ${source}; they do not judge what it means:`,
  pipedText: "the text that came with the prompt",
  pipedTitle: "Summary",
  cutNote: "The text is long: the headings are complete, the points come from a sample of its paragraphs.",
  partlyRead: (source, read, total) => `Only ${number(read)} of ${count(total, "lines")} of ${source} were read.`,
  emptySource: (source) => `${source} is empty: there is nothing to summarise.`,
  nothingToSummarise: (source) => `${source} holds no sentences that could stand for the whole; these are its facts.`,
  more: (value) => `… and ${number(value)} more`,
  noFindings: "Nothing that these rules look for (open TODOs, leftover debugging, very long lines).",
  line: (value) => `line ${number(value)}`,
  invalidJson: (reason) => `It is not valid JSON: ${reason}`,

  showing: (path, start, end) =>
    `${toCode(path)}, ${start === end ? `line ${number(start)}` : `lines ${number(start)} to ${number(end)}`}:`,
  shownPart: (shown, total) =>
    `These are ${number(shown)} of ${count(total, "lines")}. Ask for the others with: lines ${shown + 1} to ${Math.min(total, 2 * shown)}.`,
  beyondEnd: (path, start) => `${toCode(path)} has no line ${number(start)}.`,

  hits: (value, files, term) =>
    `${value === 1 ? "1 hit" : `${number(value)} hits`} for ${toCode(term)} in ${count(files, "files")}:`,
  noHits: (term, place) =>
    `${toCode(term)} was not found${place === undefined ? "" : ` in ${toCode(place)}`}. Another spelling, or a shorter piece of it, may help.`,
  definitions: (value, name) => `${toCode(name)} is defined ${value === 1 ? "here" : `in ${number(value)} places`}:`,
  noDefinition: (name) => `These rules found no definition of ${toCode(name)}; it is mentioned here:`,
  foundFiles: (value, pattern) => `${count(value, "files")} for ${toCode(pattern)}:`,
  noFiles: (pattern) => `No file fits ${toCode(pattern)}.`,
  folderContents: (folder, folders, files) =>
    `${folder === "." ? "The folder" : toCode(folder)} holds ${count(folders, "folders")} and ${count(files, "files")} at the top:`,
  emptyFolder: (folder) => `${folder === "." ? "The folder" : toCode(folder)} is empty.`,

  commandEnded: (command, exitCode) =>
    `${toCode(command)} ended with exit code ${exitCode}${exitCode === 0 ? "" : ": it failed"}.`,
  commandOutput: "Its output:",
  lastLines: (shown, total) => `The last ${number(shown)} of ${count(total, "lines")} of its output:`,
  noOutput: "It printed nothing.",
  noScript: (script, available) =>
    `package.json has no script named ${toCode(script)}. ${available.length > 0 ? `It has: ${codes(available)}.` : "It has no scripts."} Name a command in backticks: run \`…\`.`,

  written: (path, lines) => `${toCode(path)} is written (${count(lines, "lines")}).`,
  edited: (path, places) => `${toCode(path)} is changed in ${places === 1 ? "one place" : `${number(places)} places`}.`,
  notInFile: (text, path) =>
    `${toCode(text)} does not occur in ${toCode(path)}: nothing was changed. Upper and lower case count.`,
  sameText: "The old and the new text are the same: nothing was changed.",
  deleted: (paths) => `${codes(paths)} ${paths.length === 1 ? "is" : "are"} deleted.`,
  renamed: (from, to) => `${toCode(from)} is now ${toCode(to)}.`,

  planTitle: (goal) => `Plan: ${goal}`,
  planOverview: (goal) =>
    `A first plan for "${goal}", made by rules from the names in the folder; it knows the layout, not the code.`,
  planSteps: (facts): PlanStepText[] => [
    {
      id: "look",
      content: `Read ${facts.files.length > 0 ? codes(facts.files) : "the files that this touches"} and note what is there already`,
      after: [],
    },
    {
      id: "goal",
      content: `Write down how one can tell that "${facts.goal}" is done, with one example`,
      after: ["look"],
    },
    ...facts.parts.map((part, index) => ({
      id: `part-${index + 1}`,
      content: `${part}${facts.sourceFolder === undefined ? "" : ` (in ${toCode(facts.sourceFolder)})`}`,
      after: ["goal"],
    })),
    {
      id: "tests",
      content: `Add tests${facts.testFolder === undefined ? "" : ` in ${toCode(facts.testFolder)}`} for the example and for one failure`,
      after: facts.parts.map((_, index) => `part-${index + 1}`),
    },
    {
      id: "check",
      content: facts.testCommand === undefined ? "Run all tests" : `Run ${toCode(facts.testCommand)}`,
      after: ["tests"],
    },
    ...(facts.readme === undefined
      ? []
      : [{ id: "docs", content: `Say it in ${toCode(facts.readme)}`, after: ["check"] }]),
  ],
  planHeadings: { goal: "Goal", look: "Where to look first", steps: "Steps", open: "Open" },
  planOpen: "What the goal means in detail: this model knows names of files only. A real model reads the code.",
  planReady: (steps) =>
    `The plan has ${number(steps)} steps. It comes from rules and the layout of the folder; read it as a start.`,
  todosReady: (value) => `The todo list has ${count(value, "entries")}.`,

  questionTitle: "One question",
  questions: {
    file: "Which file?",
    command: "Which command?",
    term: "What should be searched for?",
    goal: "What should be planned?",
    content: "What should be in the file?",
    items: "What should be on the list? Separate the entries with commas.",
    task: "What should be done?",
    names: "What should the file be called?",
    replacement: 'What should be replaced with what? For instance: replace "old" with "new" in a file.',
  },
  taskOptions: (files) => [
    ...files.map((file) => `Summarise ${file}`),
    "Explain the project structure",
    "List the files",
    "What can you do?",
  ],
  askInText: "Answer with your next message. You can choose from:",

  failed: (action, object) =>
    ({
      read: `${toCode(object)} could not be read.`,
      write: `${toCode(object)} could not be written.`,
      edit: `${toCode(object)} could not be changed.`,
      delete: `${toCode(object)} could not be deleted.`,
      rename: `${toCode(object)} could not be renamed.`,
      list: `The folder ${toCode(object)} could not be listed.`,
      search: `The search for ${toCode(object)} failed.`,
      run: `${toCode(object)} was not run.`,
      plan: "The plan could not be made.",
      todo: "The todo list could not be written.",
      ask: "The question could not be put.",
    })[action],
  advice: {
    not_found:
      "Check the name and its spelling (`list the files` shows what is there), and the folder that Sheaf was started in.",
    refused:
      "It needs a permission: start again with `--force`, or allow just this with `--allow RULE` (see `sheaf permissions explain`).",
    read_only: "Here nothing may be written: check the mode (`--mode agent`) and whether the folder is writable.",
    binary: "It is a binary file: these rules read text only.",
    too_large: "It is too large: ask for some lines, for instance `show lines 1-200 of` and its name.",
    outside: "It lies outside the workspace: start Sheaf in that folder, or add the folder with `--add-dir DIR`.",
    timeout: "It took too long: try a smaller step, or run it yourself.",
    is_folder: "It is a folder: name a file, or say `explain` and the folder.",
    no_match: "The old text has to occur exactly as given: look at it with `show` and the name first.",
    stale: "The file changed meanwhile: ask again.",
    exists: "There is a file of that name already: choose another name, or delete that one first.",
    cancelled: "It was cancelled.",
    sandbox: "The sandbox could not start: `sheaf doctor` tells why.",
    other: "The message above says why; `--verbose` tells more.",
  },
  toolMissing: (tool, mode) =>
    `For this the tool ${toCode(tool)} is needed, and it is not offered in mode ${mode}. Start again with \`--mode agent\`.`,
  budgetEnds: (action) =>
    `The budget of this run is used up. Left to do: ${action} Raise the budget (\`--max-turns\`, \`--max-tool-calls\`, \`--max-tokens\`) and say \`continue\` with \`--continue\`.`,
  summaryInstead: "The summary itself is here:",

  greeting: "Hello. I am Sheaf's offline model: a set of rules, no key needed.",
  thanks: "You are welcome. I am only Sheaf's offline model, a set of rules; what else is there to read or find?",
  notUnderstood: "I am Sheaf's offline model, a set of rules, and none of them fits this prompt.",
  contextNotUnderstood: "A text came with the prompt, and I can summarise it: say `summarise this` behind it.",
  abilitiesTitle: "This is what I can do:",
  abilities: [
    "read and summarise: `Read README.md and create a summary`, `Summarise docs/guide.md`, `What is in package.json?`; or pipe a text in and say `summarise this`",
    "show: `Show src/main.ts`, `Show lines 10-20 of src/main.ts`",
    "find: `Find TODO in src`, `Where is createServer defined?`, `Find all *.ts files`",
    "explain the layout: `Explain the project structure`, `List the files in src`",
    "run: ``Run `npm test` ``, `Run the tests`",
    'write and change: `Create hello.txt with the content "Hello"`, `Replace "a" with "b" in hello.txt`, `Rename hello.txt to hi.txt`, `Delete hi.txt`',
    "plan: `Plan the move to TypeScript`, `Make a todo list: read, write, test`",
  ],
  realModel:
    "For everything else name a real model: `--model anthropic/…` or `--model openai/…` with its key in the environment or `--api-key`, or a local one with `--model ollama/… --base-url http://localhost:11434/v1`. See `sheaf --help`.",
};
