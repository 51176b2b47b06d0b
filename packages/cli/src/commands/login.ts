/** `sheaf login PROVIDER` stores a key, from a hidden prompt or a pipe, never from the command line (S-42). */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { SheafError } from "@sheaf/base/errors";
import { toUserFiles } from "@sheaf/base/paths";
import type { ParsedArguments } from "../arguments.ts";
import type { CommandIo } from "../io.ts";
import { chooseProvider, readConfigFile } from "../run-config.ts";
import { readStandardInput } from "../standard-input.ts";
import { printText } from "../standard-output.ts";
import { findUserConfig } from "@sheaf/agent/config/config-file";
import { changeCredentials, readCredentials } from "@sheaf/agent/config/credentials";
import { isKeyText } from "@sheaf/agent/config/key-text";
import { toProviders } from "@sheaf/agent/config/providers";

/** Reads the key and stores it. @throws SheafError USAGE, CONFIG_INVALID, STORAGE_FULL, CANCELLED. */
export async function runLogin(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [word, ...rest] = parsed.positionals;
  if (word === undefined || rest.length > 0) {
    throw new SheafError(
      "USAGE",
      "login takes one word, the provider, and no key: write sheaf login anthropic, then type the key at its prompt",
    );
  }
  const files = toUserFiles(io.environment);
  const { settings } = readConfigFile(io);
  const { credential } = chooseProvider(word, toProviders(settings), { repeatsWord: false });
  // A problem with the file must stop the user before they type a key.
  readCredentials(files.credentials);
  const key = await readKey(credential, io);
  changeCredentials(files.credentials, (keys) => new Map([...keys, [credential, key]]));
  return printText(io, `The key of ${credential} is kept in ${files.credentials}.\n`);
}

async function readKey(credential: string, io: CommandIo): Promise<string> {
  const input = io.findInputKind();
  const text =
    input === "terminal"
      ? await readHiddenLine(io, `Key of ${credential} (not shown): `)
      : input === "none"
        ? ""
        : await readStandardInput(io.openInput());
  const key = text.trim();
  if (key === "") throw new SheafError("USAGE", `the key of ${credential} is empty: type it, or pipe it to stdin`);
  if (!isKeyText(key)) {
    throw new SheafError(
      "USAGE",
      `the input is not a key of ${credential}: it contains a space or another character that no key has`,
    );
  }
  return key;
}

/** Deletes stored keys; without any, it still succeeds. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runLogout(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [word] = parsed.positionals;
  const files = toUserFiles(io.environment);
  const kept = readCredentials(files.credentials);
  const forgotten = word === undefined ? [...kept.keys()] : toCredentials(word, kept, files.config);
  changeCredentials(files.credentials, (keys) => new Map([...keys].filter(([name]) => !forgotten.includes(name))));
  if (forgotten.length > 0) return printText(io, `Forgotten: the key of ${forgotten.join(", ")}.\n`);
  return printText(io, `No key to forget in ${files.credentials}.\n`);
}

/** Returns the stored key for a word, even for an endpoint that was deleted from the configuration. */
function toCredentials(word: string, kept: ReadonlyMap<string, string>, configFile: string): string[] {
  if (kept.has(word)) return [word];
  const { credential } = chooseProvider(word, toProviders(findUserConfig(configFile).settings));
  return kept.has(credential) ? [credential] : [];
}

/** Asks on stderr, and reads a hidden line from stdin. @throws SheafError CANCELLED for Ctrl-C and Ctrl-D. */
export async function readHiddenLine({ openInput, writeError }: CommandIo, question: string): Promise<string> {
  // Readline edits the line in raw mode, in which the terminal shows only readline's output: it goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: openInput(), output: nowhere, terminal: true, historySize: 0 });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // The terminal has stopped showing typed characters by now.
  writeError(question);
  lines.once("line", resolve);
  lines.once("close", () => reject(new SheafError("CANCELLED", "cancelled at the prompt", { source: "user" })));
  try {
    return await promise;
  } finally {
    lines.close();
    writeError("\n");
  }
}
