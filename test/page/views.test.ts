/** Every type of document in its view: live, and again after the page was loaded anew. */
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer } from "../support/page.ts";
import { checkAccess, findAccessFaults, openScenario } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";
import { everyType, failing, workspace } from "./scenario.ts";

const folder = createTestFolder();

/** The document of a type, in order of appearance. */
function findDocument(page: Page, type: string, position = 0): Locator {
  return page.getByRole("article", { name: new RegExp(`^${type}, document`) }).nth(position);
}

async function readText(locator: Locator): Promise<string> {
  return (await locator.innerText()).replaceAll(/\s+/g, " ");
}

/** What a person must be able to read of each document. */
async function checkEveryType(page: Page): Promise<void> {
  const reference = findDocument(page, "Project code");
  expect(await readText(reference)).toContain("app.register_blueprint(api)");
  expect(await readText(reference)).toContain("Line 6");
  expect(await readText(reference)).toContain("Matches the file");

  const plan = findDocument(page, "Plan");
  expect(await readText(plan)).toContain("Token check for the API");
  expect(await readText(plan)).toContain("2 of 4 done");
  expect(await readText(plan)).toContain("Waiting for: Test missing, wrong and expired tokens");

  const created = findDocument(page, "File change");
  expect(await readText(created)).toContain("src/tokens.py");
  expect(await readText(created)).toContain("Created");
  const changed = findDocument(page, "File change", 1);
  expect(await changed.locator("tr.diff-added").count()).toBe(4);
  expect(await changed.locator("tr.diff-removed").count()).toBe(1);
  const renamed = findDocument(page, "File change", 2);
  expect(await readText(renamed)).toContain("old/notes.txt → docs/notes.txt");

  const tool = findDocument(page, "Tool call");
  await tool.getByRole("button", { name: /read_file/ }).click();
  expect(await readText(tool)).toContain('"target_file": "src/routes.py"');
  expect(await readText(tool)).toContain("def list_plants");
  await tool.getByRole("button", { name: /read_file/ }).click();

  const command = findDocument(page, "Command");
  expect(await readText(command)).toContain("Exit code 1");
  expect(await readText(command)).toContain("ok test_missing_token");
  expect(await command.locator(".front-red").first().innerText()).toBe("FAIL");

  expect(await readText(findDocument(page, "Todo list"))).toContain("2 of 4 done");
  expect(await readText(findDocument(page, "Code"))).toContain("leeway=30");
  expect(await findDocument(page, "Text", 2).locator("strong").innerText()).toBe("expired");
  expect(await findDocument(page, "Text", 3).locator("tbody tr").count()).toBe(3);

  const error = findDocument(page, "Error");
  expect(await readText(error)).toContain("FILE_NOT_FOUND");
  await error.getByRole("button", { name: "Show the step" }).click();
  expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toContain("Tool call");
}

describeWithChromium("the views", (browser) => {
  test(verifies("N39", "every type but a question, live and after reload, in light and dark"), async () => {
    const { page } = await openScenario(browser, folder, { script: everyType, files: workspace });
    await page.setViewportSize({ width: 1440, height: 2600 });
    await sendMessage(page, "Require a token for every API request.");
    await waitForAnswer(page);
    await checkEveryType(page);
    const live = await page.getByRole("feed").innerText();
    await page.reload();
    await waitForAnswer(page);
    await checkEveryType(page);
    expect(await page.getByRole("feed").innerText()).toBe(live);
    await checkAccess(page, "every-type");
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    expect(await findAccessFaults(page, ["dark"])).toEqual([]);
  });

  testDeep("a change side by side, and again in one column after reload", async () => {
    const { page } = await openScenario(browser, folder, { script: everyType, files: workspace });
    await sendMessage(page, "Go");
    await waitForAnswer(page);
    const changed = findDocument(page, "File change", 1);
    await changed.getByRole("button", { name: "Side by side" }).click();
    await changed.locator("td.diff-added.diff-text").nth(3).waitFor();
    await changed.scrollIntoViewIfNeeded();
    await checkAccess(page, "side-by-side", ["light"]);
    await page.reload();
    await waitForAnswer(page);
    await findDocument(page, "File change", 1).getByRole("button", { name: "Side by side", pressed: true }).waitFor();
    expect(await findDocument(page, "File change", 1).locator("td.diff-added.diff-text").count()).toBe(4);
  });

  test(verifies("N52", "an answer that fails says why, and what to do"), async () => {
    const { page } = await openScenario(browser, folder, { script: failing });
    await sendMessage(page, "Go");
    await waitForAnswer(page);
    const error = findDocument(page, "Error");
    expect(await readText(error)).toContain("too many requests");
    expect(await readText(error)).toContain("RATE_LIMITED");
    expect(await readText(error)).toContain("Wait a moment, then send the message again.");
    await error.getByRole("button", { name: "Details" }).click();
    expect(await readText(error)).toContain("limit 10 a minute");
    await findDocument(page, "Text").locator(".alert-note", { hasText: "Note" }).waitFor();
    await checkAccess(page, "failed");
    await error.getByRole("button", { name: "Try again" }).press("Enter");
    await waitForAnswer(page);
    expect(await page.locator(".message").count()).toBe(1);
  });
});
