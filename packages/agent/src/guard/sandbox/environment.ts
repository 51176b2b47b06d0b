/** The environment of every command: an allow list, so that keys and tokens never reach one (S-40). */

/** Variables of this process, as they were handed in. */
export type Environment = Readonly<Record<string, string | undefined>>;

const allowedNames = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "TZ", "USER", "LOGNAME", "SHELL"] as const;
const localeName = /^LC_[A-Z]+$/;
const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/** Name of the variable that marks every process of a command. */
export const markerName = "SHEAF_CALL";

/** What a command gets: the allowed variables and its marker (S-40). */
export function toCommandEnvironment(environment: Environment, marker: string): Record<string, string> {
  const names = [...allowedNames, ...Object.keys(environment).filter((name) => localeName.test(name))];
  const values = names.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(values), PATH: toFixedPath(environment.PATH), [markerName]: marker };
}

/** Absolute entries only: a relative one would run programs of the folder that a command stands in (S-12). */
export function toFixedPath(path: string | undefined): string {
  const folders = (path ?? "").split(":").filter((folder) => folder.startsWith("/"));
  return folders.length === 0 ? defaultPath : folders.join(":");
}
