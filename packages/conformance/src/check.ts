/** What a check is, and how it says that a server broke the contract. */
import type { Context } from "./context.ts";

/** Each level includes the ones before it (X12). */
export type Level = "base" | "resumable" | "interactive";

export const levels = ["base", "resumable", "interactive"] as const satisfies readonly Level[];

/** One thing that a server must do. */
export interface Check {
  /** Unique and stable, for instance `resume-at-every-id`. */
  readonly id: string;
  readonly level: Level;
  /** Clauses that it can prove broken, the main one first; `§7` is section 7, which has no numbers. */
  readonly clauses: readonly string[];
  readonly title: string;
  /** Resolves when the server keeps it. @throws Violation, Skip. */
  readonly run: (context: Context) => Promise<void>;
}

/** The server broke a clause. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly clause: string;

  constructor(clause: string, message: string) {
    super(message);
    this.clause = clause;
  }
}

/** The check cannot tell, for instance because the model did not do what the prompt wants. */
export class Skip extends Error {
  override readonly name = "Skip";
}

/** @throws Violation unless `condition` holds. */
export function demand(condition: boolean, clause: string, message: string): asserts condition {
  if (!condition) throw new Violation(clause, message);
}

/** @throws Violation with an explanation, where there is one. */
export function demandNone(explanation: string | undefined, clause: string, subject: string): void {
  demand(explanation === undefined, clause, `${subject}: ${explanation ?? ""}`);
}

/** A value in a message: short, on one line. */
export function show(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
