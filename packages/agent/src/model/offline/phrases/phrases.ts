/** What the offline model says; one object per language. */
import type { MissingObject } from "../intent.ts";
import type { Language } from "../language.ts";

/** Things that are counted. */
export type Unit =
  | "lines"
  | "characters"
  | "words"
  | "headings"
  | "list_items"
  | "code_blocks"
  | "tables"
  | "files"
  | "folders"
  | "rows"
  | "keys"
  | "entries"
  | "members"
  | "comments"
  | "added"
  | "removed"
  | "errors"
  | "warnings";

/** Headings and labels of a summary. */
export type Label =
  | "purpose"
  | "points"
  | "outline"
  | "commands"
  | "exports"
  | "members"
  | "imports"
  | "facts"
  | "findings"
  | "contents"
  | "scripts"
  | "dependencies"
  | "dev_dependencies"
  | "programs"
  | "engines"
  | "license"
  | "version"
  | "columns"
  | "changed_files"
  | "first_lines"
  | "errors"
  | "period"
  | "folders"
  | "files"
  | "title";

/** What a folder is for, as its name says. */
export type FolderRole =
  | "source"
  | "tests"
  | "documentation"
  | "scripts"
  | "packages"
  | "examples"
  | "output"
  | "configuration"
  | "assets"
  | "automation"
  | "benchmarks";

/** How a tool call failed, as far as the advice differs. */
export type FailureKind =
  | "not_found"
  | "refused"
  | "read_only"
  | "binary"
  | "too_large"
  | "outside"
  | "timeout"
  | "is_folder"
  | "no_match"
  | "stale"
  | "exists"
  | "cancelled"
  | "sandbox"
  | "other";

/** What was tried. */
export type Action =
  | "read"
  | "write"
  | "edit"
  | "delete"
  | "rename"
  | "list"
  | "search"
  | "run"
  | "plan"
  | "todo"
  | "ask";

/** One step of a plan. `after` names the steps that come first. */
export interface PlanStepText {
  readonly id: string;
  readonly content: string;
  readonly after: readonly string[];
}

/** What is known for the words of a plan. */
export interface PlanFacts {
  readonly goal: string;
  /** Parts of the goal; at least one. */
  readonly parts: readonly string[];
  /** Files whose names fit the goal, or that are read first. */
  readonly files: readonly string[];
  readonly sourceFolder: string | undefined;
  readonly testFolder: string | undefined;
  readonly testCommand: string | undefined;
  readonly readme: string | undefined;
}

export interface Phrases {
  readonly language: Language;
  /** One sentence: this is the offline model. */
  readonly introduction: string;
  /** `54 lines`. */
  count(count: number, unit: Unit): string;
  /** `1,254`. */
  number(count: number): string;
  /** Between the entries of a list inside a sentence. */
  readonly separator: string;
  /** `a, b and c`. */
  list(entries: readonly string[]): string;
  readonly labels: Readonly<Record<Label, string>>;
  readonly roles: Readonly<Record<FolderRole, string>>;

  /** The two deltas before the read, and the one before the write, of the sequence of the base text. */
  announceRead(files: readonly string[]): readonly [string, string];
  announceSummaryFile(target: string): string;
  /** What comes next, in one sentence. */
  announce(action: Action, object: string): string;

  /** `README summary`. */
  summaryTitle(name: string): string;
  /** `Taken from README.md (54 lines, 1,254 characters) by …`. */
  summarySource(source: string, counts: string): string;
  /** Heads a summary in an answer. */
  summaryOf(source: string): string;
  reviewOf(source: string): string;
  readonly pipedText: string;
  /** Heads the summary of a text without a name. */
  readonly pipedTitle: string;
  readonly cutNote: string;
  /** Only the first lines of a file were read. */
  partlyRead(source: string, read: number, total: number): string;
  emptySource(source: string): string;
  /** The text has nothing that could be taken as a summary. */
  nothingToSummarise(source: string): string;
  /** `12 functions` and the like stay as they are; this heads what is only counted. */
  more(count: number): string;
  noFindings: string;
  line(number: number): string;
  invalidJson(reason: string): string;

  showing(path: string, start: number, end: number): string;
  shownPart(shown: number, total: number): string;
  beyondEnd(path: string, start: number): string;

  hits(count: number, files: number, term: string): string;
  noHits(term: string, place: string | undefined): string;
  definitions(count: number, name: string): string;
  noDefinition(name: string): string;
  foundFiles(count: number, pattern: string): string;
  noFiles(pattern: string): string;
  folderContents(folder: string, folders: number, files: number): string;
  emptyFolder(folder: string): string;

  commandEnded(command: string, exitCode: number): string;
  readonly commandOutput: string;
  lastLines(shown: number, total: number): string;
  readonly noOutput: string;
  noScript(script: string, available: readonly string[]): string;

  written(path: string, lines: number): string;
  edited(path: string, places: number): string;
  notInFile(text: string, path: string): string;
  readonly sameText: string;
  deleted(paths: readonly string[]): string;
  renamed(from: string, to: string): string;

  planTitle(goal: string): string;
  planOverview(goal: string): string;
  planSteps(facts: PlanFacts): readonly PlanStepText[];
  readonly planHeadings: {
    readonly goal: string;
    readonly look: string;
    readonly steps: string;
    readonly open: string;
  };
  readonly planOpen: string;
  planReady(steps: number): string;
  todosReady(count: number): string;

  readonly questionTitle: string;
  readonly questions: Readonly<Record<MissingObject, string>>;
  /** Prompts that the user can choose from, made of what the folder holds. */
  taskOptions(files: readonly string[]): readonly string[];
  readonly askInText: string;

  /** `README.md could not be read`. */
  failed(action: Action, object: string): string;
  readonly advice: Readonly<Record<FailureKind, string>>;
  toolMissing(tool: string, mode: string): string;
  budgetEnds(action: string): string;
  readonly summaryInstead: string;

  readonly greeting: string;
  readonly thanks: string;
  readonly notUnderstood: string;
  readonly contextNotUnderstood: string;
  readonly abilitiesTitle: string;
  /** What it can do, each with examples in backticks. */
  readonly abilities: readonly string[];
  readonly realModel: string;
}
