/** The client in a browser as it is. */
import { encodeSse } from "@sheaf/protocol/encode";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { response, stream } from "../../packages/protocol/test/event-log.ts";
import { buildForBrowser } from "../support/browser-bundle.ts";
import type * as scenario from "../support/client-scenario.ts";
import { describeWithChromium } from "../support/chromium.ts";
import { verifies } from "../support/verifies.ts";

describeWithChromium("the client in Chromium", (browser) => {
  let page: Page;
  beforeAll(async () => {
    page = await (await browser.newContext({ offline: true })).newPage();
    const { source } = await buildForBrowser('export * from "./support/client-scenario.ts";', {
      format: "iife",
      globalName: "scenario",
      alias: { react: "preact/compat" },
    });
    await page.evaluate(source);
  });

  const run = <Name extends keyof typeof scenario>(
    name: Name,
    ...values: Parameters<(typeof scenario)[Name]>
  ): ReturnType<(typeof scenario)[Name]> =>
    page.evaluate(`scenario.${name}(...${JSON.stringify(values)})`) as ReturnType<(typeof scenario)[Name]>;

  test(verifies("R-07", "a stream that is cut anywhere gives what it gives in Node"), async () => {
    const length = Buffer.byteLength(stream.map(encodeSse).join(""));
    const cuts = Array.from({ length: 200 }, (_, part) => Math.floor((length * part) / 200));
    const responses = await run("readWithCuts", stream, cuts);
    expect(new Set(responses)).toEqual(new Set([JSON.stringify(response)]));
  });

  test("the hook shows a stream in a framework of React's shape", async () => {
    const shown = await run("showWithHook", stream);
    expect(shown).toBe("ended: text tool_call terminal_command file_edit, once a change");
  });

  test("each conversation keeps its own draft", async () => {
    expect(await run("switchDrafts")).toEqual(["", "first", "", "first", "", "first"]);
  });
});
