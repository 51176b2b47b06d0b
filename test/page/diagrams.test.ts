/** Diagrams: drawn in a document of their own, which cannot reach the page, the server or the network. */
import type { Frame, Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer } from "../support/page.ts";
import { checkAccess, openScenario, takeScreenshots } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";
import { escapes, hostileDiagrams } from "./hostile-diagrams.ts";

const folder = createTestFolder();

const flow = `flowchart LR
  Request --> Check{Token valid?}
  Check -- yes --> Route[Run the route]
  Check -- no --> Refuse[Answer 401]
`;
const sequence = `sequenceDiagram
  Client->>API: GET /plants
  API->>Store: read
  Store-->>API: rows
  API-->>Client: 200
`;
const toFence = (source: string) => `\`\`\`mermaid\n${source}\n\`\`\`\n`;

function openDiagrams(browser: Parameters<typeof openScenario>[0], text: string, allowedFaults?: string) {
  const script = { turns: [{ events: [{ text, chunk: 9 }] }], after: "loop" };
  return openScenario(browser, folder, { script, ...(allowedFaults !== undefined && { allowedFaults }) });
}

/** Requests to anywhere but the server of the page that a policy did not stop. */
function watchRequests(page: Page, address: string): Set<string> {
  const foreign = new Set<string>();
  const context = page.context();
  context.on("request", (request) => {
    if (!request.url().startsWith(`${address}/`)) foreign.add(request.url());
  });
  context.on("requestfailed", (request) => {
    if (request.failure()?.errorText === "csp") foreign.delete(request.url());
  });
  context.on("page", (opened) => foreign.add(`a page: ${opened.url()}`));
  return foreign;
}

function findDiagram(page: Page, position = 0): Locator {
  return page.getByRole("article", { name: /^Code, document/ }).nth(position);
}

async function waitForDrawing(diagram: Locator): Promise<void> {
  await diagram.locator("iframe.diagram-image:not(.hidden)").waitFor({ timeout: 30_000 });
}

function findFrame(page: Page): Frame {
  return page.frames().find((frame) => frame.url().endsWith("/diagram.html"))!;
}

describeWithChromium("diagrams", (browser) => {
  test(verifies("S-112", "are drawn once complete, in light and dark, with their source one click away"), async () => {
    const text = `Requests pass a check:\n\n${toFence(flow)}\nThen:\n\n${toFence(sequence)}`;
    const { page } = await openDiagrams(browser, text);
    await page.setViewportSize({ width: 1440, height: 1200 });
    await sendMessage(page, "Draw it");
    await waitForAnswer(page);
    await waitForDrawing(findDiagram(page));
    await waitForDrawing(findDiagram(page, 1));
    const frame = findDiagram(page).locator("iframe");
    expect(await frame.contentFrame().locator("svg").textContent()).toContain("Token valid?");
    expect(await frame.getAttribute("sandbox")).toBe("allow-scripts");
    await checkAccess(page, "diagrams", ["light"]);
    await page.setViewportSize({ width: 390, height: 844 });
    await takeScreenshots(page, "diagrams-390", [390]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await findDiagram(page).getByRole("button", { name: "Show at full size" }).click();
    await waitForDrawing(page.getByRole("dialog"));
    await takeScreenshots(page, "diagram-full-size");
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await findDiagram(page).getByRole("button", { name: "Show source" }).click();
    await findDiagram(page).getByText("Check -- no --> Refuse[Answer 401]").waitFor();
    expect(await findDiagram(page).locator("iframe").count()).toBe(0);
  });

  testDeep(verifies("S-112", "hostile sources run nothing, load nothing, and change nothing of the page"), async () => {
    const all = Object.values(hostileDiagrams);
    const { page, server } = await openDiagrams(
      browser,
      all.map(toFence).join("\nNext.\n\n"),
      "Content Security Policy",
    );
    const foreign = watchRequests(page, server.address);
    await page.evaluate("globalThis.hits = []; globalThis.hit = () => globalThis.hits.push('hit')");
    await page.setViewportSize({ width: 1280, height: 18_000 });
    await sendMessage(page, "Draw it");
    await waitForAnswer(page);
    for (let index = 0; index < all.length; index += 1) {
      const diagram = findDiagram(page, index);
      await diagram
        .locator("iframe.diagram-image:not(.hidden), .card-note, pre.code")
        .first()
        .waitFor({ timeout: 60_000 });
    }
    expect(await page.evaluate("[globalThis.hits, ({}).polluted]")).toEqual([[], undefined]);
    const frames = page.frames().slice(1);
    expect(frames.length).toBeGreaterThan(10);
    for (const frame of frames) {
      expect(await frame.evaluate("[({}).polluted, origin, document.scripts.length]")).toEqual([undefined, "null", 0]);
    }
    expect([...foreign]).toEqual([]);
  });

  test(verifies("S-112", "a document of a diagram that was broken into reaches nothing"), async () => {
    const { page, server } = await openDiagrams(browser, toFence(flow), "");
    await sendMessage(page, "Draw it");
    await waitForAnswer(page);
    await waitForDrawing(findDiagram(page));
    await page.evaluate("globalThis.hits = []; globalThis.hit = () => globalThis.hits.push('hit')");
    const address = page.url();
    const foreign = watchRequests(page, server.address);
    const frame = findFrame(page);
    // One after the other in the same document; the last one tries to leave it.
    for (const [name, code] of Object.entries(escapes)) {
      expect(page.frames(), name).toContain(frame);
      const outcome = await frame
        .evaluate(`(async () => { try { return "got " + (await (${code})); } catch (error) { return "no"; } })()`)
        .catch(() => "no");
      expect(outcome, name).toBe("no");
      expect(page.url(), name).toBe(address);
      expect(await page.evaluate("globalThis.hits"), name).toEqual([]);
      expect([...foreign], name).toEqual([]);
    }
  });

  testDeep(verifies("S-112", "one that never ends is removed, and the page answers meanwhile"), async () => {
    const { page } = await openDiagrams(browser, toFence(flow));
    // What a source that the library never gets done with does to its document.
    await page.route("**/diagram.html", (route) =>
      route.fulfill({
        contentType: "text/html",
        headers: { "Content-Security-Policy": "sandbox allow-scripts" },
        body: '<script>onmessage = () => { for (;;); }; parent.postMessage({ kind: "ready" }, "*");</script>',
      }),
    );
    await sendMessage(page, "Draw it");
    await waitForAnswer(page);
    await findDiagram(page).locator("iframe").waitFor({ state: "attached" });
    // A page that hangs as well answers nothing before the end.
    const field = page.getByRole("textbox", { name: "Message" });
    await field.fill("still here", { timeout: 5000 });
    expect(await findDiagram(page).locator("iframe").count()).toBe(1);
    await findDiagram(page).getByText("Drawing this diagram took too long.").waitFor();
    await findDiagram(page).getByText("Check -- no --> Refuse[Answer 401]").waitFor();
    expect(await findDiagram(page).locator("iframe").count()).toBe(0);
    await takeScreenshots(page, "diagram-too-slow");
  });
});
