/** Runs commands in Seatbelt, the sandbox of macOS, which enforces a profile (S-30). */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "@sheaf/base/make-folder";
import { isBelow } from "@sheaf/base/files/workspace";
import { toCommandEnvironment, toProxyVariables } from "../environment.ts";
import { createPipeMaker } from "../follow/output-pipes.ts";
import { createProcessTree } from "../follow/process-tree.ts";
import { followChild, toInputStdio, writeInput } from "../follow/processes.ts";
import { createExitWatch } from "../follow/exit-watch.ts";
import { createHeldPlaces } from "../hold/held-places.ts";
import { createJournal, finishKilledRuns } from "../hold/journal.ts";
import { listAncestors, listRevealed, toExistingPath } from "../hold/mounts.ts";
import { listOwnFolders, makeRunFolder } from "../hold/own-folders.ts";
import { listHiddenPlaces } from "../hold/registry-credentials.ts";
import { planToolCaches } from "../hold/tool-caches.ts";
import { findShell, toFolderError } from "../programs.ts";
import { type Launcher, listPermissions, type SandboxOptions } from "./launcher.ts";
import { createLoopbackProxy } from "./run-network.ts";

/** Exit codes of sandbox-exec for an invalid profile, and for a program that it cannot start. */
const refusalCodes: ReadonlySet<number> = new Set([64, 65, 71]);

