/** Few files for a start: what a prompt loads is one chunk, not the forty that splitting by command would make of it. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { Plugin } from "esbuild";

/** What the prompt of a real model always loads: with all that they import, these are the core. */
const coreRoots = ["cli/commands/prompt.ts", "model/live/live-model.ts", "store/sqlite.ts"];

/** Commands that share hardly anything with a prompt and answer at once: they do not wait for the core. */
const lightEntry = /\/cli\/commands\/(help|completion|create-chat)\.ts$/;

/**
 * esbuild puts modules into one chunk when the same entry points reach them. So whatever is loaded by `import()` is made
 * to import the core, which then is one chunk, and what `main.ts` imports, which is another. A file costs a start a third
 * of a millisecond. The price: a command that needs a part of the core loads it whole.
 */
export function createCorePlugin(source: string): Plugin {
  const core = coreRoots.map((path) => join(source, path));
  const base = readImports(join(source, "cli/main.ts"));
  const entries = new Set<string>();
  return {
    name: "core-chunk",
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) => {
        if (kind === "dynamic-import") entries.add(resolve(resolveDir, path));
        return undefined;
      });
      // A root that is asked for by `import()` stands in the core already: no file of its own.
      build.onLoad({ filter: /\/wire\.ts$/ }, async ({ path }) => {
        let contents = await readFile(path, "utf8");
        for (const [index, root] of core.entries()) {
          const name = `coreRoot${index}`;
          const asked = `import("${relative(dirname(path), root)}")`;
          if (!contents.includes(asked)) continue;
          contents = `${contents.replaceAll(asked, `Promise.resolve(${name})`)}\nimport * as ${name} from ${JSON.stringify(root)};\n`;
        }
        return { contents, loader: "ts" };
      });
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!entries.has(path) && !core.includes(path)) return undefined;
        const roots = lightEntry.test(path) ? base : [...base, ...core];
        const imports = roots.filter((root) => root !== path).map((root) => `import ${JSON.stringify(root)};`);
        return { contents: `${await readFile(path, "utf8")}\n${imports.join("")}\n`, loader: "ts" };
      });
    },
  };
}

/** The files that a file imports by `from`, types left out. */
function readImports(file: string): string[] {
  const imports = readFileSync(file, "utf8").matchAll(/^import (?!type)[^;]*? from "(\.[^"]+)";$/gm);
  return [...imports].map(([, target]) => resolve(file, "..", target!));
}
