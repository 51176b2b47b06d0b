/** Programs of the system by name, in its own folders first: a folder of PATH must not put another one before them. */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { type Environment, toFixedPath } from "./environment.ts";

const systemFolders = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/opt/homebrew/bin"];

/** Absolute; undefined if there is none. `isWanted` refuses a place that must not be taken. */
export function findProgram(
  name: string,
  environment: Environment,
  isWanted: (file: string) => boolean = () => true,
): string | undefined {
  const folders = [...systemFolders, ...toFixedPath(environment.PATH).split(":")];
  return folders.map((folder) => join(folder, name)).find((file) => isExecutable(file) && isWanted(file));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
