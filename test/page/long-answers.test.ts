/** An answer with very many documents: only what is in sight is there, and what a person reads stays where it is. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitUntil } from "../support/page.ts";
import { openScenario } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";

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

/** Paragraphs of one text document, each with its number. */
const paragraphs = Array.from(
  { length: 300 },
  (_, index) => `Begin ${index} with **bold** and \`code\`${" and more words".repeat(index % 30)} end ${index}.`,
);
const oneText = { turns: [{ events: [{ text: paragraphs.join("\n\n"), chunk: 4096, group: 8 }] }] };
const lines = Array.from({ length: 4000 }, (_, index) => `const value${index} = compute(${index});`);
const oneCode = { turns: [{ events: [{ text: `\`\`\`ts\n${lines.join("\n")}\n\`\`\`\n`, chunk: 4096, group: 8 }] }] };
const oneParagraph = { turns: [{ events: [{ text: "word ".repeat(40_000), chunk: 4096, group: 8 }] }] };

/** Numbers, one a line, that a command prints and that a file gets. */
const numbers = Array.from({ length: 1500 }, (_, index) => `${index + 1}`);
const command = { tool: "run_terminal_cmd", arguments: { command: `seq 1 ${numbers.length}` } };
const edit = { tool: "write_file", arguments: { target_file: "numbers.txt", content: `${numbers.join("\n")}\n` } };

/** Elements and texts of the page. */
const countNodes =
  "(() => { const w = document.createTreeWalker(document.body); let n = 0; while (w.nextNode()) n += 1; return n; })()";

/** Scrolls through all of the list, down from its top, and collects the texts of what matches. */
async function readWhileScrolling(page: Page, selector: string): Promise<{ texts: Set<string>; mostNodes: number }> {
  await page.evaluate("document.querySelector('.scroller').scrollTop = 0");
  const texts = new Set<string>();
  let mostNodes = 0;
  for (let step = 0, isAtEnd = false; !isAtEnd; step += 1) {
    expect(step).toBeLessThan(400);
    await page.waitForTimeout(60);
    const found = `[...document.querySelectorAll(${JSON.stringify(selector)})].map((part) => part.textContent)`;
    for (const text of await page.evaluate<string[]>(found)) texts.add(text);
    mostNodes = Math.max(mostNodes, await page.evaluate<number>(countNodes));
    isAtEnd = await page.evaluate<boolean>(
      "(() => { const s = document.querySelector('.scroller'); s.scrollTop += 700; return s.scrollHeight - s.scrollTop - s.clientHeight < 2; })()",
    );
  }
  return { texts, mostNodes };
}

