/** Finds out, before a run begins, what can hold its commands (S-31). */
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { createCommandNetwork } from "../permissions/command-network.ts";
import { createCommandRunner } from "./command-runner.ts";
import type { Environment } from "./environment.ts";
import { findProgram } from "./find-program.ts";
import { openProbeMemory } from "./probe-memory.ts";
import type { Sandbox, SandboxSetting } from "./sandbox.ts";

export interface SandboxSearch {
  readonly setting: SandboxSetting;
  /** Absolute, links resolved. */
  readonly workspace: string;
  readonly environment: Environment;
  /** Where it is remembered that the sandbox works; undefined: nowhere. */
  readonly dataFolder: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const wayOut = "or switch it off with --sandbox disabled and allow commands by a rule or --force";

/** Tries the sandbox once, with all that a command gets: a machine may have the program and forbid what it does. */
export async function findSandbox({
  setting,
  workspace,
  environment,
  dataFolder,
  now,
}: SandboxSearch): Promise<Sandbox> {
  if (setting === "disabled") return { state: "disabled" };
  if (workspace === sep) return toUnavailable("the workspace is the whole file system", "start Sheaf in a folder");
  if (process.platform !== "linux") return toUnavailable(`there is none for ${process.platform} yet`, "use Linux");
  const file = findBubblewrap(workspace, environment);
  if (file === undefined) return toUnavailable("bubblewrap (bwrap) is not there", "install the package bubblewrap");
  const sandbox: Sandbox = { state: "enabled", kind: "bubblewrap", file };
  const memory = openProbeMemory(dataFolder, file, now());
  if (memory.isKnown) return sandbox;
  const fault = await tryCommand(sandbox, workspace, environment);
  if (fault === "") {
    memory.keep();
    return sandbox;
  }
  return toUnavailable(fault, "let this user make namespaces (see docs/guide/sandbox.md)");
}

function toUnavailable(problem: string, advice: string): Sandbox {
  return {
    state: "unavailable",
    reason: `commands are refused because no sandbox works here (${problem}): ${advice}, ${wayOut}`,
  };
}

/** Outside of the workspace only (S-05). */
function findBubblewrap(workspace: string, environment: Environment): string | undefined {
  return findProgram("bwrap", environment, (file) => !`${realpathSync(file)}${sep}`.startsWith(workspace + sep));
}

/** Why a command that does nothing does not run; "" if it does. */
async function tryCommand(sandbox: Sandbox, workspace: string, environment: Environment): Promise<string> {
  const runner = createCommandRunner({
    sandbox,
    workspace,
    environment,
    network: createCommandNetwork({ allow: [], deny: [] }),
  });
  const { startError, exitCode, timedOut } = await runner.run({
    command: ":",
    workingDirectory: workspace,
    timeoutMs: 5000,
    signal: new AbortController().signal,
    onOutput: () => undefined,
  });
  await runner.end();
  if (startError !== "") return startError;
  if (timedOut) return "its test did not end within 5 s";
  return exitCode === 0 ? "" : `its test ended with exit code ${exitCode}`;
}
