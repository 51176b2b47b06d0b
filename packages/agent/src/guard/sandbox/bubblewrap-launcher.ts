/** Commands in bubblewrap: namespaces of their own, and nothing of them outlives them (S-30, R-13). */
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { closeSync, statSync } from "node:fs";
import type { Writable } from "node:stream";
import { toBubblewrapArguments } from "./bubblewrap.ts";
import { createDeniedPlaces } from "./denied-places.ts";
import { markerName, toCommandEnvironment } from "./environment.ts";
import { createFifos } from "./fifos.ts";
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
import { findShell } from "./shell.ts";
import { createSpareSandbox, type OpenSandbox, type SandboxPlan } from "./spare-sandbox.ts";
import { toFolderError } from "./start-error.ts";
import { followChild } from "./started-process.ts";
import { areFilesReachable, openUnnamedFile } from "./unnamed-file.ts";
import { openWaitingSandbox } from "./waiting-sandbox.ts";
import { admitOwner, findWorkspaceOwner, toOwnerWords } from "./workspace-owner.ts";
import { defaultUseLimits, type UseLimits, watchUse } from "./use-watch.ts";

/**
 * Without a command it says by an empty line that it waits for one, which comes as a line of shell. Runs it with handlers instead of default signals,
 * so that a command that ends gracefully is waited for; then gives what it left in the background a moment to say its
 * last words. All processes of the sandbox stand in `/proc`; two of them are its own. Shells differ in the letter of the
 * limit for processes, and in which stderr they use while a redirected command runs.
 */
