/** News while nobody looks at the page: one notification in all tabs, and a mark at the tab. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, setAway, waitUntil } from "../support/page.ts";
import { checkAccess, openScenario, readTurns } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { approval } from "./scenario.ts";
import { testDeep } from "../support/describe-where.ts";

const folder = createTestFolder();

/** A browser whose user answers as told, and that keeps what it would show. */
async function watchNotifications(page: Page, answer: "granted" | "denied"): Promise<void> {
  await page.evaluate(`
    globalThis.asked = 0;
    globalThis.shown = [];
    globalThis.Notification = class extends EventTarget {
      static permission = "default";
      static async requestPermission() {
        asked += 1;
        return (Notification.permission = "${answer}");
      }
      constructor(title, options) {
        super();
        shown.push(this);
        Object.assign(this, { title, ...options, isOpen: true });
      }
      close() { this.isOpen = false; }
    };
  `);
}

const readShown = (page: Page): Promise<string[]> =>
  page.evaluate("shown.map(({ title, body }) => `${title}: ${body}`)");

describeWithChromium("notifications", (browser) => {
  testDeep("are asked for by a click, come once for all tabs, and lead to the conversation", async () => {
    const { page, server } = await openScenario(browser, folder, {
      script: approval,
      args: ["--sandbox", "disabled"],
    });
    await watchNotifications(page, "denied");
    await page.getByRole("button", { name: "Settings" }).click();
    const wish = page.getByRole("checkbox", { name: /Notify me/ });
    await wish.click();
    await page.getByText("Your browser blocks notifications").waitFor();
    expect(await wish.isChecked()).toBe(false);
    await checkAccess(page, "notifications-refused");
    await page.getByRole("button", { name: "Close" }).click();
    expect(await page.evaluate("asked")).toBe(1);

    await watchNotifications(page, "granted");
    await page.getByRole("button", { name: "Settings" }).click();
    await wish.click();
    await waitUntil(page, "document.querySelector('.setting-check input').checked");
    await page.getByRole("button", { name: "Close" }).click();

    await sendMessage(page, "Secret plans");
    await page.getByRole("group", { name: "Run a command" }).waitFor();
    // Somebody looks: nothing is told.
    expect(await readShown(page)).toEqual([]);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole("group", { name: "Run a command" }).waitFor();
    await watchNotifications(other, "granted");
    await other.evaluate("Notification.permission = 'granted'");
    for (const tab of [page, other]) await setAway(tab, true);
    const turns = await readTurns(server, page);
    const { id: responseId, approvals: [asked] = [] } = turns[0]!.response;
    const optionId = asked!.options.find(({ kind }) => kind === "allow_once")!.id;
    await server.fetch(`/v1/responses/${responseId}/approvals/${asked!.approvalId}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ optionId }),
    });
    await expect.poll(async () => [...(await readShown(page)), ...(await readShown(other))]).toHaveLength(1);
    const [shown] = [...(await readShown(page)), ...(await readShown(other))];
    expect(shown).toBe("Sheaf: The answer is complete");
    await waitUntil(page, "document.title === '(1) Secret plans – Sheaf'");
    expect(await page.evaluate("document.querySelector('link[rel=icon]').getAttribute('href')")).toBe("/icon-news.svg");
    // The click leads there from anywhere, and what was seen is no news in any tab.
    const teller = (await readShown(page)).length > 0 ? page : other;
    const { hash } = new URL(teller.url());
    await teller.evaluate("location.hash = '#/'");
    await setAway(teller, false);
    await teller.evaluate("shown[0].dispatchEvent(new Event('click'))");
    await waitUntil(teller, `location.hash === '${hash}'`);
    for (const tab of [page, other]) await waitUntil(tab, "document.title === 'Secret plans – Sheaf'");
    expect(await teller.evaluate("shown[0].isOpen")).toBe(false);
  });
});
