/** Builds everything: libraries and types with tsc, the command line as split bundles with esbuild. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build as runBuild, type BuildOptions, type Plugin } from "esbuild";
import { builtinBanner, withoutFacades } from "./builtin-modules.ts";
import { createCorePlugin } from "./core-chunk.ts";
import { buildPage } from "./build-page.ts";
import { bundleTypes } from "./bundle-types.ts";
import { formatNotices } from "./format-notices.ts";
import { publishedPackages } from "./published-packages.ts";

const root = join(import.meta.dirname, "..");
const cli = join(root, "packages/cli");
const output = join(cli, "dist/cli");

const shared = {
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  conditions: ["sheaf-source"],
  // It finds its program relative to its own package.
  external: ["@vscode/ripgrep"],
  // Names stay, so that unexpected errors are readable; whitespace only slows the start.
  minifyWhitespace: true,
  minifySyntax: true,
  // formatNotices() writes the whole licences.
  legalComments: "none",
  metafile: true,
  banner: { js: builtinBanner },
  logLevel: "warning",
} satisfies BuildOptions;

/** The SDKs of providers, MCP and ACP include zod with its messages in fifty languages; only English is used. */
const englishOnly: Plugin = {
  name: "english-only",
  setup(build) {
    build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

rmSync(output, { recursive: true, force: true });
// The library is an entry of the same bundle: it shares the program's chunks.
const program = await runBuild({
  ...shared,
  entryPoints: [
    join(cli, "src/main.ts"),
    join(cli, "src/index.ts"),
    join(root, "packages/agent/src/assemble/response-process.ts"),
  ],
  entryNames: "[name]",
  outdir: output,
  plugins: [englishOnly, withoutFacades, createCorePlugin(join(root, "packages"))],
});
// Threads are loaded by their paths, next to the code that starts them.
const threads = await runBuild({
  ...shared,
  entryPoints: [
    "store/src/sqlite-worker.ts",
    "agent/src/run/schema-worker.ts",
    "agent/src/network/markdown-worker.ts",
  ].map((path) => join(root, "packages", path)),
  entryNames: "[name]",
  outdir: output,
  plugins: [withoutFacades],
});
cpSync(join(root, "node_modules/mdream/wasm/mdream_edge_bg.wasm"), join(output, "mdream_edge_bg.wasm"));

const page = await buildPage();

// Licences of the third-party packages that the build includes.
const bundled = [program, threads].flatMap(({ metafile }) => Object.keys(metafile.inputs));
// The drawing library is one file that holds further packages.
const inside = readFileSync(join(root, "scripts/drawing-notices.txt"), "utf8");
writeFileSync(join(cli, "dist/THIRD-PARTY-NOTICES.txt"), formatNotices([...bundled, ...page.modules]) + inside);

const packages = publishedPackages.map((name) => `packages/${name}`);
// Every published package contains the licence.
for (const folder of packages) cpSync(join(root, "LICENSE"), join(root, folder, "LICENSE"));
const types = spawnSync("tsc", ["-b", ...packages], { cwd: root, stdio: "inherit" });
process.exitCode = types.status ?? 1;

// tsc leaves the output of deleted sources.
for (const folder of packages) {
  const made = join(root, folder, folder.endsWith("cli") ? "dist/lib" : "dist");
  for (const path of globSync("**/*.{js,d.ts}{,.map}", { cwd: made })) {
    const source = path.replace(/\.(?:js|d\.ts)(?:\.map)?$/, ".ts");
    if (!existsSync(join(root, folder, "src", source))) rmSync(join(made, path));
  }
}

if (types.status === 0) await bundleTypes(join(root, "packages"), join(cli, "dist/types/index.d.ts"));
