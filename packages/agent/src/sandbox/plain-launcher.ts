/** Commands as plain processes of the user, without a sandbox of the system: `--sandbox disabled`. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { type Environment, toCommandEnvironment } from "./environment.ts";
import { startGuard } from "./guard.ts";
import type { Launcher } from "./launcher.ts";
import { createOutputPipes } from "./output-pipes.ts";
import { createProcessTree } from "./process-tree.ts";
import { findShell } from "./shell.ts";

/** Each command carries a marker, by which its processes are found again. */
export function createPlainLauncher(environment: Environment): Launcher {
  const shell = findShell(environment);
  const outputs = createOutputPipes();
  return {
    file: shell.file,
    permissions: ["unsandboxed"],
    async start({ command, workingDirectory }) {
      const marker = randomUUID();
      const guard = startGuard(marker);
      const pipes = outputs.open();
      try {
        const child = spawn(shell.file, [...shell.args, command], {
          cwd: workingDirectory,
          env: toCommandEnvironment(environment, marker),
          detached: true,
          stdio: ["ignore", ...pipes.stdio],
        });
        const tree = child.pid === undefined ? undefined : createProcessTree(child.pid, marker);
        return {
          child,
          pipes,
          tree,
          toSignal: () => undefined,
          findStartError: () => "",
          release() {
            guard.dismiss();
            return [];
          },
        };
      } catch (error) {
        pipes.close();
        guard.dismiss();
        throw error;
      }
    },
    close: async () => outputs.close(),
  };
}
