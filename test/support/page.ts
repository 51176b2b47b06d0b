/** The page in a real browser, at a real server. */
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import type { TestBrowser } from "./chromium.ts";
import type { TestServer } from "./server.ts";

/** A page that is signed in. */
export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
}

/** Opens the page with nothing of other tests. `allowedFaults`: a part of those that the test causes. */
export async function openPage(
  browser: TestBrowser,
  server: Pick<TestServer, "address" | "token">,
  options?: BrowserContextOptions,
  allowedFaults?: string,
): Promise<OpenPage> {
  const page = await browser.borrowPage(options);
  checkFaults(page, allowedFaults);
  await page.goto(server.address);
  await signIn(page, server.token);
  return { page, context: page.context() };
}

/** Enters the token. */
async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("textbox", { name: "Message" }).waitFor();
}

/** Fails the test at its end if the page had errors, or its content security policy refused something. */
export function checkFaults(page: Page, allowed?: string): void {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`${error.message}\n${error.stack ?? ""}`));
  page.on("console", (message) => {
    // A refused request of a page that is not signed in yet is reported there too.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      faults.push(message.text());
  });
  onTestFinished(() => {
    expect(faults.filter((fault) => allowed === undefined || !fault.includes(allowed))).toEqual([]);
  });
}

/** Sends a message from the keyboard. */
export async function sendMessage(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

/** Waits for the end of the answer with this number, from 1. */
export async function waitForAnswer(page: Page, count = 1): Promise<void> {
  await page
    .locator(".totals")
    .nth(count - 1)
    .waitFor();
}

/**
 * Waits until an expression is true in the page. The page's policy forbids code from strings, which the browser
 * driver's own way of waiting needs.
 */
export async function waitUntil(page: Page, expression: string): Promise<void> {
  await expect.poll(() => page.evaluate(`Boolean(${expression})`), { timeout: 20_000, message: expression }).toBe(true);
}

/** The user goes to another window, or comes back. */
export async function setAway(page: Page, isAway: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, "hidden", { value: ${isAway}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  `);
}
