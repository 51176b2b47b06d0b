/** Runs ripgrep for searches, in the sandbox if commands run in one (S-83). */
import { sep } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import { createDeniedIndex } from "../hold/denied-places.ts";
import { toMounts } from "../hold/held-place.ts";
import { type Mount, planMounts } from "../hold/mounts.ts";
import { listOwnFolders } from "../hold/own-folders.ts";
import { listSecretPlaces } from "../hold/secret-places.ts";
import { findRipgrep, type ProgramOutcome, type ProgramRequest, runProgram, startProgram } from "../programs.ts";
import type { Sandbox } from "../sandbox.ts";
import type { SandboxOptions } from "./launcher.ts";
import { toMountArguments } from "./bubblewrap-arguments.ts";
import { foundation, type SeatbeltProfile } from "./seatbelt-launcher.ts";
import { admitOwner, findWorkspaceOwner, toOwnerWords } from "./workspace-owner.ts";

interface SearchRequest extends Pick<ProgramRequest, "args" | "signal" | "onStdout" | "maxStderrBytes"> {
  /** The folder in which the program starts: the workspace or an added folder, absolute and without links. */
  readonly folder: string;
}

/** Runs ripgrep. If it cannot start, the outcome has the reason as `startError`. */
export type RunSearch = (request: SearchRequest) => Promise<ProgramOutcome>;

/** The part of a command runner's options that a search depends on. */
export interface SearchOptions extends Pick<SandboxOptions, "writable" | "environment" | "denials" | "stateFolder"> {
  readonly sandbox: Sandbox;
}

/** Descriptors after the standard three. */
const ownerDescriptors = { info: 3, admission: 4 } as const;

/**
 * Creates the search. Without a sandbox, ripgrep runs with the user's rights: either commands have them as well
 * (`disabled`, `container`), or no command runs (`unavailable`).
 */
export function createSearchProgram(options: SearchOptions): RunSearch {
  const { sandbox, writable: folders, environment, denials = [], stateFolder } = options;
  const findDenied = createDeniedIndex(
    folders,
    denials.filter(({ kind }) => kind === "Read"),
  );
  // If the folder is the whole file system, every file is inside it.
  const isOutside = (file: string): boolean =>
    !folders.some((folder) => folder !== sep && isBelow(toRealPlace(file), folder));
  let found: string | undefined;

  const toScope = (folder: string, program: string): SearchScope => {
    const denied = findDenied();
    if (denied.fault !== undefined) throw new Error(denied.fault);
    const mounts = planMounts({
      workspace: folder,
      secretPlaces: [...listSecretPlaces(environment), ...listOwnFolders({ stateFolder, writable: [folder] })],
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

/** Moves the sandbox's own message to `startError`; no line of ripgrep starts like it. */
function withStartError(outcome: ProgramOutcome, prefix: string): ProgramOutcome {
  const isFault = outcome.exitCode > 0 && outcome.stderr.startsWith(prefix);
  return isFault ? { ...outcome, startError: outcome.stderr.replaceAll(/\s+/g, " ").trim().slice(0, 500) } : outcome;
}

/**
 * The places that ripgrep sees: the folder that it searches, and the files that it needs to start (S-83). Targets
 * outside of the folder are missing there, so a link cannot expose them, even if a command swaps it during the search.
 */
interface SearchScope {
  /** Absolute path, without links. */
  readonly folder: string;
  /** The program, absolute. */
  readonly program: string;
  /** Places in the folder that ripgrep does not see, in mount order. */
  readonly hidden: readonly Mount[];
}

/** Folders of libraries, for a program that is linked with them. */
const linuxLibraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/nix/store"] as const;

/** Returns the words before the program: `bwrap <these> -- program arguments`. */
export function toSearchArguments({ folder, program, hidden }: SearchScope): string[] {
  return [
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--unshare-net",
    "--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
    ...linuxLibraries.flatMap((path) => ["--ro-bind-try", path, path]),
    "--dev-bind", "/dev/null", "/dev/null",
    "--ro-bind", program, program,
    "--ro-bind", folder, folder,
    ...hidden.flatMap(toMountArguments),
    ...hidden.flatMap(({ path, access }) => (access === "hidden-folder" ? ["--remount-ro", path] : [])),
    "--remount-ro", "/",
    "--chdir", folder,
  ]; // prettier-ignore
}

/** Files for the dynamic linker of macOS, and the libraries of package managers. */
const macLibraries = [
  "/System", "/usr/lib", "/private/var/db/dyld", "/dev", "/opt/homebrew/Cellar", "/usr/local/Cellar", "/nix/store",
] as const; // prettier-ignore

/** Ripgrep may look up names outside the folder, since paths contain them. The last matching rule wins. */
export function toSearchProfile({ folder, program, hidden }: SearchScope): SeatbeltProfile {
  const paths = hidden.map(({ path }, index) => [`HIDDEN_${index}`, path] as const);
  const hiddenPlaces = paths.map(([name]) => `(subpath (param "${name}"))`).join(" ");
  const text = `${foundation}(deny file-read*)
(allow file-read-metadata)
(allow file-read* (literal "/") ${macLibraries.map((path) => `(subpath "${path}")`).join(" ")})
(deny file-read* (subpath "/System/Volumes/Data"))
(allow file-read* (subpath (param "FOLDER")) (literal (param "PROGRAM")))
${hiddenPlaces === "" ? "" : `(deny file-read* ${hiddenPlaces})\n`}(deny network*)
`;
  return { text, parameters: { FOLDER: folder, PROGRAM: program, ...Object.fromEntries(paths) } };
}
