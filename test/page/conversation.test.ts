/** What a person does in a conversation: from the keyboard, at the real server. */
import { readFileSync, writeFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer, waitUntil } from "../support/page.ts";
import { checkAccess, findAccessFaults, openScenario, readTurns, takeScreenshots } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";
import { approval, endless, planThenBuild, short, workspace } from "./scenario.ts";

const folder = createTestFolder();

/** The live region: what people who listen were told last. */
async function readAnnouncement(page: Page): Promise<string> {
  return page.locator("[aria-live=polite] p").innerText();
}

async function saveExport(page: Page, name: string): Promise<string> {
  await page.getByRole("button", { name: "Conversation actions" }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name }).click()]);
  return readFileSync(await download.path(), "utf8");
}

describeWithChromium("a conversation in the page", (browser) => {
  test(verifies(["X8", "S-16"], "a command is shown whole, and runs once it is allowed"), async () => {
    const { page } = await openScenario(browser, folder, { script: approval, args: ["--sandbox", "disabled"] });
    await sendMessage(page, "Test it");
    const panel = page.getByRole("group", { name: "Run a command" });
    await panel.waitFor();
    expect(await panel.innerText()).toContain("node -e 'console.log(\"tested\")'");
    expect(await panel.innerText()).toContain("U+202E");
    expect(await panel.innerText()).toMatch(/Refused automatically in \d+:\d\d/);
    expect(await readAnnouncement(page)).toBe("Your decision is needed: Run a command");
    await checkAccess(page, "approval");
    await panel.getByRole("button", { name: "Allow once" }).press("Enter");
    await waitForAnswer(page);
    expect(await page.getByRole("feed").innerText()).toContain("Exit code 0");
    expect(await panel.count()).toBe(0);
    // It ended well: one line, which unfolds to its output.
    const output = page.getByRole("region", { name: /^Output of/ });
    expect(await output.count()).toBe(0);
    await page.getByRole("button", { name: /^node -e/ }).press("Enter");
    expect(await output.innerText()).toContain("tested");
  });

  test(verifies("X8", "a refusal and its reason reach the model; always is not asked again"), async () => {
    const { page, server } = await openScenario(browser, folder, { script: approval, args: ["--sandbox", "disabled"] });
    await sendMessage(page, "Test it");
    const panel = page.getByRole("group", { name: "Run a command" });
    expect(await page.getByRole("feed").innerText()).not.toContain("node -e");
    await panel.getByText("More choices").click();
    await panel.getByRole("textbox").fill("not now");
    await panel.getByRole("button", { name: "Refuse", exact: true }).click();
    await waitForAnswer(page);
    expect(await page.getByRole("feed").innerText()).toContain("PERMISSION_DENIED");
    expect(JSON.stringify(await readTurns(server, page))).toContain("not now");
    await sendMessage(page, "Test it again");
    await panel.getByText("More choices").click();
    const always = panel.getByRole("button", { name: /^Allow .* in this conversation$/ });
    expect(await always.innerText()).not.toContain("Shell(");
    await always.click();
    await waitForAnswer(page, 2);
    await sendMessage(page, "And again");
    await waitForAnswer(page, 3);
    expect(await page.getByText("Exit code 0").count()).toBe(2);
  });

  test(verifies(["X25", "X26"], "its mode and effort are kept, and it can be renamed"), async () => {
    const { page } = await openScenario(browser, folder, { script: short });
    await page.getByRole("combobox", { name: "Mode", exact: true }).selectOption("plan");
    await sendMessage(page, "Plan the token check");
    await waitForAnswer(page);
    await page.getByRole("combobox", { name: "Thinking" }).selectOption("high");
    await page.getByRole("button", { name: "Conversation actions" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByRole("textbox", { name: "Title of the conversation" }).fill("Tokens");
    expect(await findAccessFaults(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Tokens" }).waitFor();
    await page.getByRole("navigation").getByText("Tokens").waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Tokens" }).waitFor();
    expect(await page.getByRole("combobox", { name: "Mode", exact: true }).inputValue()).toBe("plan");
    expect(await page.getByRole("combobox", { name: "Thinking" }).inputValue()).toBe("high");
    await page.getByRole("combobox", { name: "Thinking" }).selectOption("");
    await page.getByRole("button", { name: "Conversation actions" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.keyboard.type("Something else");
    await page.keyboard.press("Escape");
    await page.reload();
    await page.getByRole("heading", { name: "Tokens" }).waitFor();
    expect(await page.getByRole("combobox", { name: "Thinking" }).inputValue()).toBe("");
  });

  test(verifies("N40", "a plan is made in plan mode and built in agent mode"), async () => {
    const { page, server } = await openScenario(browser, folder, { script: planThenBuild, files: workspace });
    await page.getByRole("combobox", { name: "Mode", exact: true }).selectOption("plan");
    await sendMessage(page, "Plan the token check");
    await waitForAnswer(page);
    await takeScreenshots(page, "plan");
    await page.getByRole("button", { name: "Build this plan" }).click();
    await waitForAnswer(page, 2);
    expect(await page.getByRole("combobox", { name: "Mode", exact: true }).inputValue()).toBe("agent");
    expect(await page.getByRole("button", { name: "Build this plan" }).count()).toBe(0);
    // The plan shows what happened since.
    expect(await page.getByRole("article", { name: /^Plan, document/ }).innerText()).toContain("1 of 4 done");
    const turns = await readTurns(server, page);
    expect(turns.map(({ response }) => response.mode)).toEqual(["plan", "agent"]);
  });

  test(verifies("X7", "stop ends the answer"), async () => {
    const { page } = await openScenario(browser, folder, { script: endless });
    await sendMessage(page, "Go on for ever");
    await page.getByText("This takes a while.").waitFor();
    expect(await page.getByRole("button", { name: "Send" }).count()).toBe(0);
    await takeScreenshots(page, "working");
    await page.getByRole("button", { name: "Stop" }).click();
    await waitForAnswer(page);
    expect(await page.getByRole("feed").innerText()).toContain("CANCELLED");
    expect(await readAnnouncement(page)).toBe("The answer was stopped");
    await page.getByRole("button", { name: "Send" }).waitFor();
  });

  testDeep("list, search, fork, revert, export and delete", async () => {
    const { page, server } = await openScenario(browser, folder, { script: short });
    const rows = page.getByRole("navigation").getByRole("listitem");
    await sendMessage(page, "First about apples");
    await waitForAnswer(page);
    await sendMessage(page, "Then about pears");
    await waitForAnswer(page, 2);
    expect(await rows.count()).toBe(1);

    await page.getByRole("button", { name: "Message actions" }).first().click();
    await page.getByRole("menuitem", { name: /new conversation/ }).press("Enter");
    await rows.nth(1).waitFor();
    await waitForAnswer(page);
    expect(await page.getByRole("article", { name: "Your message" }).count()).toBe(1);
    await sendMessage(page, "Now about plums");
    await waitForAnswer(page, 2);

    await page.getByRole("button", { name: "Message actions" }).nth(1).click();
    await page.getByRole("menuitem", { name: /Undo/ }).click();
    await takeScreenshots(page, "take-back");
    await page.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
    await page.getByText("Now about plums").waitFor({ state: "detached" });
    expect(await page.getByRole("article", { name: "Your message" }).count()).toBe(1);

    expect(await saveExport(page, "Export as Markdown")).toContain(
      "> First about apples\n\n## Answer\n\nA short answer.\n",
    );
    expect(JSON.parse(await saveExport(page, "Export as JSON"))).toMatchObject({
      turns: [{ message: "First about apples" }],
    });

    await page.getByRole("searchbox").fill("nothing of the kind");
    await page.getByText("No conversation contains").waitFor();
    await page.getByRole("searchbox").fill("apples");
    await rows.nth(1).waitFor();

    await page.getByRole("button", { name: "Conversation actions" }).click();
    await page.getByRole("menuitem", { name: "Delete conversation" }).click();
    await page.getByRole("heading", { name: "What would you like to do?" }).waitFor();
    await rows.nth(1).waitFor({ state: "detached" });
    const count = async (): Promise<number> =>
      ((await (await server.fetch("/v1/conversations")).json()) as { conversations: unknown[] }).conversations.length;
    expect(await count()).toBe(2);
    // A page that ends carries the deletion out.
    await page.reload();
    await expect.poll(count).toBe(1);
  });

  testDeep("mode, model and named files go with the message; Enter while composing does not send", async () => {
    const files = { "docs/a b.md": "a\n", "docs/b.md": "b\n", "src/main.py": "m\n" };
    const { page, server } = await openScenario(browser, folder, {
      script: short,
      args: ["--offer", "offline"],
      files,
    });
    await page.getByRole("combobox", { name: "Mode", exact: true }).selectOption("ask");
    await page.getByRole("combobox", { name: "Model" }).selectOption("offline");
    const field = page.getByRole("textbox", { name: "Message" });
    await field.pressSequentially("@");
    const offered = page.getByRole("listbox", { name: "Files" });
    await offered.waitFor();
    expect(await offered.getByRole("option").allInnerTexts()).toEqual(["docs/a b.md", "docs/b.md", "src/main.py"]);
    await page.keyboard.type("doc");
    await waitUntil(page, "document.querySelectorAll('.suggestions [role=option]').length === 2");
    await checkAccess(page, "mentions");
    for (const key of ["ArrowDown", "ArrowUp", "ArrowUp", "Enter"]) await page.keyboard.press(key);
    expect(await field.inputValue()).toBe('@"docs/a b.md" ');
    await page.keyboard.type("and @src");
    await offered.getByRole("option", { name: "src/main.py" }).click();
    await page.keyboard.type("say?");
    const text = '@"docs/a b.md" and @src/main.py say?';
    await field.dispatchEvent("keydown", { key: "Enter", isComposing: true });
    expect(await field.inputValue()).toBe(text);
    await field.press("Shift+Enter");
    await field.press("Enter");
    await waitForAnswer(page);
    const turns = await readTurns(server, page);
    expect(turns[0]).toMatchObject({
      message: text,
      response: { mode: "ask", model: "offline" },
    });
  });

  testDeep(verifies(["X28", "X29"], "its changes are shown together, and undone by hunk and by file"), async () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`);
    const edit = (from: string, to: string) => ({
      call: { tool: "edit_file", arguments: { target_file: "a.txt", edits: [{ old_string: from, new_string: to }] } },
    });
    const create = { call: { tool: "write_file", arguments: { target_file: "new.txt", content: "new\n" } } };
    const turns = [edit("line 3\n", "LINE 3\n"), edit("line 30\n", "LINE 30\n"), create].map((event) => ({
      events: [event],
    }));
    const script = { turns: [...turns, { events: [{ text: "Done." }] }], after: "error" };
    const { page, server } = await openScenario(browser, folder, {
      script,
      files: { "a.txt": lines.join("") },
    });
    await sendMessage(page, "Change it");
    await waitForAnswer(page);
    await page.getByRole("button", { name: "Changes", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Changes" });
    await dialog.getByRole("button", { name: /^new\.txt/ }).waitFor();
    await checkAccess(page, "changes");
    await dialog.getByRole("button", { name: "Undo change 1" }).click();
    await dialog.getByText("LINE 3", { exact: true }).waitFor({ state: "detached" });
    expect(readFileSync(join(server.cwd, "a.txt"), "utf8")).toBe(lines.join("").replace("line 30\n", "LINE 30\n"));
    await dialog.getByRole("button", { name: "Undo the changes of a.txt" }).click();
    await dialog.getByRole("button", { name: "Undo the changes of a.txt" }).waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: "Undo the changes of new.txt" }).click();
    await dialog.getByText("Nothing is changed").waitFor();
    expect(existsSync(join(server.cwd, "new.txt"))).toBe(false);
    await dialog.getByRole("button", { name: "Close" }).click();
  });

  test("an answer can be copied, tried again, and its message edited and sent again", async () => {
    const script = { turns: [{ events: [{ text: "First." }] }, { events: [{ text: "Second." }] }], after: "loop" };
    const { page, server } = await openScenario(browser, folder, { script });
    await sendMessage(page, "Say it");
    await waitForAnswer(page);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy the answer" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("First.");
    // Until then the first answer is still there.
    const sent = page.waitForResponse((response) => response.url().includes("/v1/chat"));
    await page.getByRole("button", { name: "Try again" }).click();
    await sent;
    await waitUntil(page, "document.querySelectorAll('.message').length === 1 && document.querySelector('.totals')");
    await page.getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menuitem", { name: "Edit and send again" }).click();
    const field = page.getByRole("textbox", { name: "Message" });
    await waitUntil(page, "document.querySelector('.composer-field').value === 'Say it'");
    await takeScreenshots(page, "editing");
    // Whoever thinks better of it loses nothing, and neither does a reload.
    await page.getByRole("button", { name: "Keep this message as it is" }).click();
    expect(await field.inputValue()).toBe("");
    expect((await readTurns(server, page)).map(({ message }) => message)).toEqual(["Say it"]);
    await field.fill("For later");
    await page.getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menuitem", { name: "Edit and send again" }).click();
    await field.fill("Say it louder");
    await field.press("Enter");
    await waitUntil(page, "document.querySelector('.message').textContent.includes('Say it louder')");
    await waitForAnswer(page);
    expect(await field.inputValue()).toBe("For later");
    expect(await page.getByText("Editing:").count()).toBe(0);
    const turns = await readTurns(server, page);
    expect(turns.map(({ message }) => message)).toEqual(["Say it louder"]);
    const versions = page.getByRole("group", { name: "Versions of this message" });
    expect(await versions.innerText()).toBe("3/3");
    await checkAccess(page, "versions");
    await versions.getByRole("button", { name: "Earlier version" }).click();
    await waitUntil(page, "document.querySelector('.versions').innerText === '2/3'");
    expect((await readTurns(server, page)).map(({ message }) => message)).toEqual(["Say it"]);
  });

  test(
    verifies(["C241", "C242"], "messages written during an answer wait, also over a reload, and one is sent now"),
    async () => {
      const call = { call: { tool: "run_terminal_cmd", arguments: { command: "rm a.txt" } } };
      const script = {
        turns: [{ events: [{ text: "One. " }, call] }, { events: [{ text: "Two." }] }],
        after: "repeat_last",
      };
      const { page, server } = await openScenario(browser, folder, { script, args: ["--sandbox", "disabled"] });
      await sendMessage(page, "first");
      await page.getByRole("button", { name: "Refuse" }).waitFor();
      for (const text of ["second", "third", "fourth"]) {
        await sendMessage(page, text);
        await page.locator(".queued").getByText(text).waitFor();
      }
      const listTexts = () => page.locator(".queued-text").allTextContents();
      await page.reload();
      await page.locator(".queued").getByText("fourth").waitFor();
      expect(await listTexts()).toEqual(["second", "third", "fourth"]);
      await page.getByRole("button", { name: "Send one place earlier" }).last().click();
      await expect.poll(listTexts).toEqual(["second", "fourth", "third"]);
      await page.getByRole("button", { name: "Do not send this message" }).last().click();
      await expect.poll(listTexts).toEqual(["second", "fourth"]);
      await page.getByRole("button", { name: "Edit this message" }).last().click();
      await waitUntil(page, "document.querySelector('.composer-field').value === 'fourth'");
      expect(await listTexts()).toEqual(["second"]);
      expect(await findAccessFaults(page)).toEqual([]);
      await takeScreenshots(page, "queued");
      await page.getByRole("button", { name: "Send now" }).click();
      await page.getByText("After the current step:").waitFor();
      await page.getByRole("button", { name: "Refuse" }).click();
      await page.locator(".message-text").getByText("second").waitFor();
      await page.getByText("Two.").waitFor();
      expect(await listTexts()).toEqual([]);
      const [turn] = await readTurns(server, page);
      expect(turn).toMatchObject({ message: "first", response: { messages: [{ message: "second" }] } });
    },
  );

  test("the workspace and branch of a new conversation are shown, and chosen", async () => {
    const other = folder.newFolder({ ".git/HEAD": "ref: refs/heads/topic\n", ".git/objects/x": "", ".git/refs/x": "" });
    const one = folder.newFolder({ "a.txt": "" });
    const args = ["--workspace", `one=${one}`, "--workspace", `two=${other}`];
    const { page, server } = await openScenario(browser, folder, { script: short, args });
    await page.getByRole("combobox", { name: "Workspace" }).selectOption("two");
    await page.getByText("topic").waitFor();
    await checkAccess(page, "workspaces");
    await sendMessage(page, "Hello");
    await waitForAnswer(page);
    const { conversations } = (await (await server.fetch("/v1/conversations")).json()) as {
      conversations: { workspace: string }[];
    };
    expect(conversations).toMatchObject([{ workspace: "two" }]);
  });

  test(verifies("C252", "a version asks about files once, and undone messages come back"), async () => {
    const script = {
      turns: [
        { events: [{ call: { tool: "write_file", arguments: { target_file: "new.txt", content: "new\n" } } }] },
        { events: [{ text: "Written." }] },
      ],
    };
    const { page, server } = await openScenario(browser, folder, { script });
    await sendMessage(page, "Write it");
    await waitForAnswer(page);
    const file = join(server.cwd, "new.txt");
    expect(existsSync(file)).toBe(true);
    writeFileSync(file, "changed by somebody else\n");
    await page.getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menuitem", { name: /Undo/ }).click();
    const dialog = page.getByRole("dialog", { name: "Files change, too" });
    // What somebody changed since is not overwritten without a word.
    expect(await dialog.innerText()).toContain("new.txt: something else has changed it since");
    await checkAccess(page, "file-question");
    await dialog.getByRole("button", { name: "Overwrite them" }).click();
    await page.getByText("Written.").waitFor({ state: "detached" });
    expect(existsSync(file)).toBe(false);
    await page.getByRole("button", { name: "Show them again" }).click();
    expect(await dialog.innerText()).toContain("new.txt: as it was then");
    await dialog.getByRole("button", { name: "Change the files" }).click();
    await page.getByText("Written.").waitFor();
    expect(readFileSync(file, "utf8")).toBe("new\n");
    await page.getByRole("button", { name: "Try again" }).click();
    await dialog.getByRole("button", { name: "Keep the files" }).click();
    await page.getByText("2/2").waitFor();
    expect(readFileSync(file, "utf8")).toBe("new\n");
  });
});
