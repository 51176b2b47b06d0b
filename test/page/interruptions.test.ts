/** What may come between a person and an answer: reloads, other tabs, lost connections, a server that restarts. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { openPage, sendMessage, waitForAnswer, checkFaults } from "../support/page.ts";
import { openScenario, takeScreenshots } from "../support/page-scenario.ts";
import { startServerProcess } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";
import { approval, endless, short, slow } from "./scenario.ts";

const folder = createTestFolder();

/** The whole text of the slow answer. */
const slowLines = Array.from({ length: 30 }, (_, index) => `Line ${index + 1} of the answer.`);

async function readLines(page: Page): Promise<string[]> {
  const text = await page.getByRole("article", { name: "Text, document 1" }).innerText();
  return text.split("\n").filter((line) => line !== "");
}

describeWithChromium("an answer that is interrupted", (browser) => {
  test(verifies(["X2", "X3"], "a reload in the middle goes on, and nothing is lost or doubled"), async () => {
    const { page } = await openScenario(browser, folder, { script: slow });
    await sendMessage(page, "Go");
    await page.getByText("Line 5 of the answer.").waitFor();
    await page.reload();
    await page.getByText("Line 12 of the answer.").waitFor();
    await page.reload();
    await waitForAnswer(page);
    expect(await readLines(page)).toEqual(slowLines);
  });

  testDeep(verifies("X7", "two tabs show the same answer; what one decides, both see"), async () => {
    const { page, context } = await openScenario(browser, folder, {
      script: { turns: [...approval.turns.slice(0, 1), ...slow.turns] },
      args: ["--sandbox", "disabled"],
    });
    await sendMessage(page, "Go");
    await page.getByRole("group", { name: "Run a command" }).waitFor();
    const other = await context.newPage();
    checkFaults(other);
    await other.goto(page.url());
    await other.getByRole("group", { name: "Run a command" }).getByRole("button", { name: "Allow once" }).click();
    await page.getByRole("group", { name: "Run a command" }).waitFor({ state: "detached" });
    await Promise.all([waitForAnswer(page), waitForAnswer(other)]);
    expect(await page.getByRole("feed").innerText()).toBe(await other.getByRole("feed").innerText());
    // A message of one tab appears in the other one too.
    await sendMessage(other, "Once more");
    await page.getByText("Once more").waitFor();
  });

  testDeep(
    verifies("N51", "the page says that it is offline, and the answer goes on when the network is back"),
    async () => {
      const { page, context } = await openScenario(browser, folder, { script: slow });
      await sendMessage(page, "Go");
      await page.getByText("Line 3 of the answer.").waitFor();
      await context.setOffline(true);
      await page.getByText("You are offline.").waitFor();
      expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(1);
      await takeScreenshots(page, "offline");
      await context.setOffline(false);
      await page.getByText("You are offline.").waitFor({ state: "detached" });
      await waitForAnswer(page);
      expect(await readLines(page)).toEqual(slowLines);
    },
  );

  test(verifies(["N51", "R-01"], "a server that restarts: the page finds it again, still signed in"), async () => {
    const server = await startServerProcess({
      home: folder.newFolder(),
      cwd: folder.newFolder(),
      script: slow,
      args: ["--force"],
    });
    const { page } = await openPage(browser, server);
    await sendMessage(page, "Go");
    await page.getByText("Line 4 of the answer.").waitFor();
    await server.stop("SIGKILL");
    await page.getByText("The connection was lost.").waitFor();
    await takeScreenshots(page, "reconnecting");
    const options = {
      home: server.home,
      cwd: server.cwd,
      script: short,
      args: ["--force", "--port", `${server.port}`],
    };
    await startServerProcess(options);
    // The answer was cut by the end of the server, and says so; the page can go on at once.
    await waitForAnswer(page);
    expect((await readLines(page))[3]).toBe("Line 4 of the answer.");
    expect(await page.getByRole("article", { name: /^Error/ }).count()).toBe(1);
    await sendMessage(page, "And now?");
    await waitForAnswer(page, 2);
    expect(await page.getByRole("feed").innerText()).toContain("A short answer.");
  });

  test("a message that the server could not take stays in the field", async () => {
    const server = await startServerProcess({
      home: folder.newFolder(),
      cwd: folder.newFolder(),
      script: endless,
      args: ["--force", "--grace", "0"],
    });
    const { page } = await openPage(browser, server);
    await sendMessage(page, "Go");
    await page.getByText("This takes a while.").waitFor();
    await server.stop();
    await page.getByText("the server went down before the answer was complete").waitFor();
    for (const errorCode of ["PAYLOAD_TOO_LARGE", "OVERLOADED"]) {
      const error = { errorCode, message: `too ${errorCode}`, source: "server", details: "" };
      await page.route("**/v1/chat", (route) =>
        route.fulfill({ status: 413, contentType: "application/json", body: JSON.stringify({ error }) }),
      );
      await sendMessage(page, "Much too long");
      await page.getByRole("alert").getByText(`The server refused the request: too ${errorCode}`).waitFor();
      expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Much too long");
    }
    await takeScreenshots(page, "refused");
  });

  test(verifies("S-222", "a session that ended leads to the door, and back to conversation and draft"), async () => {
    const { page, context, server } = await openScenario(browser, folder, { script: short });
    await sendMessage(page, "Hello");
    await waitForAnswer(page);
    const address = page.url();
    await context.clearCookies();
    await page.reload();
    await page.getByLabel("Token").fill(server.token);
    await page.keyboard.press("Enter");
    await waitForAnswer(page);
    expect(page.url()).toBe(address);
    await page.getByRole("textbox", { name: "Message" }).fill("Half a thought");
    await context.clearCookies();
    await page.reload();
    await page.getByLabel("Token").fill(server.token);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Half a thought");
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    expect(await context.cookies()).toEqual([]);
  });

  test("a conversation that is not there says so", async () => {
    const { page, server } = await openScenario(browser, folder, { script: short });
    await page.goto(`${server.address}/#/conv_00000000-0000-4000-8000-000000000000`);
    await page.getByRole("heading", { name: "This conversation does not exist or is not yours." }).waitFor();
    await page.getByRole("link", { name: "New conversation" }).last().click();
    await page.getByRole("heading", { name: "What would you like to do?" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#/");
  });
});
