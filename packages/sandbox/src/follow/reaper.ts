/** A small process that ends Sheaf's commands when Sheaf itself is killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { markerName } from "../environment.ts";

/** One reaper for all commands of a launcher. */
export interface Reaper {
  /**
   * Returns the marker's value for a command that is about to start, and starts the reaper if needed. When all
   * processes of a marker have ended, the reaper creates a file in `folder`.
   */
  createMarker(folder?: string): string;
  dismiss(): void;
}

/** Characters of a marker that all commands of a launcher share. */
const sharedLength = 18;

/**
 * Script of the reaper. `read` fails when the other end of the pipe closes, which the kernel ensures. Then it kills
 * every process whose marker starts with this one, and its group, until all are gone.
 */
const script = `
read -r line
for round in 1 2 3 4 5 6 7 8 9 10; do
  files=$(grep -lsaF "$1" /proc/[0-9]*/environ)
  [ -n "$files" ] || break
  for file in $files; do
    pid=\${file#/proc/}
    pid=\${pid%/environ}
    kill -s KILL -- "-$pid" 2>/dev/null
    kill -s KILL "$pid" 2>/dev/null
  done
  sleep 0.1
done
[ -z "$2" ] || : > "$2/ended"
`;

/** Starts the reaper with the first command, and again if another program has ended it. */
export function createReaper(): Reaper {
  const shared = randomUUID().slice(0, sharedLength);
  let child: ChildProcess | undefined;
  return {
    createMarker(folder = "") {
      const isRunning = child?.exitCode === null && child.signalCode === null;
      // Linux alone shows the marker of a process.
      if (process.platform === "linux" && !isRunning) child = startReaper(shared, folder);
      return shared + randomUUID().slice(sharedLength);
    },
    dismiss: () => void child?.kill("SIGKILL"),
  };
}

function startReaper(marker: string, folder: string): ChildProcess {
  const child = spawn("/bin/sh", ["-c", script, "sh", `${markerName}=${marker}`, folder], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    // Starts a new session: a signal that ends Sheaf's group must not end the reaper.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Commands still run without it, and still end with Sheaf unless Sheaf is killed.
  child.on("error", () => undefined);
  child.stdin?.on("error", () => undefined);
  child.unref();
  return child;
}
