/** Commands in Seatbelt, the sandbox of macOS (S-30): by a profile that the system enforces. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../../base/paths.ts";
import { toCommandEnvironment, toProxyVariables } from "../environment.ts";
import { openOutputPipes } from "../follow/output-pipes.ts";
import { createProcessTree } from "../follow/process-tree.ts";
import { followChild } from "../follow/processes.ts";
import { createDeniedPlaces } from "../hold/denied-places.ts";
import { isBelow, toExistingPath } from "../hold/mounts.ts";
import { createProtectedPlaces } from "../hold/protected-places.ts";
import { listSecretPlaces } from "../hold/secret-places.ts";
import { findLinkedWorktree } from "../hold/writable-folders.ts";
import { findShell, toFolderError } from "../programs.ts";
import type { Launcher, SandboxOptions } from "./launcher.ts";
import { createLoopbackProxy } from "./run-network.ts";

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

/** What one command gets. All paths are absolute and without links. */
export interface SeatbeltPlan {
  readonly workspace: string;
  /** Beside the workspace: the run's own folder for temporary files, and others. */
  readonly writable: readonly string[];
  /** Secrets: neither read nor written. */
  readonly secret: readonly string[];
  /** As they are, in what is writable. */
  readonly readOnly: readonly string[];
  /** Neither read nor written, by the user's rules. */
  readonly hidden: readonly string[];
  /** Of the proxy on this machine; undefined: no network. */
  readonly proxyPort?: number | undefined;
}

/** `sandbox-exec -p <text> -D NAME=value …`. */
export interface SeatbeltProfile {
  readonly text: string;
  /** Every path of the plan. None stands in the text, so that no path can say anything in the profile's language. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** What programs need of the system to run at all; it reaches no file of the user and no network. */
const foundation = `(version 1)
(deny default)
(allow process-exec*)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-map-executable)
(allow file-read*)
(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper"))
(allow file-ioctl (literal "/dev/null") (literal "/dev/dtracehelper"))
(allow pseudo-tty)
(allow ipc-posix-sem)
(allow ipc-posix-shm)
(allow mach-lookup
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.logd")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo"))
`;

/** The rules in the order in which they hold: each one takes something back of those before it. */
export function toSeatbeltProfile(plan: SeatbeltPlan): SeatbeltProfile {
  const parameters: Record<string, string> = {};
  const toPlaces = (kind: "subpath" | "literal", paths: readonly string[]): string[] =>
    [...new Set(paths)].map((path) => {
      const name = `PATH_${Object.keys(parameters).length}`;
      parameters[name] = path;
      return `(${kind} (param "${name}"))`;
    });
  const toRule = (effect: string, places: readonly string[]): string =>
    places.length === 0 ? "" : `(${effect}\n  ${places.join("\n  ")})\n`;

  const writable = [plan.workspace, ...plan.writable];
  const [around, within] = partition(plan.secret, (path) => writable.some((folder) => isBelow(folder, path)));
  const kept = [...within, ...plan.readOnly, ...plan.hidden];
  const text = [
    foundation,
    toRule("deny file-read* file-write*", toPlaces("subpath", around)),
    toRule("allow file-read* file-write*", toPlaces("subpath", writable)),
    // A setuid program of the workspace would be another user's; devices and pipes to others are not made.
    "(deny file-write-setugid)\n",
    toRule("deny file-write*", toPlaces("subpath", plan.readOnly)),
    // A rule is about a path: what it keeps must not get another one with a folder around it.
    toRule("deny file-write-unlink", toPlaces("literal", listFoldersAround(kept, writable))),
    toRule("deny file-read* file-write*", toPlaces("subpath", [...within, ...plan.hidden])),
    toNetworkRule(plan.proxyPort),
  ];
  return { text: text.join(""), parameters };
}

/** Which port commands reach, and no other address. @throws Error for what is no port. */
function toNetworkRule(port: number | undefined): string {
  if (port === undefined) return "(deny network*)\n";
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`${port} is no port`);
  return `(deny network*)\n(allow network-outbound (remote ip "localhost:${port}"))\n`;
}

/** The writable folders themselves, and what is between them and these places. */
function listFoldersAround(places: readonly string[], writable: readonly string[]): string[] {
  const found = new Set<string>(writable);
  for (const place of places) {
    const top = writable.find((folder) => isBelow(place, folder));
    if (top === undefined) continue;
    for (let end = place.lastIndexOf("/"); end > top.length; end = place.lastIndexOf("/", end - 1)) {
      found.add(place.slice(0, end));
    }
  }
  return [...found];
}

function partition(paths: readonly string[], isFirst: (path: string) => boolean): [string[], string[]] {
  return [paths.filter(isFirst), paths.filter((path) => !isFirst(path))];
}
