/** Checks a client's reducer with the vectors. */
import type { StreamEvent } from "@sheaf/protocol";
import { explainDifference } from "./difference.ts";
import { createReducerVectors } from "./reducer-vectors.ts";

/** The reducer of a client; like `createReducer` of `@sheaf/protocol`. */
export interface ReducerUnderTest {
  push(event: StreamEvent): void;
  readonly response: unknown;
}

export interface ReducerOutcome {
  readonly name: string;
  readonly clauses: readonly string[];
  /** The problem; undefined if the reducer passed. */
  readonly message: string | undefined;
}

/** Returns one outcome for each vector. No event may make the reducer throw. */
export function checkReducer(createReducer: () => ReducerUnderTest): readonly ReducerOutcome[] {
  return createReducerVectors().map(({ name, clauses, events, expected }) => {
    try {
      const reducer = createReducer();
      // Clients read between events, and that must not change the result.
      for (const event of events) {
        reducer.push(event);
        void reducer.response;
      }
      return { name, clauses, message: explainDifference(keepKnown(reducer.response, expected), expected) };
    } catch (error) {
      return { name, clauses, message: `it threw ${String(error)}` };
    }
  });
}

/** Removes the fields that the expected value lacks: a reducer may know more. */
function keepKnown(value: unknown, expected: unknown): unknown {
  if (typeof value !== "object" || value === null || typeof expected !== "object" || expected === null) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = Array.isArray(expected) ? expected : [];
    return value.map((item, index) => keepKnown(item, items[index]));
  }
  const known = expected as Readonly<Record<string, unknown>>;
  const kept = Object.entries(value).filter(([name]) => Object.hasOwn(known, name));
  return Object.fromEntries(kept.map(([name, field]) => [name, keepKnown(field, known[name])]));
}
