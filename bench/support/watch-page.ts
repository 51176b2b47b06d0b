/** What a page in Chromium takes while something happens in it. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";

/** Microseconds. */
const longTask = 50_000;

/** What a page took; memory in MB. */
export interface PageUse {
  /** Tasks of the page's threads that took the processor for more than 50 ms. */
  readonly longTasks: number;
  /** Elements and texts in the document, at most. */
  readonly peakNodes: number;
  /** Of the process that draws the page, at most. */
  readonly peakMemory: number;
  /** The same once it ended, and the browser was told to collect: what the page holds on to. */
  readonly heldMemory: number;
}

/** Samples a page until `end` resolves. */
export async function watchPage(browser: Browser, page: Page, end: Promise<unknown>): Promise<PageUse> {
  const renderers = await findRenderers(browser);
  await browser.startTracing(page, { categories: ["toplevel"] });
  const nodes: number[] = [];
  const memory: number[] = [];
  const sample = async (): Promise<void> => {
    nodes.push(await page.evaluate(countNodes));
    memory.push(Math.max(...renderers.map(readPssMb)));
  };
  const ended = end.then(() => true);
  do await sample();
  while (!(await Promise.race([ended, sleep(250, false)])));
  await sleep(2000);
  await sample();
  const longTasks = countLongTasks(await browser.stopTracing(), renderers);
  await collectGarbage(page);
  return {
    longTasks,
    peakNodes: Math.max(...nodes),
    peakMemory: Math.max(...memory),
    heldMemory: Math.max(...renderers.map(readPssMb)),
  };
}

/** A task of a thread, in microseconds: by the clock, and by the processor's time. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly dur?: number;
  readonly tdur?: number;
}

/** On a busy machine most tasks wait for the processor, so only its time counts. */
function countLongTasks(trace: Buffer, renderers: readonly number[]): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  return traceEvents.filter(
    ({ name, pid, tdur = 0 }) => name === "ThreadControllerImpl::RunTask" && renderers.includes(pid) && tdur > longTask,
  ).length;
}

/** Elements and texts of the document. */
function countNodes(): number {
  const walker = document.createTreeWalker(document.body);
  let count = 0;
  while (walker.nextNode() !== null) count += 1;
  return count;
}

/** Processes that may have drawn the page: a browser keeps spare ones. */
async function findRenderers(browser: Browser): Promise<number[]> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
}

/** Twice: what the first time frees in the document is collected by the second. */
async function collectGarbage(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (let round = 0; round < 2; round += 1) await session.send("HeapProfiler.collectGarbage");
  await session.detach();
  await sleep(1500);
}

/** Memory of a process, shared pages divided among those who share them. */
function readPssMb(pid: number): number {
  const [, kilobytes = 0] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")) ?? [];
  return Number(kilobytes) / 1024;
}
