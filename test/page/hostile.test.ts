/** Answers that try to become more than text: nothing of them runs, loads, or names anything in the page. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { sendMessage, waitForAnswer } from "../support/page.ts";
import { openScenario } from "../support/page-scenario.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { isDeep } from "../support/depth.ts";
import { chooseRuns } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";
import { hostileAnswers, hostileFields } from "./hostile-answers.ts";

const folder = createTestFolder();
const answers = Object.values(hostileAnswers);

/** Counts calls, also through the ways by which pages are usually called. */
const watch = `
  globalThis.hits = [];
  globalThis.hit = () => globalThis.hits.push("hit");
  for (const name of ["alert", "confirm", "prompt", "open", "print"]) {
    globalThis[name] = () => globalThis.hits.push(name);
  }
`;

/** What must not be in the page, whatever an answer holds. Runs in the page. */
const findIntruders = `(() => {
  const intruders = [];
  const allowed = new Set(("A ARTICLE ASIDE BDI BLOCKQUOTE BODY BR BUTTON CODE COL COLGROUP DD DEL DIALOG DIV DL DT EM FIELDSET " +
    "FOOTER FORM H1 H2 H3 H4 H5 H6 HEAD HEADER HR HTML IMG INPUT LABEL LEGEND LI LINK MAIN MARK META NAV NOSCRIPT OL OPTION P " +
    "PRE PROGRESS SCRIPT SECTION SELECT SPAN STRONG SUP SVG PATH TABLE TBODY TD TEXTAREA TH THEAD TIME TITLE TR UL").split(" "));
  const isDiagram = (element) => element.src === location.origin + "/diagram.html" && element.sandbox.value === "allow-scripts";
  const ids = /^(page|sidebar|conversation|composer|P\\d+-\\d+)$/;
  for (const element of document.querySelectorAll("*")) {
    const name = element.tagName.toUpperCase();
    if (!allowed.has(name) && !(name === "IFRAME" && isDiagram(element))) intruders.push(element.outerHTML.slice(0, 200));
    if (name === "IMG" && element.getAttribute("src") !== "/icon.svg") intruders.push(element.outerHTML.slice(0, 200));
    if (name === "SCRIPT" && !element.src.startsWith(location.origin + "/assets/") && element.src !== location.origin + "/appearance.js") intruders.push("script " + element.src);
    for (const { name: attribute, value } of element.attributes) {
      if (/^on/i.test(attribute)) intruders.push(attribute + " of " + name);
      if (attribute === "id" && !ids.test(value)) intruders.push("id " + value);
      if (attribute === "style" && /url|expression|@/i.test(value)) intruders.push("style " + value);
      if (["srcdoc", "ping", "formaction", "background", "srcset"].includes(attribute)) intruders.push(attribute);
    }
    if (name === "A" && element.closest("[role=feed]") !== null) {
      if (!/^(https?|mailto):/.test(element.href)) intruders.push("link to " + element.getAttribute("href"));
      if (element.rel !== "noopener noreferrer" || element.target !== "_blank") intruders.push("open link " + element.href);
      if (element.protocol !== "mailto:" && !element.textContent.includes(element.host)) intruders.push("hidden host " + element.href);
    }
  }
  return intruders;
})()`;

/** Collects requests to anywhere but the server of the page. */
function watchRequests(page: Page, address: string): string[] {
  const foreign: string[] = [];
  page.context().on("request", (request) => {
    if (!request.url().startsWith(`${address}/`)) foreign.push(request.url());
  });
  page.context().on("page", (opened) => {
    if (opened !== page) foreign.push(`a page: ${opened.url()}`);
  });
  return foreign;
}

/** So high that no row is left out, and so coarse and still that it costs little to draw. */
const wholeList = {
  viewport: { width: 1280, height: 18_000 },
  deviceScaleFactor: 0.05,
  reducedMotion: "reduce",
} as const;

/** A model that says each text in a separate turn. */
function createScript(texts: readonly string[], chunk: number): unknown {
  // Each call differs, so that the guard against models that go in circles does not end the run.
  const toCall = (limit: number) => ({ tool: "read_file", arguments: { target_file: "README.md", limit } });
  return {
    turns: [
      ...texts.map((text, index) => ({ events: [{ text, chunk }, { call: toCall(index + 1) }] })),
      { events: [{ text: "The end." }] },
    ],
  };
}

