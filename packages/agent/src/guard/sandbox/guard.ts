/**
 * A small process beside what Sheaf starts, that ends it when Sheaf is killed and can end nothing any more. It can
 * start processes too: a fork of it takes a tenth of one of Sheaf, which is large.
 */
import { spawn } from "node:child_process";
import { markerName } from "./environment.ts";

/** Stands by until it is dismissed. */
export interface Guard {
  /** False if somebody has ended it. */
  isStanding(): boolean;
  /** For a guard that starts processes: a line of shell. What runs in the background dies with the guard if it asks for it. */
  order(line: string): void;
  dismiss(): void;
}

/** What a guard needs that starts processes. */
export interface StarterOptions {
  /** Bash, absolute. What another shell starts in the background ignores SIGINT for ever. */
  readonly shell: string;
  /** What its lines find in `"$@"`. */
  readonly words: readonly string[];
  /** What it gets from descriptor 3 on, in the place of what it would inherit. */
  readonly descriptors: readonly (number | "ignore")[];
}

/**
 * `read` fails when the other end of the pipe is gone, which the kernel sees to. Then every process that carries a
 * marker that begins like this one is killed, with its group, until none is left.
 */
const script = `
marker=$1
shift
while IFS= read -r order; do eval "$order"; done
kill -s KILL $(jobs -p) 2>/dev/null
for round in 1 2 3 4 5 6 7 8 9 10; do
  files=$(grep -lsaF "$marker" /proc/[0-9]*/environ)
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
const noGuard: Guard = { isStanding: () => true, order: () => undefined, dismiss: () => undefined };

/** Only Linux shows the marker of a process; elsewhere there is no guard. */
export function startGuard(marker: string, starter?: StarterOptions): Guard {
  if (process.platform !== "linux") return noGuard;
  // With job control a process in the background has a group of its own and the signals of any other.
  const [shell, ...args] = starter ? [starter.shell, "--noprofile", "--norc", "-m", "-c"] : ["/bin/sh", "-c"];
  try {
    const child = spawn(shell, [...args, script, "sh", `${markerName}=${marker}`, ...(starter?.words ?? [])], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      // Of its own session: what ends Sheaf's group must not end the guard.
      detached: true,
      stdio: ["pipe", "ignore", "ignore", ...(starter?.descriptors ?? [])],
    });
    // Without a guard a command still runs, and still ends with Sheaf unless that is killed.
    child.on("error", () => undefined);
    child.stdin?.on("error", () => undefined);
    child.unref();
    return {
      isStanding: () => child.exitCode === null && child.signalCode === null,
      order: (line) => void child.stdin?.write(line),
      dismiss: () => void child.kill("SIGKILL"),
    };
  } catch {
    return noGuard;
  }
}
