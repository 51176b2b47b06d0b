/** Settings: kept in this browser, shown before the first paint, the same in every tab. */
import { expect } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { waitUntil } from "../support/page.ts";
import { checkAccess, findAccessFaults, openScenario } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";
import { short } from "./scenario.ts";

const folder = createTestFolder();
const background = "getComputedStyle(document.body).backgroundColor";
const dark = "rgb(22, 23, 22)";

describeWithChromium("settings of the page", (browser) => {
  testDeep(
    verifies("S-62", "appearance and density are there before any script of the page, within the policy"),
    async () => {
      const { page, server } = await openScenario(browser, folder, { script: short });
      const other = await page.context().newPage();
      await other.goto(server.address);
      await other.getByRole("textbox", { name: "Message" }).waitFor();
      await page.getByRole("button", { name: "Settings" }).click();
      await page.getByLabel("Appearance").selectOption("dark");
      await page.getByLabel("Density").selectOption("compact");
      await page.getByLabel("Language").selectOption("de");
      await checkAccess(page, "settings-compact");
      await page.getByRole("button", { name: "Schließen" }).click();
      await page.reload();
      await page.getByRole("textbox", { name: "Nachricht" }).waitFor();
      expect(await page.evaluate("document.documentElement.lang")).toBe("de");
      expect(await findAccessFaults(page, ["dark"])).toEqual([]);
      // Another tab follows at once.
      await waitUntil(other, `${background} === ${JSON.stringify(dark)}`);
      expect(await other.evaluate("document.documentElement.dataset.density")).toBe("compact");
      await other.close();
      // Without the page's own script nothing else could have set them.
      await page.route("**/assets/*.js", (route) => route.abort());
      await page.reload();
      expect(await page.evaluate(background)).toBe(dark);
      expect(await page.evaluate("getComputedStyle(document.body).fontSize")).toBe("14px");
      expect(await page.locator("#page").innerHTML()).toBe("");
    },
  );
});
