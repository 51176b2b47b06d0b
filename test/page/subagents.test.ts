/** Commands, skills, hooks and subagents, as what they are. */
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer, waitUntil } from "../support/page.ts";
import { checkAccess, openScenario, takeScreenshots } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";
import { asking, delegating, ownHooks, ownSkills, workspace } from "./scenario.ts";

const folder = createTestFolder();

describeWithChromium("commands, hooks and subagents", (browser) => {
  test(verifies(["X88", "N74", "N106", "N107"], "are shown as what they are, live and after a reload"), async () => {
    const home = { ...ownSkills, "config.json": JSON.stringify(ownHooks) };
    const { page } = await openScenario(browser, folder, {
      script: delegating,
      files: workspace,
      home,
      args: ["--force", "--agents"],
    });
    const field = page.getByRole("textbox", { name: "Message" });
    await page.locator(".workspace").waitFor();
    await field.focus();
    await page.keyboard.type("/");
    const offered = page.getByRole("listbox", { name: "Commands and skills" });
    await offered.waitFor();
    expect(await offered.getByRole("option").allTextContents()).toEqual([
      " /release How a release is made, step by step",
      " /risks [what to think of] Look at what changed since main, and name the three largest risks",
    ]);
    expect(await page.locator("[aria-live]").innerText()).toBe("2 commands and skills");
    await checkAccess(page, "commands");
    await page.keyboard.type("ri");
    await waitUntil(page, "document.querySelectorAll('.suggestions [role=option]').length === 1");
    await page.keyboard.press("Tab");
    expect(await field.inputValue()).toBe("/risks ");
    // Nothing fits: nothing is offered. A whole name is sent.
    for (const words of ["/zzz", "see /ri"]) await field.fill(words);
    await expect.poll(() => offered.count()).toBe(0);
    await field.fill("");
    await page.keyboard.type("/risks");
    await offered.waitFor();
    await page.keyboard.press("Enter");

    const agents = page.locator(".subagent");
    await page.getByText("$ sleep").waitFor();
    expect(await agents.locator(".badge").allInnerTexts()).toEqual(["Running …", "Running …"]);
    await takeScreenshots(page, "subagents-running");
    await waitForAnswer(page);
    const check = async (): Promise<void> => {
      const hooks = page.locator(".feed > .row > .hook");
      expect(await hooks.allInnerTexts()).toEqual([
        "Hook told the model something UserPromptSubmit",
        expect.stringMatching(/^Hook changed the arguments PreToolUse\s+Arguments/),
        "Hook failed PostToolUse Exit code 3",
        expect.stringMatching(/^Hook refused this call PreToolUse\s+Nothing is deleted here: use trash\./),
      ]);
      expect(await page.getByText("Permission denied").count()).toBe(0);
      expect(await page.getByRole("button", { name: /^Skill release/ }).count()).toBe(1);
      expect(await agents.count()).toBe(3);
      // What they did is inside.
      expect(await page.locator(".feed > .row").filter({ hasText: "test_tokens" }).count()).toBe(0);
      const search = page.getByRole("button", { name: /^Subagent search Where are requests checked/ });
      expect(await search.innerText()).toMatch(/2 calls/);
      await search.press("Enter");
      const steps = agents.first().getByRole("group", { name: "Steps" }).getByRole("listitem");
      expect(await steps.count()).toBe(2);
      expect(await agents.first().getByRole("group", { name: "Report" }).innerText()).toContain("src/routes.py:6");
      expect(await agents.first().innerText()).toContain("1,400 in, 90 out · 2 steps");
      expect(await agents.nth(2).getByText("Failed").count()).toBe(1);
    };
    await check();
    await page.getByRole("button", { name: /^Subagent tests/ }).press("Enter");
    await checkAccess(page, "subagents");
    await page.locator(".feed > .row").first().scrollIntoViewIfNeeded();
    await takeScreenshots(page, "hooks");
    await page.reload();
    await waitForAnswer(page);
    await check();
  });

  testDeep(
    verifies("X58", "a call of a subagent that waits is open in its row, and the question names the subagent"),
    async () => {
      const { page } = await openScenario(browser, folder, {
        script: asking,
        home: ownSkills,
        args: ["--agents", "--sandbox", "disabled"],
      });
      await sendMessage(page, "Go");
      const question = page.locator(".approval");
      await question.getByText("Subagent tests").waitFor();
      const agent = page.locator(".subagent");
      expect(await agent.getByText("Waiting for you").count()).toBe(2);
      await checkAccess(page, "subagent-asks");
      await question.getByRole("button", { name: "Show in the answer" }).press("Enter");
      await waitUntil(page, "document.activeElement.matches('.row:has(.subagent)')");
      await question.getByRole("button", { name: "Allow once" }).press("Enter");
      await waitForAnswer(page);
      expect(await agent.getByText("1 call").count()).toBe(1);
    },
  );
});
