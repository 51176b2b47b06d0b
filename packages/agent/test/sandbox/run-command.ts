/** Commands of tests, through the real runner. */
import { createCommandRunner } from "../../src/sandbox/command-runner.ts";
import type { CommandOutcome, CommandRequest } from "../../src/sandbox/command.ts";

/** What tests start from: the variables that a shell needs. */
export const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/tmp", LANG: "C.UTF-8" };

/** Runs a command in /tmp, for at most 20 seconds. */
export async function runCommand(
  command: string,
  request: Partial<CommandRequest> = {},
  variables: Readonly<Record<string, string>> = environment,
): Promise<CommandOutcome> {
  return createCommandRunner({ environment: variables }).run({
    command,
    workingDirectory: "/tmp",
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    onOutput: () => undefined,
    ...request,
  });
}
