/** Entries of Cursor's `mcp.json`: the words in `${…}` that it fills in, by its documentation (S-107). */
import { basename } from "node:path";
import { isJsonObject } from "@sheaf/protocol/check-value";
import { findHome, type Environment } from "@sheaf/base/paths";

export interface FillPlaces {
  /** Absolute root, links resolved. */
  readonly workspace: string;
  /** The meaning of `${env:NAME}`. */
  readonly environment: Environment;
}

/** The entry with all words filled in, or the reason why that is impossible. */
export type FilledEntry =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Variables of the user whose values are in it, each once. */
      readonly variables: readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

/** Fills in the words of an entry. Names of fields stay as they are. */
export function fillEntry(entry: unknown, places: FillPlaces): FilledEntry {
  const problems: string[] = [];
  const variables = new Set<string>();
  const fillText = (text: string): string =>
    text.replaceAll(/\$\{[^}]*\}?/g, (word) => {
      const [, variable] = /^\$\{env:([A-Za-z_]\w*)\}$/.exec(word) ?? [];
      const value = variable === undefined ? findPlace(word, places) : places.environment[variable];
      if (variable !== undefined) variables.add(variable);
      if (value !== undefined) return value;
      problems.push(
        variable === undefined ? `${word} is unknown: ${knownWords}` : `your variable ${variable} is not set`,
      );
      return "";
    });
  const fill = (value: unknown): unknown => {
    if (typeof value === "string") return fillText(value);
    if (Array.isArray(value)) return value.map(fill);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([field, item]) => [field, fill(item)]));
  };
  const value = fill(entry);
  const [problem] = problems;
  return problem === undefined ? { ok: true, value, variables: [...variables] } : { ok: false, problem };
}

const knownWords =
  "Sheaf fills in ${env:NAME}, ${userHome}, ${workspaceFolder}, ${workspaceFolderBasename}, ${pathSeparator} and ${/}";

function findPlace(word: string, { workspace, environment }: FillPlaces): string | undefined {
  switch (word) {
    case "${userHome}":
      return findHome(environment);
    case "${workspaceFolder}":
      return workspace;
    case "${workspaceFolderBasename}":
      return basename(workspace);
    case "${pathSeparator}":
    case "${/}":
      return "/";
    default:
      return undefined;
  }
}
