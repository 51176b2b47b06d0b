/** Where Sheaf keeps what it must not lose. */
import { join, resolve } from "node:path";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The user's data folder: `SHEAF_HOME`, else the platform's own place. */
export function toDataFolder(environment: Environment, platform: string, home: string): string {
  if (environment.SHEAF_HOME) return resolve(environment.SHEAF_HOME);
  if (platform === "darwin") return join(home, "Library", "Application Support", "sheaf");
  if (platform === "win32") return join(environment.LOCALAPPDATA || join(home, "AppData", "Local"), "sheaf");
  return join(environment.XDG_DATA_HOME || join(home, ".local", "share"), "sheaf");
}
