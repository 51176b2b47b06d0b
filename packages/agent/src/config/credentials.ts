/** The key of a provider: from the flag, the environment, or the file of `sheaf login`, in this order (C5). */
import { listProblems, parseJson } from "@sheaf/protocol/check-value";
import * as s from "@sheaf/protocol/schema";
import { SheafError } from "@sheaf/base/errors";
import { isKeyText } from "./key-text.ts";
import { changePrivateFile, createDamageError, readPrivateFile, type PrivateFile } from "./private-file.ts";
import type { Environment } from "@sheaf/base/paths";
import type { ProviderFacts } from "./provider-presets.ts";

/** The provider whose key is wanted. */
type KeyOwner = Pick<ProviderFacts, "credential" | "keyVariables">;

export interface KeySources {
  /** `--api-key`. */
  readonly flag?: string | undefined;
  readonly environment: Environment;
  readonly credentialsFile: string;
}

/** A key and its source. */
export type FoundKey =
  | { readonly source: "flag" | "login"; readonly value: string }
  | { readonly source: "env"; readonly value: string; readonly variable: string }
  | { readonly source: "none"; readonly value: undefined };

/**
 * The key of a provider; an empty text is not a key.
 * @throws SheafError USAGE or CONFIG_INVALID for a text that cannot be a key. The message never contains it (S-41).
 */
export function findKey({ credential, keyVariables }: KeyOwner, sources: KeySources): FoundKey {
  const flag = sources.flag?.trim();
  if (flag) {
    if (!isKeyText(flag))
      throw new SheafError("USAGE", "--api-key contains a space or a character that no key has: copy the key again");
    return { source: "flag", value: flag };
  }
  for (const variable of keyVariables) {
    const value = sources.environment[variable]?.trim();
    if (!value) continue;
    if (!isKeyText(value)) {
      throw new SheafError(
        "CONFIG_INVALID",
        `${variable} contains a space or a character that no key has: set it again`,
      );
    }
    return { source: "env", value, variable };
  }
  const value = readCredentials(sources.credentialsFile).get(credential);
  return value === undefined ? { source: "none", value: undefined } : { source: "login", value };
}

const keyFile = s.object({
  version: s.integer({ minimum: 1, maximum: 1 }),
  keys: s.record(s.refine(s.string(), "a key", isKeyText)),
});

/** Keys by provider. */
export type Credentials = ReadonlyMap<string, string>;

function toTarget(file: string): PrivateFile {
  return {
    file,
    subject: "the file of keys",
    remedy: "remove it and run sheaf login",
    exposure: ", and replace its keys if others may have read them",
  };
}

/**
 * The keys at `file`; empty if the file does not exist.
 * @throws SheafError CONFIG_INVALID if others can read the file, if it belongs to someone else, or if it is damaged.
 */
export function readCredentials(file: string): Credentials {
  return parseCredentials(readPrivateFile(toTarget(file)), file);
}

function parseCredentials(text: string | undefined, file: string): Credentials {
  if (text === undefined) return new Map();
  const value = parseJson(text);
  if (listProblems(keyFile, value).length > 0) throw createDamageError(toTarget(file));
  return new Map(Object.entries((value as s.ValueOf<typeof keyFile>).keys));
}

/**
 * Changes the keys under their lock, and removes a file without keys. `change` may be called twice.
 * @throws SheafError STORAGE_FULL, STORAGE_LOCKED; CONFIG_INVALID when the file cannot be read or written.
 */
export function changeCredentials(file: string, change: (keys: Credentials) => Credentials): void {
  changePrivateFile(toTarget(file), (text) => formatCredentials(change(parseCredentials(text, file))));
}

function formatCredentials(credentials: Credentials): string | undefined {
  if (credentials.size === 0) return undefined;
  const keys = Object.fromEntries([...credentials].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return `${JSON.stringify({ version: 1, keys }, undefined, 2)}\n`;
}
