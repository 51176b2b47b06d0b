/** The page over TLS and HTTP/2, behind nginx. Tests of the API are in test/conformance/behind-a-proxy.test.ts. */
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer } from "../support/page.ts";
import { describeWithProgram } from "../support/programs.ts";
import { findFreePort, startProxy } from "../support/reverse-proxy.ts";
import { startServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

describeWithProgram("nginx", () => {
  describeWithChromium("the page behind nginx", (browser) => {
    test(
      verifies(["S-118", "R-27"], "a person signs in with a cookie that is Secure, and gets an answer"),
      async () => {
        const cwd = folders.newFolder();
        const port = await findFreePort();
        const args = ["--open", "--allow-host", `127.0.0.1:${port}`, "--trust-proxy", "127.0.0.1"];
        const server = await startServer({ cwd, args });
        await startProxy("nginx", server.port, port);
        const context = await browser.newContext({ ignoreHTTPSErrors: true });
        const page = await context.newPage();
        const answer = await page.goto(server.pageAddress.replace(server.address, `https://127.0.0.1:${port}`));
        expect(answer!.status()).toBe(200);
        await sendMessage(page, "Say hello");
        await waitForAnswer(page);
        expect(await page.getByRole("article", { name: "Text, document 1" }).textContent()).toContain("Hello world.");
        expect(await context.cookies()).toEqual([
          expect.objectContaining({ secure: true, httpOnly: true, sameSite: "Strict" }),
        ]);
        const protocol = `performance.getEntriesByType("navigation")[0].nextHopProtocol`;
        expect(await page.evaluate(protocol)).toBe("h2");
        await context.close();
      },
    );
  });
});
