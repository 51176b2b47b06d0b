/** Commands in bubblewrap: namespaces of their own, and nothing of them outlives them (S-30, R-13). */
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { statSync } from "node:fs";
import type { Writable } from "node:stream";
import { toBubblewrapArguments } from "./bubblewrap.ts";
import { createDeniedPlaces } from "./denied-places.ts";
import { toCommandEnvironment } from "./environment.ts";
import { type BlockedDescriptors, blockInherited } from "./inherited-descriptors.ts";
import type { Launcher, LaunchRequest, StartedCommand } from "./launcher.ts";
import { createCommandGuard } from "./command-guard.ts";
import { findLinkedWorktree } from "./linked-worktree.ts";
import { type MountFacts, planMounts } from "./mount-plan.ts";
import { toNetworkWords } from "./network-words.ts";
import { type CommandPipes, createOutputPipes } from "./output-pipes.ts";
import { createPrivateFolder, type PrivateFolder } from "./private-folder.ts";
import { createProtectedPlaces } from "./protected-places.ts";
import type { RunNetwork } from "./run-network.ts";
import type { SandboxOptions } from "./sandbox-options.ts";
import { followStatus } from "./sandbox-status.ts";
import { createSandboxTree } from "./sandbox-tree.ts";
import { createSeccompFilter } from "./seccomp-filter.ts";
import { listSecretPlaces } from "./secret-places.ts";
import { createSharedNetwork } from "./shared-network.ts";
import { type Shell, findShell } from "./shell.ts";
import { toFolderError } from "./start-error.ts";
import { admitOwner, findWorkspaceOwner, toOwnerWords } from "./workspace-owner.ts";
import { defaultUseLimits, type UseLimits, watchUse } from "./use-watch.ts";

/**
 * Runs the command with handlers instead of default signals, so that a command that ends gracefully is waited for; then
 * gives what it left in the background a moment to say its last words. All processes of the sandbox stand in `/proc`;
 * two of them are its own. Shells differ in the letter of the limit for processes, and in which stderr they use while a
 * redirected command runs.
 */
const wrapper = `
ended=
ulimit -u 4096 2>/dev/null || ulimit -p 4096 2>/dev/null
trap 'ended=1' TERM INT HUP
exec 3>&2 2>&5 5>&- 6>&- 7>&- 8>&- 9>&-
[ -z "$ended" ] || exit 143
(exec "$@" 2>&3 3>&-)
code=$?
round=0
while set -- /proc/[0-9]*; [ $# -gt 2 ] && [ $round -lt 20 ]; do
  round=$((round + 1))
  sleep 0.01
done
exit $code
`;

/** Bytes of one argument that the kernel takes. */
const maxCommandBytes = 128 * 1024 - 1;

/** What stands behind standard input and output. The wrapper closes what a command must not have. */
const descriptors = { seccomp: 3, status: 4, notice: 5, user: 6, network: 7, info: 8, admission: 9 } as const;

