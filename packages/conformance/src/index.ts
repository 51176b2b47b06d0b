/** The conformance kit as a library: the same checks from your own tests. */
export type { Level } from "./check.ts";
export { checkReducer } from "./check-reducer.ts";
export type { ReducerOutcome, ReducerUnderTest } from "./check-reducer.ts";
export { parseProfile, profiles } from "./profile.ts";
export type { Profile, Prompt, PromptName } from "./profile.ts";
export { createReducerVectors } from "./reducer-vectors.ts";
export type { ReducerVector } from "./reducer-vectors.ts";
export { createReport, formatOutcome, formatSummary } from "./report.ts";
export type { LevelSummary, Report } from "./report.ts";
export { runSuite, selectChecks } from "./run-suite.ts";
export type { Outcome, SuiteOptions } from "./run-suite.ts";
