/** The changes of a conversation in one dialog: what is seen around them, and that it is never the wrong thing. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer } from "../support/page.ts";
import { checkAccess, findAccessFaults, openScenario, takeScreenshots } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";

const folder = createTestFolder();

const routes = Array.from(
  { length: 30 },
  (_, index) => `@api.route("/plants/${index}")\ndef show_plant_${index}():\n    return jsonify([${index}])\n\n\n`,
).join("");

const edit = (file: string, edits: readonly (readonly [string, string])[]) => ({
  call: {
    tool: "edit_file",
    arguments: { target_file: file, edits: edits.map(([old_string, new_string]) => ({ old_string, new_string })) },
  },
});

const script = {
  turns: [
    {
      events: [
        edit("src/routes.py", [
          ["    return jsonify([7])", "    return jsonify(read_plants(7))"],
          ["def show_plant_20():\n", '@require_token\ndef show_plant_20():\n    """Needs a token."""\n'],
        ]),
        {
          call: {
            tool: "write_file",
            arguments: {
              target_file: "src/plants.py",
              content: "def read_plants(number):\n    return [number]  # \u202E\n",
            },
          },
        },
        edit("README.md", [["Reads sensors", "Reads all sensors"]]),
      ],
    },
    { events: [{ text: "Done." }] },
  ],
  after: "loop",
};

async function openChanges(page: Page) {
  await sendMessage(page, "Change it");
  await waitForAnswer(page);
  await page.getByRole("button", { name: "Changes", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Changes" });
  await dialog.getByText("3 files changed").waitFor();
  return dialog;
}

describeWithChromium("the changes of a conversation", (browser) => {
  const open = () =>
    openScenario(browser, folder, {
      script,
      files: { "src/routes.py": routes, "README.md": "# Greenhouse\n\nReads sensors and waters plants.\n" },
    });

  testDeep(
    verifies(["X28", "X32"], "are coloured, can be seen with the lines around them, and listed to jump"),
    async () => {
      const { page } = await open();
      await page.setViewportSize({ width: 1440, height: 900 });
      const dialog = await openChanges(page);
      const file = dialog.getByRole("region", { name: "Changes in src/routes.py" });
      await file.locator(".token-keyword").first().waitFor();
      expect(await findAccessFaults(page)).toEqual([]);
      await file.getByRole("button", { name: "Show the rest of the file" }).click();
      await file.getByText("def show_plant_29():").waitFor();
      expect(await page.evaluate("document.activeElement.className")).toBe("diff-frame");
      await file.getByRole("button", { name: "Show 20 more lines above" }).first().click();
      await file.getByText("def show_plant_4():").waitFor();
      expect(await file.getByText("def show_plant_1():").count()).toBe(0);
      const rest = file.getByRole("button", { name: /^Show \d+ hidden lines$/ });
      await rest.first().click();
      await file.getByText("def show_plant_1():").waitFor();
      await rest.click();
      await file.getByText("def show_plant_15():").waitFor();
      await rest.waitFor({ state: "detached" });
      // Now the table is the whole file.
      const shown = await file.locator("tr:not(.diff-removed) > td.diff-text").allInnerTexts();
      const numbers = await file.locator("tr:not(.diff-removed) > td:nth-child(2)").allInnerTexts();
      expect(numbers).toEqual(shown.map((_, index) => `${index + 1}`));
      expect(shown.length).toBe(routes.split("\n").length - 1 + 2);
      await dialog
        .getByRole("button", { name: /plants\.py/ })
        .first()
        .click();
      expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("src/plants.py");
      await takeScreenshots(page, "changes-whole");
      const tree = dialog.getByRole("navigation", { name: "3 files changed" });
      await tree.getByText("src/", { exact: true }).click();
      expect(await tree.getByRole("button", { name: /\.(?:py|md)/ }).count()).toBe(1);
      await file.scrollIntoViewIfNeeded();
      await dialog.getByRole("button", { name: "Side by side" }).first().click();
      await file.locator("table.split").waitFor();
      await checkAccess(page, "changes-split");
      for (const width of [768, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await file.locator("table:not(.split)").waitFor();
        await takeScreenshots(page, `changes-${width}`);
        expect(await page.evaluate("document.querySelector('dialog[open]').scrollWidth")).toBeLessThanOrEqual(width);
      }
      expect(await findAccessFaults(page, ["light"])).toEqual([]);
    },
  );

  test(verifies(["X28", "X32"], "show no lines of a file that has changed since they were listed"), async () => {
    const { page, server } = await open();
    const dialog = await openChanges(page);
    const path = join(server.cwd, "src/routes.py");
    writeFileSync(path, `# new\n${readFileSync(path, "utf8")}`);
    const file = dialog.getByRole("region", { name: "Changes in src/routes.py" });
    await file.getByRole("button", { name: "Show 20 more lines above" }).first().click();
    await dialog.getByText("The file has changed since these changes were listed.").waitFor();
    expect(await file.getByText("def show_plant_4():").count()).toBe(0);
    await dialog.getByRole("button", { name: "Load again" }).click();
    await dialog.getByText("Changed since", { exact: true }).waitFor();
    await file.getByRole("button", { name: "Show 20 more lines above" }).first().click();
    await file.getByText("def show_plant_4():").waitFor();
    expect(await dialog.getByText("The file has changed since").count()).toBe(0);
    // Characters that reorder a line are visible, in the answer too.
    expect(await dialog.locator(".hidden-character").allInnerTexts()).toEqual(["U+202E"]);
    expect(await page.getByRole("feed").locator(".hidden-character").allInnerTexts()).toEqual(["U+202E"]);
    // An undo would lose the new line, too: the page asks first.
    await dialog.getByRole("button", { name: "Undo the changes of src/routes.py" }).click();
    const question = page.getByRole("dialog", { name: "Files change, too" });
    await question.getByRole("button", { name: "Cancel" }).click();
    expect(readFileSync(path, "utf8")).toMatch(/^# new\n/);
  });

  test(verifies("C270", "show what wrote a line, for the file that was listed alone"), async () => {
    const { page, server } = await open();
    await page.setViewportSize({ width: 1440, height: 900 });
    const dialog = await openChanges(page);
    const file = dialog.getByRole("region", { name: "Changes in src/routes.py" });
    const line = file.getByRole("button", { name: "What wrote line 38?", exact: true });
    await line.click();
    await file.getByText(/^edit_file · Change it · scripted:[\w-]+ · \d/).waitFor();
    expect(await line.getAttribute("aria-expanded")).toBe("true");
    await takeScreenshots(page, "changes-blame");
    expect(await findAccessFaults(page)).toEqual([]);
    await file.getByRole("button", { name: "What wrote line 37?", exact: true }).click();
    await file.getByText("No call in your conversations wrote this line.").waitFor();
    await file.getByRole("textbox", { name: "Comment on line 37" }).fill("Why is this here?");
    await page.keyboard.press("Enter");
    await file.getByText("The comment is in your message.").waitFor();
    expect(await page.locator(".composer-field").inputValue()).toBe("@src/routes.py 37: Why is this here?");
    expect(await file.getByText("edit_file ·").count()).toBe(0);
    const path = join(server.cwd, "src/routes.py");
    writeFileSync(path, `# new\n${readFileSync(path, "utf8")}`);
    await line.click();
    await file.getByText("The file has changed since these changes were listed.").waitFor();
    await line.click();
    expect(await file.getByText("The file has changed since").count()).toBe(0);
  });

  test(verifies("S-114", "open in the editor that was chosen, in the folder that was typed"), async () => {
    const { page } = await open();
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByLabel("Editor").selectOption("VS Code");
    await page.getByLabel("Project folder").fill("/home/me/code");
    await checkAccess(page, "editor-settings", ["light"]);
    await page.getByRole("button", { name: "Close" }).click();
    const dialog = await openChanges(page);
    const link = dialog.getByRole("link", { name: "Open in VS Code" }).first();
    expect(await link.getAttribute("href")).toBe("vscode://file/home/me/code/README.md:3");
    await takeScreenshots(page, "editor-links");
    // The list of conversations stays.
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByLabel("Density").selectOption("compact");
    await page.locator("html[data-density=compact]").waitFor();
    expect(await page.locator("#sidebar").getByText("Change it").count()).toBe(1);
  });

  testDeep(verifies("C271", "compare the conversation with another one"), async () => {
    const { page } = await open();
    await sendMessage(page, "Change it");
    await waitForAnswer(page);
    await page.getByRole("link", { name: "New conversation" }).first().click();
    await sendMessage(page, "Change something else");
    await waitForAnswer(page);
    await page.getByRole("button", { name: "Conversation actions" }).last().click();
    await page.getByRole("menuitem", { name: "Compare" }).click();
    const dialog = page.getByRole("dialog", { name: "Compare" });
    await dialog.getByLabel("Other conversation").selectOption({ index: 1 });
    await dialog.getByText("response 1: the prompt differs").waitFor();
    expect(await dialog.getByRole("row", { name: /^Steps/ }).innerText()).toMatch(/Steps\s+2\s+2/);
    await checkAccess(page, "compare");
    await takeScreenshots(page, "compare");
  });
});
