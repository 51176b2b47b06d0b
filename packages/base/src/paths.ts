/** Folders for the data of Sheaf and for the user's settings. Sheaf never looks for them in a workspace (S-01). */
import { accessSync, constants, statSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { SheafError } from "./errors.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface UserFiles {
  /** Written by the user. */
  readonly config: string;
  /** The user's instructions for every model. */
  readonly instructions: string;
  /** Written by `sheaf login`. */
  readonly credentials: string;
  /** Folders with the user's skills, commands and definitions of subagents; the first has priority (C90, C98). */
  readonly skillFolders: readonly string[];
}

/**
 * Returns the data folder: `SHEAF_HOME`, else the platform's place. @throws SheafError CONFIG_INVALID as `findHome`.
 */
export const toDataFolder = createFinder(["LOCALAPPDATA", "AppData/Local"], ["XDG_DATA_HOME", ".local/share"]);

/** Returns the user's configuration folder in the same way. @throws SheafError CONFIG_INVALID as `findHome`. */
export const toConfigFolder = createFinder(["APPDATA", "AppData/Roaming"], ["XDG_CONFIG_HOME", ".config"]);

/** A variable with the path of a folder, and the folder's default in the home folder. */
type NamedFolder = readonly [variable: string, inHome: string];

function createFinder([windows, onWindows]: NamedFolder, [xdg, onOthers]: NamedFolder) {
  return (
    environment: Environment,
    platform: string = process.platform,
    toHome: () => string = () => findHome(environment),
  ): string => {
    if (environment.SHEAF_HOME) return resolve(environment.SHEAF_HOME);
    if (platform === "darwin") return join(toHome(), "Library", "Application Support", "sheaf");
    if (platform === "win32") return join(environment[windows] || join(toHome(), onWindows), "sheaf");
    return join(toBaseFolder(environment[xdg]) ?? join(toHome(), onOthers), "sheaf");
  };
}

/**
 * Returns the user's home folder: `HOME`, unless it is empty or relative, which would be in the workspace; then the
 * system's entry for the user. It need not exist.
 * @throws SheafError CONFIG_INVALID if the user has no home, or cannot enter it.
 */
export function findHome(environment: Environment): string {
  const named = environment[process.platform === "win32" ? "USERPROFILE" : "HOME"] ?? "";
  const home = [named, tryFinding(() => userInfo().homedir)].find(isAbsolute);
  const advice = "set HOME to a folder of yours, or SHEAF_HOME to a folder for Sheaf";
  if (home === undefined) throw new SheafError("CONFIG_INVALID", `your home folder is not known: ${advice}`);
  const obstacle = findObstacle(home);
  if (obstacle !== undefined) throw new SheafError("CONFIG_INVALID", `your home folder ${home} ${obstacle}: ${advice}`);
  return home;
}

function findObstacle(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return "is not a folder";
    accessSync(folder, constants.X_OK);
    return undefined;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? undefined : `cannot be entered (${code})`;
  }
}

/** Returns "" if the system throws, as for a user who is not in its list. */
export function tryFinding(find: () => string): string {
  try {
    return find();
  } catch {
    return "";
  }
}

/** Returns the files of the current user. Keys are in the data folder, since users often share configurations. */
export function toUserFiles(environment: Environment): UserFiles {
  const configFolder = toConfigFolder(environment);
  return {
    config: join(configFolder, "config.json"),
    instructions: join(configFolder, "AGENTS.md"),
    credentials: join(toDataFolder(environment), "credentials.json"),
    skillFolders: [configFolder, ...listSharedFolders(environment)],
  };
}

/** Lists folders of other agents. SHEAF_HOME replaces them. A configuration folder needs no home. */
function listSharedFolders(environment: Environment): string[] {
  const home = environment.SHEAF_HOME ? "" : tryFinding(() => findHome(environment));
  return home === "" ? [] : [".claude", ".agents", ".cursor"].map((name) => join(home, name));
}

/** Ignores a relative folder, as its specification demands: it would be in the workspace. */
function toBaseFolder(folder: string | undefined): string | undefined {
  return folder !== undefined && isAbsolute(folder) ? folder : undefined;
}
