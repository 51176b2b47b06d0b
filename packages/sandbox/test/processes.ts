/** What tests look for in the process table. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** Processes whose command line holds this text, but for the dead ones. */
export function findByCommandLine(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readProc(pid, "cmdline").replaceAll("\0", " ").includes(text) && !isDead(pid))
    .map(Number);
}

/** Processes whose environment holds this text. */
export function findByEnvironment(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readProc(pid, "environ").includes(text) && !isDead(pid))
    .map(Number);
}

/** Waits until a condition holds; false after `period` milliseconds. */
export async function waitUntil(condition: () => boolean, period = 5000): Promise<boolean> {
  for (let waited = 0; waited < period; waited += 20) {
    if (condition()) return true;
    await wait(20);
  }
  return condition();
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

function isDead(pid: string): boolean {
  const text = readProc(pid, "stat");
  return "ZX".includes(text.charAt(text.lastIndexOf(")") + 2));
}
