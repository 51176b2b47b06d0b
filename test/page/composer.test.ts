/** The message field: on a phone, during an answer, and with a long text that is pasted; and text from right to left. */
import { devices } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer, waitUntil } from "../support/page.ts";
import { openScenario, readTurns, takeScreenshots } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";

const folder = createTestFolder();

const rightToLeft =
  "שלום `rm -rf a/` עולם\n\n10. ראשון\n11. שני\n\n> ציטוט\n\nLeft to right\n\n1. one\n\n| שלום | A |\n|---|---|\n| b | ג |\n";
const turns = [
  { events: [{ text: rightToLeft }] },
  { events: [{ text: "Begun." }, { wait_ms: 1500 }, { text: " Ended." }] },
  { events: [{ text: "Third." }] },
];

describeWithChromium("the message field", (browser) => {
  test("on a phone has one row, Enter starts a line, and text from right to left is at the right", async () => {
    const { viewport, hasTouch, isMobile } = devices["iPhone 14"];
    const { page, server } = await openScenario(browser, folder, {
      script: { turns },
      args: ["--force", "--offer", "offline"],
      context: { viewport, hasTouch, isMobile },
    });
    const field = page.getByRole("textbox", { name: "Message" });
    await field.fill("שלום");
    await field.press("Enter");
    expect(await field.inputValue()).toBe("שלום\n");
    await page.keyboard.type("Hello");
    expect(await field.evaluate((element) => getComputedStyle(element).fontSize)).toBe("16px");
    const rows = await page.locator(".composer-bar > *").evaluateAll((parts) =>
      parts
        .filter((part) => part.checkVisibility())
        .map((part) => {
          const { top, bottom, right } = part.getBoundingClientRect();
          return { middle: Math.round((top + bottom) / 20), isInside: right <= innerWidth };
        }),
    );
    expect(new Set(rows.map(({ middle }) => middle)).size).toBe(1);
    expect(rows.every(({ isInside }) => isInside)).toBe(true);
    await page.getByRole("button", { name: "Send" }).click();
    await waitForAnswer(page);
    await takeScreenshots(page, "right-to-left");
    expect(await readTurns(server, page)).toMatchObject([{ message: "שלום\nHello" }]);
    const directions = await page
      .locator(".markdown :is(p, code, ol, blockquote, table)")
      .evaluateAll((parts) => parts.map((part) => `${part.localName} ${getComputedStyle(part).direction}`));
    expect(directions).toEqual([
      "p rtl",
      "code ltr",
      "ol rtl",
      "blockquote rtl",
      "p rtl",
      "p ltr",
      "ol ltr",
      "table rtl",
    ]);

    // During an answer the message can be sent, and the answer can be stopped.
    await field.fill("second");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await field.fill("third");
    await page.getByRole("button", { name: "Send" }).click();
    await waitForAnswer(page, 3);
    expect((await readTurns(server, page)).map(({ message }) => message)).toEqual(["שלום\nHello", "second", "third"]);
  });

  test("a long text that is pasted becomes a file of the message", async () => {
    const { page, server } = await openScenario(browser, folder, { script: { turns: turns.slice(2) } });
    await page.evaluate(`for (const text of ["short", "line\\n".repeat(100)]) {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      const options = { bubbles: true, cancelable: true, clipboardData };
      document.querySelector("textarea").dispatchEvent(new ClipboardEvent("paste", options));
    }`);
    await waitUntil(page, "document.querySelectorAll('.composer .attachment.is-sent').length === 1");
    await sendMessage(page, "Read it");
    await waitForAnswer(page);
    expect(await readTurns(server, page)).toMatchObject([
      { message: "Read it", attachments: [{ name: "pasted-1.txt", mediaType: "text/plain", bytes: 500 }] },
    ]);
  });
});
