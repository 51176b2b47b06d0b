/** Runs ripgrep for searches: in the sandbox, wherever commands run in it (S-83). */
import { sep } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import type { FileRule } from "../../permissions/rule.ts";
import { createDeniedIndex } from "../hold/denied-places.ts";
import { toMounts } from "../hold/held-place.ts";
import { planMounts } from "../hold/mounts.ts";
import { listSecretPlaces } from "../hold/secret-places.ts";
import { findRipgrep, type ProgramOutcome, type ProgramRequest, runProgram, startProgram } from "../programs.ts";
import type { Sandbox } from "../sandbox.ts";
import { type SearchScope, toSearchArguments, toSearchProfile } from "./search-view.ts";
import { admitOwner, findWorkspaceOwner, toOwnerWords } from "./workspace-owner.ts";

interface SearchRequest extends Pick<ProgramRequest, "args" | "signal" | "onStdout" | "maxStderrBytes"> {
  /** The workspace or a folder that the user added, absolute and without links: where the program starts. */
  readonly folder: string;
}

/** Runs ripgrep. Whatever keeps it from starting is the outcome's `startError`. */
export type RunSearch = (request: SearchRequest) => Promise<ProgramOutcome>;

/** The part of a command runner's options that a search depends on. */
export interface SearchOptions {
  readonly sandbox: Sandbox;
  /** Absolute, links resolved. */
  readonly workspace: string;
  readonly addedFolders?: readonly string[] | undefined;
  readonly environment: Environment;
  readonly denials?: readonly FileRule[] | undefined;
}

/** After the standard three. */
const ownerDescriptors = { info: 3, admission: 4 } as const;

/**
 * Without a sandbox ripgrep runs with the user's rights: commands then have them too (`disabled`), or none runs
 * (`unavailable`).
 */
export function createSearchProgram(options: SearchOptions): RunSearch {
  const { sandbox, workspace, addedFolders = [], environment, denials = [] } = options;
  const folders = [workspace, ...addedFolders];
  const findDenied = createDeniedIndex(
    folders,
    denials.filter(({ kind }) => kind === "Read"),
  );
  // Nothing is outside of the whole file system.
  const isOutside = (file: string): boolean =>
    !folders.some((folder) => folder !== sep && isBelow(toRealPlace(file), folder));
  let found: string | undefined;

  const toScope = (folder: string, program: string): SearchScope => {
    const denied = findDenied();
    if (denied.fault !== undefined) throw new Error(denied.fault);
    const mounts = planMounts({
      workspace: folder,
      secretPlaces: listSecretPlaces(environment),
      copies: new Map(),
      privateMounts: [],
      cacheMounts: [],
      writableMounts: [],
      held: { kept: [], mounts: denied.places.flatMap(toMounts) },
    });
    const isHidden = (access: string): boolean => access === "hidden-folder" || access === "hidden-file";
    return { folder, program, hidden: mounts.filter(({ path, access }) => isHidden(access) && isBelow(path, folder)) };
  };

  return async ({ folder, ...request }) => {
    const program = (found ??= findRipgrep(environment, isOutside));
    if (program === undefined) return toFault(adviseOnPlace(environment));
    const plain = { ...request, file: program, cwd: folder, environment: {} };
    if (sandbox.state !== "enabled") return runProgram(plain);
    try {
      const scope = toScope(folder, program);
      return sandbox.kind === "bubblewrap"
        ? await runInBubblewrap(sandbox.file, scope, plain)
        : await runInSeatbelt(sandbox.file, scope, plain);
    } catch (error) {
      return toFault(error instanceof Error ? error.message : String(error));
    }
  };
}

function toFault(startError: string): ProgramOutcome {
  return { exitCode: -1, stderr: "", stopped: false, cancelled: false, startError };
}

function adviseOnPlace(environment: Environment): string {
  const found = findRipgrep(environment, () => true);
  return found === undefined
    ? "it is not installed: install Sheaf again, the program comes with it"
    : `${found} is in a folder that commands can change: install ripgrep for this machine, or Sheaf somewhere else`;
}

async function runInBubblewrap(file: string, scope: SearchScope, plain: ProgramRequest): Promise<ProgramOutcome> {
  const owner = findWorkspaceOwner(scope.folder);
  const words = [...toSearchArguments(scope), ...(owner ? toOwnerWords(ownerDescriptors) : [])];
  const request = { ...plain, file, args: [...words, "--", scope.program, ...plain.args], cwd: "/" };
  const outcome = await runProgram(request, () => {
    const child = startProgram(request, owner && ["pipe", "pipe"]);
    if (owner) admitOwner(child, owner, ownerDescriptors);
    return child;
  });
  return withStartError(outcome, "bwrap: ");
}

async function runInSeatbelt(file: string, scope: SearchScope, plain: ProgramRequest): Promise<ProgramOutcome> {
  const { text, parameters } = toSearchProfile(scope);
  const definitions = Object.entries(parameters).flatMap(([name, path]) => ["-D", `${name}=${path}`]);
  const request = { ...plain, file, args: ["-p", text, ...definitions, scope.program, ...plain.args] };
  return withStartError(await runProgram(request), "sandbox-exec: ");
}

/** The sandbox's own message; no line of ripgrep's begins like that. */
function withStartError(outcome: ProgramOutcome, prefix: string): ProgramOutcome {
  const isFault = outcome.exitCode > 0 && outcome.stderr.startsWith(prefix);
  return isFault ? { ...outcome, startError: outcome.stderr.replaceAll(/\s+/g, " ").trim().slice(0, 500) } : outcome;
}
