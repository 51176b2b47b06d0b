/** The notes before a prompt: the environment and the mode (C38). */
import { join } from "node:path";
import type { CommandRunner } from "@sheaf/sandbox/command";
import { parseRule } from "@sheaf/permissions/rule";
import { type GitFacts, type KnownFacts, toEnvironmentNote } from "../run/prompts/environment-note.ts";
import { toModeNote } from "../run/prompts/mode-note.ts";
import type { Workspace } from "@sheaf/base/files/workspace";
import { runTerminalCmdTool } from "../tools/run-terminal-cmd.ts";
import { findRepository, readBranch, toRealPlace } from "@sheaf/base/files/repository";
import type { Environment } from "@sheaf/base/paths";
import { toFixedPath, withoutInnerFolders } from "@sheaf/sandbox/environment";
import { isExecutable } from "@sheaf/base/is-executable";
import type { RunStart } from "@sheaf/protocol";
import type { PreparedPolicy } from "./prepare-policy.ts";
import type { RunRequest } from "./run-request.ts";

export interface NoteSources {
  readonly request: RunRequest;
  readonly policy: Pick<PreparedPolicy, "workspace" | "sandbox" | "permissions">;
  readonly commands: CommandRunner;
  readonly known: KnownFacts;
  readonly isAttended: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export async function prepareNotes(
  { request, policy, commands, known, isAttended, now }: NoteSources,
  signal: AbortSignal,
): Promise<Pick<RunStart, "environment" | "modeNote">> {
  const { workspace, sandbox } = policy;
  const canRun = await canAskGit(policy, request.trusted);
  const environment = toEnvironmentNote(
    {
      now,
      platform: `${process.platform} ${process.arch}`,
      git: await readGitFacts(workspace, canRun ? commands : undefined, signal),
      runtimes: listRuntimes(withoutInnerFolders(request.environment, workspace.root)),
      sandbox: sandbox.state,
      hosts: listHosts(request.permissions.allow),
      isAttended,
    },
    known.lines,
  );
  const modeNote = toModeNote(request.mode, known.mode);
  return { ...(environment !== undefined && { environment }), ...(modeNote !== undefined && { modeNote }) };
}

/** Locks no file, starts no program in submodules, and lists a new folder as one entry. */
const statusCommand = "git --no-optional-locks status --porcelain --ignore-submodules=all";

/** Runs no hook and no monitor, because the user has not asked for this command (S-106). */
const silentStatusCommand = statusCommand.replace("git", "git -c core.fsmonitor=false -c core.hooksPath=/dev/null");

/** Sheaf does not wait for a large repository. Milliseconds. */
const statusMs = 700;

/** True if the model itself may run the command. Without trust, Sheaf reads only the name of the branch (S-01). */
async function canAskGit({ permissions }: NoteSources["policy"], trusted: boolean): Promise<boolean> {
  const request = { tool: runTerminalCmdTool, arguments: { command: statusCommand } };
  return trusted && (await permissions.decide(request)).decision === "allow";
}

async function readGitFacts(
  workspace: Workspace,
  commands: CommandRunner | undefined,
  signal: AbortSignal,
): Promise<GitFacts | undefined> {
  const repository = findRepository(workspace.root);
  if (repository.git === "none") return undefined;
  const branch = readBranch(repository);
  const outcome = await commands?.run({
    command: silentStatusCommand,
    workingDirectory: workspace.root,
    timeoutMs: statusMs,
    signal,
    onOutput: () => undefined,
  });
  const isKnown = outcome?.exitCode === 0 && outcome.startError === "" && !outcome.truncated;
  return { branch, changedFiles: isKnown ? outcome.stdout.split("\n").filter(Boolean).length : undefined };
}

function listHosts(allow: readonly string[]): string[] {
  return allow
    .map(parseRule)
    .flatMap((rule) =>
      "host" in rule && rule.kind !== "WebFetch" ? [rule.text.trim().replace(/^\w+\(|\)$/g, "")] : [],
    );
}

const runtimes = ["node", "bun", "deno", "python3", "ruby", "php", "java", "go", "cargo", "dotnet", "gcc", "make"];

/** A version in the path of a program's real place: asking each program would delay the first request. */
const versionInPath = /(?:[-@]v?|(?:\/v?|python|ruby|php)(?=\d+\.\d))(\d+(?:\.\d+)*)(?=[-/]|$)/g;

/** The runtimes on the PATH of commands, with their versions as far as their paths or this process show them. */
export function listRuntimes(environment: Environment): string[] {
  const folders = toFixedPath(environment.PATH).split(":");
  return runtimes.flatMap((name) => {
    const program = folders.map((folder) => join(folder, name)).find(isExecutable);
    if (program === undefined) return [];
    const place = toRealPlace(program);
    const [, version] = [...place.matchAll(versionInPath)].at(-1) ?? [];
    const known = place === process.execPath ? process.versions.node : version;
    return [known === undefined ? name : `${name} ${known}`];
  });
}
