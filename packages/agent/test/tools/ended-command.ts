/** Commands that are played, and what they ended with. */
import type { CommandEffect } from "@sheaf/protocol";
import type { CommandOutcome, CommandRequest, CommandRunner } from "@sheaf/sandbox/command";

/** A command that ended well and said nothing. */
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
  startError: "",
  refusal: "",
  refusals: [],
  permissions: [],
};

/** Its effect. */
export const endedEffect: CommandEffect = {
  kind: "command",
  command: "c",
  workingDirectory: "/w",
  exitCode: 0,
  signal: "",
  stdout: "",
  stderr: "",
  timedOut: false,
  background: false,
  permissions: [],
};

/** Commands of which a function says what they ended with. */
export const playCommands = (
  play: (request: CommandRequest) => Partial<CommandOutcome> | undefined,
): CommandRunner => ({
  run: async (request) => ({ ...endedCommand, ...play(request) }),
  permissions: [],
  end: async () => undefined,
});
