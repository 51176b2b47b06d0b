/** Commands of tests in the sandbox of the system, in a workspace of their own. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, onTestFinished } from "vitest";
import { describeWhere } from "../../../test/support/describe-where.ts";
import { findMissing } from "../../../test/support/programs.ts";
import type { CommandOutcome, CommandRequest } from "../src/command.ts";
import { createSandbox } from "../src/create-sandbox.ts";
import { findRefuges } from "../src/hold/own-folders.ts";
import { findSandbox } from "../src/find/find-sandbox.ts";
import { type RunnerOptions, closedNetwork, environment, runCommand, runCommandIn } from "./run-command.ts";

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

/** Where Sheaf keeps what commands do not see. */
export const stateFolder = join(top, "state");

/** A folder with these files, next to the others of this file and not in a command's `/tmp`. */
export function createFolder(name: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(top, `${name}-`));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** A program, by its script. Returns its path. */
export function createProgram(name: string, script: string): string {
  const file = join(createFolder("programs", { [name]: script }), name);
  chmodSync(file, 0o755);
  return file;
}

/** Runs a command in the sandbox. */
export async function runHeld(
  command: string,
  workingDirectory: string = createFolder("workspace"),
  request: Partial<CommandRequest> = {},
  variables: Readonly<Record<string, string>> = environment,
  options?: RunnerOptions,
): Promise<CommandOutcome> {
  return runCommandIn(sandbox, command, { workingDirectory, ...request }, variables, { stateFolder, ...options });
}

/** A run of Sheaf, in which each command finds what those before it have done. */
export interface HeldRun {
  readonly run: (command: string, request?: Partial<CommandRequest>) => Promise<CommandOutcome>;
  /** Aborts what still runs. The end of the test does it, too. */
  readonly end: () => Promise<readonly string[]>;
}

/** Opens a run in a workspace. */
export function openHeldRun(
  workspace: string,
  { addedFolders = [], ...options }: RunnerOptions = {},
  variables = environment,
): HeldRun {
  const controller = new AbortController();
  const network = closedNetwork;
  const writable = [workspace, ...addedFolders] as const;
  const runner = createSandbox({ environment: variables, writable, sandbox, network, stateFolder, ...options });
  const end = async (): Promise<readonly string[]> => {
    controller.abort();
    return ((await runner.end()) ?? []).map(({ message }) => message);
  };
  onTestFinished(async () => void (await end()));
  return {
    end,
    async run(command, request) {
      const { signal } = controller;
      const whole = { command, workingDirectory: workspace, timeoutMs: undefined, signal, ...request };
      return runner.run({ onOutput: () => undefined, ...whole });
    },
  };
}

/** Runs `body` if the sandbox works; otherwise one skipped test shows why not, and with CI=true it fails. */
export function describeWithSandbox(title: string, body: () => void): void {
  describeWhere(title, sandbox.state === "unavailable" ? findMissing("bwrap", sandbox.reason) : undefined, body);
}

/** What was taken away from commands and is still there: until the end of the test. */
export function takeRefused(folder = stateFolder): string[] {
  const refuges = findRefuges(folder).filter((path) => path.startsWith(`${folder}/`));
  const paths = refuges.flatMap((refuge) => readdirSync(refuge).map((name) => join(refuge, name)));
  onTestFinished(() => refuges.forEach((path) => rmSync(path, { recursive: true, force: true })));
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
