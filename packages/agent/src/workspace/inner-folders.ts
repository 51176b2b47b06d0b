/** Folders of the workspace on the search path for programs. */
import { realpathSync } from "node:fs";
import { sep } from "node:path";

/** The same variables; in `PATH` without the folders that lie in `root`, by name or by link. `root` has no links. */
export function withoutInnerFolders<Variables extends { readonly PATH?: string | undefined }>(
  environment: Variables,
  root: string,
): Variables {
  const { PATH } = environment;
  if (PATH === undefined) return environment;
  const isInner = (folder: string): boolean => `${folder}${sep}`.startsWith(root === sep ? sep : `${root}${sep}`);
  const kept = PATH.split(":").filter((folder) => !isInner(folder) && !isInner(toReal(folder)));
  return { ...environment, PATH: kept.join(":") };
}

/** A folder that does not exist holds no program now; its name is all that counts. */
function toReal(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
