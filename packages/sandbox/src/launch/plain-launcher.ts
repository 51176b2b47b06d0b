/**
 * Runs commands as plain processes of the user, without a sandbox of the system: `--sandbox disabled` and `container`.
 */
import { spawn } from "node:child_process";
import type { Environment } from "@sheaf/base/paths";
import { toCommandEnvironment } from "../environment.ts";
import { createPipeMaker } from "../follow/output-pipes.ts";
import { createProcessTree } from "../follow/process-tree.ts";
import { followChild, toInputStdio, writeInput } from "../follow/processes.ts";
import { createReaper } from "../follow/reaper.ts";
import { findShell } from "../programs.ts";
import type { Launcher } from "./launcher.ts";

/** Creates the launcher. Each command carries a marker, by which Sheaf finds its processes again. */
export function createPlainLauncher(environment: Environment): Launcher {
  const shell = findShell(environment);
  const reaper = createReaper();
  const pipeMaker = createPipeMaker();
  return {
    file: shell.file,
    permissions: ["unsandboxed"],
    async start({ command, workingDirectory, input, variables }) {
      const marker = reaper.createMarker();
      const pipes = await pipeMaker.open();
      try {
        const child = spawn(shell.file, [...shell.args, command], {
          cwd: workingDirectory,
          env: { ...toCommandEnvironment(environment, marker), ...variables },
          detached: true,
          stdio: [toInputStdio(input), ...pipes.stdio],
        });
        writeInput(child, input);
        const tree = child.pid === undefined ? undefined : createProcessTree(child.pid, marker);
        return {
          process: followChild(child),
          pipes,
          tree,
          toSignal: () => undefined,
          findStartError: () => "",
          moveToBackground: () => undefined,
          release: () => [],
        };
      } catch (error) {
        pipes.close();
        throw error;
      }
    },
    async close() {
      reaper.dismiss();
      pipeMaker.close();
    },
  };
}
