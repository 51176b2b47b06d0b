/** Checks of a server. */
import type { Context } from "./context.ts";

/** Each level includes the ones before it (X12). */
export type Level = "base" | "resumable" | "interactive";

export const levels = ["base", "resumable", "interactive"] as const satisfies readonly Level[];

/** One thing that a server must do. */
export interface Check {
  /** Unique and stable id, for instance `resume-at-every-id`. */
  readonly id: string;
  readonly level: Level;
  /** Clauses that the check can prove broken, the main one first; `§7` is section 7, which has no numbers. */
  readonly clauses: readonly string[];
  readonly title: string;
  /** Runs the check, and resolves if the server passes. @throws Violation, Skip. */
  readonly run: (context: Context) => Promise<void>;
}

/** A check in a table; its clauses stand between blanks. */
type CheckRow = readonly [id: string, clauses: string, title: string, run: Check["run"]];

export function atLevel(level: Level, rows: readonly CheckRow[]): readonly Check[] {
  return rows.map(([id, clauses, title, run]) => ({ id, level, clauses: clauses.split(" "), title, run }));
}
