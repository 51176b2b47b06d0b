/**
 * The whole agent against a model server on 127.0.0.1 that answers at once: exec to the first request, one answer,
 * tool turns, 200 turns, 50,000 deltas. Each beside the floor, a minimal agent that runs in turn with it.
 * `npm run bench -- agent [--quick] [--strict] [CASE]`: budgets (docs/performance.md) are ratios to the floor; with
 * `--strict` a missed one fails; CASE is a part of the name of the cases that are run.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const quick = process.argv.includes("--quick");
const rounds = quick ? 5 : 21;
/** Of cases with turns: a turn is a small difference of two runs. */
const turnRounds = quick ? 9 : 21;
/** Of the names of the cases. */
const wanted = process.argv.slice(3).find((word) => !word.startsWith("--")) ?? "";
/** In memory where that can be had: a disk's own time for a synced write would hide what Sheaf takes. */
const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sheaf-bench-"));
const sheaf = join(import.meta.dirname, "../packages/agent/bin/sheaf.js");
const floor = join(import.meta.dirname, "support/floor-agent.js");
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
  /** Milliseconds that the model takes for each answer behind the first; they are no part of a turn. */
  readonly think?: number;
  /** Upper bounds, as multiples of the floor; `turn`: of one turn, what the whole takes beyond one answer beside it. */
  readonly budgets?: {
    readonly total?: number;
    readonly request?: number;
    readonly turn?: number;
    readonly memory?: number;
  };
}

const oneAnswer: Answer = () => [delta("One answer."), end];

const cases: readonly Case[] = [
  {
    name: "one answer",
    answer: oneAnswer,
    rounds,
    budgets: { total: 2.6, request: 2.4, memory: 1.7 },
  },
  {
    name: "20 read turns",
    answer: toolTurns(20, "read_file", readFile),
    rounds: turnRounds,
    turns: 20,
    budgets: { turn: 3 },
  },
  {
    name: "20 edit turns",
    answer: toolTurns(20, "edit_file", editFile),
    rounds: turnRounds,
    turns: 20,
    budgets: { turn: 3 },
  },
  {
    name: "20 shell turns (no sandbox)",
    answer: toolTurns(20, "run_terminal_cmd", (turn) => ({ command: `true ${turn}` })),
    rounds: turnRounds,
    args: ["--sandbox", "disabled", "--force"],
    turns: 20,
    budgets: { turn: 6 },
  },
  {
    name: "20 shell turns (sandbox)",
    answer: toolTurns(20, "run_terminal_cmd", (turn) => ({ command: `true ${turn}` })),
    rounds: turnRounds,
    turns: 20,
    budgets: { turn: 6 },
  },
  {
    name: "20 shell turns (sandbox, 30 ms)",
    answer: toolTurns(20, "run_terminal_cmd", (turn) => ({ command: `true ${turn}` })),
    rounds: turnRounds,
    turns: 20,
    think: 30,
    budgets: { turn: 6 },
  },
  { name: "200 read turns", answer: toolTurns(200, "read_file", readFile), rounds: quick ? 1 : 3, turns: 200 },
  {
    name: "50,000 deltas of 4 characters",
    answer: () => [...Array.from({ length: 50_000 }, (_, index) => delta(index % 2 ? "abcd" : "efgh")), end],
    rounds: quick ? 1 : 5,
    budgets: { total: 3 },
  },
];

