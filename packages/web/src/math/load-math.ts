/** Loads what turns TeX into MathML, with the first formula. */
import type { typeset } from "./typeset.ts";

/** @returns undefined if it could not be loaded: the formula is shown as source */
export async function loadTypeset(): Promise<typeof typeset | undefined> {
  try {
    return (await import("./typeset.ts")).typeset;
  } catch {
    return undefined;
  }
}