const wrapper = `
ended=
ulimit -u 4096 2>/dev/null || ulimit -p 4096 2>/dev/null
trap 'ended=1' TERM INT HUP
nl='
'
[ $# -gt 0 ] || { echo >&5; IFS= read -r line <&6; eval "$line"; }
exec 3>&2 2>&5 5>&- 6>&- 7>&- 8>&- 9>&-
[ -z "$ended" ] || exit 143
[ $# -gt 0 ] || exit 0
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
const descriptors = {
  seccomp: 3, status: 4, notice: 5, order: 6, words: 7, user: 6, network: 7, info: 8, admission: 9,
} as const; // prettier-ignore
/** Of those that every process has. */
const lastStandard = 2;

/** What a sandbox has beside its plan. */
interface SandboxWays {
  readonly shared: RunNetwork | undefined;
  readonly pipes: CommandPipes;
}

/** Makes its private folder and its network with the first command that needs them. */
export function createBubblewrapLauncher(options: SandboxOptions): Launcher {
  const { file, workspace, addedFolders, environment, limits = defaultUseLimits } = options;
  const shell = findShell(environment);
  const filter = createSeccompFilter(process.arch, { isTeamFolder: [workspace, ...addedFolders].some(isTeamFolder) });
  let blocked: BlockedDescriptors | undefined;
  const worktree = findLinkedWorktree(workspace);
  const added = addedFolders.map((path) => ({ path, access: "writable" as const }));
  const writableMounts = [...(worktree?.mounts ?? []), ...added];
  const writable = [workspace, ...writableMounts.map(({ path }) => path)];
  const places = createProtectedPlaces(workspace, { worktree: worktree?.folder, added: addedFolders });
  const denied = createDeniedPlaces([workspace, ...addedFolders], options.denials);
  const network = createSharedNetwork(file, options.network, options.networkPorts);
  const fifos = createFifos();
  const outputs = createOutputPipes(fifos);
  const foreignOwner = findWorkspaceOwner(workspace);
  // Bubblewrap ends with Sheaf, but not while it starts: a process has no parent's death signal until it asks for it.
  const guard = createCommandGuard(() => {
    blocked ??= blockInherited(lastStandard);
    return shell.isBash ? { shell: shell.file, words: toWrapperWords([]), ...blocked } : undefined;
  });
  let filterFile: number | undefined;
  let folder: PrivateFolder | undefined;
  let secretPlaces: readonly string[] | undefined;

  const toPlan = (
    { workingDirectory, variables }: LaunchRequest,
    held: Pick<MountFacts, "protectedMounts" | "deniedMounts">,
  ): SandboxPlan => {
    folder ??= createPrivateFolder();
    secretPlaces ??= listSecretPlaces(environment, foreignOwner?.uid);
    const { mounts: privateMounts } = folder;
    const mounts = planMounts({ workspace, secretPlaces, privateMounts, writableMounts, ...held });
    return { mounts, workingDirectory, variables };
  };
  const toWords = (plan: SandboxPlan, hasOwnNetwork: boolean): string[] =>
    toBubblewrapArguments({
      mounts: plan.mounts,
      workingDirectory: plan.workingDirectory,
      descriptors: { status: descriptors.status, ...(filter && { seccomp: descriptors.seccomp }) },
      hasOwnNetwork,
    });
  const openSandbox = (plan: SandboxPlan, ways: SandboxWays, command: readonly string[]): OpenSandbox => {
    const { shared, pipes } = ways;
    blocked ??= blockInherited(lastStandard);
    const words = toWords(plan, shared === undefined);
    const owner = shared === undefined || foreignOwner?.canEnterNetwork ? foreignOwner : undefined;
    const entry = shared ? toNetworkWords(environment, descriptors, owner === undefined) : [];
    const ownerWords = owner ? toOwnerWords(descriptors) : [];
    const [program = file, ...args] = [...entry, file, ...words, ...ownerWords, "--", ...toWrapperWords(command)];
    const child = spawn(program, args, {
      cwd: "/",
      env: {
        ...toCommandEnvironment(environment, guard.createMarker()),
        ...plan.variables,
        TMPDIR: "/tmp",
        ...shared?.variables,
      },
      detached: true,
      stdio: toStdio(pipes, shared?.descriptors ?? [], blocked.descriptors, owner !== undefined),
    });
    if (owner) admitOwner(child, owner, descriptors);
    sendFilter(child, filter);
    const status = followStatus(child, descriptors);
    const bubblewrap = followChild(child);
    const tree = child.pid === undefined ? undefined : createSandboxTree(bubblewrap, status.findFirst);
    return { process: bubblewrap, pipes, status, tree };
  };
  const spare = createSpareSandbox((plan) => {
    // A command that runs meanwhile must not write what the next sandbox is made by.
    if (!shell.isBash || areFilesReachable(writable)) return undefined;
    const variables = { ...toCommandEnvironment(environment, ""), ...plan.variables, TMPDIR: "/tmp" };
    const words = [
      ...toEnvironmentWords(variables),
      ...toWords(plan, true),
      ...(foreignOwner ? toOwnerWords(descriptors) : []),
    ];
    filterFile ??= filter && openUnnamedFile(filter);
    const owner = foreignOwner;
    return openWaitingSandbox({ guard, fifos, outputs, file, descriptors, owner, words, filter: filterFile });
  });

  return {
    file,
    permissions: [
      ...(options.network.isOpen ? (["network"] as const) : []),
      ...(writableMounts.length > 0 ? (["write_outside_workspace"] as const) : []),
    ],
    async start(request) {
      // With descriptors blocked, a failing start is not always told.
      if (Buffer.byteLength(request.command) > maxCommandBytes) throw Object.assign(new Error(), { code: "E2BIG" });
      const areFifosReady = fifos.prepare();
      // What the first command needs is made meanwhile.
      folder ??= createPrivateFolder();
      secretPlaces ??= listSecretPlaces(environment, foreignOwner?.uid);
      guard.stand();
      await areFifosReady;
      if (request.isBackground) network.share();
      const shared = await network.enter();
      // What is made ahead has a network of its own.
      if (shared) void spare.close();
      const deniedMounts = denied.begin();
      const protectedMounts = places.begin();
      const endPlaces = (): string[] => [...places.end(), ...denied.end()];
      let pipes: CommandPipes | undefined;
      try {
        const plan = toPlan(request, { protectedMounts, deniedMounts });
        const words = [shell.file, ...shell.args, request.command];
        const opened =
          (shared ? undefined : await spare.take(plan, words)) ??
          openSandbox(plan, { shared, pipes: (pipes = outputs.open()) }, words);
        return toStartedCommand(opened, request.workingDirectory, limits, () => {
          const notes = [...network.takeNotes(), ...endPlaces()];
          if (!shared) spare.prepare(plan);
          return notes;
        });
      } catch (error) {
        pipes?.close();
        endPlaces();
        throw error;
      }
    },
    async close() {
      await spare.settle();
      // What it has started ends with it.
      guard.dismiss();
      await spare.close();
      spare.release();
      if (filterFile !== undefined) closeSync(filterFile);
      await network.close();
      blocked?.close();
      outputs.close();
      folder?.remove();
    },
  };
}

/** `takeNotes`: called once, when all its processes have ended. */
function toStartedCommand(
  { process: bubblewrap, pipes, status, tree }: OpenSandbox,
  workingDirectory: string,
  limits: UseLimits,
  takeNotes: () => readonly string[],
): StartedCommand {
  const excess: string[] = [];
  const stopWatch = watchUse(status.findFirst, limits, (sentence) => {
    excess.push(sentence);
    bubblewrap.kill();
  });
  return {
    process: bubblewrap,
    pipes,
    tree,
    toSignal: status.toSignal,
    findStartError: (stderr) => (status.findExitCode() === undefined ? toStartError(stderr, workingDirectory) : ""),
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
  const further = [...pipes, ...entry, ...admission];
  return ["ignore", ...output.stdio, ...further, ...blocked.slice(further.length)];
}

/** For a sandbox whose bubblewrap has the guard's environment, and what a shell adds to it. */
function toEnvironmentWords(variables: Readonly<Record<string, string>>): string[] {
  const own = ["_", "SHLVL", "OLDPWD"].flatMap((name) => ["--unsetenv", name]);
  const others = Object.entries(variables).filter(([name]) => name !== markerName);
  return [...own, ...others.flatMap(([name, value]) => ["--setenv", name, value])];
}

/** The wrapper runs in the plain shell of the system: most often that starts in half the time of bash. */
function toWrapperWords(command: readonly string[]): string[] {
  return ["/bin/sh", "-c", wrapper, "sheaf", ...command];
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