let answer: Answer = () => [end];
let thinkPeriod = 0;
let asked = 0;
let firstRequestAt = 0;
const server = createServer((request, response) => {
  firstRequestAt ||= performance.now();
  request.resume();
  request.on("end", () => {
    const parts = answer((asked += 1) - 1);
    if (thinkPeriod > 0 && asked > 1) setTimeout(() => void writeAnswer(response, parts), thinkPeriod);
    else void writeAnswer(response, parts);
  });
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
  asked = 0;
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

function toMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

type Turns = Pick<Case, "turns" | "think">;

/** Medians; `turn`: milliseconds of one turn beyond one answer. */
interface Figures extends Sample {
  readonly turn: number;
}

/** A turn is counted against the answer beside it, so that a machine that becomes slower meets both. */
function toFigures(sides: readonly Round[], { turns, think = 0 }: Turns): Figures {
  const pick = (field: keyof Sample): number => toMedian(sides.map(({ sample }) => sample[field]));
  const more = sides.map(({ sample, one }) => sample.total - (one?.total ?? 0));
  const turn = turns === undefined ? 0 : toMedian(more) / turns - think;
  return { total: pick("total"), request: pick("request"), cpu: pick("cpu"), memory: pick("memory"), turn };
}

let isMissed = false;

/** The verdict on a budget. */
function judge(value: number, budget: number | undefined, name: string): string {
  if (budget === undefined || Number.isNaN(value)) return "";
  isMissed ||= value > budget;
  return `${name} ${value.toFixed(1)}x of ${budget}x ${value > budget ? "MISSED" : "held"}`;
}

function printLine(name: string, { total, request, turn, cpu, memory }: Figures, verdict: string): void {
  console.log(
    name.padEnd(31),
    total.toFixed(0).padStart(6),
    (request ? request.toFixed(0) : "").padStart(8),
    (turn ? turn.toFixed(1) : "").padStart(7),
    cpu.toFixed(0).padStart(6),
    memory.toFixed(0).padStart(7),
    ` ${verdict}`,
  );
}

interface Pair {
  readonly sheaf: Figures;
  readonly floor: Figures;
}

function print({ name, budgets = {} }: Case, { sheaf: ours, floor: least }: Pair): void {
  const verdicts = (["total", "request", "turn", "memory"] as const).map((field) =>
    judge(ours[field] / least[field], budgets[field], field),
  );
  printLine(name, ours, verdicts.filter((text) => text !== "").join(", "));
  printLine("  floor", least, "");
}

/** One run, and one answer beside it where turns are counted. */
interface Round {
  readonly sample: Sample;
  readonly one: Sample | undefined;
}

async function measureRound(command: readonly string[], test: Case): Promise<Round> {
  answer = oneAnswer;
  const one = test.turns === undefined ? undefined : await measure(command);
  answer = test.answer;
  return { one, sample: await measure(command) };
}

/** The rounds take turns, so that other work on the machine meets both. */
async function measureCase(test: Case, url: string): Promise<Pair> {
  thinkPeriod = test.think ?? 0;
  const model = ["--model", "openai-compatible/m", "--base-url", url];
  const sheafCommand = [process.execPath, sheaf, "-p", ...model, ...(test.args ?? []), "go"];
  const floorCommand = [process.execPath, floor, url, join(folder, "floor.log")];
  await measureRound(sheafCommand, test);
  const sides: { readonly floor: Round[]; readonly sheaf: Round[] } = { floor: [], sheaf: [] };
  for (let round = 0; round < test.rounds; round += 1) {
    sides.floor.push(await measureRound(floorCommand, test));
    sides.sheaf.push(await measureRound(sheafCommand, test));
  }
  return { sheaf: toFigures(sides.sheaf, test), floor: toFigures(sides.floor, test) };
}

/** Milliseconds of a synced write to the disk, where a user's store is. */
function measureSync(): number {
  const file = join(tmpdir(), `sheaf-bench-${process.pid}`);
  const descriptor = openSync(file, "w");
  const times = Array.from({ length: 20 }, () => {
    const startedAt = performance.now();
    writeSync(descriptor, "x".repeat(500));
    fdatasyncSync(descriptor);
    return performance.now() - startedAt;
  });
  closeSync(descriptor);
  rmSync(file);
  return toMedian(times);
}

try {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  console.log(`medians; ms, MB; node ${process.version}`);
  console.log("case".padEnd(31), " total", " request", " a turn", "  CPU", " memory", " budgets");
  const bare: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push({ sample: await measure([process.execPath, "-e", "0"]), one: undefined });
  }
  printLine("node -e 0", toFigures(bare, {}), "");
  const pairs = new Map<string, Pair>();
  for (const test of cases.filter(({ name }, index) => index === 0 || name.includes(wanted))) {
    const pair = await measureCase(test, url);
    pairs.set(test.name, pair);
    print(test, pair);
  }
  const [few, many] = ["20 read turns", "200 read turns"].map((name) => pairs.get(name));
  if (few && many) console.log(judge(many.sheaf.turn / few.sheaf.turn, 1.2, "a turn of 200 over one of 20:"));
  console.log(
    `a synced write to the disk takes ${measureSync().toFixed(1)} ms; a turn with a tool has two, one while the model is asked`,
  );
  if (isMissed && process.argv.includes("--strict")) process.exitCode = 1;
} finally {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
}
