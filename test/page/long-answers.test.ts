/** An answer with very many documents: only what is in sight is there, and what a person reads stays where it is. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitUntil } from "../support/page.ts";
import { openScenario } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";

const folder = createTestFolder();
const pairs = 600;

const many = Array.from(
  { length: pairs },
  (_, index) =>
    `Paragraph ${index}${" with more words".repeat(index % 40)}\n\n\`\`\`ts\nconst value = ${index};\n\`\`\`\n\n`,
).join("");
const script = {
  turns: [
    {
      events: [
        { text: many, chunk: 4096, group: 8 },
        ...Array.from({ length: 180 }, (_, index) => [
          { text: `Line ${index} of the end.\n\n` },
          { wait_ms: 20 },
        ]).flat(),
      ],
    },
  ],
};

/** Where a row is in the window; undefined when it is not an element. */
async function readTop(page: Page, position: number): Promise<number | undefined> {
  const box = await page.locator(`[aria-posinset="${position}"]`).boundingBox();
  return box?.y;
}

async function waitForDocument(page: Page, position: number): Promise<void> {
  await page.locator(`[aria-posinset="${position}"]`).waitFor();
}

describeWithChromium("a long answer", (browser) => {
  test("stays at its end, or where the person is, and keeps the focus", async () => {
    const { page, faults } = await openScenario(browser, folder, { script });
    await sendMessage(page, "Go");
    // Message, documents, and the text that is still growing.
    await waitForDocument(page, pairs * 2 + 2);
    await page.getByText("Line 5 of the end.").waitFor();
    expect(await page.getByRole("article").count()).toBeLessThan(80);
    const isAtEnd =
      "(() => { const s = document.querySelector('.scroller'); return s.scrollHeight - s.scrollTop - s.clientHeight < 48; })()";
    expect(await page.evaluate(isAtEnd)).toBe(true);

    // Scrolled up, nothing moves while the answer goes on.
    await page.mouse.move(640, 400);
    await page.mouse.wheel(0, -20_000);
    await page.getByRole("button", { name: "Jump to the end" }).waitFor();
    await waitUntil(page, "!document.querySelector('[aria-posinset=\"1202\"]')");
    const rows =
      "[...document.querySelectorAll('[aria-posinset]')].filter((row) => row.getBoundingClientRect().top > 100)";
    const visible: number = await page.evaluate(`Number(${rows}[0].getAttribute("aria-posinset"))`);
    const before = await readTop(page, visible);
    const announced = await page.locator(".working-time").count();
    await page.waitForTimeout(500);
    expect([await readTop(page, visible), announced]).toEqual([before, 0]);

    // The row with the focus stays an element, however far the person scrolls.
    await page.locator(`[aria-posinset="${visible}"]`).focus();
    await page.mouse.wheel(0, -30_000);
    await waitUntil(page, "document.querySelector('.scroller').scrollTop < 100000");
    expect(await page.evaluate("Number(document.activeElement.getAttribute('aria-posinset'))")).toBe(visible);
    await page.keyboard.press("PageDown");
    await waitUntil(page, `Number(document.activeElement.getAttribute('aria-posinset')) === ${visible + 1}`);
    const top = await readTop(page, visible + 1);
    expect(top).toBeGreaterThan(0);
    expect(top).toBeLessThan(900);

    await page.getByRole("button", { name: "Jump to the end" }).click();
    await page.locator(".totals").waitFor();
    await page.getByText("Line 179 of the end.").waitFor();
    expect(await page.evaluate(isAtEnd)).toBe(true);
    expect(faults()).toEqual([]);
  });

  test("opens at its end after a reload, and goes to a linked step far above", async () => {
    const failing = {
      turns: [
        { events: [{ call: { tool: "read_file", arguments: { target_file: "missing.md" } } }] },
        { events: [{ text: many, chunk: 4096, group: 8 }, { text: "The very end." }] },
      ],
    };
    const { page } = await openScenario(browser, folder, { script: failing });
    await sendMessage(page, "Go");
    await page.getByText("The very end.").waitFor();
    await page.reload();
    await page.getByText("The very end.").waitFor();
    await page.mouse.move(640, 400);
    for (let step = 0; (await page.getByText("FILE_NOT_FOUND").count()) === 0; step += 1) {
      expect(step).toBeLessThan(100);
      await page.mouse.wheel(0, -20_000);
      await page.waitForTimeout(50);
    }
    await page.getByRole("button", { name: "Show the step" }).click();
    await waitUntil(page, "/^Tool call/.test(document.activeElement.getAttribute('aria-label') ?? '')");
    expect(await readTop(page, 2)).toBeGreaterThan(0);
  });
});
