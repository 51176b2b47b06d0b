/** The list of conversations, and the drawer that it is on a phone. */
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer } from "../support/page.ts";
import { checkAccess, findAccessFaults, openScenario, takeScreenshots } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";
import { approval, short } from "./scenario.ts";

const folder = createTestFolder();

describeWithChromium("the sidebar", (browser) => {
  testDeep("on a phone it is a drawer: it keeps the focus, and Escape gives it back", async () => {
    const { page } = await openScenario(browser, folder, { script: short });
    await page.setViewportSize({ width: 390, height: 844 });
    await sendMessage(page, "Hello");
    await waitForAnswer(page);
    const opener = page.getByRole("button", { name: "Show conversations" });
    const focus = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent";
    const drawer = page.getByRole("navigation", { name: "Conversations" });
    expect(await drawer.isVisible()).toBe(false);
    expect(await opener.getAttribute("aria-expanded")).toBe("false");
    await opener.press("Enter");
    expect(await page.evaluate(focus)).toBe("Hide conversations");
    expect(await findAccessFaults(page)).toEqual([]);
    const places = new Set<string>();
    for (let step = 0; step < 12; step++) {
      await page.keyboard.press("Tab");
      places.add(await page.evaluate("document.activeElement.closest('#sidebar, body').tagName"));
      expect(await page.evaluate("document.querySelector('.main').contains(document.activeElement)")).toBe(false);
    }
    expect([...places]).toContain("NAV");
    await page.keyboard.press("Escape");
    expect(await page.evaluate(focus)).toBe("Show conversations");
    await drawer.waitFor({ state: "hidden" });
    // A click beside it closes it, and so does the choice of a conversation or more room.
    await opener.click();
    await page.mouse.click(380, 400);
    await drawer.waitFor({ state: "hidden" });
    await opener.click();
    await drawer.getByRole("link", { name: /Hello/ }).click();
    await drawer.waitFor({ state: "hidden" });
    await opener.click();
    await takeScreenshots(page, "drawer", [390]);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole("textbox", { name: "Message" }).click();
    await page.keyboard.type("Wide again");
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Wide again");
  });

  test(
    verifies(["X35", "X36"], "conversations are pinned, renamed, found by what was said, and deleted with an undo"),
    async () => {
      const { page, server } = await openScenario(browser, folder, { script: short });
      const list = page.getByRole("navigation", { name: "Conversations" });
      const createConversation = async (message: string): Promise<void> => {
        await list.getByRole("link", { name: "New conversation" }).click();
        await sendMessage(page, message);
        await waitForAnswer(page);
      };
      const act = async (title: string, item: string): Promise<void> => {
        await list.getByRole("button", { name: `Actions for “${title}”` }).click();
        await list.getByRole("menuitem", { name: item, exact: true }).click();
      };
      await createConversation("About apples");
      await createConversation("About pears");
      await act("About apples", "Pin");
      await list.getByRole("list", { name: "Pinned" }).getByText("About apples").waitFor();
      await list.getByRole("button", { name: "Actions for “About pears”" }).click();
      await checkAccess(page, "sidebar-menu");
      await page.keyboard.press("Escape");

      // Renamed from the keyboard; the page of the same tab shows it.
      await list.getByRole("link", { name: /About pears/ }).press("F2");
      await page.keyboard.type("Nothing");
      await page.keyboard.press("Escape");
      await list.getByRole("link", { name: /About pears/ }).press("F2");
      await page.keyboard.type("<b>Fruit</b>");
      await page.keyboard.press("Enter");
      await list.getByRole("link", { name: /<b>Fruit<\/b>/ }).waitFor();
      await page.getByRole("heading", { name: "<b>Fruit</b>" }).waitFor();

      await list.getByRole("list", { name: "today" }).getByText("<b>Fruit</b>").waitFor();
      await page.keyboard.press("Control+k");
      await page.locator("[type=search]:focus").waitFor();
      await page.keyboard.type("short");
      await list.locator(".excerpt mark").nth(1).waitFor();
      expect(await list.locator(".excerpt").first().innerText()).toBe("A short answer.");
      expect(await list.locator(".excerpt mark").first().innerText()).toBe("short");
      await checkAccess(page, "sidebar-search");
      await page.getByRole("searchbox").fill("");
      await list.getByRole("list", { name: "Pinned" }).waitFor();

      const undo = page.getByRole("region", { name: "Deleted conversations" }).getByRole("button", { name: "Undo" });
      await list.getByRole("button", { name: "Actions for “<b>Fruit</b>”" }).press("Enter");
      for (const key of ["ArrowUp", "Enter"]) await page.keyboard.press(key);
      await page.locator(".toast button:focus").waitFor();
      expect(await list.getByText("<b>Fruit</b>").count()).toBe(0);
      await checkAccess(page, "sidebar-undo");
      expect(await page.locator("[aria-live=polite] p").innerText()).toBe("Deleted “<b>Fruit</b>”");
      // It survives leaving the conversation.
      await list.getByRole("link", { name: /About apples/ }).click();
      await undo.press("Enter");
      await list.getByText("<b>Fruit</b>").waitFor();
      expect(await undo.count()).toBe(0);
      const { conversations } = (await (await server.fetch("/v1/conversations")).json()) as {
        conversations: unknown[];
      };
      expect(conversations).toHaveLength(2);
    },
  );

  test(verifies("X35", "the head shows what the conversation used"), async () => {
    const { page } = await openScenario(browser, folder, { script: short });
    expect(await page.getByRole("button", { name: /Usage/ }).count()).toBe(0);
    await sendMessage(page, "Hello");
    await waitForAnswer(page);
    await page.getByRole("button", { name: /Usage/ }).press("Enter");
    const details = page.locator(".usage");
    await details.waitFor();
    expect(await details.innerText()).toMatch(
      /Tokens\s+[\d,]+ in, \d+ out\s+Context\s+[\d.,]+K? tokens\s+Messages\s+1\s+Steps\s+1\s+Time/,
    );
    await checkAccess(page, "usage");
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "hidden" });
  });

  testDeep("a row says that its conversation runs, waits, failed or has something new", async () => {
    const { page, server } = await openScenario(browser, folder, {
      script: approval,
      args: ["--sandbox", "disabled"],
    });
    const list = page.getByRole("navigation", { name: "Conversations" });
    await sendMessage(page, "Test it");
    await page.getByRole("group", { name: "Run a command" }).waitFor();
    await list.getByRole("link", { name: "New conversation" }).click();
    await list.getByText("Waiting for you").waitFor({ state: "attached" });
    await checkAccess(page, "sidebar-waiting");
    const { conversations } = (await (await server.fetch("/v1/conversations")).json()) as {
      conversations: { approvals: { approvalId: string; responseId: string }[] }[];
    };
    const { approvalId, responseId } = conversations[0]!.approvals[0]!;
    await server.fetch(`/v1/responses/${responseId}/cancel`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: "{}",
    });
    expect(approvalId).not.toBe("");
    await list.getByText("Waiting for you").waitFor({ state: "detached" });
  });
});