describeWithChromium("a long answer", (browser) => {
  testDeep("stays at its end, or where the person is, and keeps the focus", async () => {
    const { page } = await openScenario(browser, folder, { script });
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

  testDeep("of one text draws what is in sight, and every part of it when scrolled to", async () => {
    const { page } = await openScenario(browser, folder, { script: oneText });
    await sendMessage(page, "Go");
    await page.getByText("end 299.").waitFor();
    await page.locator(".totals").waitFor();
    const { texts, mostNodes } = await readWhileScrolling(page, ".markdown > .block");
    const plain = paragraphs.map((text) => text.replaceAll(/[*`]/g, ""));
    expect(plain.filter((text) => !texts.has(text))).toEqual([]);
    expect(mostNodes).toBeLessThan(2000);
    // Narrower and darker, it stays complete.
    await page.setViewportSize({ width: 390, height: 800 });
    await page.emulateMedia({ colorScheme: "dark" });
    const narrow = await readWhileScrolling(page, ".markdown > .block");
    expect(plain.filter((text) => !narrow.texts.has(text))).toEqual([]);
    expect(narrow.mostNodes).toBeLessThan(2000);
  });

  testDeep("of one code block draws what is in sight, unfolded too", async () => {
    const { page } = await openScenario(browser, folder, { script: oneCode });
    await sendMessage(page, "Go");
    await page.locator(".totals").waitFor();
    expect(await page.locator(".code").textContent()).toBe(lines.slice(0, 24).join("\n"));
    await page.locator(".fold-button").click();
    const { texts, mostNodes } = await readWhileScrolling(page, ".code-chunk");
    const seen = new Set([...texts].flatMap((text) => text.split("\n")));
    expect(lines.filter((line) => !seen.has(line))).toEqual([]);
    expect(mostNodes).toBeLessThan(2000);
  });

  test("of one paragraph is shown as source, in parts", async () => {
    const { page } = await openScenario(browser, folder, { script: oneParagraph });
    await sendMessage(page, "Go");
    await page.locator(".totals").waitFor();
    const { mostNodes } = await readWhileScrolling(page, ".markdown > .block");
    expect(mostNodes).toBeLessThan(2000);
  });

  testDeep("of long output draws what is in sight, and what is selected is copied whole", async () => {
    const { page } = await openScenario(browser, folder, {
      script: { turns: [{ events: [{ text: "I count." }, { call: command }] }, { events: [{ text: "Counted." }] }] },
      args: ["--force", "--sandbox", "disabled"],
    });
    await sendMessage(page, "Go");
    await page.locator(".totals").waitFor();
    await page.getByRole("button", { name: "Show 1,280 earlier lines" }).click();
    const output = page.getByRole("region", { name: /^Output of/ });
    const seen = new Set<string>();
    await output.evaluate((element) => element.scrollTo(0, 0));
    for (let step = 0, isAtEnd = false; !isAtEnd; step += 1) {
      expect(step).toBeLessThan(400);
      await page.waitForTimeout(40);
      for (const line of (await output.innerText()).split("\n")) seen.add(line);
      isAtEnd = await output.evaluate((element) => {
        element.scrollTop += 800;
        return element.scrollHeight - element.scrollTop - element.clientHeight < 2;
      });
    }
    expect(numbers.filter((line) => !seen.has(line))).toEqual([]);
    expect(await page.evaluate<number>(countNodes)).toBeLessThan(2000);
    // From the first line to the last, with a scroll between.
    const selected = await output.evaluate(async (element) => {
      const wait = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 200));
      const selection = document.getSelection()!;
      element.scrollTop = 0;
      await wait();
      selection.setBaseAndExtent(
        element.querySelector(".terminal-line")!,
        0,
        element.querySelector(".terminal-line")!,
        1,
      );
      element.scrollTop = element.scrollHeight;
      await wait();
      const last = [...element.querySelectorAll(".terminal-line")].at(-1)!;
      selection.extend(last, 1);
      await wait();
      return selection.toString();
    });
    expect(selected.trimEnd().split("\n")).toEqual(numbers);
    await page.evaluate("document.getSelection().removeAllRanges()");
    await waitUntil(page, `${countNodes} < 2000`);
  });

  testDeep("of a long change draws what is in sight, in one column or two", async () => {
    const { page } = await openScenario(browser, folder, {
      script: { turns: [{ events: [{ text: "I write." }, { call: edit }] }, { events: [{ text: "Written." }] }] },
      files: { "numbers.txt": "none\n" },
    });
    await sendMessage(page, "Go");
    await page.locator(".totals").waitFor();
    await page.locator(".fold-button").click();
    const { texts, mostNodes } = await readWhileScrolling(page, "td.diff-text");
    expect(numbers.filter((line) => !texts.has(line))).toEqual([]);
    expect(mostNodes).toBeLessThan(2000);
    await page.evaluate(`localStorage.setItem("sheaf-settings", '{"diffLayout":"split"}')`);
    await page.reload();
    await page.locator(".fold-button").click();
    const table = page.locator("table.diff.split");
    expect(await table.getAttribute("aria-rowcount")).toBe("1501");
    await page.evaluate("document.querySelector('.scroller').scrollTop = 1e6");
    await table.locator("tr[aria-rowindex='1501']").waitFor();
    expect(await page.evaluate<number>(countNodes)).toBeLessThan(2000);
  });

  testDeep("of a long message of a person, too, what is in sight is drawn", async () => {
    const { page } = await openScenario(browser, folder, {
      script: { turns: [{ events: [{ text: "Read." }] }] },
    });
    const message = Array.from({ length: 1000 }, (_, index) => `line ${index}`);
    await sendMessage(page, message.join("\n"));
    await page.locator(".totals").waitFor();
    expect(await page.locator(".message-text > p").count()).toBeLessThan(20);
    const { texts, mostNodes } = await readWhileScrolling(page, ".message-text > p");
    const seen = new Set([...texts].flatMap((text) => text.split("\n")));
    expect(message.filter((line) => !seen.has(line))).toEqual([]);
    expect(mostNodes).toBeLessThan(2000);
  });
});
