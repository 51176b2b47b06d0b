/** Where ripgrep is. */
import { createRequire } from "node:module";
import type * as Ripgrep from "@vscode/ripgrep";

/** Path of the program; its package is loaded by the first search. @throws Error when it is not installed for this system. */
export function findRipgrep(): string {
  const { rgPath } = createRequire(import.meta.url)("@vscode/ripgrep") as typeof Ripgrep;
  return rgPath;
}
