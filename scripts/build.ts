/** Builds everything: libraries and types by tsc, the command line as one bundle with split parts by esbuild. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const agent = join(root, "packages/agent");

rmSync(join(agent, "dist/cli"), { recursive: true, force: true });
await build({
  entryPoints: [join(agent, "src/cli/main.ts")],
  outdir: join(agent, "dist/cli"),
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
});

const packages = ["protocol", "documents", "client", "agent"].map((name) => `packages/${name}`);
const types = spawnSync("tsc", ["-b", ...packages], { cwd: root, stdio: "inherit" });
process.exitCode = types.status ?? 1;
