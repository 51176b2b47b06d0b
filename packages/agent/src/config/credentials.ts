/** Where the key of a provider comes from: the flag, the environment, then what `sheaf login` kept (C5). */
import { SheafError } from "../base/errors.ts";
import { readCredentials } from "./credential-file.ts";
import { isKeyText } from "./key-text.ts";
import type { Environment } from "../base/paths.ts";

/** Whose key is looked for. */
export interface KeyOwner {
  /** Name in the credential file. */
  readonly credential: string;
  /** Variables that may hold it; the first one that is set counts. */
  readonly keyVariables: readonly string[];
}

/** Where to look. */
export interface KeySources {
  /** `--api-key`. */
  readonly flag?: string | undefined;
  readonly environment: Environment;
  readonly credentialsFile: string;
}

/** A key and where it was. */
export type FoundKey =
  | { readonly source: "flag" | "login"; readonly value: string }
  | { readonly source: "env"; readonly value: string; readonly variable: string }
  | { readonly source: "none"; readonly value: undefined };

/**
 * The key of a provider; an empty one counts as none.
 * @throws SheafError USAGE or CONFIG_INVALID for what can be no key; the message never holds it (S-41).
 */
export function findKey({ credential, keyVariables }: KeyOwner, sources: KeySources): FoundKey {
  const flag = sources.flag?.trim();
  if (flag) {
    if (!isKeyText(flag)) throw new SheafError("USAGE", "--api-key holds a blank or a character that no key has");
    return { source: "flag", value: flag };
  }
  for (const variable of keyVariables) {
    const value = sources.environment[variable]?.trim();
    if (!value) continue;
    if (!isKeyText(value)) {
      throw new SheafError("CONFIG_INVALID", `${variable} holds a blank or a character that no key has: set it anew`);
    }
    return { source: "env", value, variable };
  }
  const value = readCredentials(sources.credentialsFile).get(credential);
  return value === undefined ? { source: "none", value: undefined } : { source: "login", value };
}
