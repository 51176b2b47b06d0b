/**
 * The whole agent against a model server on 127.0.0.1 that answers at once: exec to the first request, one answer,
 * tool turns, 200 turns, 50,000 deltas. Each beside bare `node -e 0` in the same run. Budgets: docs/performance.md.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const quick = process.argv.includes("--quick");
const rounds = quick ? 5 : 21;
const folder = mkdtempSync(join(tmpdir(), "sheaf-bench-"));
const sheaf = join(import.meta.dirname, "../packages/agent/bin/sheaf.js");
writeFileSync(join(folder, "file.txt"), "one\ntwo\nthree\n");
/** GNU time tells CPU and memory; without it these columns stay empty. */
const gnuTime = existsSync("/usr/bin/time") ? "/usr/bin/time" : undefined;

type Answer = (turn: number) => readonly string[];

const line = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: string): string => line({ choices: [{ index: 0, delta: { content } }] });
const end = line({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }) + "data: [DONE]\n\n";

function call(name: string, args: object, turn: number): string {
  const toolCall = { index: 0, id: `c${turn}`, type: "function", function: { name, arguments: JSON.stringify(args) } };
  return (
    line({ choices: [{ index: 0, delta: { tool_calls: [toolCall] }, finish_reason: "tool_calls" }] }) +
    "data: [DONE]\n\n"
  );
}

/** `turns` calls of a tool, then a word. */
const toolTurns =
  (turns: number, name: string, toArguments: (turn: number) => object): Answer =>
  (turn) =>
    turn < turns ? [call(name, toArguments(turn), turn)] : [delta("Done."), end];

/** No turn repeats another: a loop would be ended. */
const readFile = (turn: number) => ({ target_file: "file.txt", limit: turn + 1 });
const editFile = (turn: number) => ({
  target_file: "edit.txt",
  edits: [{ old_string: `value ${turn}\n`, new_string: `value ${turn + 1}\n` }],
});

interface Case {
  readonly name: string;
  readonly answer: Answer;
  readonly rounds: number;
  readonly args?: readonly string[];
  readonly turns?: number;
  /** Upper bounds; `turn`: of one turn, what the whole takes beyond one answer. */
  readonly budgets?: {
    readonly total?: number;
    readonly request?: number;
    readonly turn?: number;
    readonly memory?: number;
  };
}

const cases: readonly Case[] = [
  {
    name: "one answer",
    answer: () => [delta("One answer."), end],
    rounds,
    budgets: { total: 110, request: 80, memory: 90 },
  },
  {
    name: "20 read turns",
    answer: toolTurns(20, "read_file", readFile),
    rounds: Math.ceil(rounds / 3),
    turns: 20,
    budgets: { turn: 3 },
  },
  {
    name: "20 edit turns",
    answer: toolTurns(20, "edit_file", editFile),
    rounds: Math.ceil(rounds / 3),
    turns: 20,
    budgets: { turn: 3 },
  },
  {
    name: "20 shell turns (no sandbox)",
    answer: toolTurns(20, "run_terminal_cmd", (turn) => ({ command: `true ${turn}` })),
    rounds: Math.ceil(rounds / 3),
    args: ["--sandbox", "disabled", "--force"],
    turns: 20,
    budgets: { turn: 15 },
  },
  {
    name: "20 shell turns (sandbox)",
    answer: toolTurns(20, "run_terminal_cmd", (turn) => ({ command: `true ${turn}` })),
    rounds: Math.ceil(rounds / 3),
    turns: 20,
    budgets: { turn: 15 },
  },
  { name: "200 read turns", answer: toolTurns(200, "read_file", readFile), rounds: quick ? 1 : 3, turns: 200 },
  {
    name: "50,000 deltas of 4 characters",
    answer: () => [...Array.from({ length: 50_000 }, (_, index) => delta(index % 2 ? "abcd" : "efgh")), end],
    rounds: quick ? 1 : 5,
    budgets: { total: 600 },
  },
];

let answer: Answer = () => [end];
let turn = 0;
let firstRequestAt = 0;
const server = createServer((request, response) => {
  firstRequestAt ||= performance.now();
  request.resume();
  request.on("end", () => void writeAnswer(response, answer((turn += 1) - 1)));
});

