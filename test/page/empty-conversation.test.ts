/** A conversation without a message: where it begins, and what one can do. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer } from "../support/page.ts";
import { checkAccess, openScenario } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { short } from "./scenario.ts";
import { testDeep } from "../support/describe-where.ts";

const folder = createTestFolder();

describeWithChromium("an empty conversation", (browser) => {
  testDeep("names workspace and branch, and each of its buttons begins a message in its mode", async () => {
    const files = { ".git/HEAD": "ref: refs/heads/topic\n", ".git/objects/x": "", ".git/refs/x": "" };
    const { page, server } = await openScenario(browser, folder, { script: short, files });
    await page.getByText("topic").waitFor();
    // The branch of the moment at which somebody returns.
    writeFileSync(join(server.cwd, ".git/HEAD"), "ref: refs/heads/other\n");
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText("other").waitFor();
    await checkAccess(page, "empty-conversation");
    const field = page.getByRole("textbox", { name: "Message" });
    await page.getByRole("button", { name: "Plan before changing" }).click();
    expect(await page.getByRole("combobox", { name: "Mode", exact: true }).inputValue()).toBe("plan");
    // The field has the focus, with the caret after the beginning.
    await page.keyboard.type("tokens");
    expect(await field.inputValue()).toMatch(/^Plan this change .*: tokens$/);
    // What was written stays.
    await page.getByRole("button", { name: "Find a bug" }).click();
    expect(await page.getByRole("combobox", { name: "Mode", exact: true }).inputValue()).toBe("debug");
    expect(await field.inputValue()).toMatch(/^Find the cause .*: Plan this change .*: tokens$/);
    await field.fill("");
    for (const name of ["Understand the code", "Change something"]) await page.getByRole("button", { name }).click();
    expect(await field.inputValue()).toBe("Run the tests and fix what fails.");
    await sendMessage(page, "Hello");
    await waitForAnswer(page);
    expect(await page.getByRole("button", { name: "Find a bug" }).count()).toBe(0);
  });
});
