/** Which profile a command line is in: by flag, else by the name under which Sheaf was started (C30). */
import { basename } from "node:path";
import { SheafError } from "../base/errors.ts";
import { isCliProfile, cliProfiles, type CliProfile } from "../output/projection.ts";

/** Names of the program that `cursor-2026` stands in for. */
export const aliasNames: readonly string[] = ["cursor-agent", "agent"];

/** @throws SheafError USAGE for an unknown profile; the message lists the known ones. */
export function chooseProfile(compat: string | undefined, program: string): CliProfile {
  if (compat === undefined) {
    return aliasNames.includes(basename(program).replace(/\.(exe|cmd|js)$/i, "")) ? "cursor-2026" : "sheaf";
  }
  if (isCliProfile(compat)) return compat;
  throw new SheafError("USAGE", `--compat "${compat}" is unknown: use one of ${cliProfiles.join(", ")}`);
}