async function writeAnswer(response: ServerResponse, parts: readonly string[]): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const part of parts) {
    if (response.write(part)) continue;
    await new Promise((resolve) => {
      response.once("drain", resolve);
    });
  }
  response.end();
}

interface Sample {
  readonly total: number;
  readonly request: number;
  readonly cpu: number;
  readonly memory: number;
}

async function measure(command: readonly string[]): Promise<Sample> {
  turn = 0;
  firstRequestAt = 0;
  writeFileSync(join(folder, "edit.txt"), "value 0\n");
  const words = gnuTime ? [gnuTime, "-f", "%U %S %M", ...command] : command;
  const startedAt = performance.now();
  const child = spawn(words[0]!, words.slice(1), {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, SHEAF_HOME: join(folder, "home") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stdout.resume();
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  const total = performance.now() - startedAt;
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${errors}`);
  const [user = 0, system = 0, memory = 0] = errors.trim().split(" ").map(Number);
  return {
    total,
    request: firstRequestAt ? firstRequestAt - startedAt : 0,
    cpu: (user + system) * 1000,
    memory: memory / 1024,
  };
}

const sort = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);
const median = (values: readonly number[]): number => sort(values)[Math.floor(values.length / 2)]!;
const least = (values: readonly number[]): number => sort(values)[0]!;

/** A figure as `median (least)`: other work on the machine hardly shows in the least. */
interface Figure {
  readonly median: number;
  readonly least: number;
}

function toFigure(samples: readonly Sample[], field: keyof Sample): Figure {
  const values = samples.map((sample) => sample[field]);
  return { median: median(values), least: least(values) };
}

function format({ median: middle, least: low }: Figure, digits = 0): string {
  return `${middle.toFixed(digits)} (${low.toFixed(digits)})`;
}

let isMissed = false;

/** The verdict on a budget, by the median. */
function judge(value: number, budget: number | undefined, unit: string): string {
  if (budget === undefined) return "";
  isMissed ||= value > budget;
  return `  ${unit} ${budget}: ${value > budget ? "MISSED" : "held"}`;
}

function print(test: Pick<Case, "name" | "turns" | "budgets">, samples: readonly Sample[], one?: Figure): Figure {
  const { name, turns, budgets = {} } = test;
  const total = toFigure(samples, "total");
  const request = toFigure(samples, "request");
  const perTurn =
    turns === undefined || one === undefined
      ? undefined
      : { median: (total.median - one.median) / turns, least: (total.least - one.least) / turns };
  console.log(
    name.padEnd(31),
    format(total).padStart(13),
    (request.median ? format(request) : "").padStart(11),
    (perTurn ? format(perTurn, 1) : "").padStart(12),
    toFigure(samples, "cpu").median.toFixed(0).padStart(6),
    toFigure(samples, "memory").median.toFixed(0).padStart(6),
    judge(total.median, budgets.total, "total"),
    judge(request.median, budgets.request, "request"),
    perTurn ? judge(perTurn.median, budgets.turn, "turn") : "",
    judge(toFigure(samples, "memory").median, budgets.memory, "memory"),
  );
  return perTurn ?? total;
}

try {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const model = ["--model", "openai-compatible/m", "--base-url", `http://127.0.0.1:${port}/v1`];
  console.log(`median (least); ms, MB; node ${process.version}`);
  console.log(
    "case".padEnd(31),
    "total".padStart(13),
    "request".padStart(11),
    "a turn".padStart(12),
    "   CPU memory  budgets",
  );
  const bareSamples: Sample[] = [];
  for (let round = 0; round < rounds; round += 1) bareSamples.push(await measure([process.execPath, "-e", "0"]));
  print({ name: "node -e 0" }, bareSamples);
  const figures = new Map<string, Figure>();
  for (const test of cases) {
    answer = test.answer;
    const command = [process.execPath, sheaf, "-p", ...model, ...(test.args ?? []), "go"];
    await measure(command);
    const samples: Sample[] = [];
    for (let round = 0; round < test.rounds; round += 1) samples.push(await measure(command));
    figures.set(test.name, print(test, samples, figures.get("one answer")));
  }
  const growth = figures.get("200 read turns")!.median / figures.get("20 read turns")!.median;
  console.log(`a turn of 200 over one of 20: ${growth.toFixed(2)}${judge(growth, 1.2, "growth")}`);
  if (isMissed && process.argv.includes("--strict")) process.exitCode = 1;
} finally {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
}
