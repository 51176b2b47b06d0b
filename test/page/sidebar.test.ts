/** The list of conversations, and the drawer that it is on a phone. */
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer } from "../support/page.ts";
import { findAccessFaults, openScenario, takeScreenshots } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { short } from "./scenario.ts";

const folder = createTestFolder();

describeWithChromium("the sidebar", (browser) => {
  test("on a phone it is a drawer: it keeps the focus, and Escape gives it back", async () => {
    const { page, faults } = await openScenario(browser, folder, { script: short });
    await page.setViewportSize({ width: 390, height: 844 });
    await sendMessage(page, "Hello");
    await waitForAnswer(page);
    const opener = page.getByRole("button", { name: "Show conversations" });
    const focus = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent";
    const drawer = page.getByRole("navigation", { name: "Conversations" });
    expect(await drawer.isVisible()).toBe(false);
    expect(await opener.getAttribute("aria-expanded")).toBe("false");
    await opener.press("Enter");
    expect(await page.evaluate(focus)).toBe("Hide conversations");
    expect(await findAccessFaults(page)).toEqual([]);
    const places = new Set<string>();
    for (let step = 0; step < 12; step++) {
      await page.keyboard.press("Tab");
      places.add(await page.evaluate("document.activeElement.closest('#sidebar, body').tagName"));
      expect(await page.evaluate("document.querySelector('.main').contains(document.activeElement)")).toBe(false);
    }
    expect([...places]).toContain("NAV");
    await page.keyboard.press("Escape");
    expect(await page.evaluate(focus)).toBe("Show conversations");
    await drawer.waitFor({ state: "hidden" });
    // A click beside it closes it, and so does the choice of a conversation or more room.
    await opener.click();
    await page.mouse.click(380, 400);
    await drawer.waitFor({ state: "hidden" });
    await opener.click();
    await drawer.getByRole("link", { name: /Hello/ }).click();
    await drawer.waitFor({ state: "hidden" });
    await opener.click();
    await takeScreenshots(page, "drawer");
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole("textbox", { name: "Message" }).click();
    await page.keyboard.type("Wide again");
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Wide again");
    expect(faults()).toEqual([]);
  });
});
