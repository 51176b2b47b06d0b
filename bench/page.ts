/**
 * The page in Chromium while an answer streams: an answer of 10,000 documents goes on with 200 deltas a second.
 * Chromium's own tracing tells how long the main thread was busy at a time, in wall time and in CPU time of the thread:
 * on a busy machine the second one is the page's own. Budgets: docs/performance.md.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, CDPSession, Page } from "playwright-core";
import { launchChromium } from "../test/support/chromium.ts";

const quick = process.argv.includes("--quick");
const documents = quick ? 2000 : 10_000;
/** Seconds that are measured, behind two of warming up. */
const seconds = quick ? 4 : 10;
const folder = mkdtempSync(join(tmpdir(), "sheaf-bench-"));
const sheaf = join(import.meta.dirname, "../packages/agent/bin/sheaf.js");

/** Paragraphs and code blocks, each a document. */
const manyDocuments = Array.from(
  { length: documents / 2 },
  (_, index) =>
    `Paragraph **${index}** of a long answer, with \`code\` and some more words in it.\n\n\`\`\`ts\nexport const value${index} = compute(${index}, "text");\n\`\`\`\n\n`,
).join("");

type Event = { readonly text: string; readonly chunk?: number; readonly group?: number } | { readonly wait_ms: number };

/** 200 deltas a second. */
function pace(pieces: readonly string[]): Event[] {
  const count = (seconds + 6) * 200;
  return Array.from({ length: count }, (_, index) => [{ text: pieces[index % pieces.length]! }, { wait_ms: 5 }]).flat();
}

const prose = [
  "Some ",
  "words ",
  "of *an* ",
  "answer, ",
  "with `code`, ",
  "**more** ",
  "and a link. ",
  "End.\n\n- item\n- item\n\n",
];
const code = ["const a", " = [1, 2", ", 3];\n", "function f", "(x: number) {\n", "  return x;\n", "}\n"];

interface Scenario {
  readonly name: string;
  readonly events: readonly Event[];
  /** What a person does meanwhile, ten times a second. */
  readonly act?: (page: Page, step: number) => Promise<void>;
}

const scenarios: readonly Scenario[] = [
  { name: `text behind ${documents} documents, the end in sight`, events: [...toStart(), ...pace(prose)] },
  {
    name: `the same while a person scrolls through them`,
    events: [...toStart(), ...pace(prose)],
    act: (page, step) => page.mouse.wheel(0, step % 40 < 20 ? -1200 : 1200),
  },
  { name: "a code block that grows", events: [{ text: "```ts\n" }, ...pace(code)] },
  { name: "a list that grows", events: pace(["- item with **bold** ", "and `code` ", "and words\n"]) },
  { name: "a paragraph that grows", events: pace(["words that never ", "come to *an* end, "]) },
];

function toStart(): Event[] {
  return [{ text: manyDocuments, chunk: 4096, group: 16 }];
}

interface TraceEvent {
  readonly name: string;
  readonly cat: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  /** Microseconds. */
  readonly dur?: number;
  /** Microseconds of the thread's CPU. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

interface Figures {
  readonly tasks: number;
  /** Milliseconds of CPU. */
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
  readonly over50: number;
  /** Share of one CPU. */
  readonly busy: number;
  /** Milliseconds of wall time. */
  readonly longestWall: number;
}

async function startServer(events: readonly Event[], name: string): Promise<{ child: ChildProcess; address: string }> {
  const script = join(folder, `${name}.json`);
  writeFileSync(script, JSON.stringify({ turns: [{ events }], after: "loop" }));
  const child = spawn(process.execPath, [sheaf, "serve", "--port", "0", "--open", "--model", `scripted:${script}`], {
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env.PATH, HOME: folder, SHEAF_HOME: join(folder, name) },
  });
  const address = await new Promise<string>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      const [found] = /http:\S+/.exec(chunk.toString()) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return { child, address };
}

async function measure(browser: Browser, scenario: Scenario, index: number): Promise<Figures> {
  const { child, address } = await startServer(scenario.events, `${index}`);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  try {
    await page.goto(address);
    await page.getByRole("textbox", { name: "Message" }).fill("Go");
    await page.keyboard.press("Enter");
    if (scenario.events[0] !== undefined && "chunk" in scenario.events[0]) {
      await page.locator(`[aria-posinset="${documents + 2}"]`).waitFor({ timeout: 120_000 });
    }
    await page.waitForTimeout(2000);
    const session = await page.context().newCDPSession(page);
    const trace = await record(page, session, scenario);
    return toFigures(trace);
  } finally {
    await page.close();
    child.kill("SIGKILL");
  }
}

/** Traces for the measured seconds. */
async function record(page: Page, session: CDPSession, { act }: Scenario): Promise<readonly TraceEvent[]> {
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  const ended = new Promise<void>((resolve) => {
    session.once("Tracing.tracingComplete", () => resolve());
  });
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["toplevel", "devtools.timeline", "__metadata"] },
  });
  await page.mouse.move(700, 400);
  const until = Date.now() + seconds * 1000;
  for (let step = 0; Date.now() < until; step += 1) {
    if (act) await act(page, step);
    await page.waitForTimeout(100);
  }
  await session.send("Tracing.end");
  await ended;
  return events;
}

/** Tasks of the main thread that was busiest: that of the page. */
function toFigures(events: readonly TraceEvent[]): Figures {
  const mains = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid}/${tid}`),
  );
  const byThread = Map.groupBy(events, ({ pid, tid }) => `${pid}/${tid}`);
  const toTasks = (thread: string): TraceEvent[] =>
    (byThread.get(thread) ?? []).filter(({ name, ph }) => ph === "X" && name.endsWith("RunTask"));
  const toBusy = (tasks: readonly TraceEvent[]): number => tasks.reduce((sum, { tdur = 0 }) => sum + tdur, 0);
  const [tasks = []] = [...mains].map(toTasks).toSorted((a, b) => toBusy(b) - toBusy(a));
  const working = tasks
    .map(({ tdur = 0 }) => tdur / 1000)
    .filter((duration) => duration >= 1)
    .toSorted((a, b) => a - b);
  const at = (share: number): number => working[Math.min(working.length - 1, Math.floor(working.length * share))] ?? 0;
  return {
    tasks: working.length,
    median: at(0.5),
    p99: at(0.99),
    longest: at(1),
    over50: working.filter((duration) => duration > 50).length,
    busy: toBusy(tasks) / 1e6 / seconds,
    longestWall: Math.max(0, ...tasks.map(({ dur = 0 }) => dur / 1000)),
  };
}

const browser = await launchChromium();
try {
  console.log(`main thread of the page, ${seconds} s each, 200 deltas/s; tasks of 1 ms of CPU and more`);
  for (const [index, scenario] of scenarios.entries()) {
    const { tasks, median, p99, longest, over50, busy, longestWall } = await measure(browser, scenario, index);
    const figures = `median ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`;
    console.log(`${scenario.name}: ${tasks} tasks, ${figures}, over 50 ms: ${over50}`);
    console.log(`  busy ${(busy * 100).toFixed(0)} % of a CPU, longest in wall time ${longestWall.toFixed(1)} ms`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
