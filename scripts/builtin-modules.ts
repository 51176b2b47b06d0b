/** Node's modules without their facade: an `import` reads all exports of a module, and so loads code that nobody uses. */
import { builtinModules } from "node:module";
import type { Plugin } from "esbuild";

/** First line of each bundle: access to Node's modules, also for packages that call `require`. */
export const builtinBanner = "const sheafBuiltin=process.getBuiltinModule,require=sheafBuiltin;";

/**
 * `import { readFileSync } from "node:fs"` alone costs 5 ms, because the module has exports that load streams and promises
 * when they are read. This plugin reads an export only if something imports it.
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

/** Modules with nothing but functions, which most runs never call: the first call loads them. */
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
