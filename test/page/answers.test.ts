/** What is inside of an answer: tables and long words, and questions of which some are skipped. */
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer } from "../support/page.ts";
import { checkAccess, findAccessFaults, openScenario, takeScreenshots } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";
import { severalApprovals, severalQuestions, thoughtful, wideText } from "./scenario.ts";

const folder = createTestFolder();

function findDocument(page: Page, type: string): Locator {
  return page.getByRole("article", { name: new RegExp(`^${type}, document`) });
}

describeWithChromium("tables and long words", (browser) => {
  testDeep(
    "a wide table scrolls on its own, its words stay whole, and the page stays as wide as the screen",
    async () => {
      const { page } = await openScenario(browser, folder, { script: wideText });
      await sendMessage(page, `See https://example.com/${"a-very-long-path/".repeat(20)}?q=${"x".repeat(200)}`);
      await waitForAnswer(page);
      await takeScreenshots(page, "tables");
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
      const wide = page.getByRole("group", { name: "Table: Region, Requests, Errors, p50, p99, Note" });
      await wide.waitFor();
      expect(await wide.evaluate((frame) => frame.scrollWidth > frame.clientWidth)).toBe(true);
      // Each of them would break into several lines if it could.
      const lines = await wide.locator("td:nth-child(-n + 5)").evaluateAll((cells) =>
        cells.map((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
        }),
      );
      expect(new Set(lines)).toEqual(new Set([1]));
      await wide.focus();
      await page.keyboard.press("ArrowRight");
      await expect.poll(() => wide.evaluate((frame) => frame.scrollLeft)).toBeGreaterThan(0);
      // A table that fits is no region to scroll, and nothing to stop at with the keyboard.
      expect(await page.locator(".table-frame").count()).toBe(3);
      expect(await page.locator(".table-frame[tabindex]").count()).toBe(1);
      expect(await findAccessFaults(page)).toEqual([]);
      // The head of the long one stays while its rows go by.
      await page.setViewportSize({ width: 1280, height: 700 });
      const head = page.getByRole("columnheader", { name: "Step" });
      await page.getByRole("cell", { name: "Row 50" }).scrollIntoViewIfNeeded();
      const top = await page.locator(".scroller").evaluate((scroller) => scroller.getBoundingClientRect().top);
      expect(Math.round((await head.boundingBox())!.y)).toBe(Math.round(top));
    },
  );
});

describeWithChromium("questions", (browser) => {
  test(verifies("N73", "some are answered from the keyboard, the others are said to be skipped"), async () => {
    const { page } = await openScenario(browser, folder, { script: severalQuestions });
    await sendMessage(page, "Go");
    await waitForAnswer(page);
    const form = findDocument(page, "Question");
    const send = form.getByRole("button", { name: "Send answers" });
    expect(await send.isDisabled()).toBe(true);
    await form.getByRole("checkbox", { name: "Unit tests" }).focus();
    await page.keyboard.press("Space");
    await form.getByRole("checkbox", { name: "Browser tests" }).focus();
    await page.keyboard.press("Space");
    await form.getByRole("textbox", { name: "Another answer: Which tests?" }).fill("Load tests");
    // Enter goes on to what is open, and sends nothing.
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.closest('fieldset').textContent")).toContain("Which database?");
    await form.getByRole("radio", { name: "SQLite" }).check();
    await form.getByRole("textbox", { name: "Another answer: Which database?" }).fill("DuckDB");
    expect(await form.getByRole("radio", { name: "SQLite" }).isChecked()).toBe(false);
    await form.getByText("One question will be skipped").waitFor();
    await checkAccess(page, "questions");
    await form.getByRole("button", { name: "Clear the answer: Which database?" }).click();
    await form.getByText("2 questions will be skipped").waitFor();
    await send.focus();
    await page.keyboard.press("Enter");
    await waitForAnswer(page, 2);
    const message = page.getByRole("article", { name: "Your message" }).nth(1);
    expect((await message.innerText()).split("\n").slice(-3)).toEqual([
      "Which tests? Unit tests, Browser tests, Load tests",
      "Which database? (skipped)",
      "Anything else? (skipped)",
    ]);
    await page.reload();
    await waitForAnswer(page, 2);
    expect(await form.getByRole("checkbox", { name: "Browser tests" }).isChecked()).toBe(true);
    expect(await form.getByText("(skipped)").count()).toBe(2);
    await checkAccess(page, "questions-skipped", ["light"]);
  });
});

