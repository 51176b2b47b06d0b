/** Files of the built page, and the headers of each (S-62). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { securityHeaders, toFramePolicy } from "./security-headers.ts";

interface PageFile {
  readonly content: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PageFiles {
  /** Finds a file by its address, for instance `/` or `/assets/index-4f2a.js`; only files in the list. */
  readonly find: (path: string) => PageFile | undefined;
}

/** A row of `files.json`, which the build of the page writes. */
interface ListedFile {
  readonly path: string;
  readonly type: string;
  readonly sha256: string;
  readonly immutable: boolean;
  /** Hashes of the only scripts that may run in a document for untrusted text (S-112). */
  readonly scripts?: readonly string[];
}

/** @param folder of the built page; without one there, `find` returns undefined */
export function createPageFiles(folder: string): PageFiles {
  const listed = new Map(readList(folder).map((file) => [file.path, file]));
  const known = new Map<string, PageFile>();
  return {
    find(path) {
      const name = path === "/" ? "/index.html" : path;
      const file = listed.get(name);
      if (file === undefined) return undefined;
      const found = known.get(name) ?? readFile(folder, file);
      known.set(name, found);
      return found;
    },
  };
}

function readList(folder: string): readonly ListedFile[] {
  try {
    return (JSON.parse(readFileSync(join(folder, "files.json"), "utf8")) as { files: ListedFile[] }).files;
  } catch {
    // A library without the built page serves the Chat API alone.
    return [];
  }
}

function readFile(folder: string, { path, type, sha256, immutable, scripts }: ListedFile): PageFile {
  return {
    content: new Uint8Array(readFileSync(join(folder, path))),
    headers: {
      ...securityHeaders,
      ...(scripts && { "Content-Security-Policy": toFramePolicy(scripts) }),
      "Content-Type": type,
      "Cache-Control": immutable ? "public, max-age=31536000, immutable" : "no-cache",
      ETag: `"${sha256.slice(0, 32)}"`,
    },
  };
}
