/** Few files for a start: a prompt loads one chunk, not the forty that splitting by command would produce. */
import { globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { Plugin } from "esbuild";

/** What a prompt to a real model always loads. These files and all that they import are the core. */
const coreRoots = ["cli/commands/prompt.ts", "model/live/live-model.ts", "store/sqlite.ts"];

/** Commands that share little with a prompt and answer at once, so they do not load the core. */
const lightEntry = /\/cli\/commands\/(help|completion|create-chat)\.ts$/;

/**
 * esbuild puts modules into one chunk when the same entry points reach them. So this plugin makes every file that is
 * loaded by `import()` import the core, which becomes one chunk, and what `main.ts` imports, which becomes another. Each
 * file costs a start a third of a millisecond. In return, a command that needs a part of the core loads all of it.
 */
export function createCorePlugin(source: string): Plugin {
  const core = coreRoots.map((path) => join(source, path));
  const base = readImports(join(source, "cli/command-line.ts"));
  // The library is an entry, too.
  const entries = new Set([join(source, "index.ts"), ...findDynamicImports(source)]);
  return {
    name: "core-chunk",
    setup(build) {
      // A root that is loaded by `import()` is in the core already and needs no separate file.
      build.onLoad({ filter: /\/wire(-\w+)?\.ts$/ }, async ({ path }) => {
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

/** The files of a folder that another one of it loads by `import()`. */
function findDynamicImports(folder: string): string[] {
  return globSync("**/*.ts", { cwd: folder }).flatMap((path) => {
    const imports = readFileSync(join(folder, path), "utf8").matchAll(/\bimport\("(\.[^"]+)"\)/g);
    return [...imports].map(([, target]) => resolve(folder, path, "..", target!));
  });
}

/** The files that a file imports statically, types excluded. */
function readImports(file: string): string[] {
  const imports = readFileSync(file, "utf8").matchAll(/^import (?!type)[^;]*? from "(\.[^"]+)";$/gm);
  return [...imports].map(([, target]) => resolve(file, "..", target!));
}
