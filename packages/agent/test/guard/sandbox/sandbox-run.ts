/** Commands of tests in the sandbox of the system, in a workspace of their own. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, onTestFinished } from "vitest";
import { describeWhere } from "../../../../../test/support/describe-where.ts";
import { findMissing } from "../../../../../test/support/programs.ts";
import type { CommandOutcome, CommandRequest } from "../../../src/guard/sandbox/command.ts";
import { findSandbox } from "../../../src/guard/sandbox/find/find-sandbox.ts";
import { type RunnerOptions, environment, runCommand, runCommandIn } from "./run-command.ts";

/** Not below a folder that a command has for itself: there nothing would have to be held. */
const top = realpathSync(mkdtempSync(join(homedir(), ".sheaf-sandbox-test-")));
afterAll(() => rmSync(top, { recursive: true, force: true }));

export const sandbox = await findSandbox({
  setting: "enabled",
  workspace: top,
  environment,
  memory: undefined,
  now: Date.now,
});

/** A folder with these files, next to the others of this file and not in a command's `/tmp`. */
export function createFolder(name: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(top, `${name}-`));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** Runs a command in the sandbox. */
export function runHeld(
  command: string,
  workingDirectory: string = createFolder("workspace"),
  request: Partial<CommandRequest> = {},
  variables: Readonly<Record<string, string>> = environment,
  options?: RunnerOptions,
): Promise<CommandOutcome> {
  return runCommandIn(sandbox, command, { workingDirectory, ...request }, variables, options);
}

/** Runs `body` if the sandbox works; otherwise one skipped test shows why not, and with CI=true it fails. */
export function describeWithSandbox(title: string, body: () => void): void {
  describeWhere(title, sandbox.state === "unavailable" ? findMissing("bwrap", sandbox.reason) : undefined, body);
}

/** Where the refusals say that something was put; it is removed after the test. */
export function removeTaken(refusals: readonly string[]): string[] {
  const paths = refusals.flatMap((note) => /moved to (\S+);/.exec(note)?.[1] ?? []);
  onTestFinished(() => {
    for (const path of paths) rmSync(dirname(path), { recursive: true, force: true });
  });
  return paths;
}

type RunCommand = typeof runCommand;

/** Runs a command in the sandbox, in a workspace of its own unless it names one. */
async function runCommandHeld(...[command, request = {}, variables]: Parameters<RunCommand>): Promise<CommandOutcome> {
  return runHeld(command, request.workingDirectory ?? createFolder("workspace"), request, variables);
}

/** Runs `body` for both ways to run commands: what a command is told and tells does not depend on what holds it. */
export function describeBothWays(title: string, body: (run: RunCommand, isHeld: boolean) => void): void {
  describe(`${title}, without a sandbox`, () => {
    body(runCommand, false);
  });
  describeWithSandbox(`${title}, in the sandbox`, () => {
    body(runCommandHeld, true);
  });
}