/** Makes its private folder and its network with the first command that needs them. */
export function createBubblewrapLauncher(options: SandboxOptions): Launcher {
  const { file, workspace, addedFolders, environment, limits = defaultUseLimits } = options;
  const shell = findShell(environment);
  const filter = createSeccompFilter(process.arch, { isTeamFolder: [workspace, ...addedFolders].some(isTeamFolder) });
  let blocked: BlockedDescriptors | undefined;
  const worktree = findLinkedWorktree(workspace);
  const added = addedFolders.map((path) => ({ path, access: "writable" as const }));
  const writableMounts = [...(worktree?.mounts ?? []), ...added];
  const places = createProtectedPlaces(workspace, { worktree: worktree?.folder, added: addedFolders });
  const denied = createDeniedPlaces([workspace, ...addedFolders], options.denials);
  const network = createSharedNetwork(file, options.network, options.networkPorts);
  const outputs = createOutputPipes();
  const foreignOwner = findWorkspaceOwner(workspace);
  // Bubblewrap ends with Sheaf, but not while it starts: a process has no parent's death signal until it asks for it.
  const guard = createCommandGuard();
  let folder: PrivateFolder | undefined;
  let secretPlaces: readonly string[] | undefined;

  const spawnHeld = (
    { command, workingDirectory, variables }: LaunchRequest,
    shared: RunNetwork | undefined,
    held: Pick<MountFacts, "protectedMounts" | "deniedMounts">,
    pipes: CommandPipes,
  ): ChildProcess => {
    folder ??= createPrivateFolder();
    secretPlaces ??= listSecretPlaces(environment, foreignOwner?.uid);
    blocked ??= blockInherited(descriptors.notice);
    const { mounts: privateMounts } = folder;
    const words = toBubblewrapArguments({
      mounts: planMounts({ workspace, secretPlaces, privateMounts, writableMounts, ...held }),
      workingDirectory,
      descriptors: { status: descriptors.status, ...(filter && { seccomp: descriptors.seccomp }) },
      hasOwnNetwork: shared === undefined,
    });
    const owner = shared === undefined || foreignOwner?.canEnterNetwork ? foreignOwner : undefined;
    const entry = shared ? toNetworkWords(environment, descriptors, owner === undefined) : [];
    const ownerWords = owner ? toOwnerWords(descriptors) : [];
    const [program = file, ...args] = [...entry, file, ...words, ...ownerWords, "--", ...toShellWords(shell, command)];
    const child = spawn(program, args, {
      cwd: "/",
      env: {
        ...toCommandEnvironment(environment, guard.createMarker()),
        ...variables,
        TMPDIR: "/tmp",
        ...shared?.variables,
      },
      detached: true,
      stdio: toStdio(pipes, shared?.descriptors ?? [], blocked.descriptors, owner !== undefined),
    });
    if (owner) admitOwner(child, owner, descriptors);
    return child;
  };

  return {
    file,
    permissions: [
      ...(options.network.isOpen ? (["network"] as const) : []),
      ...(writableMounts.length > 0 ? (["write_outside_workspace"] as const) : []),
    ],
    async start(request) {
      // With descriptors blocked, a failing start is not always told.
      if (Buffer.byteLength(request.command) > maxCommandBytes) throw Object.assign(new Error(), { code: "E2BIG" });
      if (request.isBackground) network.share();
      const shared = await network.enter();
      const deniedMounts = denied.begin();
      const protectedMounts = places.begin();
      const endPlaces = (): string[] => [...places.end(), ...denied.end()];
      const pipes = outputs.open();
      try {
        const child = spawnHeld(request, shared, { protectedMounts, deniedMounts }, pipes);
        sendFilter(child, filter);
        return toStartedCommand(child, pipes, request.workingDirectory, limits, () => [
          ...network.takeNotes(),
          ...endPlaces(),
        ]);
      } catch (error) {
        pipes.close();
        endPlaces();
        throw error;
      }
    },
    async close() {
      guard.dismiss();
      await network.close();
      blocked?.close();
      outputs.close();
      folder?.remove();
    },
  };
}

/** `takeNotes`: called once, when all its processes have ended. */
function toStartedCommand(
  child: ChildProcess,
  pipes: CommandPipes,
  workingDirectory: string,
  limits: UseLimits,
  takeNotes: () => readonly string[],
): StartedCommand {
  const status = followStatus(child, descriptors);
  const excess: string[] = [];
  const stopWatch = watchUse(status.findFirst, limits, (sentence) => {
    excess.push(sentence);
    child.kill("SIGKILL");
  });
  return {
    child,
    pipes,
    tree: child.pid === undefined ? undefined : createSandboxTree(child, status.findFirst),
    toSignal: status.toSignal,
    findStartError: (stderr) => (status.hasStarted() ? "" : toStartError(stderr, workingDirectory)),
    release() {
      stopWatch();
      return [...excess, ...takeNotes()];
    },
  };
}

/** Standard input and output, the pipes of the launcher, the network, and nothing that Sheaf was started with. */
function toStdio(
  output: CommandPipes,
  network: readonly number[],
  blocked: BlockedDescriptors["descriptors"],
  hasOwner: boolean,
): StdioOptions {
  const pipes = ["pipe", "pipe", "pipe"] as const;
  const entry = hasOwner && network.length === 0 ? (["ignore", "ignore"] as const) : network;
  const admission = hasOwner ? (["pipe", "pipe"] as const) : [];
  const further = [...entry, ...admission];
  return ["ignore", ...output.stdio, ...pipes, ...further, ...blocked.slice(further.length)];
}

/** The wrapper runs in the plain shell of the system: most often that starts in half the time of bash. */
function toShellWords({ file, args }: Shell, command: string): string[] {
  return ["/bin/sh", "-c", wrapper, "sheaf", file, ...args, command];
}

/** What is made in such a folder belongs to its group, and inner folders have the bit too. */
function isTeamFolder(folder: string): boolean {
  const setGroupId = 0o2000;
  return ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & setGroupId) !== 0;
}

function sendFilter(child: ChildProcess, filter: Uint8Array | undefined): void {
  const pipe = child.stdio[descriptors.seccomp] as Writable | null;
  // It is closed early when bubblewrap fails, which its status tells.
  pipe?.on("error", () => undefined);
  pipe?.end(filter);
}

/** Bubblewrap says on stderr why it did not start the command. */
function toStartError(stderr: string, workingDirectory: string): string {
  const reason = stderr.replaceAll(/\s+/g, " ").trim().slice(0, 500);
  return toFolderError(workingDirectory) || `the sandbox could not start (${reason})`;
}
