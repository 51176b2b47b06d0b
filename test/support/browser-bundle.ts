/** The libraries as a bundler makes them ready for a browser. */
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../..");

export interface BrowserBundle {
  readonly source: string;
  /** Bytes as they are, and at zlib's level 9. */
  readonly bytes: number;
  readonly gzipBytes: number;
  /** Paths of all files in it but those of the test, from the root of the repository. */
  readonly files: readonly string[];
}

export interface BrowserBundleOptions {
  readonly format?: "esm" | "iife";
  /** Name of the global that an `iife` makes. */
  readonly globalName?: string;
  /** Packages that stay imports. */
  readonly external?: readonly string[];
  /** Packages by the package that takes their place. */
  readonly alias?: Readonly<Record<string, string>>;
}

/** Both libraries with all that they export. */
export const wholeLibraries = 'export * from "./support/whole-libraries.ts";';

/**
 * Bundles and minifies a module that imports the libraries. Throws on an import that a browser cannot have, such as
 * a built-in module of Node.
 */
export async function buildForBrowser(
  contents: string,
  { format = "esm", globalName, external = [], alias = {} }: BrowserBundleOptions = {},
): Promise<BrowserBundle> {
  const result = await build({
    stdin: { contents, resolveDir: join(root, "test"), loader: "ts" },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format,
    ...(globalName === undefined ? {} : { globalName }),
    platform: "browser",
    external: [...external],
    alias: { ...alias },
    target: "es2024",
    conditions: ["sheaf-source"],
    charset: "utf8",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const [file] = result.outputFiles;
  if (file === undefined) throw new Error("esbuild wrote no file");
  return {
    source: file.text,
    bytes: file.contents.length,
    gzipBytes: gzipSync(file.contents, { level: 9 }).length,
    files: Object.keys(result.metafile.inputs).filter((path) => path !== "<stdin>" && !path.startsWith("test/")),
  };
}
