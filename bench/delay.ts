/**
 * How long a delta is on its way from the model to stdout, with the log on: a model server on 127.0.0.1 that gives one
 * every 5 ms, each with the time in it, beside the floor, a minimal agent.
 * `npm run bench -- delay [--strict]`: the budget (docs/performance.md) is for the median.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const deltas = 1000;
const paceMs = 5;
/** Of the floor's median: 0.5 ms where the floor takes 0.12. */
const budget = 4.2;

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sheaf-bench-delay-"));
const now = (): number => performance.timeOrigin + performance.now();
const line = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    void (async () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let sent = 0; sent < deltas; sent += 1) {
        await sleep(paceMs);
        response.write(line({ choices: [{ index: 0, delta: { content: `@${now().toFixed(3)}@ word` } }] }));
      }
      response.end(`${line({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}data: [DONE]\n\n`);
    })();
  });
});

/** Milliseconds on the way of each delta, in order of size. */
async function measure(command: readonly string[]): Promise<number[]> {
  const child = spawn(process.execPath, command, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, SHEAF_HOME: join(folder, "home") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const delays: number[] = [];
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const arrivedAt = now();
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    // The last lines repeat the whole text.
    for (const text of lines) {
      const times = [...text.matchAll(/@([\d.]+)@/g)];
      if (times.length === 1) delays.push(arrivedAt - Number(times[0]![1]));
    }
  });
  const code = await new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  if (code !== 0 || delays.length !== deltas)
    throw new Error(`${delays.length} of ${deltas} deltas, exit code ${code}`);
  return delays.toSorted((a, b) => a - b);
}

const at = (sorted: readonly number[], part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;

try {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const program = join(import.meta.dirname, "../packages/agent/bin/sheaf.js");
  const model = ["--model", "openai-compatible/m", "--base-url", url];
  const floor = await measure([join(import.meta.dirname, "support/floor-agent.js"), url, join(folder, "floor.log")]);
  const sheaf = await measure([program, "-p", ...model, "go"]);
  console.log(`${deltas} deltas, one every ${paceMs} ms; ms on the way; node ${process.version}`);
  for (const [name, delays] of Object.entries({ floor, sheaf })) {
    console.log(name.padEnd(6), `p50 ${at(delays, 0.5).toFixed(2)}  p99 ${at(delays, 0.99).toFixed(2)}`);
  }
  const times = at(sheaf, 0.5) / at(floor, 0.5);
  const isHeld = times <= budget;
  console.log(`p50 ${times.toFixed(1)}x of ${budget}x ${isHeld ? "held" : "MISSED"}`);
  if (!isHeld && process.argv.includes("--strict")) process.exitCode = 1;
} finally {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
}
