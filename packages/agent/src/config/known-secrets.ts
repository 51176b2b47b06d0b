/** Secrets that this process knows: values of its environment and stored keys. */
import { createTextMask, type TextMask } from "@sheaf/base/text-mask";
import { toUserFiles, type Environment } from "@sheaf/base/paths";
import { readCredentials } from "./credentials.ts";

/** Names of variables with a secret value. `GIT_AUTHOR_NAME` and `SSH_AUTH_SOCK` don't match. */
const secretName =
  /(?:^|_)(?:\w*KEY|\w*TOKEN|\w*SECRET|PASS|\w*PASSW(?:OR)?D|PASSPHRASE|PWD|PAT|CREDENTIALS?|COOKIE|DSN)$/i;

/** Creates a mask for every kind of secret, including the values that this process knows (S-256). */
export function createKnownMask(environment: Environment): TextMask {
  const variables = Object.entries(environment).flatMap(([name, value = ""]) =>
    // A path is not a secret, whatever its variable is called.
    secretName.test(name) && !value.startsWith("/") ? [value.trim()] : [],
  );
  return createTextMask([...variables, ...listStoredKeys(environment)]);
}

function listStoredKeys(environment: Environment): string[] {
  try {
    return [...readCredentials(toUserFiles(environment).credentials).values()];
  } catch {
    // A run that needs the file reports its fault.
    return [];
  }
}
