/** How a person gets into the page, and what keeps it in. */
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { openPage, sendMessage, waitForAnswer, checkFaults } from "../support/page.ts";
import { startServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folder = createTestFolder();

async function startHere(args: readonly string[] = []) {
  return startServer({ home: `${folder.newFolder()}-home`, cwd: folder.newFolder({ "README.md": "# Hello\n" }), args });
}

describeWithChromium("the door of the page", (browser) => {
  test(verifies("S-62", "every file of the page has its headers"), async () => {
    const server = await startHere();
    const html = await fetch(server.address);
    const paths = [...(await html.text()).matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(2);
    for (const path of ["/", ...paths]) {
      const { status, headers } = await fetch(`${server.address}${path}`);
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; frame-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      );
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    }
    for (const path of ["/files.json", "/assets/", "/assets/..%2fcli/main.js", "//etc/passwd", "/%2e%2e/cli/main.js"]) {
      expect([path, (await fetch(`${server.address}${path}`)).status]).toEqual([path, 404]);
    }
  });

  test(verifies("S-51", "a token is sent once, for a cookie that no script reads"), async () => {
    const server = await startHere();
    const { page, context } = await openPage(browser, server);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
    const kept = await page.evaluate("[document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage)]");
    const writer = expect.stringMatching(/^\{"sheaf-writer":"[0-9a-f]{8}"\}$/) as string;
    expect(kept).toEqual(["", writer, "{}"]);
    await sendMessage(page, "Say hello");
    await waitForAnswer(page);
    expect(await page.getByRole("article", { name: "Text, document 1" }).textContent()).toContain("Hello world.");
  });

  test("whoever is not signed in sees nothing before the field of the token", async () => {
    const server = await startHere();
    const page = await browser.borrowPage();
    const fields: number[] = [];
    await page.route("**/v1/**", async (route) => {
      fields.push(await page.locator("input, textarea").count());
      await route.continue();
    });
    await page.goto(server.address);
    await page.getByLabel("Token").waitFor();
    expect(new Set(fields)).toEqual(new Set([0]));
    expect(await page.evaluate("document.activeElement.type")).toBe("password");
  });

  test("a wrong token is reported, and can be corrected", async () => {
    const server = await startHere();
    const page = await browser.borrowPage();
    await page.goto(server.address);
    await page.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    expect(await page.getByRole("alert").textContent()).toContain("does not know this token");
    expect(await page.locator("main code").allInnerTexts()).toEqual(["sheaf serve", "--open"]);
  });

  test(verifies("S-51", "a ticket opens the page once, with its conversation, and leaves the address"), async () => {
    const server = await startHere(["--open"]);
    const { conversationId } = await server.ask({ message: "Say hello" });
    const first = await browser.borrowPage();
    checkFaults(first);
    await first.goto(`${server.pageAddress}/${conversationId}`);
    await first.getByRole("article", { name: "Text, document 1" }).waitFor();
    expect(first.url()).toBe(`${server.address}/#/${conversationId}`);
    const second = await (await browser.newContext()).newPage();
    await second.goto(server.pageAddress);
    expect(await second.getByRole("alert").textContent()).toContain("already used");
  });
});
