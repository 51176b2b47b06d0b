/** What a browser loads before anything is shown. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const folder = join(import.meta.dirname, "../../packages/cli/dist/web");
/** Bytes with gzip (issue 7). Grammars and languages come later, each when it is needed. */
const limit = 150_000;

interface FileList {
  readonly files: readonly { readonly path: string; readonly immutable: boolean }[];
}

test("the first load stays below 150 kB with gzip", () => {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const paths = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!);
  const sizes = ["/index.html", ...paths].map((path) => gzipSync(readFileSync(join(folder, path))).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total, "bytes of the first load").toBeLessThan(limit);
  // The rest is there too, but in separate files.
  const { files } = JSON.parse(readFileSync(join(folder, "files.json"), "utf8")) as FileList;
  expect(files.filter(({ path }) => path.startsWith("/assets/") && !paths.includes(path)).length).toBeGreaterThan(40);
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|https?:\/\//);
});
