/** Several tabs and devices of one person: each shows at once what another one does, and none takes all connections. */
import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { checkFaults, openPage, sendMessage, setAway, waitForAnswer } from "../support/page.ts";
import { openScenario } from "../support/page-scenario.ts";
import { createTestFolder, openSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";
import { approval, slow } from "./scenario.ts";

const folder = createTestFolder();

async function openTab(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage();
  checkFaults(page);
  await page.goto(address);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  return page;
}

const question = (page: Page) => page.getByRole("group", { name: "Run a command" });
const link = (page: Page, title: string) => page.locator("#sidebar").getByRole("link", { name: title });

describeWithChromium("tabs", (browser) => {
  test(verifies("C230", "six tabs with running answers leave Stop, approvals and new tabs working"), async () => {
    const words = Array.from({ length: 20 }, (_, at) => [{ text: `Word ${at}. ` }, { wait_ms: 100 }]).flat();
    const { page, context, server } = await openScenario(browser, folder, {
      script: { turns: [...approval.turns.slice(0, 1), { events: [...words, { stall: true }] }] },
      args: ["--sandbox", "disabled"],
    });
    const address = new URL("/", page.url()).href;
    const tabs = [page];
    for (let at = 1; at <= 6; at += 1) {
      const { headers, body: events } = await server.chat({ message: `Long ${at}`, approvals: "deny", stream: true });
      await events?.cancel();
      const tab = tabs.at(-1)!;
      await tab.goto(`${address}#/${headers.get("x-conversation-id")}`);
      await tab.getByText("Word 3.").waitFor();
      await setAway(tab, true);
      tabs.push(await openTab(context, address));
    }
    const last = tabs.at(-1)!;
    for (let at = 1; at <= 6; at += 1) await link(last, `Long ${at}`).waitFor();
    await sendMessage(last, "Ask me");
    await question(last).getByRole("button", { name: "Allow once" }).click();
    await question(last).waitFor({ state: "detached" });
    await last.getByText("Word 3.").waitFor();
    await last.getByRole("button", { name: "Stop" }).click();
    await waitForAnswer(last);
    // A tab that somebody comes back to has everything, and its own Stop works.
    await setAway(page, false);
    await page.getByText("Word 12.").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await waitForAnswer(page);
    // The tab that reads the events for all is closed: another one goes on.
    await page.goto("about:blank");
    await link(last, "Long 2").click();
    await last.getByRole("button", { name: "Stop" }).click();
    await waitForAnswer(last);
    expect(await last.getByText("Word 3.").count()).toBeGreaterThan(0);
  });

  test(verifies("C230", "a second tab shows message, answer and card, and stops it; a title follows"), async () => {
    const { page, context } = await openScenario(browser, folder, {
      script: { turns: [...slow.turns, ...approval.turns.slice(0, 1), ...slow.turns], after: "repeat_last" },
      args: ["--sandbox", "disabled"],
    });
    await sendMessage(page, "First");
    await page.getByRole("button", { name: "Stop" }).click();
    await waitForAnswer(page);
    const other = await openTab(context, page.url());
    await waitForAnswer(other);
    await sendMessage(page, "Second");
    await question(other).getByRole("button", { name: "Allow once" }).click();
    await other.getByText("Line 3 of the answer.").waitFor();
    await other.getByRole("button", { name: "Stop" }).click();
    await waitForAnswer(page, 2);
    expect(await link(other, "First").count()).toBe(1);
  });

  test(verifies("C230", "a phone follows and approves what the desk began"), async () => {
    const { page, server } = await openScenario(browser, folder, {
      script: { turns: [...approval.turns.slice(0, 1), ...slow.turns] },
      args: ["--sandbox", "disabled"],
    });
    const phone = await openPage(browser, server, { viewport: { width: 390, height: 844 } });
    await sendMessage(page, "From the desk");
    await phone.page.getByRole("button", { name: "Show conversations" }).click();
    await link(phone.page, "From the desk").click();
    await question(phone.page).getByRole("button", { name: "Allow once" }).click();
    await page.getByText("Line 3 of the answer.").waitFor();
    await Promise.all([waitForAnswer(page), waitForAnswer(phone.page)]);
    expect(await page.getByRole("feed").innerText()).toContain("Line 30 of the answer.");
  });

  test(
    verifies("C231", "a run of the command line is listed and followed, and its card says where to answer"),
    async () => {
      const { page, server } = await openScenario(browser, folder, {
        script: { turns: [...approval.turns.slice(0, 1), ...slow.turns] },
        args: ["--sandbox", "disabled"],
      });
      const lines = ["--input-format", "stream-json", "--output-format", "stream-json", "--sandbox", "disabled"];
      const model = ["--model", `scripted:${server.home}-script.json`];
      const sheaf = openSheaf(["-p", ...lines, ...model], { cwd: server.cwd, home: server.home });
      sheaf.input.write(`${JSON.stringify({ type: "user", message: { role: "user", content: "From elsewhere" } })}\n`);
      await link(page, "From elsewhere").click();
      await question(page).getByText("Answer in the program that started this.").waitFor();
      expect(await question(page).getByRole("button", { name: "Allow once" }).count()).toBe(0);
      await page.getByRole("button", { name: "Stop" }).click();
      await waitForAnswer(page);
    },
  );
});
