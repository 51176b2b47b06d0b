/**
 * What ripgrep sees: the folder that it searches, and what it needs to start (S-83). A link that leads out of the folder
 * leads nowhere in this view, whatever a command swaps meanwhile.
 */
import type { Mount } from "../hold/mounts.ts";
import { toMountArguments } from "./bubblewrap-arguments.ts";
import { foundation, type SeatbeltProfile } from "./seatbelt-launcher.ts";

export interface SearchScope {
  /** Absolute, without links. */
  readonly folder: string;
  /** The program, absolute. */
  readonly program: string;
  /** Places in the folder that are not shown; in mount order. */
  readonly hidden: readonly Mount[];
}

/** Libraries, for a program that is linked with them. */
const linuxLibraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/nix/store"] as const;

/** Everything before the program: `bwrap <these> -- program arguments`. */
export function toSearchArguments({ folder, program, hidden }: SearchScope): string[] {
  return [
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--unshare-net",
    "--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
    ...linuxLibraries.flatMap((path) => ["--ro-bind-try", path, path]),
    "--dev-bind", "/dev/null", "/dev/null",
    "--ro-bind", program, program,
    "--ro-bind", folder, folder,
    ...hidden.flatMap(toMountArguments),
    ...hidden.flatMap(({ path, access }) => (access === "hidden-folder" ? ["--remount-ro", path] : [])),
    "--remount-ro", "/",
    "--chdir", folder,
  ]; // prettier-ignore
}

/** On macOS: what its dynamic linker reads, and the libraries of package managers. */
const macLibraries = [
  "/System", "/usr/lib", "/private/var/db/dyld", "/dev", "/opt/homebrew/Cellar", "/usr/local/Cellar", "/nix/store",
] as const; // prettier-ignore

/** Names outside the folder can be looked up, since paths lead through them. The last rule that matches wins. */
export function toSearchProfile({ folder, program, hidden }: SearchScope): SeatbeltProfile {
  const paths = hidden.map(({ path }, index) => [`HIDDEN_${index}`, path] as const);
  const hiddenPlaces = paths.map(([name]) => `(subpath (param "${name}"))`).join(" ");
  const text = `${foundation}(deny file-read*)
(allow file-read-metadata)
(allow file-read* (literal "/") ${macLibraries.map((path) => `(subpath "${path}")`).join(" ")})
(deny file-read* (subpath "/System/Volumes/Data"))
(allow file-read* (subpath (param "FOLDER")) (literal (param "PROGRAM")))
${hiddenPlaces === "" ? "" : `(deny file-read* ${hiddenPlaces})\n`}(deny network*)
`;
  return { text, parameters: { FOLDER: folder, PROGRAM: program, ...Object.fromEntries(paths) } };
}