/** Notes whether buttons take clicks when the panel of approvals first has so many cards. Runs in the page. */
const watchFirstPointers = `{
  window.firstPointers = [];
  const look = () => {
    const button = document.querySelector(".approval button");
    const count = document.querySelectorAll(".approval").length;
    while (button && firstPointers.length < count) firstPointers.push(getComputedStyle(button).pointerEvents);
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}`;

describeWithChromium("several approvals at once", (browser) => {
  test(verifies(["X8", "X45"], "each can be decided; the focus goes on; one button allows the rest once"), async () => {
    const { page } = await openScenario(browser, folder, {
      script: severalApprovals,
      args: ["--sandbox", "disabled"],
    });
    await page.evaluate(watchFirstPointers);
    await sendMessage(page, "Go");
    const panel = page.getByRole("region", { name: "Waiting for your decision" });
    const first = panel.getByRole("group", { name: "Run a command (1/3)" });
    await panel.getByRole("group", { name: "Run a command (3/3)" }).waitFor();
    // What just arrived takes no click for a moment: it may be meant for what was there before.
    expect(await page.evaluate("firstPointers")).toEqual(["none", "none", "none"]);
    await panel.locator("xpath=self::*[not(contains(@class, 'unsettled'))]").waitFor();
    await first.getByRole("button", { name: "Allow once" }).click({ trial: true });
    await panel.getByText("No rule allows this yet.").first().waitFor();
    await checkAccess(page, "approvals");
    await first.getByRole("button", { name: "Refuse", exact: true }).press("Enter");
    await panel.getByRole("group", { name: "Run a command (2/2)" }).waitFor();
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Run a command (1/2)");
    await panel.getByRole("button", { name: "Allow these 2 commands, once each" }).press("Enter");
    await waitForAnswer(page);
    expect(await page.getByText("Exit code 0").count()).toBe(2);
    expect(await panel.count()).toBe(0);
    // The keys work from the message field too, and leave the focus there.
    await sendMessage(page, "Go");
    await panel.getByRole("group", { name: "Run a command (3/3)" }).waitFor();
    await panel.locator("xpath=self::*[not(contains(@class, 'unsettled'))]").waitFor();
    const decided = Promise.withResolvers<void>();
    const decisions: string[] = [];
    await page.route("**/approvals/**", async (route) => {
      decisions.push(route.request().url());
      await decided.promise;
      await route.continue();
    });
    await page.keyboard.press("Alt+y");
    expect(await page.evaluate("document.activeElement.localName")).toBe("textarea");
    // On a card that was decided, they decide no other one.
    await panel.getByRole("group", { name: "Run a command (1/3)" }).focus();
    await page.keyboard.press("Alt+y");
    decided.resolve();
    await panel.getByRole("group", { name: "Run a command (2/2)" }).waitFor();
    expect(decisions).toHaveLength(1);
    await panel.getByRole("button", { name: "Refuse all 2" }).press("Enter");
    await waitForAnswer(page, 2);
    expect(await page.getByText("Exit code 0").count()).toBe(3);
    await page.locator(".scroller").focus();
    await page.keyboard.press("?");
    await checkAccess(page, "keys");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Alt+Y").waitFor();
  });
});

describeWithChromium("what a model thought", (browser) => {
  testDeep(verifies("N14", "is folded, can be read as it comes, and again after reload"), async () => {
    const { page } = await openScenario(browser, folder, { script: thoughtful });
    await sendMessage(page, "Which version do the tests use?");
    const live = page.getByRole("button", { name: "Thinking…" });
    await live.waitFor();
    expect(await live.getAttribute("aria-expanded")).toBe("false");
    await live.click();
    const text = page.getByRole("group", { name: "Thinking" });
    await page.getByText("Which one do the tests import?").waitFor();
    expect(await text.evaluate((box) => box.scrollHeight > box.clientHeight)).toBe(true);
    await waitForAnswer(page);
    await page.getByRole("button", { name: /^Thought for/ }).waitFor();
    expect(await page.getByRole("article", { name: /^Text, document/ }).count()).toBe(1);
    await checkAccess(page, "thinking");
    await page.reload();
    await waitForAnswer(page);
    const stored = page.getByRole("button", { name: "Thinking", exact: true });
    expect(await text.count()).toBe(0);
    await stored.click();
    await page.getByText("Which one do the tests import?").waitFor();
  });
});
