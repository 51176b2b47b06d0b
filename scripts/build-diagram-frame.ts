/** Builds the document in which diagrams are drawn: one file with its scripts in it, which loads nothing (S-112). */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";

const web = join(import.meta.dirname, "../packages/web");

interface DiagramFrame {
  readonly html: string;
  /** What `script-src` allows: the scripts in it, by their hashes. */
  readonly scripts: readonly string[];
  /** Paths of the sources in it. */
  readonly modules: readonly string[];
}

export async function buildDiagramFrame(): Promise<DiagramFrame> {
  const library = createRequire(join(web, "package.json")).resolve("@mermaid-js/tiny");
  const entry = join(web, "src/diagram/frame.ts");
  const options = { bundle: true, write: false, minify: true, format: "iife", target: "es2024" } as const;
  const { outputFiles } = await build({ ...options, entryPoints: [entry], logLevel: "warning" });
  const scripts = [readFileSync(library, "utf8"), outputFiles[0]!.text].map(escapeScript);
  const html = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Diagram</title>',
    "<style>html,body{margin:0;background:transparent}svg{display:block;height:auto}</style></head><body>",
    ...scripts.map((script) => `<script>${script}</script>`),
    "</body></html>\n",
  ].join("");
  return { html, scripts: scripts.map(toSource), modules: [library, entry] };
}

/** In an HTML document, these end a script or change how it is read. In strings and patterns of a script, `\x3c` is `<`. */
function escapeScript(script: string): string {
  const escaped = script.replaceAll(/<(?=\/script|!--|script)/gi, "\\x3c");
  // The parser of HTML reads a line end of two characters as one.
  return escaped.replaceAll("\r\n", "\n");
}

function toSource(script: string): string {
  return `'sha256-${createHash("sha256").update(script).digest("base64")}'`;
}
