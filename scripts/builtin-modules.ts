/** Modules of Node without their facade: an `import` of one reads all its exports, and so loads what nobody asked for. */
import { builtinModules } from "node:module";
import type { Plugin } from "esbuild";

/** What stands at the head of each bundle: the modules of Node, also for packages that ask by `require`. */
export const builtinBanner = "const sheafBuiltin=process.getBuiltinModule,require=sheafBuiltin;";

/**
 * `import { readFileSync } from "node:fs"` alone costs 5 ms, for the module has exports that load streams and promises
 * when they are read. Here each export is read only if somebody imports it.
 */
export const withoutFacades: Plugin = {
  name: "without-facades",
  setup(build) {
    build.onResolve({ filter: /^[\w:/]+$/ }, ({ path, kind }) => {
      const name = path.replace(/^node:/, "");
      const isBuiltin = builtinModules.includes(name) || builtinModules.includes(path);
      if (!isBuiltin || kind !== "import-statement") return undefined;
      return { path: name, namespace: "builtin", sideEffects: false };
    });
    build.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({ contents: formatModule(path) }));
  },
};

/** Modules of functions alone that most runs never call: they are loaded by the first call. */
const lazyModules: ReadonlySet<string> = new Set(["child_process", "dns/promises"]);

function formatModule(name: string): string {
  const module = process.getBuiltinModule(`node:${name}`) as object;
  const names = Object.keys(module).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key) && key !== "default");
  if (lazyModules.has(name)) {
    const functions = names.filter((key) => typeof Reflect.get(module, key) === "function");
    const calls = functions.map(
      (key) => `export const ${key} = (...words) => sheafBuiltin("node:${name}").${key}(...words);`,
    );
    return calls.join("\n");
  }
  const exported = names.map((key) => `export const ${key} = /* @__PURE__ */ (() => builtin.${key})();`);
  return `const builtin = sheafBuiltin("node:${name}");\nexport default builtin;\n${exported.join("\n")}\n`;
}
