/** A hostile process that swaps a folder with a link, as fast as it can. */
import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";

/** A shell command. `folder` is now itself, now a link to `target`; meanwhile it is called `other`. */
export function toSwapCommand(folder: string, other: string, target: string): string {
  const script = `
import os, shutil, sys
folder, other, target = sys.argv[1:]
def attempt(act, *places):
    try: act(*places)
    except OSError: pass
parent = os.getppid()
while os.getppid() == parent:
    attempt(os.rename, folder, other)
    attempt(os.symlink, target, folder)
    attempt(os.unlink, folder)
    attempt(os.rename, other, folder)
    # A sandbox that starts meanwhile makes an empty folder for its mounts, which would end the swaps.
    if os.path.isdir(other) and os.path.isdir(folder) and not os.path.islink(folder): shutil.rmtree(folder, True)
`;
  return `exec python3 -c '${script}' '${folder}' '${other}' '${target}'`;
}

/** Runs until it is ended or the test is over, outside of any sandbox. Returns what ends it. */
export function startSwapper(...places: Parameters<typeof toSwapCommand>): () => void {
  const child = spawn("sh", ["-c", toSwapCommand(...places)], { stdio: "ignore" });
  const end = (): void => void child.kill("SIGKILL");
  onTestFinished(end);
  return end;
}
