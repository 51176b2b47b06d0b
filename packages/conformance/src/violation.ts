/** The way a check reports that a server broke the contract. */

/** The server broke a clause. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly clause: string;

  constructor(clause: string, message: string) {
    super(message);
    this.clause = clause;
  }
}

/** The check is inconclusive, for instance because the model didn't follow the prompt. */
export class Skip extends Error {
  override readonly name = "Skip";
}

/** @throws Violation unless `condition` is true. */
export function demand(condition: boolean, clause: string, message: string): asserts condition {
  if (!condition) throw new Violation(clause, message);
}

/** @throws Violation if there is an explanation. */
export function demandNone(explanation: string | undefined, clause: string, subject: string): void {
  demand(explanation === undefined, clause, `${subject}: ${explanation ?? ""}`);
}

/** Formats a value for a message: short, on one line. */
export function show(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
