/** Images and PDF that a person attaches in the page. */
import type { Conversation } from "@sheaf/protocol";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { pdf } from "../support/images.ts";
import { waitForAnswer, waitUntil } from "../support/page.ts";
import { findAccessFaults, openScenario, takeScreenshots } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folder = createTestFolder();
const hello = { turns: [{ events: [{ text: "I see it." }] }], after: "loop" };

/** One red pixel, which browsers can draw. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** What a person drops on the page or pastes into the field. */
async function give(page: Page, event: "drop" | "paste", name: string, base64: string): Promise<void> {
  await page.evaluate(`{
    const bytes = Uint8Array.from(atob("${base64}"), (character) => character.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], "${name}", { type: "image/png" }));
    const options = { bubbles: true, cancelable: true };
    document.querySelector("textarea").dispatchEvent(
      "${event}" === "drop"
        ? new DragEvent("drop", { ...options, dataTransfer: transfer })
        : new ClipboardEvent("paste", { ...options, clipboardData: transfer }),
    );
  }`);
}

async function readTurns(
  server: { fetch: (path: string) => Promise<Response> },
  page: Page,
): Promise<Conversation["turns"]> {
  const id = new URL(page.url()).hash.slice(2);
  return ((await (await server.fetch(`/v1/conversations/${id}`)).json()) as Conversation).turns;
}

describeWithChromium("attachments in the page", (browser) => {
  test(
    verifies(["X48", "X49", "S-102"], "images open at full size, also after a reload; texts are names"),
    async () => {
      const { page, server, faults } = await openScenario(browser, folder, { script: hello });
      await page.locator("input[type=file]").setInputFiles([
        { name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Notes\n") },
        { name: "red.png", mimeType: "image/png", buffer: Buffer.from(pixel, "base64") },
      ]);
      await waitUntil(page, "document.querySelectorAll('.composer .attachment').length === 2");
      await page.getByRole("button", { name: "Send" }).click();
      await waitForAnswer(page);
      expect(await readTurns(server, page)).toMatchObject([{ attachments: [{ mediaType: "text/plain" }, {}] }]);
      await page.reload();
      const button = page.getByRole("button", { name: "Show at full size: red.png" });
      await waitUntil(page, "document.querySelector('.message img')?.naturalWidth === 1");
      expect(await page.locator(".message img").getAttribute("src")).toMatch(
        /^\/v1\/responses\/chat_[^/]+\/attachments\/2$/,
      );
      await takeScreenshots(page, "attachments-kept");
      await button.focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog", { name: "red.png" });
      await dialog.getByRole("img", { name: "red.png" }).waitFor();
      expect(await findAccessFaults(page)).toEqual([]);
      await takeScreenshots(page, "attachment-large");
      await page.keyboard.press("Escape");
      await waitUntil(page, "document.querySelector('dialog') === null");
      expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
      expect(faults()).toEqual([]);
    },
  );

  test(verifies(["X19", "S-102", "S-62"], "are chosen, dropped and pasted, shown, and sent as bytes"), async () => {
    const { page, server, faults } = await openScenario(browser, folder, { script: hello });
    const chips = page.getByRole("list", { name: "Attached files" });
    await page.locator("input[type=file]").setInputFiles([
      { name: "red.txt", mimeType: "text/plain", buffer: Buffer.from(pixel, "base64") },
      { name: "spec.pdf", mimeType: "application/pdf", buffer: pdf },
    ]);
    await give(page, "drop", "dropped.png", pixel);
    await give(page, "paste", "pasted.png", pixel);
    await waitUntil(page, "document.querySelectorAll('.composer .attachment').length === 4");
    await waitUntil(
      page,
      "[...document.querySelectorAll('.composer img')].every(({ naturalWidth }) => naturalWidth === 1)",
    );
    expect(await page.locator(".composer img").count()).toBe(3);
    const sources = await page
      .locator(".thumbnail")
      .evaluateAll((images) => images.map((image) => image.getAttribute("src")));
    expect(sources.every((source) => source?.startsWith("blob:"))).toBe(true);
    await takeScreenshots(page, "attachments");
    expect(await findAccessFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Remove pasted.png" }).click();
    await page.getByRole("button", { name: "Send" }).click();
    await waitForAnswer(page);
    expect(await chips.innerText()).toMatch(/^red\.txt\s+spec\.pdf\s+dropped\.png$/);
    expect(await page.locator(".message img").count()).toBe(2);
    const [turn] = await readTurns(server, page);
    expect(turn).toMatchObject({
      message: "",
      attachments: [
        { name: "red.txt", mediaType: "image/png" },
        { name: "spec.pdf", mediaType: "application/pdf" },
        { name: "dropped.png" },
      ],
    });
    await page.reload();
    await chips.waitFor();
    await waitUntil(page, "[...document.querySelectorAll('.message img')].length === 2");
    expect(faults()).toEqual([]);
  });

  test(verifies(["N67", "S-102"], "what cannot be attached is said, and a refused message comes back"), async () => {
    const { page, faults } = await openScenario(browser, folder, { script: hello, args: ["--offer", "offline"] });
    await give(page, "drop", "evil.png", Buffer.from("<svg onload='alert(1)'/>").toString("base64"));
    const alert = page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.innerText()).toContain(
      "evil.png is not a PNG, JPEG, GIF or WebP image, not a PDF, and not a UTF-8 text",
    );
    expect(await page.locator(".thumbnail").count()).toBe(0);
    await give(page, "paste", "red.png", pixel);
    await page.locator(".composer .thumbnail").waitFor();
    expect(await alert.count()).toBe(0);
    await page.getByRole("combobox", { name: "Model" }).selectOption("offline");
    await page.getByRole("button", { name: "Send" }).click();
    await alert.waitFor();
    expect(await alert.innerText()).toContain("does not take image/png, so red.png cannot be attached");
    expect(await page.locator(".composer .thumbnail").count()).toBe(1);
    expect(await page.locator(".message").count()).toBe(0);
    expect(faults()).toEqual([]);
  });
});
