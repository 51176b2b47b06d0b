/** Images and PDF that a person attaches in the page. */
import type { AttachmentList } from "@sheaf/protocol";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { pdf } from "../support/images.ts";
import { waitForAnswer, waitUntil } from "../support/page.ts";
import { checkAccess, openScenario, readTurns, takeScreenshots } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
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

async function listFiles(server: { fetch: (path: string) => Promise<Response> }): Promise<readonly string[]> {
  const { attachments } = (await (await server.fetch("/v1/attachments")).json()) as AttachmentList;
  return attachments.map(({ id }) => id);
}

describeWithChromium("attachments in the page", (browser) => {
  testDeep(
    verifies(["X48", "X49", "S-102"], "images open at full size, also after a reload; texts are names"),
    async () => {
      const { page, server } = await openScenario(browser, folder, { script: hello });
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
      await checkAccess(page, "attachment-large");
      await page.keyboard.press("Escape");
      await waitUntil(page, "document.querySelector('dialog') === null");
      expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
    },
  );

  test(verifies(["X19", "S-102", "S-62"], "are chosen, dropped and pasted, shown, and sent as bytes"), async () => {
    const { page, server } = await openScenario(browser, folder, { script: hello });
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
    await checkAccess(page, "attachments");
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
  });

  test(verifies(["N67", "S-102"], "what cannot be attached is said, and a refused message comes back"), async () => {
    const { page } = await openScenario(browser, folder, { script: hello, args: ["--offer", "offline"] });
    await give(page, "drop", "evil.png", Buffer.from("<svg onload='alert(1)'/>").toString("base64"));
    const alert = page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.innerText()).toContain(
      "evil.png is not a PNG, JPEG, GIF or WebP image, not a PDF, and not a UTF-8 text",
    );
    expect(await page.locator(".thumbnail").count()).toBe(0);
    const name = `${"long".repeat(40)}.png`;
    await give(page, "paste", name, pixel);
    await page.locator(".composer .thumbnail").waitFor();
    // The button that removes it is inside the field.
    const [chip, list] = await Promise.all(
      [".attachment", ".attachments"].map((box) => page.locator(box).boundingBox()),
    );
    expect(chip!.width).toBeLessThan(list!.width);
    expect(await alert.count()).toBe(0);
    await page.getByRole("combobox", { name: "Model" }).selectOption("offline");
    await page.getByRole("button", { name: "Send" }).click();
    await alert.waitFor();
    expect(await alert.innerText()).toContain(`does not take image/png, so ${name} cannot be attached`);
    expect(await page.locator(".composer .thumbnail").count()).toBe(1);
    expect(await page.locator(".message").count()).toBe(0);
  });

  test(verifies(["X46", "X47", "S-201"], "are sent before the message, and are there after a reload"), async () => {
    const { page, server } = await openScenario(browser, folder, { script: hello });
    const chips = page.locator(".composer .attachment");
    await page.getByRole("textbox", { name: "Message" }).fill("Look at this");
    await give(page, "drop", "red.png", pixel);
    await page.locator("input[type=file]").setInputFiles([{ name: "a.csv", mimeType: "", buffer: Buffer.from("a,b") }]);
    await waitUntil(page, "document.querySelectorAll('.composer .attachment.is-sent').length === 2");
    await page.reload();
    await waitUntil(page, "document.querySelector('.composer img')?.naturalWidth === 1");
    expect(await page.locator(".composer img").getAttribute("src")).toMatch(/^\/v1\/attachments\/att_[^/]+\/content$/);
    expect(await chips.allInnerTexts()).toEqual(["red.png", "a.csv"]);
    // A file that is still on its way: the message waits for it.
    await page.route("**/v1/attachments", async (route) => {
      const isFile = route.request().method() === "POST";
      if (isFile) await page.getByRole("button", { name: "Sending files" }).waitFor();
      await route.continue();
    });
    await give(page, "paste", "late.png", pixel);
    await page.getByText("being sent").waitFor();
    const sent = page.waitForRequest((request) => request.url().endsWith("/v1/chat"));
    await page.getByRole("button", { name: "Send" }).click();
    const id = expect.stringMatching(/^att_/) as string;
    expect((await sent).postDataJSON()).toMatchObject({
      message: "Look at this",
      attachments: [{ id }, { id }, { id }],
    });
    await waitForAnswer(page);
    expect(await readTurns(server, page)).toMatchObject([
      { attachments: [{ name: "red.png" }, { name: "a.csv" }, {}] },
    ]);
    await page.unrouteAll();
    await page.reload();
    await page.locator(".message img").first().waitFor();
    expect([await chips.count(), await page.locator(".composer-field").inputValue()]).toEqual([0, ""]);
    await expect.poll(() => listFiles(server)).toEqual([]);
  });

  testDeep(verifies("X46", "that the server has no more are sent again, or named"), async () => {
    // The page asks for a file that is gone: browsers write that down as an error.
    const { page, server } = await openScenario(browser, folder, { script: hello, allowedFaults: "404" });
    const attach = async (): Promise<void> => {
      await give(page, "drop", "red.png", pixel);
      await page.locator(".composer .attachment.is-sent").waitFor();
      for (const id of await listFiles(server)) await server.fetch(`/v1/attachments/${id}`, { method: "DELETE" });
    };
    await attach();
    await page.getByRole("button", { name: "Send" }).click();
    await waitForAnswer(page);
    expect(await readTurns(server, page)).toMatchObject([{ attachments: [{ name: "red.png" }] }]);
    await attach();
    await page.reload();
    await page.getByText("The server no longer has this file").waitFor();
    await checkAccess(page, "attachment-gone");
    expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Remove red.png" }).click();
    expect(await page.locator(".composer .attachment").count()).toBe(0);
  });

  test(
    verifies(["X108", "S-200"], "are refused before they are sent, or one by one, each with a way out"),
    async () => {
      const args = ["--max-attachment-mib", "1", "--max-attachments", "1"];
      const { page, server } = await openScenario(browser, folder, { script: hello, args, allowedFaults: "429" });
      const large = Buffer.concat([Buffer.from(pixel, "base64"), Buffer.alloc(1024 * 1024)]);
      await page.locator("input[type=file]").setInputFiles([
        { name: "large.png", mimeType: "image/png", buffer: large },
        { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") },
        { name: "b.txt", mimeType: "text/plain", buffer: Buffer.from("b") },
      ]);
      await page.getByText("large.png is too large: at most 1 MB").waitFor();
      await page.locator(".composer .attachment.is-failed").waitFor();
      await takeScreenshots(page, "attachment-refused");
      expect(await page.locator(".composer .attachment.is-failed").innerText()).toContain("a limit of this server");
      expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
      for (const id of await listFiles(server)) await server.fetch(`/v1/attachments/${id}`, { method: "DELETE" });
      await page.getByRole("button", { name: /^Try again: [ab].txt$/ }).click();
      await waitUntil(page, "document.querySelectorAll('.composer .attachment.is-sent').length === 2");
    },
  );
});
