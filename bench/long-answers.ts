/**
 * Long answers on the page in Chromium, each at 5,000 deltas a second. No floor does the same work: in its place are
 * the most nodes, long tasks and memory that a person's machine should have to bear.
 */
import { launchChromium } from "../test/support/chromium.ts";
import type { Bench, Figure } from "./support/measure.ts";
import { openSheafPage } from "./support/open-page.ts";
import { type Provider, startProvider } from "./support/provider.ts";
import { type PageUse, watchPage } from "./support/watch-page.ts";

const deltasPerSecond = 5000;
const bounds = { peakNodes: 2000, longTasks: 3, peakMemory: 150 };

/** Characters of a delta: about a word and its blanks, twice what models send. */
const deltaLength = 20;

const words = "the parser reads each block of a long answer once and keeps what can no longer change".split(" ");

/** Different words in each sentence, so that nothing is compared equal by chance. */
function writeSentence(seed: number, length: number): string {
  const parts = Array.from({ length }, (_, index) => words[(seed * 7 + index * (1 + (seed % 5))) % words.length]!);
  parts[seed % length] = `**${parts[seed % length]!} ${seed}**`;
  parts[(seed + 3) % length] = `\`value${seed}\``;
  return `${parts.join(" ")}. `;
}

const writeParagraph = (seed: number): string =>
  `${Array.from({ length: 10 }, (_, index) => writeSentence(seed * 10 + index, 18)).join("")}\n\n`;

const writeLine = (seed: number): string =>
  `export const value${seed} = compute(${seed}, "${words[seed % words.length]!}"); // ${words[(seed * 3) % words.length]!}\n`;

const writeLines = (seed: number, count: number): string =>
  Array.from({ length: count }, (_, index) => writeLine(seed * count + index)).join("");

/** A heading, a paragraph, a list, a table, and code, which is a document of its own. */
function writeMixed(seed: number): string {
  const items = Array.from({ length: 8 }, (_, index) => `- ${writeSentence(seed + index, 12)}\n`).join("");
  const rows = Array.from({ length: 8 }, (_, index) => `| ${index} | ${writeSentence(seed + index, 5)}|\n`).join("");
  const table = `| number | words |\n|---|---|\n${rows}\n`;
  return `## Part ${seed}\n\n${writeParagraph(seed)}${items}\n${table}\`\`\`ts\n${writeLines(seed, 20)}\`\`\`\n\n`;
}

function fill(length: number, write: (seed: number) => string): string {
  const parts: string[] = [];
  for (let size = 0, seed = 0; size < length; seed += 1) {
    parts.push(write(seed));
    size += parts.at(-1)!.length;
  }
  return parts.join("").slice(0, length);
}

/** By name: the answer's text. */
const longAnswers = {
  "200 kB mixed": () => fill(200_000, writeMixed),
  "1 MB mixed": () => fill(1_000_000, writeMixed),
  "1 MB of code": () => `\`\`\`ts\n${fill(1_000_000, (seed) => writeLines(seed, 1))}\n\`\`\`\n`,
  "1 MB in a paragraph": () => fill(1_000_000, (seed) => writeSentence(seed, 18)),
  "1 MB in 1,000 paragraphs": () => fill(1_000_000, writeParagraph),
};

function cutDeltas(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / deltaLength) }, (_, index) =>
    text.slice(index * deltaLength, (index + 1) * deltaLength),
  );
}

export const bench: Bench = async (isQuick) => {
  const provider = await startProvider();
  const figures: Figure[] = [];
  try {
    // What the page holds is compared with the page itself: other browsers on the machine share its pages.
    const short = await measureAnswer(provider, ["Hello."]);
    for (const [name, write] of Object.entries(longAnswers)) {
      const text = cutDeltas(write());
      const rounds: PageUse[] = [];
      for (let round = 0; round < (isQuick ? 1 : 3); round += 1) rounds.push(await measureAnswer(provider, text));
      const take = (field: keyof PageUse): number => Math.min(...rounds.map((use) => use[field]));
      figures.push(
        { name: `${name}: nodes at most`, unit: "nodes", floor: bounds.peakNodes, sheaf: take("peakNodes") },
        { name: `${name}: tasks over 50 ms`, unit: "tasks", floor: bounds.longTasks, sheaf: take("longTasks") },
        { name: `${name}: memory of the renderer`, unit: "MB", floor: bounds.peakMemory, sheaf: take("peakMemory") },
        { name: `${name}: memory held`, unit: "MB", floor: short.heldMemory, sheaf: take("heldMemory") },
      );
    }
    return figures;
  } finally {
    provider.close();
  }
};

/** A browser of its own for each answer, so that none finds memory taken by another. */
async function measureAnswer(provider: Provider, text: readonly string[]): Promise<PageUse> {
  const browser = await launchChromium();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  provider.play(() => ({ text, paceMs: 1000 / deltasPerSecond }));
  try {
    return await openSheafPage(page, provider, () =>
      watchPage(browser, page, page.locator(".totals").waitFor({ timeout: 120_000 })),
    );
  } finally {
    await browser.close();
  }
}
