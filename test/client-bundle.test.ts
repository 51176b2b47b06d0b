/** The client in a browser: how much there is to load, and that it needs nothing but fetch and web streams. */
import { expect, test } from "vitest";
import { buildForBrowser } from "./support/browser-bundle.ts";

/** Bytes at zlib's level 9; 9.6 kB is the promise. */
const goal = 9.6 * 1024;

test.each([
  ["all that the main entry exports", goal, 'export * from "@sheaf/client";'],
  [
    "everything but the verifier",
    15.2 * 1024,
    'export * from "@sheaf/client"; export * from "@sheaf/client/chat"; export * from "@sheaf/client/react";',
  ],
  ["the client", 9650, 'export { createClient } from "@sheaf/client";'],
  ["the store alone", 400, 'export { createResponseStore } from "@sheaf/client";'],
  [
    "the conversation, with the client",
    14.7 * 1024,
    'export * from "@sheaf/client"; export * from "@sheaf/client/chat";',
  ],
  ["the errors alone", 300, 'export { SheafApiError, StreamBrokenError } from "@sheaf/client";'],
  ["all hooks, with what they need", 7.7 * 1024, 'export * from "@sheaf/client/react";'],
  ["the hook for stores alone", 200, 'export { useStore } from "@sheaf/client/react";'],
  ["types alone", 60, 'export type { ResponseStream } from "@sheaf/client"; export {};'],
])("%s: at most %d bytes", async (title, bound, contents) => {
  const { bytes, gzipBytes, files } = await buildForBrowser(contents, { external: ["react"] });
  process.stdout.write(`client, ${title}: ${bytes} minified ${gzipBytes} gzip\n`);
  expect(gzipBytes).toBeLessThanOrEqual(bound);
  expect(
    files.filter((path) => !/^(?:packages\/(?:protocol|client)\/src|node_modules\/@noble\/hashes)\//.test(path)),
  ).toEqual([]);
});
