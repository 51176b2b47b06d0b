/** Screens that no other test looks at with axe-core, what people who listen hear, and what the address may not do. */
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { openPage, sendMessage, waitForAnswer, waitUntil } from "../support/page.ts";
import { checkAccess, findAccessFaults, openScenario, takeScreenshots } from "../support/page-scenario.ts";
import { startServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { testDeep } from "../support/describe-where.ts";
import { verifies } from "../support/verifies.ts";
import { endless, everyType, workspace } from "./scenario.ts";

const folder = createTestFolder();

describeWithChromium("the page for everybody", (browser) => {
  test("no serious fault of access at the door, in an empty conversation, while working, in menus and dialogs", async () => {
    const server = await startServer({
      home: `${folder.newFolder()}-home`,
      cwd: folder.newFolder(),
      script: { turns: [{ events: [{ text: "[Read this](https://example.org/a?b=c)." }] }, ...endless.turns] },
    });
    const door = await browser.borrowPage();
    await door.goto(server.address);
    await door.getByLabel("Token").waitFor();
    await takeScreenshots(door, "sign-in");
    expect(await findAccessFaults(door)).toEqual([]);

    const { page } = await openPage(browser, server);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: "Show conversations" }).click();
    await page.getByRole("button", { name: "Settings" }).waitFor();
    await checkAccess(page, "list-narrow", ["light"]);
    await page.setViewportSize({ width: 1280, height: 900 });
    await checkAccess(page, "empty", ["dark"]);

    await sendMessage(page, "Go");
    await waitForAnswer(page);
    await page.getByRole("button", { name: "Message actions" }).click();
    expect(await findAccessFaults(page, ["light"])).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: /Read this/ }).click();
    await page.getByRole("dialog").waitFor();
    await checkAccess(page, "link", ["dark"]);
    await page.getByRole("button", { name: "Cancel" }).click();
    await sendMessage(page, "Go on");
    await page.getByText("This takes a while.").waitFor();
    expect(await findAccessFaults(page, ["light"])).toEqual([]);
  });

  test(
    verifies("S-63", "a link shows where it leads, and opens only after it was confirmed, without its opener"),
    async () => {
      const script = { turns: [{ events: [{ text: "[https://github.com/](https://evil.example/x)" }] }] };
      const { page, context } = await openScenario(browser, folder, { script });
      await context.route("https://evil.example/**", (route) =>
        route.fulfill({
          contentType: "text/html",
          body: "<script>document.title = `${opener} ${document.referrer}`</script>",
        }),
      );
      await sendMessage(page, "Go");
      await waitForAnswer(page);
      const link = page.getByRole("link", { name: /github/ });
      expect(await link.innerText()).toBe("https://github.com/ (evil.example)");
      await link.click();
      expect(await page.getByRole("dialog").innerText()).toContain("https://evil.example/x");
      const [opened] = await Promise.all([
        context.waitForEvent("page"),
        page.getByRole("button", { name: "Open", exact: true }).click(),
      ]);
      await opened.waitForLoadState();
      expect(await opened.title()).toBe("null");
      // The way by the middle button of a mouse is guarded too.
      await page.bringToFront();
      await link.click({ button: "middle" });
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
      expect(context.pages()).toHaveLength(2);
    },
  );

  testDeep(verifies("S-63", "nothing in the address is sent, kept or taken for a token"), async () => {
    const { page, server } = await openScenario(browser, folder, { script: endless });
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.method() !== "GET") sent.push(`${request.method()} ${request.url()}`);
    });
    const readStorage = () => page.evaluate("JSON.stringify([localStorage, sessionStorage])");
    const kept = await readStorage();
    const words =
      "token=abc&prompt=Delete+it&message=Delete+it&send=1&server=https://evil.example&baseUrl=https://evil.example";
    for (const address of [`/?${words}`, `/#${words}`, `/#/${words}`, `/?q=x#/conv_x?${words}`, "/#ticket="]) {
      await page.goto(`${server.address}${address}`);
      await page.reload();
      await page.getByRole("textbox", { name: "Message" }).waitFor();
      expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("");
    }
    expect(sent).toEqual([]);
    expect(await readStorage()).toBe(kept);
  });

  testDeep("people who listen hear how an answer begins and ends, not its flow", async () => {
    const { page } = await openScenario(browser, folder, { script: everyType, files: workspace });
    await page.evaluate(`
      globalThis.heard = [];
      for (const region of document.querySelectorAll("[aria-live], [role=status], [role=alert]")) {
        new MutationObserver(() => heard.push(region.textContent)).observe(region, { childList: true, characterData: true, subtree: true });
      }
    `);
    await sendMessage(page, "Go");
    await waitForAnswer(page);
    await waitUntil(page, "/complete/.test(document.querySelector('[aria-live]').textContent)");
    const heard: string[] = await page.evaluate("[...new Set(globalThis.heard)]");
    expect(heard).toEqual(["The answer has started", expect.stringMatching(/^The answer is complete: \d+ documents$/)]);
    expect(await page.getByRole("feed").getAttribute("aria-busy")).toBe("false");
    // Nothing moves for those who do not want it.
    await page.emulateMedia({ reducedMotion: "reduce" });
    expect(await page.evaluate("getComputedStyle(document.querySelector('.chevron')).transitionDuration")).toBe("0s");
  });

  test(
    verifies("N13", "what the page does not know, or cannot be, is shown by its text and takes nothing with it"),
    async () => {
      const { page } = await openScenario(browser, folder, { script: everyType, files: workspace });
      await sendMessage(page, "Go");
      await waitForAnswer(page);
      const strange = [
        { type: "_private", content: "A *private* document", metadata: {} },
        { type: "diagram", content: null, metadata: {} },
        {
          type: "plan",
          content: "Odd plan",
          metadata: { title: 7, todos: [null, "x", { id: "a", dependencies: ["a", "zz"] }] },
        },
        { type: "clarification", content: "Odd question", metadata: { questions: { length: 3 } } },
        {
          type: "file_edit",
          content: null,
          metadata: { operation: "edit", patch: { x: 1 }, diff: null, linesAdded: "many" },
        },
        {
          type: "terminal_command",
          content: null,
          metadata: { command: ["ls"], output: { a: 1 }, permissions: "network" },
        },
        { type: "tool_call", content: null, metadata: { arguments: "none", result: "none" } },
        { type: "text", content: "The last one", metadata: { format: 3, codeBlocks: "x" } },
        { type: "__proto__", content: "Called strangely", metadata: {} },
      ];
      await page.route("**/v1/conversations/conv_*", async (route) => {
        const answer = await route.fetch();
        const conversation = (await answer.json()) as { turns: { response: { documents: object[] } }[] };
        conversation.turns[0]!.response.documents = strange.map((document, index) => ({
          id: `doc_${index + 1}`,
          sequence: index + 1,
          ...document,
        }));
        await route.fulfill({ json: conversation });
      });
      await page.reload();
      await page.getByText("The last one").waitFor();
      const text = await page.getByRole("feed").innerText();
      for (const words of ["A private document", "Odd plan", "Odd question", "Called strangely"])
        expect(text).toContain(words);
      expect(await page.getByRole("article", { name: /document \d+$/ }).count()).toBe(strange.length);
    },
  );
});
