/** `sheaf login PROVIDER`: keeps a key, read from a hidden prompt or from a pipe, never from the command line (S-42). */
import { findUserConfig } from "../../config/config-file.ts";
import { readCredentials, writeCredentials } from "../../config/credential-file.ts";
import { isKeyText } from "../../config/key-text.ts";
import { toUserFiles } from "../../base/paths.ts";
import { toProviders } from "../../config/providers.ts";
import { SheafError } from "../../base/errors.ts";
import type { ParsedArguments } from "../arguments.ts";
import { checkFlags } from "../command-flags.ts";
import { readHiddenLine } from "../hidden-prompt.ts";
import type { CommandIo } from "../io.ts";
import { printText } from "../print-text.ts";
import { chooseProvider } from "../provider-choice.ts";
import { readStandardInput, toInputKind } from "../standard-input.ts";

/** Reads the key and keeps it. @throws SheafError USAGE, CONFIG_INVALID, STORAGE_FULL, CANCELLED. */
export async function runLogin(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  if (parsed.flags["api-key"] !== undefined) {
    throw new SheafError("USAGE", "login takes no --api-key: give the key to its prompt, or pipe it to stdin");
  }
  checkFlags(parsed);
  const [word, ...rest] = parsed.positionals;
  if (word === undefined || rest.length > 0) {
    throw new SheafError(
      "USAGE",
      "login takes one word, the provider, and no key: write sheaf login anthropic, then give the key to its prompt",
    );
  }
  const files = toUserFiles(io.environment);
  const { settings, fault } = findUserConfig(files.config);
  if (fault) throw fault;
  const { credential } = chooseProvider(word, toProviders(settings), { repeatsWord: false });
  // What is wrong with the file is told before the user types a key.
  readCredentials(files.credentials);
  const key = await readKey(credential, io);
  writeCredentials(files.credentials, new Map([...readCredentials(files.credentials), [credential, key]]));
  return printText(`The key of ${credential} is kept in ${files.credentials}.\n`);
}

async function readKey(credential: string, io: CommandIo): Promise<string> {
  const input = toInputKind(io.isInputTerminal);
  const text =
    input === "terminal"
      ? await readHiddenLine(`Key of ${credential} (not shown): `)
      : input === "none"
        ? ""
        : await readStandardInput(process.stdin, { waitsForFirstByte: true });
  const key = text.trim();
  if (key === "") throw new SheafError("USAGE", `no key of ${credential} came: type it, or pipe it to stdin`);
  if (!isKeyText(key)) {
    throw new SheafError(
      "USAGE",
      `what came is no key of ${credential}: it holds a blank or a character that no key has`,
    );
  }
  return key;
}