/** Creates the launcher; its first command creates the private folder. Seatbelt does not limit processes or memory. */
export function createSeatbeltLauncher(options: SandboxOptions): Launcher {
  const { file, writable, environment } = options;
  const [workspace, ...addedFolders] = writable;
  const shell = findShell(environment);
  const own = { stateFolder: options.stateFolder, writable };
  let folder: string | undefined;
  const openFolder = (): string => (folder ??= realpathSync(makeRunFolder(own)));
  const places = createHeldPlaces({ ...options, journal: createJournal(openFolder) });
  const running = createExitWatch(options.atExit);
  const left = options.isProbe ? [] : finishKilledRuns(options);
  const proxy = createLoopbackProxy(options.network, options.networkPorts);
  const pipeMaker = createPipeMaker(own);
  return {
    file,
    permissions: listPermissions(options, addedFolders.length > 0),
    async start(request) {
      const { command, workingDirectory, variables, isReadOnly = false } = request;
      const proxyPort = await proxy.open();
      // Commands cannot write the journal next to it.
      const temporary = join(openFolder(), "tmp");
      makeFolder(temporary);
      const cacheFolder = options.cacheFolder ?? join(openFolder(), "cache");
      const caches = planToolCaches({
        environment,
        folder: cacheFolder,
        substitute: join(cacheFolder, "cache"),
        otherPlaces: undefined,
        secretPlaces: [],
        proxyPort,
        mayDownload: options.network.mayDownload,
      });
      let { isBackground } = request;
      const held = places.begin({ isBackground, isReadOnly }).mounts;
      const endPlaces = (): string[] => (isReadOnly ? [] : places.end({ isBackground }));
      const secretPlaces = [...listHiddenPlaces(options), ...listOwnFolders(own)];
      const profile = toSeatbeltProfile({
        workspace,
        writable: [temporary, join(cacheFolder, "cache"), ...addedFolders],
        secret: listSecretPaths(options, secretPlaces),
        readOnly: [
          ...(isReadOnly ? writable : []),
          ...held.filter(({ access }) => access === "read-only").map(({ path }) => path),
        ],
        hidden: held.filter(({ access }) => access.startsWith("hidden")).map(({ path }) => path),
        readable: listRevealed({ ...options, secretPlaces }, writable),
        proxyPort,
      });
      const definitions = Object.entries(profile.parameters).flatMap(([name, path]) => ["-D", `${name}=${path}`]);
      const marker = randomUUID();
      const pipes = await pipeMaker.open();
      try {
        const child = spawn(file, ["-p", profile.text, ...definitions, shell.file, ...shell.args, command], {
          cwd: workingDirectory,
          env: {
            ...toCommandEnvironment(environment, marker),
            ...caches.variables,
            ...variables,
            TMPDIR: temporary,
            ...(proxyPort !== undefined && toProxyVariables(proxyPort)),
          },
          detached: true,
          stdio: [toInputStdio(request.input), ...pipes.stdio],
        });
        writeInput(child, request.input);
        const takeNotes = running.watch(child, () => [...left.splice(0), ...proxy.takeNotes(), ...endPlaces()]);
        return {
          process: followChild(child),
          pipes,
          tree: child.pid === undefined ? undefined : createProcessTree(child.pid, marker),
          toSignal: () => undefined,
          findStartError: (stderr) =>
            refusalCodes.has(child.exitCode ?? 0) && stderr.startsWith("sandbox-exec: ")
              ? toFolderError(workingDirectory) || `the sandbox could not start (${stderr.trim().slice(0, 500)})`
              : "",
          moveToBackground: () => void (isBackground ||= isReadOnly || places.moveToBackground()),
          release: takeNotes,
        };
      } catch (error) {
        pipes.close();
        endPlaces();
        throw error;
      }
    },
    async close() {
      running.close();
      pipeMaker.close();
      await proxy.close();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Lists each place by its path and by its target. A secret place need not exist. The workspace stays open. */
function listSecretPaths({ writable: [workspace] }: SandboxOptions, places: readonly string[]): string[] {
  const paths = places.flatMap((path) => [path, toExistingPath(path) ?? path]);
  return [...new Set(paths)].filter((path) => path !== workspace);
}

/**
 * The content of a command's Seatbelt profile (S-30, S-34). Apple does not document the language. Its users found out
 * that a rule has operations and places, and that the last matching rule wins. All paths are absolute and without
 * links.
 */
export interface SeatbeltPlan {
  readonly workspace: string;
  /** Further writable folders: the run's folder for temporary files, and others. */
  readonly writable: readonly string[];
  /** Secret places, which commands cannot read or write. */
  readonly secret: readonly string[];
  /** Places in writable folders that commands must not change. */
  readonly readOnly: readonly string[];
  /** Places that the user's rules deny: commands cannot read or write them. */
  readonly hidden: readonly string[];
  /** Folders that commands can read, even inside a secret place. */
  readonly readable?: readonly string[] | undefined;
  /** Port of the local proxy; undefined: no network. */
  readonly proxyPort?: number | undefined;
}

/** The profile, for `sandbox-exec -p <text> -D NAME=value …`. */
export interface SeatbeltProfile {
  readonly text: string;
  /** All paths of the plan. The text only refers to them, so that a path cannot inject rules into the profile. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The rules that any program needs to run. They grant no access to the user's files or the network. */
export const foundation = `(version 1)
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

/** The rules in order: each one restricts those before it. */
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
  const isAround = (path: string): boolean => writable.some((folder) => isBelow(folder, path));
  const around = plan.secret.filter(isAround);
  const within = plan.secret.filter((path) => !isAround(path));
  const kept = [...within, ...plan.readOnly, ...plan.hidden];
  const text = [
    foundation,
    toRule("deny file-read* file-write*", toPlaces("subpath", around)),
    toRule("allow file-read* file-write*", toPlaces("subpath", writable)),
    // A setuid program in the workspace would run with the rights of the user that runs Sheaf.
    "(deny file-write-setugid)\n",
    toRule("deny file-write*", toPlaces("subpath", plan.readOnly)),
    // Rules apply to paths, so renaming a folder around a protected place would free the place.
    toRule("deny file-write-unlink", toPlaces("literal", [...writable, ...listAncestors(kept, writable)])),
    toRule("deny file-read* file-write*", toPlaces("subpath", [...within, ...plan.hidden])),
    ...(plan.readable === undefined || plan.readable.length === 0
      ? []
      : [
          toRule("allow file-read*", toPlaces("subpath", plan.readable)),
          toRule("deny file-read*", toPlaces("subpath", plan.hidden)),
        ]),
    toNetworkRule(plan.proxyPort),
  ];
  return { text: text.join(""), parameters };
}

/** Returns a rule that opens this port of the machine, and no other address. @throws Error for an invalid port. */
function toNetworkRule(port: number | undefined): string {
  if (port === undefined) return "(deny network*)\n";
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`${port} is not a port`);
  return `(deny network*)\n(allow network-outbound (remote ip "localhost:${port}"))\n`;
}
