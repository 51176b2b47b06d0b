/** Where Sheaf keeps what it must not lose, and what the user sets. Nothing of it is ever looked for in a workspace (S-01). */
import { accessSync, constants, statSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { SheafError } from "./errors.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface UserFiles {
  /** Written by the user. */
  readonly config: string;
  /** What the user tells every model. */
  readonly instructions: string;
  /** Written by `sheaf login`. */
  readonly credentials: string;
  /** Folders with the user's skills, commands and definitions of subagents; the first counts most (C90, C98). */
  readonly skillFolders: readonly string[];
}

/** The user's data folder: `SHEAF_HOME`, else the platform's own place. @throws SheafError CONFIG_INVALID as `findHome`. */
export const toDataFolder = createFinder(["LOCALAPPDATA", "AppData/Local"], ["XDG_DATA_HOME", ".local/share"]);

/** The user's configuration folder, likewise. @throws SheafError CONFIG_INVALID as `findHome`. */
export const toConfigFolder = createFinder(["APPDATA", "AppData/Roaming"], ["XDG_CONFIG_HOME", ".config"]);

/** A variable that names a folder, and its default in the home folder. */
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
 * The home folder of the user: `HOME`, unless it is empty or relative and so would lie in the
 * workspace; then what the system knows. It need not exist.
 * @throws SheafError CONFIG_INVALID if there is none, or if it cannot be entered.
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

/** "" where the system throws: for a user that is not in its list. */
export function tryFinding(find: () => string): string {
  try {
    return find();
  } catch {
    return "";
  }
}

/** The files of the user who runs this process. Keys lie with the data: configurations are often shared. */
export function toUserFiles(environment: Environment): UserFiles {
  const configFolder = toConfigFolder(environment);
  return {
    config: join(configFolder, "config.json"),
    instructions: join(configFolder, "AGENTS.md"),
    credentials: join(toDataFolder(environment), "credentials.json"),
    skillFolders: [configFolder, ...listSharedFolders(environment)],
  };
}

/** Of other agents, too. SHEAF_HOME has all that counts; a configuration folder needs no home. */
function listSharedFolders(environment: Environment): string[] {
  const home = environment.SHEAF_HOME ? "" : tryFinding(() => findHome(environment));
  return home === "" ? [] : [".claude", ".agents", ".cursor"].map((name) => join(home, name));
}

/** A relative one would lie in the workspace; its specification says that it does not count. */
function toBaseFolder(folder: string | undefined): string | undefined {
  return folder !== undefined && isAbsolute(folder) ? folder : undefined;
}
