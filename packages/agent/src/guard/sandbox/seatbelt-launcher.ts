/** Commands in Seatbelt, the sandbox of macOS (S-30): by a profile that the system enforces. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeniedPlaces } from "./denied-places.ts";
import { type Environment, toCommandEnvironment } from "./environment.ts";
import type { Launcher } from "./launcher.ts";
import { findLinkedWorktree } from "./linked-worktree.ts";
import { createLoopbackProxy } from "./loopback-proxy.ts";
import { toExistingPath } from "./mounts.ts";
import { openOutputPipes } from "./output-pipes.ts";
import { createProcessTree } from "./process-tree.ts";
import { createProtectedPlaces } from "./protected-places.ts";
import { toProxyVariables } from "./proxy-variables.ts";
import { toSeatbeltProfile } from "./seatbelt-profile.ts";
import { listSecretPlaces } from "./secret-places.ts";
import type { SandboxOptions } from "./sandbox-options.ts";
import { findShell } from "./shell.ts";
import { followChild } from "./started-process.ts";
import { toFolderError } from "./start-error.ts";

/** Exit code of sandbox-exec for a profile that it does not take, and for a program that it cannot start. */
const refusalCodes: ReadonlySet<number> = new Set([64, 65, 71]);

/** Makes its folder with the first command. Limits of processes and memory are not held here. */
export function createSeatbeltLauncher(options: SandboxOptions): Launcher {
  const { file, workspace, addedFolders, environment } = options;
  const shell = findShell(environment);
  const worktree = findLinkedWorktree(workspace);
  const writable = [...(worktree?.mounts ?? []).map(({ path }) => path), ...addedFolders];
  const places = createProtectedPlaces(workspace, { worktree: worktree?.folder, added: addedFolders });
  const denied = createDeniedPlaces([workspace, ...addedFolders], options.denials);
  const proxy = createLoopbackProxy(options.network, options.networkPorts);
  let temporary: string | undefined;
  return {
    file,
    permissions: [
      ...(options.network.isOpen ? (["network"] as const) : []),
      ...(writable.length > 0 ? (["write_outside_workspace"] as const) : []),
    ],
    async start({ command, workingDirectory, variables }) {
      const proxyPort = await proxy.open();
      temporary ??= realpathSync(mkdtempSync(join(tmpdir(), "sheaf-run-")));
      const { readOnly, hidden } = denied.begin();
      const protectedPlaces = places.begin().filter(({ access }) => access === "read-only");
      const endPlaces = (): string[] => [...places.end(), ...denied.end()];
      const profile = toSeatbeltProfile({
        workspace,
        writable: [temporary, ...writable],
        secret: listSecretPaths(environment, workspace),
        readOnly: [...protectedPlaces, ...readOnly].map(({ path }) => path),
        hidden: hidden.map(({ path }) => path),
        proxyPort,
      });
      const definitions = Object.entries(profile.parameters).flatMap(([name, path]) => ["-D", `${name}=${path}`]);
      const marker = randomUUID();
      const pipes = await openOutputPipes();
      try {
        const child = spawn(file, ["-p", profile.text, ...definitions, shell.file, ...shell.args, command], {
          cwd: workingDirectory,
          env: {
            ...toCommandEnvironment(environment, marker),
            ...variables,
            TMPDIR: temporary,
            ...(proxyPort !== undefined && toProxyVariables(proxyPort)),
          },
          detached: true,
          stdio: ["ignore", ...pipes.stdio],
        });
        return {
          process: followChild(child),
          pipes,
          tree: child.pid === undefined ? undefined : createProcessTree(child.pid, marker),
          toSignal: () => undefined,
          findStartError: (stderr) =>
            refusalCodes.has(child.exitCode ?? 0) && stderr.startsWith("sandbox-exec: ")
              ? toFolderError(workingDirectory) || `the sandbox could not start (${stderr.trim().slice(0, 500)})`
              : "",
          release: () => [...proxy.takeNotes(), ...endPlaces()],
        };
      } catch (error) {
        pipes.close();
        endPlaces();
        throw error;
      }
    },
    async close() {
      await proxy.close();
      if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
    },
  };
}

/** By the name and by where it leads; a rule may name what is not there yet. The workspace itself stays open. */
function listSecretPaths(environment: Environment, workspace: string): string[] {
  const paths = listSecretPlaces(environment).flatMap((path) => [path, toExistingPath(path) ?? path]);
  return [...new Set(paths)].filter((path) => path !== workspace);
}
