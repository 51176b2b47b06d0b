/** Few files for a start: a prompt loads one chunk, not the forty that splitting by command would produce. */
import { globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Plugin } from "esbuild";
import { privateRooms, roomImport } from "./published-packages.ts";

/** What a prompt to a real model always loads. These files and all that they import are the core. */
const coreRoots = ["cli/src/commands/prompt.ts", "models/src/live/live-model.ts", "store/src/sqlite.ts"];

/** Commands that share little with a prompt and answer at once, so they do not load the core. */
const lightEntry = /\/cli\/src\/commands\/(help|completion|create-chat)\.ts$/;

/**
 * esbuild puts modules into one chunk when the same entry points reach them. So this plugin makes every file that is
 * loaded by `import()` import the core, which becomes one chunk, and what `command-line.ts` imports, which becomes another. Each
 * file costs a start a third of a millisecond. In return, a command that needs a part of the core loads all of it.
 */
export function createCorePlugin(packages: string): Plugin {
  const core = coreRoots.map((path) => join(packages, path));
  const base = findImports(packages, "cli/src/command-line.ts", /^import (?!type)[^;]*? from "([^"]+)";$/gm);
  const dynamic = globSync(`{${privateRooms.join(",")},cli}/src/**/*.ts`, { cwd: packages }).flatMap((path) =>
    findImports(packages, path, dynamicImport),
  );
  // The library is an entry, too.
  const entries = new Set([join(packages, "cli/src/index.ts"), ...dynamic]);
  return {
    name: "core-chunk",
    setup(build) {
      // A root that is loaded by `import()` is in the core already and needs no separate file.
      build.onLoad({ filter: /\/wire(-\w+)?\.ts$/ }, async ({ path }) => {
        let imports = "";
        const text = await readFile(path, "utf8");
        const contents = text.replaceAll(dynamicImport, (asked, target: string) => {
          const index = core.indexOf(toFile(packages, path, target) ?? "");
          if (index < 0) return asked;
          imports += `import * as coreRoot${index} from ${JSON.stringify(core[index])};\n`;
          return `Promise.resolve(coreRoot${index})`;
        });
        return { contents: `${contents}\n${imports}`, loader: "ts" };
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

const dynamicImport = /\bimport\("([^"]+)"\)/g;

/** The files of the rooms that a file imports, by a pattern whose first group is the module's name. */
function findImports(packages: string, path: string, pattern: RegExp): string[] {
  const file = join(packages, path);
  return [...readFileSync(file, "utf8").matchAll(pattern)]
    .map(([, target]) => toFile(packages, file, target!))
    .filter((found) => found !== undefined);
}

/** The file of a module that is named by a path or as a part of a private room; undefined for another package. */
function toFile(packages: string, from: string, target: string): string | undefined {
  if (target.startsWith(".")) return resolve(from, "..", target);
  const [, room, path] = roomImport.exec(target) ?? [];
  return room && path && join(packages, room, "src", `${path}.ts`);
}
