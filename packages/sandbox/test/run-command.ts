/** Commands of tests, through the real runner. */
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import type { FileRule } from "@sheaf/base/files/glob";
import { parseRule } from "@sheaf/permissions/rule";
import { type RunnerSettings, createSandbox } from "../src/create-sandbox.ts";
import type { CommandOutcome, CommandRequest } from "../src/command.ts";
import type { Sandbox } from "../src/sandbox.ts";

/** What tests start from: the variables that a shell needs. */
export const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/tmp", LANG: "C.UTF-8" };

/** Runs a command without a sandbox in /tmp, for at most 20 seconds. */
export async function runCommand(
  command: string,
  request: Partial<CommandRequest> = {},
  variables: Readonly<Record<string, string>> = environment,
): Promise<CommandOutcome> {
  return runCommandIn({ state: "disabled" }, command, { workingDirectory: "/tmp", ...request }, variables);
}

/** Of a runner, beside what every test gives. */
export type RunnerOptions = Partial<
  Pick<
    RunnerSettings,
    | "limits"
    | "network"
    | "networkPorts"
    | "denials"
    | "hidden"
    | "readOnly"
    | "cacheFolder"
    | "stateFolder"
    | "atExit"
    | "credentials"
    | "variables"
    | "program"
  >
> & { readonly addedFolders?: readonly string[] };

export const closedNetwork = createCommandNetwork({ allow: [], deny: [] });

/** The rules about files among these. */
export function toFileRules(...rules: readonly string[]): FileRule[] {
  return rules.map(parseRule).filter((rule) => "glob" in rule);
}

/** Runs a command in its working directory, which is the workspace. */
export async function runCommandIn(
  sandbox: Sandbox,
  command: string,
  request: Partial<CommandRequest> & Pick<CommandRequest, "workingDirectory">,
  variables: Readonly<Record<string, string>> = environment,
  { addedFolders = [], ...options }: RunnerOptions = {},
): Promise<CommandOutcome> {
  const runner = createSandbox({
    environment: variables,
    writable: [request.workingDirectory, ...addedFolders],
    sandbox,
    network: closedNetwork,
    ...options,
  });
  try {
    return await runner.run({
      command,
      timeoutMs: 20_000,
      signal: new AbortController().signal,
      onOutput: () => undefined,
      ...request,
    });
  } finally {
    await runner.end();
  }
}
