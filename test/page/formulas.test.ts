/** Formulas: MathML that the page makes itself, and prices that stay prices. */
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer } from "../support/page.ts";
import { checkAccess, openScenario } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folder = createTestFolder();

const answer =
  String.raw`The roots of $ax^2 + bx + c = 0$ are

$$
x_{1,2} = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
$$

For a matrix \(A\):

\[
\det \begin{pmatrix} a & b \\ c & d \end{pmatrix} = ad - bc, \qquad \sum_{i=1}^{n} i = \frac{n(n+1)}{2}
\]

It costs $5 here and $10 there. Not TeX: $\undefined{x}$.

` + "```math\ne^{i\\pi} + 1 = 0\n```\n";

const hostile = [
  "$\\text{<script>hit()</script><img src=x onerror=hit()>}$",
  "$\\href{javascript:hit()}{x}$ $\\url{https://evil.example/}$",
  "$\\includegraphics{https://evil.example/m.png}$",
  "$$\\rule{9999em}{9999em}$$",
  "$$\\kern-9999em \\rule{9999em}{9999em} \\raisebox{9999em}{x} \\hspace{-9999em}$$",
  "$\\style{position:fixed}{x} \\class{dialog}{x} \\id{page}{x}$",
  "$\\def\\a{\\a\\a}\\a$",
  `$${"{".repeat(1500)}x${"}".repeat(1500)}$`,
  "$\\label{page} \\htmlData{x=y}{x}$",
];

describeWithChromium("formulas", (browser) => {
  test(verifies("S-113", "are MathML, in a line and on their own; prices and what is not TeX stay text"), async () => {
    const script = { turns: [{ events: [{ text: answer, chunk: 7 }] }], after: "loop" };
    const { page } = await openScenario(browser, folder, { script });
    await page.setViewportSize({ width: 1440, height: 1000 });
    await sendMessage(page, "Solve it");
    await waitForAnswer(page);
    const feed = page.getByRole("feed");
    await feed.locator(".formula.display math").nth(2).waitFor();
    expect(await feed.locator("math").count()).toBe(5);
    expect(await page.evaluate("document.querySelector('mfrac').namespaceURI")).toBe(
      "http://www.w3.org/1998/Math/MathML",
    );
    expect(await feed.innerText()).toContain("It costs $5 here and $10 there.");
    expect(await feed.locator(".formula code").innerText()).toBe("\\undefined{x}");
    await checkAccess(page, "formulas");
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  });

  test(verifies("S-113", "hostile ones run nothing, load nothing, and stay in their place"), async () => {
    const script = { turns: [{ events: [{ text: hostile.join("\n\n"), chunk: 7 }] }], after: "loop" };
    const { page, server } = await openScenario(browser, folder, { script });
    const foreign: string[] = [];
    page.context().on("request", (request) => {
      if (!request.url().startsWith(`${server.address}/`)) foreign.push(request.url());
    });
    await page.evaluate("globalThis.hits = []; globalThis.hit = () => globalThis.hits.push('hit')");
    await sendMessage(page, "Try it");
    await waitForAnswer(page);
    await page.locator(".formula math").first().waitFor();
    expect(await page.evaluate("globalThis.hits")).toEqual([]);
    expect(foreign).toEqual([]);
    expect(
      await page.evaluate(
        "document.querySelectorAll('.formula :is(a, img, script, [href], [src], [id], [style])').length",
      ),
    ).toBe(0);
    // Each clips what it paints.
    expect(
      await page.evaluate(`[...document.querySelectorAll(".formula")].every((element) => {
        const { width, height } = element.getBoundingClientRect();
        return getComputedStyle(element).contain === "paint" && width < 900 && height < 900;
      })`),
    ).toBe(true);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });
});
