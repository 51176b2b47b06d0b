/** The words of one language that the offline model listens for. */
import type { Language } from "../language.ts";

/** What a word can mean. Order and number of words do not matter here; the rules in `intent*.ts` combine them. */
export type Concept =
  | "about"
  | "all"
  | "ask_me"
  | "asking"
  | "command"
  | "content"
  | "count"
  | "create"
  | "define"
  | "delete"
  | "empty"
  | "explain"
  | "file"
  | "files"
  | "find"
  | "first"
  | "folder"
  | "greeting"
  | "help"
  | "last"
  | "lines"
  | "list"
  | "named"
  | "plan"
  | "project"
  | "read"
  | "rename"
  | "replace"
  | "review"
  | "run"
  | "show"
  | "structure"
  | "summarise"
  | "summary"
  | "tests"
  | "thanks"
  | "this"
  | "todo_list"
  | "used"
  | "where"
  | "write";

/**
 * Entries are parted by `|`. A word ending in `*` stands for every word that begins so; `…` stands for any words between.
 * Entries in Chinese or Japanese characters match anywhere.
 * The expressions look at the few characters beside a name, folded; they have no nested repetition (S-72).
 */
export interface Vocabulary {
  readonly language: Language;
  readonly concepts: Readonly<Record<Concept, string>>;
  /** Words that carry no meaning for the rules. */
  readonly glue: string;
  /** Stands before, or behind, the name of a file that is to be written. */
  readonly targetBefore: RegExp;
  readonly targetAfter: RegExp;
  /** Stands before, or behind, the name of a folder. */
  readonly folderBefore: RegExp;
  readonly folderAfter: RegExp;
  /** Group 1 is what is to be planned. Tried in order on the whole instruction as written. */
  readonly planGoals: readonly RegExp[];
  /** Cuts a command off from what is said behind it, and before it. */
  readonly behindCommand: RegExp;
}
