/** Commands read by tree-sitter's grammar of bash. Importing this module loads the parser: it is imported when the first command must be judged. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Language, Parser } from "web-tree-sitter";
import { readTree } from "./read-tree.ts";
import type { ShellReader, ShellResult } from "./shell-reading.ts";

/** Longer commands are not read. UTF-16 units. */
const MAX_LENGTH = 65_536;

/** A command for which the parser works longer is one that nobody writes. Milliseconds of this thread's own time. */
const MAX_PARSE_MS = 600;

/** Text that bash and the parser see alike: no control, format or private characters, no unusual blanks. */
const ordinary = /^[\t\n\x20-\x7e\p{L}\p{M}\p{N}\p{P}\p{S}]*$/u;

/** Loads the parser; reading is synchronous from then on. */
async function createBashReader(): Promise<ShellReader> {
  const [wasmBinary, grammarBytes] = await Promise.all([
    readFile(findModule("web-tree-sitter.wasm", "web-tree-sitter/web-tree-sitter.wasm")),
    readFile(findModule("tree-sitter-bash.wasm", "tree-sitter-bash/tree-sitter-bash.wasm")),
  ]);
  await Parser.init({ wasmBinary });
  const language = await Language.load(grammarBytes);
  let parser = createParser(language);
  return {
    read(command) {
      if (command.length > MAX_LENGTH) return { ok: false, problem: "more text than is read" };
      if (!ordinary.test(command)) return { ok: false, problem: "invisible or control characters" };
      try {
        return parseCommand(parser, command);
      } catch {
        // The parser ran out of its memory: it is not to be trusted any more.
        parser.delete();
        parser = createParser(language);
        return { ok: false, problem: "more levels than are read" };
      }
    },
  };
}

function createParser(language: Language): Parser {
  return new Parser().setLanguage(language);
}

function parseCommand(parser: Parser, command: string): ShellResult {
  const start = process.threadCpuUsage();
  const progressCallback = (): boolean => process.threadCpuUsage(start).user / 1000 > MAX_PARSE_MS;
  const tree = parser.parse(command, null, { progressCallback });
  if (!tree) {
    parser.reset();
    return { ok: false, problem: "a form that takes too long to read" };
  }
  const cursor = tree.walk();
  try {
    if (tree.rootNode.hasError) return { ok: false, problem: "a form that is not understood" };
    return readTree(cursor, command);
  } finally {
    // What is not freed here, a finalizer frees later, in the middle of another command's tree.
    cursor.delete();
    tree.delete();
  }
}

/** Next to the built program, or in the package that contains the module. */
function findModule(name: string, specifier: string): URL {
  const beside = new URL(`./${name}`, import.meta.url);
  if (existsSync(beside)) return beside;
  return pathToFileURL(createRequire(import.meta.url).resolve(specifier));
}

export const bashReader = await createBashReader();
