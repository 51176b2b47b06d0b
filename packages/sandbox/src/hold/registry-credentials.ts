/** The user's tokens for package registries. Commands see them if a rule `Credentials(@npm)` allows it (S-104). */
import { isAbsolute, join } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { readStats, toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import type { CredentialName } from "@sheaf/base/command-network";
import { listHomes, listSecretPlaces } from "./secret-places.ts";

interface CredentialSource {
  /** Paths below the home folder; all of them are secret places. */
  readonly files: readonly string[];
  /** Variables whose value is the path of such a file. */
  readonly fileVariables: readonly string[];
  /** Variables that usually contain tokens; the files may list further ones. */
  readonly variables: readonly string[];
}

const sources: Readonly<Record<CredentialName, CredentialSource>> = {
  npm: {
    files: [".npmrc", ".yarnrc.yml", ".config/pnpm/rc", ".config/pnpm/auth.ini"],
    fileVariables: ["NPM_CONFIG_USERCONFIG"],
    variables: ["NPM_TOKEN", "NODE_AUTH_TOKEN"],
  },
  python: {
    files: [".config/pip/pip.conf", ".pip/pip.conf", ".config/pypoetry/auth.toml", ".local/share/uv/credentials"],
    fileVariables: ["PIP_CONFIG_FILE"],
    variables: ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX"],
  },
  java: { files: [".m2/settings.xml", ".m2/settings-security.xml"], fileVariables: [], variables: [] },
};

/** Lists the secret places that commands see, absolute. */
function listCredentialFiles(
  names: readonly CredentialName[],
  homes: readonly string[],
  environment: Environment,
): string[] {
  return names.flatMap((name) => [
    ...homes.flatMap((home) => sources[name].files.map((file) => join(home, file))),
    ...sources[name].fileVariables.flatMap((variable) => environment[variable] ?? []).filter(isAbsolute),
  ]);
}

interface HiddenFacts {
  readonly environment: Environment;
  readonly credentials?: readonly CredentialName[] | undefined;
  readonly writable: readonly string[];
  readonly hidden?: readonly string[] | undefined;
}

/**
 * Lists secret places, and files outside of the folders of commands to which variables of package managers point.
 * Leaves out places that a rule allows. `owner` is passed to `listSecretPlaces`.
 */
export function listHiddenPlaces(facts: HiddenFacts, owner?: number): string[] {
  const { environment, credentials = [], writable, hidden = [] } = facts;
  const named = Object.values(sources)
    .flatMap(({ fileVariables }) => fileVariables.flatMap((variable) => environment[variable] ?? []))
    .filter((file) => {
      const place = toRealPlace(file);
      const isInside = writable.some((folder) => isBelow(place, folder));
      // `/dev/null` stays visible: such variables often point to it.
      return isAbsolute(file) && !isInside && readStats(place)?.isFile() === true;
    });
  const shown = listCredentialFiles(credentials, listHomes(environment), environment);
  const places = [...listSecretPlaces(environment, owner), ...named].filter((place) => !shown.includes(place));
  return [...places, ...hidden];
}

const maxBytes = 256 * 1024;

/** Matches `${TOKEN}` and `${env.TOKEN}`. */
const reference = /\$\{(?:env\.)?(\w+)[^}]*\}/g;

/**
 * Returns the variables that commands receive for these credentials. It reads no variable names from files in
 * `folders`, because commands write these folders, and a file of the project may be hostile.
 */
export function toCredentialVariables(
  names: readonly CredentialName[],
  homes: readonly string[],
  folders: readonly string[],
  environment: Environment,
): Record<string, string> {
  const files = listCredentialFiles(names, homes, environment).filter(
    (file) => !folders.some((folder) => isBelow(toRealPlace(file), folder)),
  );
  const named = files.flatMap((file) =>
    [...(readSmallFile(file, maxBytes) ?? "").matchAll(reference)].map(([, variable = ""]) => variable),
  );
  const usual = names.flatMap((name) => [...sources[name].fileVariables, ...sources[name].variables]);
  return Object.fromEntries(
    [...usual, ...named].flatMap((variable) => {
      const value = environment[variable];
      return value === undefined ? [] : [[variable, value] as const];
    }),
  );
}
