/** One cell of the matrix: an agent meets a fault. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent, Event, ReportedEnd } from "./agents.ts";
import { startFaultyProvider } from "./faulty-provider.ts";
import type { Fault } from "./faults.ts";

/** How a run ended. */
export interface Outcome {
  /** The exit code, or the name of the signal that ended the process. Undefined if it was still running at the limit. */
  readonly exit: number | string | undefined;
  readonly reported: ReportedEnd;
  /** From the first request, or from the signal, to the end of the process. */
  readonly seconds: number;
}

interface RunOptions {
  /** Gets the agent's home and workspace. */
  readonly folder: string;
  readonly limitSeconds: number;
}

/** From the first request to the signal: every agent waits for the provider by then. */
const settleMs = 3000;

/** Starts the agent with nothing but a home of its own, and ends it at the limit, with all its processes. */
export async function runAgent(agent: Agent, fault: Fault, { folder, limitSeconds }: RunOptions): Promise<Outcome> {
  const provider = await startFaultyProvider(fault, agent.call);
  const home = join(folder, "home");
  const cwd = join(folder, "project");
  for (const path of [home, cwd]) mkdirSync(path, { recursive: true });
  writeFileSync(join(cwd, "README.md"), "# Wordy\n\nCounts the words of a text.\n");
  const variables = agent.prepare(home, provider.url);
  const [program = "", ...first] = agent.command;
  const settings = fault.setting ? agent.settings[fault.setting] : undefined;
  settings?.prepare?.(home);
  const child = spawn(program, [...first, ...agent.args(provider.url, settings?.args)], {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, ...variables },
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  const killAll = (signal: NodeJS.Signals): void => {
    // The group may be gone already.
    try {
      process.kill(-child.pid!, signal);
    } catch {}
  };
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const ended = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
  const isOver = ended.then(() => true);
  try {
    while (provider.askedAt === undefined && !(await Promise.race([isOver, sleep(10, false)])));
    let startedAt = provider.askedAt;
    if (startedAt === undefined) throw new Error(`${agent.name} ended before it asked the provider: ${stdout}`);
    if (fault.signal && !(await Promise.race([isOver, sleep(settleMs, false)]))) {
      startedAt = performance.now();
      // A terminal sends Ctrl-C to all processes of the program, a supervisor ends the one that it started.
      if (fault.signal === "SIGINT") killAll(fault.signal);
      else child.kill(fault.signal);
    }
    const left = limitSeconds * 1000 - (performance.now() - startedAt);
    const exit = await Promise.race([ended, sleep(left, undefined, { ref: false })]);
    const seconds = (performance.now() - startedAt) / 1000;
    return { exit, reported: findEnd(stdout, agent), seconds };
  } finally {
    killAll("SIGKILL");
    provider.close();
  }
}

/** What the last event that can end a run says. */
function findEnd(stdout: string, agent: Agent): ReportedEnd {
  return stdout
    .split("\n")
    .map((line) => agent.readEnd(parseEvent(line)))
    .findLast((end) => end !== undefined);
}

function parseEvent(line: string): Event {
  try {
    return JSON.parse(line) as Event;
  } catch {
    return {};
  }
}
