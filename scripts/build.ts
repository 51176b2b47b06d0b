/** Builds everything: libraries and types by tsc, the command line as split bundles by esbuild. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { build as runBuild, type BuildOptions, type Plugin } from "esbuild";

const root = join(import.meta.dirname, "..");
const agent = join(root, "packages/agent");
const output = join(agent, "dist/cli");

/** Adapters of provider packages: one file each, loaded by wire.ts on demand. */
const families = ["openai", "anthropic", "google", "openai-compatible"];

const shared: BuildOptions = {
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  conditions: ["sheaf-source"],
  // Holds the path of a program inside its own package.
  external: ["@vscode/ripgrep"],
  // Names stay, so that an unexpected error can be read; blanks only cost start-up.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: "linked",
  // Packages written for CommonJS ask for Node's modules by require().
  banner: { js: 'import{createRequire as sheafRequire}from"node:module";const require=sheafRequire(import.meta.url);' },
  logLevel: "warning",
};

/**
 * The adapters are a bundle of their own. In one bundle they would share zod with the tools, and every start would load
 * what only they need of it. They share no class with the rest, so nothing is told apart by `instanceof` across.
 */
const separateAdapters: Plugin = {
  name: "separate-adapters",
  setup(build) {
    build.onResolve({ filter: new RegExp(`/live/(${families.join("|")})\\.ts$`) }, ({ path }) => ({
      path: path.replace(/^.*\/live\/(.*)\.ts$/, "./adapters/$1.js"),
      external: true,
    }));
  },
};

rmSync(output, { recursive: true, force: true });
await runBuild({
  ...shared,
  entryPoints: [join(agent, "src/cli/main.ts")],
  outdir: output,
  plugins: [separateAdapters],
});
await runBuild({
  ...shared,
  entryPoints: families.map((family) => join(agent, `src/providers/live/${family}.ts`)),
  outdir: join(output, "adapters"),
});

const packages = ["protocol", "documents", "client", "agent"].map((name) => `packages/${name}`);
const types = spawnSync("tsc", ["-b", ...packages], { cwd: root, stdio: "inherit" });
process.exitCode = types.status ?? 1;
