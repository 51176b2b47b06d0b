/** Notices about parts of a workspace that a run leaves out without trust (S-01). */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Notice, RunStart } from "@sheaf/protocol";
import { findRepository } from "@sheaf/base/files/repository";
import { readRepositoryConfig } from "@sheaf/base/git/git-places";
import type { Environment } from "@sheaf/base/paths";
import type { Instructions } from "../run/prompts/instructions.ts";

interface UntrustedParts {
  /** Real path. */
  readonly workspace: string;
  readonly environment: Environment;
  readonly instructions: readonly Instructions[];
  /** Undefined: the run has no commands. */
  readonly sandbox: RunStart["sandbox"] | undefined;
}

const advice = "look at the repository, and trust it with sheaf trust";

export function listUntrustedNotices({ workspace, environment, instructions, sandbox }: UntrustedParts): Notice[] {
  const names = instructions.map(({ name }) => name).join(", ");
  const data = `the model follows ${names} only as to style and checks, since this repository is not trusted: ${advice}`;
  const hooks = `git runs no hooks of this repository, since it is not trusted and commands run without the sandbox: ${advice}`;
  const runsHooks = sandbox === undefined || sandbox === "enabled" || sandbox === "container";
  const hasHooks = !runsHooks && hasGitHooks(workspace, environment);
  return [
    ...(names === "" ? [] : [{ code: "INSTRUCTIONS_UNTRUSTED", message: data } as const]),
    ...(hasHooks ? [{ code: "GIT_HOOKS_OFF", message: hooks } as const] : []),
  ];
}

/** Returns true if the repository has hooks in its own folder, or a setting for another folder. */
function hasGitHooks(workspace: string, environment: Environment): boolean {
  const repository = findRepository(workspace);
  if (repository.gitFolder === "") return false;
  const { settings } = readRepositoryConfig(repository, environment);
  if (settings.some(({ key }) => key === "core.hookspath")) return true;
  try {
    return readdirSync(join(repository.commonFolder, "hooks")).some((name) => !name.endsWith(".sample"));
  } catch {
    return false;
  }
}
