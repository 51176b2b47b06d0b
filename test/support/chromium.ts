/** A browser for tests: the Chromium of the machine, which calls nobody over the network by itself. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { describeWhere } from "./describe-where.ts";

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

/** `SHEAF_CHROMIUM`, or the first Chromium on the PATH. */
function findChromium(): string | undefined {
  const { SHEAF_CHROMIUM, PATH = "" } = process.env;
  if (SHEAF_CHROMIUM !== undefined && SHEAF_CHROMIUM !== "") return SHEAF_CHROMIUM;
  const folders = PATH.split(delimiter).filter((folder) => folder !== "");
  return ["chromium", "chromium-browser", "google-chrome"]
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const missing =
  "there is no Chromium on this machine: install it (apt-get install chromium), or set SHEAF_CHROMIUM to its path";

/** Starts it without a window. Whoever starts it closes it. Throws when there is none. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(missing);
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

/** Runs `body` where there is a Chromium. Elsewhere one skipped test says so; with CI=true it fails. */
export function describeWithChromium(title: string, body: (browser: TestBrowser) => void): void {
  describeWhere(title, findChromium() === undefined ? missing : undefined, () => {
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
