/**
 * The page in Chromium: 10,000 documents, and an answer that goes on with 200 deltas a second. CPU time of the main
 * thread for each delta; the floor is a page that adds the same text to plain
 * paragraphs, and keeps those in sight.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../test/support/chromium.ts";
import type { Side } from "./support/agent.ts";
import { type Bench, compare } from "./support/measure.ts";
import { openSheafPage } from "./support/open-page.ts";
import { type Provider, type Script, startProvider } from "./support/provider.ts";

const deltasPerSecond = 200;
const seconds = 8;
/** Time for the first documents to be drawn. */
const settleMs = 4000;

/** Paragraphs and code blocks, each a document. */
const documents = Array.from(
  { length: 5000 },
  (_, index) =>
    `Paragraph **${index}** with \`code\` and more words in it.\n\n\`\`\`ts\nexport const value${index} = compute(${index});\n\`\`\`\n\n`,
);
const growing = ["Some ", "words of *an* ", "answer, ", "with `code`. ", "End.\n\n- item\n- item\n\n"];
const growingText = Array.from({ length: deltasPerSecond * 20 }, (_, index) => growing[index % growing.length]!);

const script: Script = (turn) =>
  turn === 0
    ? { text: documents, call: { name: "read_file", args: { target_file: "read.txt" } } }
    : { text: growingText, paceMs: 1000 / deltasPerSecond };

export const bench: Bench = async (isQuick) => {
  const [provider, browser] = await Promise.all([startProvider(), launchChromium()]);
  try {
    const measure = async (side: Side) => ({
      "CPU of a delta after 10,000 documents": await measurePage(side, provider, browser),
    });
    return await compare({
      units: { "CPU of a delta after 10,000 documents": "µs" },
      rounds: isQuick ? 1 : 3,
      floor: () => measure("floor"),
      sheaf: () => measure("sheaf"),
    });
  } finally {
    provider.close();
    await browser.close();
  }
};

async function measurePage(side: Side, provider: Provider, browser: Browser): Promise<number> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  provider.play(script);
  const run = () => measureMainThread(page, provider);
  try {
    return await (side === "floor" ? openFloor(page, provider, run) : openSheafPage(page, provider, run));
  } finally {
    await page.close();
  }
}

async function openFloor(page: Page, provider: Provider, run: () => Promise<number>): Promise<number> {
  const style =
    "main { height: 900px; overflow: auto } p { content-visibility: auto; contain-intrinsic-size: auto 20px }";
  await page.setContent(`<style>${style}</style><main></main>`);
  await page.evaluate(readIntoParagraphs, `${provider.url}/chat/completions`);
  return run();
}

/** Runs in the floor's page: reads both answers and adds their text to the last paragraph; those out of sight go. */
function readIntoParagraphs(url: string): void {
  const main = document.querySelector("main")!;
  let last = main.appendChild(document.createElement("p"));
  const inSight = 40;
  const read = async (body: string): Promise<void> => {
    const { body: stream } = await fetch(url, { method: "POST", body });
    let rest = "";
    for await (const chunk of stream!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (!line.startsWith("data: {")) continue;
        const { choices } = JSON.parse(line.slice(6)) as { choices: { delta: { content?: string } }[] };
        const [first = "", ...more] = (choices[0]?.delta.content ?? "").split("\n\n");
        last.append(first);
        for (const text of more) {
          last = main.appendChild(document.createElement("p"));
          last.append(text);
          if (main.childElementCount > inSight) main.firstElementChild!.remove();
        }
        main.scrollTop = main.scrollHeight;
      }
    }
  };
  void read("{}").then(() => read('{"role":"tool"}'));
}

/** Microseconds for each delta while the second answer streams. */
async function measureMainThread(page: Page, provider: Provider): Promise<number> {
  while (provider.requestedAt.length < 2) await sleep(100);
  await sleep(settleMs);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const readTasks = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")!.value;
  };
  const before = await readTasks();
  await sleep(seconds * 1000);
  return (((await readTasks()) - before) * 1e6) / (seconds * deltasPerSecond);
}
