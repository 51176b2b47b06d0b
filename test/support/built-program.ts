/** What the built program loads when it answers a prompt. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folder of the bundles. */
export const cliFolder = join(import.meta.dirname, "../../packages/cli/dist/cli");

/** What is loaded by `import()` on the way to an answer of a real model, besides the provider's package. */
const entries = [/^prompt-\w+\.js$/];

interface PromptModules {
  /** Names of bundles, each after those that it needs. */
  readonly files: readonly string[];
  /** Modules of Node that they import (scripts/builtin-modules.ts), `main.js` left out. */
  readonly builtins: readonly string[];
}

/** Reads the built bundles. @throws Error when they are not built. */
export function readPromptModules(): PromptModules {
  const names = readdirSync(cliFolder);
  const files: string[] = [];
  for (const entry of entries)
    addFile(
      names.find((name) => entry.test(name))!,
      files,
    );
  const texts = files.map((name) => readFileSync(join(cliFolder, name), "utf8"));
  const builtins = texts.flatMap((text) => readImports(text, /(?:from|import|sheafBuiltin\()"(node:[\w/]+)"/g));
  return { files, builtins: [...new Set(builtins)].toSorted() };
}

function addFile(name: string, files: string[]): void {
  const text = readFileSync(join(cliFolder, name), "utf8");
  for (const imported of readImports(text, /(?:from|import)"\.\/([\w-]+\.js)"/g)) {
    if (imported !== "main.js" && !files.includes(imported)) addFile(imported, files);
  }
  if (!files.includes(name)) files.push(name);
}

function readImports(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, target]) => target!);
}
