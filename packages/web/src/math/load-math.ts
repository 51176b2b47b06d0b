/** Loads the code that turns TeX into MathML, with the first formula. */
import type { typeset } from "./typeset.ts";

/** @returns undefined if loading failed: the page shows the formula's source */
export async function loadTypeset(): Promise<typeof typeset | undefined> {
  try {
    return (await import("./typeset.ts")).typeset;
  } catch {
    return undefined;
  }
}
