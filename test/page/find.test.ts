/** Finding words in a conversation: in what is not drawn, in what is folded, and from a search of the list. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer, waitUntil } from "../support/page.ts";
import { checkAccess, openScenario } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";

const folder = createTestFolder();

const fill = (from: number): string =>
  Array.from({ length: 120 }, (_, index) => `Paragraph ${from + index}${" with more words".repeat(20)}.\n\n`).join("");
const turns = [
  {
    events: [
      { text: `${fill(0)}A **first** needle, and the\nsecond needle.\n\n${fill(250)}`, chunk: 4096 },
      {
        call: { tool: "run_terminal_cmd", arguments: { command: "seq 900; printf 'third%sle\\n' need; seq 901 1800" } },
      },
    ],
  },
  { events: [{ text: fill(500), chunk: 4096 }, { text: "The end." }] },
];

/** The words that are marked now; "" unless they are in sight. */
const marked = `(() => {
  const [range] = CSS.highlights.get("found-here") ?? [];
  if (!range) return "";
  const frame = document.querySelector(".scroller").getBoundingClientRect();
  const { top, bottom, height } = range.getBoundingClientRect();
  return height > 0 && top >= frame.top && bottom <= frame.bottom ? range.toString() : "";
})()`;

async function waitForMark(page: Page, text: string): Promise<void> {
  await waitUntil(page, `${marked} === ${JSON.stringify(text)}`);
}

describeWithChromium("finding in a conversation", (browser) => {
  test("goes to each place, drawn or not, folded or not, and back; a search opens its place", async () => {
    const { page } = await openScenario(browser, folder, {
      script: { turns },
      args: ["--force", "--sandbox", "disabled"],
    });
    await sendMessage(page, "Go");
    await waitForAnswer(page);
    await page.keyboard.press("Control+f");
    const field = page.getByRole("searchbox", { name: "Find in this conversation" });
    await page.locator("[type=search]:focus").waitFor();
    await page.keyboard.type("FIRST needle");
    await waitForMark(page, "first needle");
    expect(await page.getByRole("search").getByRole("status").innerText()).toBe("1/1");
    await field.fill("the second");
    await waitForMark(page, "the\nsecond");
    await field.fill("needle");
    await waitForMark(page, "needle");
    await checkAccess(page, "find");
    // Two in the text, one in the output, whose lines are folded, and the text again.
    const waitForPlace = async (key: string, type: string): Promise<void> => {
      await field.press(key);
      const isThere = `CSS.highlights.get("found-here").values().next().value?.startContainer.parentElement
        .closest("[role=article]").getAttribute("aria-label").startsWith("${type}")`;
      await waitUntil(page, `${marked} === "needle" && ${isThere}`);
    };
    await waitForPlace("Enter", "Text");
    await waitForPlace("Enter", "Command");
    await waitForPlace("Enter", "Text");
    await waitForPlace("Shift+Enter", "Command");
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
    await field.press("Escape");
    await waitUntil(page, "document.activeElement.matches('[role=article]') && CSS.highlights.get('found').size === 0");
    expect(await page.locator(".terminal-line").count()).toBe(0);

    await page.getByRole("link", { name: "New conversation" }).click();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("second needle");
    await page.getByRole("navigation").locator(".excerpt").click();
    await waitForMark(page, "second needle");
  });
});
