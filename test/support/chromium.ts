/** A browser for tests: the Chromium of the machine, which calls nobody over the network by itself. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { describeWhere } from "./describe-where.ts";
import { findMissing, findProgram } from "./programs.ts";

/** Tests may run as root in a container, so Chromium has no sandbox there; the rest keeps it silent. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Path of the Chromium to use: `SHEAF_CHROMIUM`, or the first one on the PATH. */
function findChromium(): string | undefined {
  const { SHEAF_CHROMIUM } = process.env;
  return SHEAF_CHROMIUM !== undefined && SHEAF_CHROMIUM !== "" ? SHEAF_CHROMIUM : findProgram("chromium");
}

/** Starts it without a window. Whoever starts it closes it. Throws when there is none. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined)
    throw new Error("there is no Chromium: install it, or set SHEAF_CHROMIUM to its path");
  return chromium.launch({ executablePath, args: flags, headless: true });
}

const everyday = { viewport: { width: 1280, height: 900 }, locale: "en-US" };

/** The browser of a test file, for its tests and hooks. */
export interface TestBrowser {
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /**
   * A page as if new, which the tests of a file use in turn: most of what a page costs is its new process. Tests with
   * other options share another one.
   */
  borrowPage(options?: BrowserContextOptions): Promise<Page>;
}

/** Runs `body` if there is a Chromium; otherwise one skipped test shows that there is none, and with CI=true it fails. */
export function describeWithChromium(title: string, body: (browser: TestBrowser) => void): void {
  describeWhere(title, findChromium() === undefined ? findMissing("chromium") : undefined, () => {
    let browser: Browser;
    const pages = new Map<string, Page>();
    beforeAll(async () => {
      browser = await launchChromium();
    });
    afterAll(() => browser.close());
    const newContext = (options?: BrowserContextOptions) => browser.newContext({ ...everyday, ...options });
    body({
      newContext,
      async borrowPage(options = {}) {
        const key = JSON.stringify(options);
        const page = pages.get(key) ?? (await (await newContext(options)).newPage());
        pages.set(key, page);
        await clearPage(page, options);
        return page;
      },
    });
  });
}

/** Takes from a page what an earlier test left. What it stored belongs to the port of that test's server. */
async function clearPage(page: Page, { viewport, reducedMotion = null }: BrowserContextOptions): Promise<void> {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  for (const event of ["console", "pageerror", "request"]) page.removeAllListeners(event);
  for (const event of ["request", "page"]) context.removeAllListeners(event);
  await Promise.all([page.unrouteAll(), context.unrouteAll()]);
  await context.setOffline(false);
  await context.clearCookies();
  await page.emulateMedia({ colorScheme: null, reducedMotion });
  await page.setViewportSize(viewport ?? everyday.viewport);
}
