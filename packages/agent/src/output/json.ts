/** `--output-format json`: one object, at the end (C3, C22). */
import type { ResultLine } from "@sheaf/protocol";
import type { Projection } from "./projection.ts";
import { createResultCollector } from "./result-line.ts";

/** Prints one object when the run succeeds or asks the user; nothing when it fails. */
export function createJsonProjection(): Projection {
  const collector = createResultCollector();
  return {
    push(event) {
      collector.push(event);
      const { result } = collector;
      return !result || result.is_error ? [] : [`${JSON.stringify(toJsonObject(result))}\n`];
    },
  };
}

/** The key order of C3: `is_error` stands third. */
function toJsonObject(result: ResultLine): Record<string, unknown> {
  const { type, subtype, is_error, ...rest } = result;
  return { type, subtype, is_error, ...rest };
}
