/** The log of a run that failed before it could begin, so that every format tells of it in its own words (C22). */
import type { RunEvent, RunStart } from "@sheaf/protocol";
import { toSheafError } from "../../base/errors.ts";
import { toFailure } from "../run-failure.ts";

/** Two events: what was asked, and why it failed. */
export function createFailedRun(start: Omit<RunStart, "type">, error: unknown, time: number): readonly RunEvent[] {
  return [
    { type: "run_start", ...start, seq: 1, time },
    { ...toFailure(toSheafError(error)), seq: 2, time },
  ];
}
