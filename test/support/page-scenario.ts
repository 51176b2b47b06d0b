/** A server with a scripted model and a workspace, and the page signed in at it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Conversation } from "@sheaf/protocol";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import type { TestBrowser } from "./chromium.ts";
import { type OpenPage, openPage } from "./page.ts";
import { startServer, type TestServer } from "./server.ts";
import type { createTestFolder } from "./sheaf.ts";

export interface PageScenario extends OpenPage {
  readonly server: TestServer;
}

interface ScenarioOptions {
  readonly script: unknown;
  /** Files of the workspace. */
  readonly files?: Readonly<Record<string, string>>;
  /** Files of Sheaf's own folder, for instance `config.json`. */
  readonly home?: Readonly<Record<string, string>>;
  /** Flags of the server; default: every command runs. */
  readonly args?: readonly string[];
  readonly context?: BrowserContextOptions;
  /** A part of the errors that the test causes in the page; "": any. */
  readonly allowedFaults?: string;
}

export async function openScenario(
  browser: TestBrowser,
  folder: ReturnType<typeof createTestFolder>,
  { script, files = {}, home: homeFiles = {}, args = ["--force"], context, allowedFaults }: ScenarioOptions,
): Promise<PageScenario> {
  const home = folder.newFolder(homeFiles);
  const server = await startServer({ home, cwd: folder.newFolder(files), script, args });
  return { ...(await openPage(browser, server, context, allowedFaults)), server };
}

/** The turns of the conversation that the page shows, as the server has them. */
export async function readTurns({ fetch }: Pick<TestServer, "fetch">, page: Page): Promise<Conversation["turns"]> {
  const id = new URL(page.url()).hash.slice(2);
  return ((await (await fetch(`/v1/conversations/${id}`)).json()) as Conversation).turns;
}

const screenshots = join(import.meta.dirname, "../../screenshots");

const viewports = [
  { width: 1440, height: 900 },
  { width: 768, height: 1024 },
  { width: 390, height: 844 },
];

/**
 * With `SHEAF_SCREENSHOTS=1`: keeps pictures for people to look at, in three widths, light and dark, in a folder that
 * git ignores. A state that another width would end is kept in its own.
 */
export async function takeScreenshots(page: Page, name: string, widths = [1440, 768, 390]): Promise<void> {
  if (process.env.SHEAF_SCREENSHOTS !== "1") return;
  mkdirSync(screenshots, { recursive: true });
  const before = page.viewportSize();
  for (const viewport of viewports.filter(({ width }) => widths.includes(width))) {
    await page.setViewportSize({ ...viewport, height: Math.max(viewport.height, before?.height ?? 0) });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      // A change of width or colours draws diagrams again.
      if ((await page.locator("iframe").count()) > 0) await page.waitForTimeout(500);
      await expect.poll(() => page.getByText("Drawing …").count(), { timeout: 20_000 }).toBe(0);
      await page.screenshot({
        path: join(screenshots, `${name}-${viewport.width}-${colorScheme}.png`),
        animations: "disabled",
      });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  if (before) await page.setViewportSize(before);
}

/** Keeps pictures of a state, and expects that everybody can use it. */
export async function checkAccess(
  page: Page,
  name: string,
  colorSchemes?: Parameters<typeof findAccessFaults>[1],
): Promise<void> {
  await takeScreenshots(page, name);
  expect(await findAccessFaults(page, colorSchemes)).toEqual([]);
}

/**
 * What axe-core finds, by default in light and dark; one line each. Another colour scheme changes
 * colours only, so that only the contrast is looked at again.
 */
export async function findAccessFaults(
  page: Page,
  colorSchemes: readonly ("light" | "dark")[] = ["light", "dark"],
): Promise<string[]> {
  const faults: string[] = [];
  for (const [index, colorScheme] of colorSchemes.entries()) {
    await page.emulateMedia({ colorScheme });
    // The page has no frames: axe needs no second page to put results together.
    // The model chooses the levels of the headings in its texts.
    const axe = new AxeBuilder({ page }).setLegacyMode().disableRules("heading-order");
    if (index > 0) axe.withRules("color-contrast");
    const { violations } = await axe.analyze();
    for (const { id, nodes } of violations) {
      faults.push(...nodes.map(({ html, failureSummary }) => `${colorScheme} ${id}: ${html} ${failureSummary ?? ""}`));
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  return faults;
}
