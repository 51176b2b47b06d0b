/** The libraries in a browser as it is, without a polyfill: the very bundle that `test/browser-bundle.test.ts` weighs. */
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { buildForBrowser, wholeLibraries } from "../support/browser-bundle.ts";
import { describeWithChromium } from "../support/chromium.ts";
import { runScenario } from "../support/library-scenario.ts";
import { verifies } from "../support/verifies.ts";
import * as libraries from "../support/whole-libraries.ts";

describeWithChromium("in Chromium", (browser) => {
  let page: Page;
  beforeAll(async () => {
    const context = await browser.newContext({ offline: true });
    page = await context.newPage();
  });

  const title = "text, model streams, documents, SSE and reducer give what they give in Node";
  test(verifies(["N25", "N43", "N53"], title), async () => {
    const [library, scenario] = await Promise.all([
      buildForBrowser(wholeLibraries),
      buildForBrowser('export { runScenario } from "./support/library-scenario.ts";'),
    ]);
    const inChromium = await page.evaluate(
      `Promise.all([import(${toAddress(library.source)}), import(${toAddress(scenario.source)})])
        .then(([library, { runScenario }]) => runScenario(library))
        .then(JSON.stringify)`,
    );
    const inNode: unknown = JSON.parse(JSON.stringify(await runScenario(libraries)));
    expect(JSON.parse(String(inChromium))).toEqual(inNode);
  });

  test("what fails in the page fails here", async () => {
    await expect(page.evaluate(`import(${toAddress("export default missing();")})`)).rejects.toThrow(/missing/);
  });
});

/** A literal of the address of a module that holds this source. */
function toAddress(source: string): string {
  return JSON.stringify(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);
}
