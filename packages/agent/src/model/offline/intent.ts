/** What the user wants, as far as the offline model understands it. */

/** A question that the offline model puts when an intent lacks its object. */
export type MissingObject =
  | "file"
  | "command"
  | "term"
  | "goal"
  | "content"
  | "items"
  | "task"
  | "names"
  | "replacement";

export type Intent =
  | SummariseIntent
  | ShowIntent
  | FindTextIntent
  | FindFilesIntent
  | { readonly kind: "list_folder"; readonly folder: string }
  | { readonly kind: "explain_layout"; readonly folder: string }
  | { readonly kind: "run"; readonly command: string }
  /** Runs a script that package.json names. */
  | { readonly kind: "run_script"; readonly script: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  | EditIntent
  | { readonly kind: "delete"; readonly paths: readonly string[] }
  | { readonly kind: "rename"; readonly from: string; readonly to: string }
  | { readonly kind: "plan"; readonly goal: string; readonly inner?: Intent }
  | { readonly kind: "todo_list"; readonly items: readonly string[] }
  | MissingIntent
  | { readonly kind: "help" | "greeting" | "thanks" | "unknown" };

/** A summary: in the answer, or in a file when `target` is there. */
export interface SummariseIntent {
  readonly kind: "summarise";
  readonly sources: readonly string[];
  /** The sources are the files that match. */
  readonly glob?: string;
  /** A text that came with the prompt. */
  readonly context?: string;
  readonly target?: string;
  /** The one source is a guess, such as README.md for "the readme". */
  readonly isGuessed?: true;
  readonly isReview?: true;
}

/** Quotes a file, or some lines of it. */
export interface ShowIntent {
  readonly kind: "show";
  readonly paths: readonly string[];
  /** 1-based, included. */
  readonly startLine?: number;
  readonly endLine?: number;
  /** The last lines only. */
  readonly lastLines?: number;
  readonly isGuessed?: true;
}

export interface FindTextIntent {
  readonly kind: "find_text";
  readonly term: string;
  readonly folder?: string;
  readonly glob?: string;
  /** Looks for the place where it is defined. */
  readonly isDefinition?: true;
}

export interface FindFilesIntent {
  readonly kind: "find_files";
  readonly pattern: string;
  readonly folder?: string;
}

export interface EditIntent {
  readonly kind: "edit";
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

export interface MissingIntent {
  readonly kind: "missing";
  readonly what: MissingObject;
  /** Makes the intent whole. */
  readonly fill: (answer: string) => Intent;
}
