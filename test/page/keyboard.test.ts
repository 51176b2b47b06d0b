/** A whole conversation without a pointer: every step is a key, and the focus is never lost. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { waitForAnswer, waitUntil } from "../support/page.ts";
import { openScenario } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { endless, short } from "./scenario.ts";
import { testDeep } from "../support/describe-where.ts";

const folder = createTestFolder();

/** What a person who listens hears of the focused element; empty if nothing has the focus. */
function readFocus(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const { activeElement: focused } = document;
    if (focused === null || focused === document.body) return "";
    const label = focused.labels?.[0]?.textContent ?? "";
    return (focused.getAttribute("aria-label") ?? (label || focused.textContent)).trim() || focused.tagName;
  })()`);
}

/** Presses a key until the focus is on what has this name. */
async function goTo(page: Page, name: string | RegExp, key = "Tab"): Promise<void> {
  const seen: string[] = [];
  for (let presses = 0; presses < 80; presses += 1) {
    const focus = await readFocus(page);
    if (typeof name === "string" ? focus === name : name.test(focus)) return;
    seen.push(focus);
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${String(name)}, but to: ${seen.join(" | ")}`);
}

async function pressOn(page: Page, name: string | RegExp, key = "Enter"): Promise<void> {
  await goTo(page, name);
  await page.keyboard.press(key);
}

async function chooseMenuItem(page: Page, menu: string | RegExp, item: string | RegExp): Promise<void> {
  await pressOn(page, menu);
  await page.locator("[role=menuitem]:focus").waitFor();
  await goTo(page, item, "ArrowDown");
  await page.keyboard.press("Enter");
}

const command = (word: string) => ({ tool: "run_terminal_cmd", arguments: { command: `node -p "'${word}'"` } });
const question = {
  tool: "ask_question",
  arguments: {
    title: "One thing is open.",
    questions: [
      {
        id: "tests",
        prompt: "Which tests?",
        options: [
          { id: "unit", label: "Unit tests" },
          { id: "browser", label: "Browser tests" },
        ],
      },
    ],
  },
};
const writing = { tool: "write_file", arguments: { target_file: "new.txt", content: "new\n" } };
const script = {
  turns: [
    { events: [{ calls: [command("one"), command("two")] }] },
    { events: [{ text: "Both are decided. " }, { wait_ms: 2500 }, { text: "And said." }] },
    { events: [{ call: question }] },
    { events: [{ call: writing }] },
    { events: [{ text: "Written." }] },
  ],
  after: "repeat_last",
};

