/** The reader of this process: loaded once, by the first import of this module. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { createBashReader } from "./bash-reader.ts";

/** Beside the built program, or in the package that brings the module. */
function findModule(name: string, specifier: string): URL {
  const beside = new URL(`./${name}`, import.meta.url);
  if (existsSync(beside)) return beside;
  return pathToFileURL(createRequire(import.meta.url).resolve(specifier));
}

export const bashReader = await createBashReader({
  runtime: findModule("web-tree-sitter.wasm", "web-tree-sitter/web-tree-sitter.wasm"),
  grammar: findModule("tree-sitter-bash.wasm", "tree-sitter-bash/tree-sitter-bash.wasm"),
});
