/** `sheaf logout [PROVIDER]`: forgets the key of a provider, or all that `sheaf login` kept. */
import { findUserConfig } from "../../config/config-file.ts";
import { readCredentials, writeCredentials } from "../../config/credential-file.ts";
import { toUserFiles } from "../../base/paths.ts";
import { toProviders } from "../../config/providers.ts";
import { SheafError } from "../../base/errors.ts";
import type { ParsedArguments } from "../arguments.ts";
import { checkFlags } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { printText } from "../print-text.ts";
import { chooseProvider } from "../provider-choice.ts";

/** Nothing to forget is no failure. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runLogout(parsed: ParsedArguments, { environment }: CommandIo): Promise<number> {
  checkFlags(parsed);
  const [word, ...rest] = parsed.positionals;
  if (rest.length > 0) {
    throw new SheafError("USAGE", `logout takes one provider; "${parsed.positionals.join(" ")}" was given`);
  }
  const files = toUserFiles(environment);
  const kept = readCredentials(files.credentials);
  const forgotten = word === undefined ? [...kept.keys()] : toCredentials(word, kept, files.config);
  writeCredentials(files.credentials, new Map([...kept].filter(([name]) => !forgotten.includes(name))));
  if (forgotten.length > 0) return printText(`Forgotten: the key of ${forgotten.join(", ")}.\n`);
  return printText(`There was no key to forget in ${files.credentials}.\n`);
}

/** The kept key that the word means. The key of an endpoint that the configuration no longer names can go too. */
function toCredentials(word: string, kept: ReadonlyMap<string, string>, configFile: string): string[] {
  if (kept.has(word)) return [word];
  const { credential } = chooseProvider(word, toProviders(findUserConfig(configFile).settings));
  return kept.has(credential) ? [credential] : [];
}
