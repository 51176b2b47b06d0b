/** A command that ended well and said nothing, for tests with played commands. */
import type { CommandOutcome } from "../../src/guard/sandbox/command.ts";
import { createOutputSink } from "../../src/workspace/whole-output.ts";

export const endedCommand: CommandOutcome = {
  exitCode: 0,
  signal: "",
  timedOut: false,
  cancelled: false,
  stdout: "",
  stderr: "",
  output: "",
  truncated: false,
  bytes: 0,
  whole: createOutputSink().end(),
  startError: "",
  refusal: "",
  refusals: [],
  permissions: [],
};
