/** Where Sheaf keeps what it must not lose, and what the user sets. Nothing of it is ever looked for in a workspace (S-01). */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Files of the user's own. */
export interface UserFiles {
  /** Written by the user. */
  readonly config: string;
  /** What the user tells every model. */
  readonly instructions: string;
  /** Written by `sheaf login`. */
  readonly credentials: string;
}

/** The user's data folder: `SHEAF_HOME`, else the platform's own place. */
export function toDataFolder(environment: Environment, platform: string, home: string): string {
  if (environment.SHEAF_HOME) return resolve(environment.SHEAF_HOME);
  if (platform === "darwin") return join(home, "Library", "Application Support", "sheaf");
  if (platform === "win32") return join(environment.LOCALAPPDATA || join(home, "AppData", "Local"), "sheaf");
  return join(toBaseFolder(environment.XDG_DATA_HOME) ?? join(home, ".local", "share"), "sheaf");
}

/** The user's configuration folder: `SHEAF_HOME`, else the platform's own place. */
export function toConfigFolder(environment: Environment, platform: string, home: string): string {
  if (environment.SHEAF_HOME) return resolve(environment.SHEAF_HOME);
  if (platform === "darwin") return join(home, "Library", "Application Support", "sheaf");
  if (platform === "win32") return join(environment.APPDATA || join(home, "AppData", "Roaming"), "sheaf");
  return join(toBaseFolder(environment.XDG_CONFIG_HOME) ?? join(home, ".config"), "sheaf");
}

/** The files of the user who runs this process. Keys lie with the data: configurations are often shared. */
export function toUserFiles(environment: Environment): UserFiles {
  const home = homedir();
  const configFolder = toConfigFolder(environment, process.platform, home);
  return {
    config: join(configFolder, "config.json"),
    instructions: join(configFolder, "AGENTS.md"),
    credentials: join(toDataFolder(environment, process.platform, home), "credentials.json"),
  };
}

/** A relative one would lie in the workspace; its specification says that it does not count. */
function toBaseFolder(folder: string | undefined): string | undefined {
  return folder !== undefined && isAbsolute(folder) ? folder : undefined;
}
