/** A small process beside what Sheaf starts, that ends it when Sheaf is killed and can end nothing any more. */
import { spawn } from "node:child_process";
import { markerName } from "./environment.ts";

/** Stands by until it is dismissed. */
export interface Guard {
  /** False if somebody has ended it. */
  isStanding(): boolean;
  dismiss(): void;
}

/**
 * `read` returns when the other end of the pipe is gone, which the kernel sees to. Then every process that carries a
 * marker that begins like this one is killed, with its group, until none is left.
 */
const script = `
read -r line
for round in 1 2 3 4 5 6 7 8 9 10; do
  files=$(grep -lsaF "$1" /proc/[0-9]*/environ)
  [ -n "$files" ] || exit 0
  for file in $files; do
    pid=\${file#/proc/}
    pid=\${pid%/environ}
    kill -s KILL -- "-$pid" 2>/dev/null
    kill -s KILL "$pid" 2>/dev/null
  done
  sleep 0.1
done
`;

/** Another one would not come about either. */
const noGuard: Guard = { isStanding: () => true, dismiss: () => undefined };

/** Only Linux shows the marker of a process; elsewhere there is no guard. */
export function startGuard(marker: string): Guard {
  if (process.platform !== "linux") return noGuard;
  try {
    const child = spawn("/bin/sh", ["-c", script, "sh", `${markerName}=${marker}`], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      // Of its own session: what ends Sheaf's group must not end the guard.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    // Without a guard a command still runs, and still ends with Sheaf unless that is killed.
    child.on("error", () => undefined);
    child.stdin.on("error", () => undefined);
    child.unref();
    return {
      isStanding: () => child.exitCode === null && child.signalCode === null,
      dismiss: () => void child.kill("SIGKILL"),
    };
  } catch {
    return noGuard;
  }
}
