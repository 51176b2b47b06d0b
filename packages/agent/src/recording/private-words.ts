/** What in the environment is private: the user's names, and values that look like secrets. */
import { basename } from "node:path";
import type { PrivateWords } from "./redact.ts";

const secretName = /key|token|secret|passw|credential|auth|cookie|private|dsn/i;

/** Shorter values are no secrets, and stand everywhere. UTF-16 units. */
const MIN_SECRET = 6;

/** Names that tell nothing about anybody. */
const commonNames: ReadonlySet<string> = new Set(["root", "user", "home", "node", "runner", "ubuntu"]);

/** @param home the user's folder. */
export function readPrivateWords(
  environment: Readonly<Record<string, string | undefined>>,
  home: string,
): PrivateWords {
  const names = [environment.USER, environment.LOGNAME, environment.USERNAME, basename(home)];
  const secrets = Object.entries(environment).flatMap(([name, value = ""]) =>
    // A path or a switch is none, whatever its variable is called.
    secretName.test(name) && value.length >= MIN_SECRET && !value.startsWith("/") ? [value] : [],
  );
  return {
    names: [...new Set(names)].filter(
      (name) => name !== undefined && name.length > 2 && !commonNames.has(name),
    ) as string[],
    secrets: [...new Set(secrets)],
  };
}