describeWithChromium("the keyboard alone", (browser) => {
  test("messages, approvals, a queued message, a question, and changes", async () => {
    const args = ["--sandbox", "disabled", "--allow", "Write(**)"];
    const { page, server } = await openScenario(browser, folder, { script, args });
    expect(await readFocus(page)).toBe("Message");
    await page.keyboard.type("Run both");
    await page.keyboard.press("Enter");

    // The message field keeps the focus; the approvals are before it.
    const open = page.getByRole("group", { name: "Run a command" });
    await expect.poll(() => open.count(), { timeout: 20_000 }).toBe(2);
    expect(await readFocus(page)).toBe("Message");
    await goTo(page, "Allow once", "Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    await goTo(page, "Allow once", "Shift+Tab");
    await waitUntil(page, "!document.querySelector('.approvals.unsettled')");
    await page.keyboard.press("Enter");
    await expect.poll(() => open.count(), { timeout: 20_000 }).toBe(1);
    expect(await readFocus(page)).toMatch(/^Run a command/);
    await waitUntil(page, "!document.querySelector('.approvals.unsettled')");
    await pressOn(page, "More choices");
    await goTo(page, /^Why not\?/);
    await page.keyboard.type("once is enough");
    await goTo(page, "Refuse", "Shift+Tab");
    await page.keyboard.press("Enter");

    // While it answers, the next message waits.
    await page.getByText("Both are decided.").waitFor();
    expect(await readFocus(page)).toBe("Message");
    await page.keyboard.type("Go on");
    await page.keyboard.press("Enter");
    await page.getByText("After this answer:").waitFor();
    await waitForAnswer(page, 2);

    // From the field back into the answer; arrow keys choose.
    await goTo(page, "Another answer", "Shift+Tab");
    await page.keyboard.press("ArrowUp");
    expect(await readFocus(page)).toBe("Browser tests");
    await pressOn(page, /^Send/);
    await waitForAnswer(page, 3);
    const file = join(server.cwd, "new.txt");
    expect(readFileSync(file, "utf8")).toBe("new\n");
    expect(await readFocus(page)).not.toBe("");

    await goTo(page, "Changes", "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Changes" }).waitFor();
    expect(await readFocus(page)).not.toBe("");
    await pressOn(page, "Undo the changes of new.txt");
    await page.getByText("Nothing is changed").waitFor();
    expect(existsSync(file)).toBe(false);
    await page.keyboard.press("Escape");
    expect(await readFocus(page)).toBe("Changes");
  });

  test("a pressed button that leaves the page leaves the focus in it", async () => {
    const { page } = await openScenario(browser, folder, { script: endless });
    await page.keyboard.type("Wait");
    await page.keyboard.press("Enter");
    await page.getByText("This takes a while.").waitFor();
    await page.keyboard.type("Then this");
    await page.keyboard.press("Enter");
    for (const [name, gone] of [
      ["Do not send this message", page.getByText("Then this")],
      ["Stop", page.getByRole("button", { name: "Stop" })],
      ["Try again", page.getByRole("note")],
    ] as const) {
      await page.getByRole("button", { name }).first().waitFor();
      await goTo(page, name, "Shift+Tab");
      await page.keyboard.press("Enter");
      await gone.waitFor({ state: "detached" });
      await expect.poll(() => readFocus(page)).not.toBe("");
    }
    // A hit in an answer that is visible as a whole needs no way to its end.
    await page.getByText("This takes a while.").waitFor();
    await page.keyboard.press("Control+f");
    await page.locator("[type=search]:focus").waitFor();
    await page.keyboard.type("takes");
    await page.getByRole("search").getByText("1/1").waitFor();
    expect(await page.getByRole("button", { name: "Jump to the end" }).count()).toBe(0);
  });

  testDeep("sign-in, list, search, rename, pin, delete and undo, settings, sign-out", async () => {
    const { page, server } = await openScenario(browser, folder, { script: short });
    await page.keyboard.press("Shift+Tab");
    await goTo(page, "Message");
    await page.keyboard.type("About apples");
    await page.keyboard.press("Enter");
    await waitForAnswer(page);
    expect(await readFocus(page)).toBe("Message");

    const articles = ["Your message", "Text, document 1"];
    await page.getByRole("article", { name: articles[0]! }).focus();
    await page.keyboard.press("PageDown");
    expect(await readFocus(page)).toBe(articles[1]);
    await page.keyboard.press("PageUp");
    expect(await readFocus(page)).toBe(articles[0]);

    await chooseMenuItem(page, "Conversation actions", "Rename");
    await page.getByRole("textbox", { name: "Title of the conversation" }).waitFor();
    await page.keyboard.type("Fruit");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Fruit" }).waitFor();
    expect(await readFocus(page)).toBe("Conversation actions");

    await page.reload();
    await page.getByRole("heading", { name: "Fruit" }).waitFor();
    await pressOn(page, "Skip to message field");
    expect(await readFocus(page)).toBe("Message");
    await goTo(page, /^Search/, "Shift+Tab");
    await page.keyboard.type("apples");
    await page.locator(".excerpt").waitFor();
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Delete");
    await page.locator(".excerpt").waitFor({ state: "detached" });

    await chooseMenuItem(page, /^Actions.*Fruit/, "Pin");
    await page.getByRole("heading", { name: "Pinned" }).waitFor();
    expect(await readFocus(page)).not.toBe("");
    await chooseMenuItem(page, /^Actions.*Fruit/, "Delete conversation");
    await page.getByRole("heading", { name: "What would you like to do?" }).waitFor();
    expect(await readFocus(page)).not.toBe("");
    await pressOn(page, "Undo");
    await page.getByRole("navigation").getByText("Fruit").waitFor();
    expect(await readFocus(page)).not.toBe("");

    await pressOn(page, "Settings");
    await goTo(page, /^Appearance/);
    await page.keyboard.press("d");
    await waitUntil(page, "document.documentElement.dataset.theme === 'dark'");
    await page.keyboard.press("Escape");
    expect(await readFocus(page)).toBe("Settings");
    await page.keyboard.press("Enter");
    await pressOn(page, "Sign out");
    await page.getByLabel("Token").waitFor();
    expect(await readFocus(page)).toBe("Token");
    await page.keyboard.type(server.token);
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    expect(await readFocus(page)).toBe("Message");
  });
});
