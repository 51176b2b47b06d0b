/** Names of flags and settings of other programs that Sheaf doesn't know. */
import type { Notice } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";

/** Matches names of flags and settings that may limit a run: Sheaf never ignores these. */
const limiting =
  /permission|allow|deny|denied|tool|hook|sandbox|trust|safe|restrict|managed|strict|isolat|fork|resume|approv|network|danger|bypass|rule|polic|access|secur|guard|read.?only|remote|local/i;

/** Makes a notice about an ignored name. @throws SheafError USAGE for an unknown name that may limit the run. */
export function ignoreUnknown(name: string): Notice {
  if (limiting.test(name)) {
    throw new SheafError("USAGE", `${name} may limit the run, and Sheaf does not know it: leave it out`);
  }
  return { code: "FLAG_IGNORED", message: `${name} is ignored: Sheaf does not know it` };
}
