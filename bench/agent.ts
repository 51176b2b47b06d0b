/** A run of the command line: mixed turns, a long answer, and how long a delta is on its way from the model to stdout. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWords, listTurns, type Run, runAgent, type Side } from "./support/agent.ts";
import { type Bench, compare, type Figure, now, toQuantile, withFolder } from "./support/measure.ts";
import { type Answer, type Provider, type Script, startProvider } from "./support/provider.ts";

export const bench: Bench = async (isQuick) => {
  const provider = await startProvider();
  try {
    return await withFolder(async (folder) => {
      const workspace = join(folder, "workspace");
      mkdirSync(workspace);
      writeFileSync(join(workspace, "read.txt"), "one\ntwo\nthree\n".repeat(100));
      return [
        ...(await compareTurns(provider, workspace, 21, isQuick ? 5 : 15)),
        ...(await compareTurns(provider, workspace, 201, isQuick ? 1 : 5)),
        ...(await compareLongAnswer(provider, workspace, isQuick ? 3 : 9)),
        ...(await compareDelay(provider, workspace, isQuick ? 1 : 3)),
      ];
    });
  } finally {
    provider.close();
  }
};

/** Some text and a call of each kind in turn. No call repeats another: Sheaf would end a loop. */
function toToolTurn(turn: number): Answer {
  const text = createWords(20);
  const edit = { old_string: `value ${turn}\n`, new_string: `value ${turn + 3}\n` };
  const calls = [
    { name: "read_file", args: { target_file: "read.txt", limit: turn + 1 } },
    { name: "edit_file", args: { target_file: "edit.txt", edits: [edit] } },
    { name: "run_terminal_cmd", args: { command: `echo ${turn} >> ran.txt` } },
  ];
  return { text, call: calls[turn % calls.length]! };
}

function compareTurns(provider: Provider, workspace: string, turns: number, rounds: number): Promise<Figure[]> {
  const name = `a turn (read, edit, command), mean of ${turns}`;
  const script: Script = (turn) => (turn < turns ? toToolTurn(turn) : { text: createWords(40) });
  const measure = async (side: Side): Promise<Record<string, number>> => {
    writeFileSync(join(workspace, "edit.txt"), "value 1\n");
    writeFileSync(join(workspace, "ran.txt"), "");
    await runAgent(side, { provider, script, workspace });
    const times = listTurns(provider);
    const commands = readFileSync(join(workspace, "ran.txt"), "utf8").split("\n").length - 1;
    if (times.length !== turns || commands !== turns / 3) {
      throw new Error(`${side} ran ${times.length} of ${turns} turns and ${commands} commands: see "sheaf doctor"`);
    }
    return { [name]: times.reduce((sum, time) => sum + time, 0) / turns };
  };
  return compare({ units: { [name]: "ms" }, rounds, floor: () => measure("floor"), sheaf: () => measure("sheaf") });
}

/** From the first request to the exit. */
function compareLongAnswer(provider: Provider, workspace: string, rounds: number): Promise<Figure[]> {
  const deltas = 20_000;
  const text = createWords(deltas);
  const script: Script = () => ({ text });
  const name = "a delta of a long answer";
  const measure = async (side: Side) => {
    const run: Run = { provider, script, workspace, family: "anthropic" };
    const { totalMs, requestMs } = await runAgent(side, run);
    return { [name]: ((totalMs - requestMs) * 1000) / deltas };
  };
  return compare({ units: { [name]: "µs" }, rounds, floor: () => measure("floor"), sheaf: () => measure("sheaf") });
}

/** Each delta contains the time at which the provider sent it. */
function compareDelay(provider: Provider, workspace: string, rounds: number): Promise<Figure[]> {
  const deltas = 400;
  const text = Array.from({ length: deltas }, () => () => `@${now().toFixed(3)}@ word `);
  const script: Script = () => ({ text, paceMs: 5 });
  const name = "a delta from the model to stdout, median";
  const measure = async (side: Side) => {
    const delays: number[] = [];
    let rest = "";
    const onOutput = (chunk: Buffer): void => {
      const arrivedAt = now();
      const lines = (rest + chunk.toString()).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const times = [...line.matchAll(/@([\d.]+)@/g)];
        // The last lines repeat the whole text.
        if (times.length === 1) delays.push(arrivedAt - Number(times[0]![1]));
      }
    };
    await runAgent(side, { provider, script, workspace, onOutput });
    if (delays.length !== deltas) throw new Error(`${side} passed on ${delays.length} of ${deltas} deltas`);
    return { [name]: toQuantile(delays, 0.5) };
  };
  return compare({ units: { [name]: "ms" }, rounds, floor: () => measure("floor"), sheaf: () => measure("sheaf") });
}
