/** The question of a tool server on the page: a form, answered with the keyboard and the mouse (X59). */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { openPage, sendMessage, waitForAnswer } from "../support/page.ts";
import { checkAccess } from "../support/page-scenario.ts";
import { startServer } from "../support/server.ts";
import { compiledCode, createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folder = createTestFolder();
const program = join(import.meta.dirname, "../support/asking-server.ts");
const hotel = { command: process.execPath, args: [program], env: compiledCode };
const turns = [{ events: [{ call: { tool: "mcp__hotel__book", arguments: {} } }] }, { events: [{ text: "Booked." }] }];

describeWithChromium("a question of a tool server", (browser) => {
  test(verifies(["C101", "X59"], "is a form; what does not fit can be corrected"), async () => {
    const home = `${folder.newFolder()}-home`;
    mkdirSync(home);
    writeFileSync(join(home, "config.json"), JSON.stringify({ mcpServers: { hotel } }));
    const server = await startServer({ home, cwd: folder.newFolder(), script: { turns }, args: ["--force"] });
    const { page } = await openPage(browser, server);
    await sendMessage(page, "Go");
    const card = page.getByRole("group", { name: "The tool server hotel asks" });
    await card.waitFor();
    await card.getByText("Which room do you want?").waitFor();
    await checkAccess(page, "server-question");
    await card.getByRole("textbox", { name: "Guest" }).fill("Ada");
    await card.getByRole("spinbutton", { name: /Nights/ }).fill("99");
    await card.getByRole("checkbox", { name: /Breakfast/ }).check();
    await card.getByRole("combobox", { name: "Room" }).selectOption("Large");
    await card.getByRole("checkbox", { name: "Parking" }).check();
    await card.getByRole("button", { name: "Answer", exact: true }).click();
    await page.getByText(/from 1 to 14/).waitFor();
    await card.getByRole("spinbutton", { name: /Nights/ }).fill("3");
    await card.getByRole("button", { name: "Answer", exact: true }).click();
    await waitForAnswer(page);
    const conversations = await server.read("/v1/conversations");
    const [{ id }] = (conversations as { conversations: { id: string }[] }).conversations as [{ id: string }];
    const whole = await (await server.fetch(`/v1/conversations/${id}`)).text();
    const values = { guest: "Ada", nights: 3, breakfast: true, room: "l", extras: ["Parking"] };
    const [, given = ""] = /accept (\{[^}]*\})/.exec(JSON.stringify(JSON.parse(whole)).replaceAll("\\", "")) ?? [];
    expect(JSON.parse(given)).toEqual(values);
  });
});
