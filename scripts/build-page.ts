/** Builds the page into the agent's package: files with hashed names, and the list of files that the server may serve. */
import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { build as runBuild, type InlineConfig } from "vite";
import { buildDiagramFrame } from "./build-diagram-frame.ts";

const root = join(import.meta.dirname, "..");
const web = join(root, "packages/web");

/** Folder of the built page. */
export const pageFolder = join(root, "packages/cli/dist/web");

const frameName = "diagram.html";

/** One file that the server serves. */
export interface PageFile {
  /** Path in the address, for instance `/assets/index-4f2a.js`. */
  readonly path: string;
  /** Value of `content-type`. */
  readonly type: string;
  /** Hex, of the content. */
  readonly sha256: string;
  /** The name contains a hash of the content, so browsers may cache it for ever. */
  readonly immutable: boolean;
  /** Of a document for foreign text: the only scripts that may run in it, as its policy names them. */
  readonly scripts?: readonly string[];
}

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * In browsers this package decodes entities by parsing HTML, which Trusted Types forbid (S-62). Its table for Node does
 * not.
 */
function findEntityTable(): string {
  const parser = createRequire(createRequire(join(web, "package.json")).resolve("mdast-util-from-markdown"));
  return join(dirname(parser.resolve("decode-named-character-reference")), "index.js");
}

/** Options of the build; `entry` is the HTML file, relative to `packages/web`. */
export function toViteConfig(entry: string, output: string): InlineConfig {
  return {
    root: web,
    configFile: false,
    logLevel: "warn",
    resolve: {
      conditions: ["sheaf-source", "module", "browser", "production"],
      alias: { "decode-named-character-reference": findEntityTable() },
    },
    build: {
      outDir: output,
      emptyOutDir: true,
      target: "es2024",
      // Older browsers would get a list of languages in place of `:dir(rtl)`.
      cssTarget: ["chrome120", "firefox121", "safari17"],
      // The content security policy forbids `data:` addresses and inline scripts.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: { input: join(web, entry) },
    },
  };
}

export interface Page {
  readonly files: readonly PageFile[];
  /** Paths of the sources in it. */
  readonly modules: readonly string[];
}

/** Builds the page and writes `files.json` next to it. */
export async function buildPage(): Promise<Page> {
  const result = await runBuild(toViteConfig("index.html", pageFolder));
  const frame = await buildDiagramFrame();
  writeFileSync(join(pageFolder, frameName), frame.html);
  const files = globSync("**/*.*", { cwd: pageFolder })
    .toSorted()
    .map((name) => ({ ...toPageFile(name), ...(name === frameName && { scripts: frame.scripts }) }));
  writeFileSync(join(pageFolder, "files.json"), `${JSON.stringify({ files }, undefined, 2)}\n`);
  const outputs = "output" in result ? result.output : [];
  const modules = outputs.flatMap((output) => (output.type === "chunk" ? output.moduleIds : []));
  return { files, modules: [...modules, ...frame.modules] };
}

function toPageFile(name: string): PageFile {
  const type = contentTypes[extname(name)];
  if (type === undefined) throw new Error(`${name} has no content type: add its extension to scripts/build-page.ts`);
  const sha256 = createHash("sha256")
    .update(readFileSync(join(pageFolder, name)))
    .digest("hex");
  return { path: `/${name.replaceAll("\\", "/")}`, type, sha256, immutable: name.startsWith("assets/") };
}
