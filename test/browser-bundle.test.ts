/** The libraries in a browser: how much there is to load, and that they need nothing but the language. */
import { runInNewContext } from "node:vm";
import { afterAll, describe, expect, test } from "vitest";
import { type BrowserBundle, buildForBrowser, wholeLibraries } from "./support/browser-bundle.ts";
import { runScenario } from "./support/library-scenario.ts";
import * as libraries from "./support/whole-libraries.ts";

/** At most 19.2 KiB at zlib's level 9, what a page should have to load: 17.1 of our own, and 2.1 of SHA-256. */
const goal = 19_700;

const reader = 'export { createReducer, createStreamDecoder } from "@sheaf/protocol";';
const protocol = 'export * from "@sheaf/protocol";';
const bothMain = `export * from "@sheaf/documents"; ${protocol}`;
const wire = 'export * from "@sheaf/protocol/encode"; export * from "@sheaf/protocol/ndjson";';
const parsers = 'export { createJsonScanner, createTextParser, parseText, toLanguage } from "@sheaf/documents";';
const maker = 'export { createAssembler } from "@sheaf/documents"; export { encodeSse } from "@sheaf/protocol/encode";';
const makerAndViewer =
  'export { createAssembler } from "@sheaf/documents"; export { createReducer } from "@sheaf/protocol";';
const makerAndReader = `${maker} export { createTextParser } from "@sheaf/documents"; export { createReducer, createSseDecoder } from "@sheaf/protocol";`;
const modelStreams = 'export { createModelStreamDecoder, toRunEvents } from "@sheaf/documents/model-streams";';

const lines: string[] = [];
afterAll(() => process.stdout.write(`\nbrowser bundles (goal of a page: ${goal} bytes gzip)\n${lines.join("\n")}\n`));

async function measure(title: string, contents: string): Promise<BrowserBundle> {
  const bundle = await buildForBrowser(contents);
  const [bytes, gzip] = [bundle.bytes, bundle.gzipBytes].map((size) => String(size).padStart(6));
  const note = bundle.gzipBytes > goal ? ", above the goal" : "";
  lines.push(`  ${title.padEnd(62)} ${bytes} minified ${gzip} gzip${note}`);
  return bundle;
}

describe("size", () => {
  test.each([
    ["a page that reads a stream: decoder and reducer", 5_450, reader],
    ["the main entry of the protocol: reducer and decoders", 8_700, protocol],
    ["the main entry of the protocol, and the parsers of text and arguments", 15_700, protocol + parsers],
    ["documents of a run log as an event stream", 18_500, maker],
    ["documents of a run log, and what shows them", goal, makerAndViewer],
  ])("%s: at most %d bytes", async (title, bound, contents) => {
    expect((await measure(title, contents)).gzipBytes).toBeLessThanOrEqual(bound);
  });

  test.each([
    ["text alone: parseText", 6_700, 'export { parseText } from "@sheaf/documents";'],
    ["arguments alone: createJsonScanner", 1_100, 'export { createJsonScanner } from "@sheaf/documents";'],
    ["types alone", 60, 'export type { Document } from "@sheaf/protocol"; export {};'],
  ])("what is not imported is left out, %s: at most %d bytes", async (title, bound, contents) => {
    expect((await measure(title, contents)).gzipBytes).toBeLessThanOrEqual(bound);
  });

  // A page with both sides of a stream is above the goal. Every bound leaves about 4 % to grow.
  test.each([
    ["documents of a run log, the text parser, and their reader", 20_700, makerAndReader],
    ["both packages without their further entries", 23_900, bothMain],
    ["the same, with what writes and reads all wire forms", 24_500, bothMain + wire],
    ["documents of any model's stream, and their reader", 40_000, makerAndReader + modelStreams],
    ["everything that the two packages export", 49_000, wholeLibraries],
  ])("%s: no more than %d bytes", async (title, bound, contents) => {
    expect((await measure(title, contents)).gzipBytes).toBeLessThanOrEqual(bound);
  });
});

describe("needs", () => {
  test("the two libraries and SHA-256 are all there is in it: no built-in module, no other package", async () => {
    const { files, source } = await buildForBrowser(wholeLibraries);
    expect(
      files.filter((path) => !/^(?:packages\/(?:protocol|documents)\/src|node_modules\/@noble\/hashes)\//.test(path)),
    ).toEqual([]);
    expect(source).not.toMatch(/\b(?:import|require)\s*\(|\bfrom\s*["']|["']node:/);
  });

  test("an import of a built-in module would be noticed", async () => {
    await expect(buildForBrowser('import "node:fs";')).rejects.toThrow(/node:fs/);
  });

  test("it runs in an engine that has the language and no interfaces, with Node's results", async () => {
    const { source } = await buildForBrowser(
      `${wholeLibraries}export { runScenario } from "./support/library-scenario.ts";`,
      { format: "iife", globalName: "library" },
    );
    const context = { result: Promise.resolve("") };
    runInNewContext(`${source}; result = library.runScenario(library).then(JSON.stringify);`, context);
    const inNode: unknown = JSON.parse(JSON.stringify(await runScenario(libraries)));
    expect(inNode).toMatchObject({ violation: null, text: { same: true }, response: { status: "completed" } });
    expect(JSON.parse(await context.result)).toEqual(inNode);
  });
});