/** Clicks what an answer might have put there, and does all else to it that a mouse or a keyboard can. */
async function provoke(page: Page): Promise<void> {
  for (const link of await page.locator("[role=feed] a").all()) {
    // By force: waiting until a page of this height stands still takes longer than the click.
    await link.click({ force: true });
    // Every link leads to another host: the page asks first, and nothing is opened.
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).press("Enter");
  }
  await page.evaluate(`for (const element of document.querySelectorAll("[role=feed] *")) {
    for (const type of ["mouseover", "mouseenter", "pointerover", "focus", "animationend", "toggle", "load", "error"]) {
      element.dispatchEvent(new Event(type, { bubbles: true }));
    }
  }`);
}

describeWithChromium("hostile answers", (browser) => {
  test("the table is long enough", () => {
    expect(answers.length).toBeGreaterThanOrEqual(80);
    expect(new Set(answers).size).toBe(answers.length);
  });

  // The page holds without the policy: each night with every size of deltas, in a soak with every pair.
  const pairs: readonly (readonly [number, boolean])[] = [
    [64, false],
    [7, false],
    [1, true],
    [64, true],
    [7, true],
    [1, false],
  ];
  test.each(pairs.slice(0, chooseRuns(3, pairs.length)))(
    verifies(["S-60", "S-63", "S-64"], "in deltas of %i, content security policy on: %s"),
    // One of them hovers over, focuses and clicks every link.
    { timeout: 180_000 },
    async (chunk, hasPolicy) => {
      const { page, server } = await openScenario(browser, folder, {
        script: createScript(answers, chunk),
        files: { "README.md": "# Hello\n" },
        args: ["--force", "--max-turns", "500"],
        context: { bypassCSP: !hasPolicy, ...wholeList },
        // What the policy refuses.
        allowedFaults: "Content Security Policy",
      });
      const foreign = watchRequests(page, server.address);
      await page.evaluate(watch);
      await sendMessage(page, "Try it");
      await waitForAnswer(page);
      await page.getByText("The end.").waitFor();
      // All of them are there, as text.
      expect(await page.getByRole("button", { name: /read_file/ }).count()).toBe(answers.length);
      expect((await page.getByRole("feed").innerText()).split("hit()").length).toBeGreaterThan(90);
      expect(await page.evaluate(findIntruders)).toEqual([]);
      if (chunk === 7 && !hasPolicy) await provoke(page);
      expect(await page.evaluate("globalThis.hits")).toEqual([]);
      expect(foreign).toEqual([]);
    },
  );

  test.each(isDeep ? [true, false] : [false])(
    verifies("S-60", "in every field of every document, policy on: %s"),
    async (hasPolicy) => {
      const all = hostileFields.join(" ");
      const script = {
        turns: [
          ...hostileFields.map((field) => ({
            events: [
              { text: `\`\`\`1:2:${field}\n${field}\n\`\`\`\n\`\`\`${field} purpose=${field}\n${field}\n\`\`\`` },
              {
                call: {
                  tool: "write_file",
                  arguments: { target_file: `${field.replaceAll("/", "_")}.md`, content: field },
                },
              },
              { call: { tool: field, arguments: { [field]: field } } },
              { call: { tool: "run_terminal_cmd", arguments: { command: `printf '%s' '${field}'` } } },
            ],
          })),
          {
            events: [
              {
                call: {
                  tool: "create_plan",
                  arguments: {
                    title: all,
                    overview: all,
                    plan: all,
                    todos: [
                      { id: "a", content: all },
                      { id: "b", content: all, dependencies: ["a"] },
                    ],
                  },
                },
              },
              {
                call: {
                  tool: "todo_write",
                  arguments: { merge: true, todos: [{ id: "a", content: all, status: "in_progress" }] },
                },
              },
            ],
          },
          {
            events: [
              {
                call: {
                  tool: "ask_question",
                  arguments: {
                    title: all,
                    questions: [
                      {
                        id: "q",
                        prompt: all,
                        options: hostileFields.map((label, index) => ({ id: `${index}`, label })),
                      },
                    ],
                  },
                },
              },
            ],
          },
        ],
      };
      const { page, server } = await openScenario(browser, folder, {
        script,
        context: { bypassCSP: !hasPolicy, ...wholeList },
      });
      const foreign = watchRequests(page, server.address);
      await page.evaluate(watch);
      await sendMessage(page, all);
      await waitForAnswer(page);
      await page.evaluate(
        "for (const button of document.querySelectorAll('[role=feed] [aria-expanded=false]')) button.click()",
      );
      await page.locator("[role=feed] [aria-expanded=false]").first().waitFor({ state: "detached" });
      expect(await page.getByRole("radio", { name: "<script>hit()</script>" }).count()).toBe(1);
      expect(await page.evaluate(findIntruders)).toEqual([]);
      expect(await page.evaluate("globalThis.hits")).toEqual([]);
      expect(foreign).toEqual([]);
    },
  );
});
