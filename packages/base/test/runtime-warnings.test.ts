/** What Node says about itself. */
import { expect, test } from "vitest";
import { silenceRuntimeWarnings } from "../src/runtime-warnings.ts";
import { verifies } from "../../../test/support/verifies.ts";

test(verifies("C15", "is not said; other warnings are passed on as they came"), () => {
  const seen: unknown[][] = [];
  const target = { emitWarning: (...words: unknown[]): void => void seen.push(words) };
  silenceRuntimeWarnings(target);
  target.emitWarning("SQLite is an experimental feature", "ExperimentalWarning", undefined);
  target.emitWarning("old", { type: "DeprecationWarning", code: "DEP0001" });
  target.emitWarning(Object.assign(new Error("new"), { name: "ExperimentalWarning" }));
  expect(seen).toEqual([]);
  const error = new Error("a leak");
  target.emitWarning("plain");
  target.emitWarning(error);
  target.emitWarning("typed", { type: "MaxListenersExceededWarning" });
  expect(seen).toEqual([["plain"], [error], ["typed", { type: "MaxListenersExceededWarning" }]]);
});
