/** A hostile process that swaps a folder with a link, as fast as it can. */
import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";

/** A shell command. `folder` is now itself, now a link to `target`; meanwhile it is called `other`. */
export function toSwapCommand(folder: string, other: string, target: string): string {
  const script = `
import os, sys
folder, other, target = sys.argv[1:]
def attempt(act, *places):
    try: act(*places)
    except OSError: pass
while True:
    attempt(os.rename, folder, other)
    attempt(os.symlink, target, folder)
    attempt(os.unlink, folder)
    attempt(os.rename, other, folder)
`;
  return `exec python3 -c '${script}' '${folder}' '${other}' '${target}'`;
}

/** Runs until the end of the test, outside of any sandbox. */
export function startSwapper(...places: Parameters<typeof toSwapCommand>): void {
  const child = spawn("sh", ["-c", toSwapCommand(...places)], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
}

/** Repetitions of a race: some, or with SHEAF_SOAK=1 as many as the contract says. */
export function toRounds(some: number, all: number): number {
  return process.env.SHEAF_SOAK === "1" ? all : some;
}
