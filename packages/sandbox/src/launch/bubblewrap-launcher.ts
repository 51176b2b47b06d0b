/** Commands in bubblewrap: each in new namespaces, which end with all their processes (S-30, R-13). */
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Writable } from "node:stream";
import type { Notice } from "@sheaf/protocol";
import { isBelow } from "@sheaf/base/files/workspace";
import { toCommandEnvironment, withoutInnerFolders } from "../environment.ts";
import { type CommandPipes, createPipeMaker } from "../follow/output-pipes.ts";
import { createSandboxTree } from "../follow/process-tree.ts";
import { followChild, sendSignal, toInputStdio, writeInput } from "../follow/processes.ts";
import { createExitWatch } from "../follow/exit-watch.ts";
import { createReaper } from "../follow/reaper.ts";
import { defaultUseLimits, followStatus, type UseLimits, watchUse } from "../follow/sandbox-status.ts";
import { type BorderScript, createGitBorder, type GitPassage, type MovedFolder } from "../git/git-border.ts";
import { cleanFiles } from "../hold/cleaned-files.ts";
import { createHeldPlaces } from "../hold/held-places.ts";
import { createJournal, finishKilledRuns } from "../hold/journal.ts";
import { type HeldMounts, type Mount, type MountFacts, planMounts } from "../hold/mounts.ts";
import { createPrivateFolder, listOwnFolders, type PrivateFolder, substituteCache } from "../hold/own-folders.ts";
import { listHiddenPlaces } from "../hold/registry-credentials.ts";
import { createSeccompFilter } from "../hold/seccomp-filter.ts";
import { listHomes } from "../hold/secret-places.ts";
import { planToolCaches, type ToolCaches } from "../hold/tool-caches.ts";
import { findProgram, findShell, quoteWord, toFolderError } from "../programs.ts";
import { admitMounts } from "./admit-mounts.ts";
import { toBubblewrapArguments, toNetworkWords } from "./bubblewrap-arguments.ts";
import {
  type Launcher,
  type LaunchRequest,
  listPermissions,
  type SandboxOptions,
  type StartedCommand,
} from "./launcher.ts";
import { type BlockedDescriptors, blockInherited } from "./inherited-descriptors.ts";
import { createSharedNetwork, proxyPort, type RunNetwork } from "./run-network.ts";
import { admitOwner, findWorkspaceOwner, toOwnerWords } from "./workspace-owner.ts";

/**
 * Runs the command with signal handlers set, so that it waits for a command that ends gracefully. Then it gives
 * background processes a moment to print their last output: `/proc` lists all processes of the sandbox, two of which are
 * the wrapper's. Shells differ in the letter for the limit of processes, and in the stderr that they use while a redirected
 * command runs.
 */
const wrapper = `
ended=
ulimit -u 4096 2>/dev/null || ulimit -p 4096 2>/dev/null
trap 'ended=1' TERM INT HUP
exec 3>&2 2>&5 5>&- 7>&- 8>&- 9>&-
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

/** The wrapper runs in the system's plain shell, which usually starts in half the time of bash. */
const wrapperWords = ["/bin/sh", "-c", wrapper, "sheaf"] as const;

/** The kernel's limit for one argument. */
const maxCommandBytes = 128 * 1024 - 1;

/** Time limit of an export. Milliseconds. */
const scriptPeriod = 120_000;
/** Characters of its messages. */
const maxProblem = 2000;

/** After the standard three. A command has none of them: bubblewrap or the wrapper, which knows single digits, closes each. */
const descriptors = {
  seccomp: 3,
  status: 4,
  notice: 5,
  block: 6,
  user: 7,
  network: 8,
  admission: 9,
  info: 10,
} as const;
/** The last descriptor that every process has. */
const lastStandard = 2;

/** What differs from command to command besides the mounts. */
interface SandboxWays {
  readonly shared: RunNetwork | undefined;
  readonly pipes: CommandPipes;
}

/** What all commands of a run share. */
interface RunFacts extends Omit<MountFacts, "held" | "gitMounts"> {
  readonly variables: ToolCaches["variables"];
}

/** Creates its private folder and its network for the first command that needs them. */
export function createBubblewrapLauncher(options: SandboxOptions): Launcher {
  const { file, writable: tops, environment, limits = defaultUseLimits } = options;
  const [workspace, ...addedFolders] = tops;
  const shell = findShell(environment);
  const filter = createSeccompFilter(process.arch, tops.some(isTeamFolder));
  const writableMounts = addedFolders.map((path) => ({ path, access: "writable" as const }));
  // Commands could replace a program that is found in one of these.
  const outside = tops.reduce(withoutInnerFolders, environment);
  const moved: MovedFolder[] = [];
  const own = { stateFolder: options.stateFolder, writable: tops };
  const pipeMaker = createPipeMaker(own);
  const network = createSharedNetwork(file, options.network, options.networkPorts);
  const git = createGitBorder({
    tops,
    environment,
    program: options.isProbe ? undefined : findProgram("git", outside),
    toFolder: () => openFolder().path,
    runScript,
    // A command may push to a repository that it writes.
    hasNetwork: options.network.isOpen || addedFolders.length > 0,
  });
  const foreignOwner = findWorkspaceOwner(workspace);
  // Bubblewrap ends with Sheaf, but not while it starts: it must first request its parent's death signal.
  const reaper = createReaper();
  let blocked: BlockedDescriptors | undefined;
  let folder: PrivateFolder | undefined;
  let facts: RunFacts | undefined;
  const openFolder = (): PrivateFolder => (folder ??= createPrivateFolder(own));
  const places = createHeldPlaces({
    ...options,
    journal: createJournal(() => openFolder().path),
    onMoved: (path, target) => void moved.push({ path, target }),
  });
  const running = createExitWatch(options.atExit);
  const left = options.isProbe ? [] : finishKilledRuns(options);
  /** The places of the last command. */
  let held: HeldMounts = { kept: [], mounts: [] };

  const findFacts = (): RunFacts => {
    const { path, mounts: privateMounts } = openFolder();
    const secretPlaces = [...listHiddenPlaces(options, foreignOwner?.uid), ...listOwnFolders(own)];
    const caches = planToolCaches({
      environment,
      folder: options.cacheFolder ?? join(path, "caches"),
      substitute: substituteCache,
      otherPlaces: [...tops, ...privateMounts.map((mount) => mount.path)],
      secretPlaces,
      proxyPort: options.network.isOpen ? proxyPort : undefined,
      mayDownload: options.network.mayDownload,
    });
    const copies = cleanFiles(listHomes(environment), join(path, "copies"));
    return {
      workspace,
      secretPlaces,
      copies,
      privateMounts,
      writableMounts,
      cacheMounts: caches.mounts,
      variables: caches.variables,
      readOnly: options.readOnly,
    };
  };
  /** A script on a git folder, held like a command, but writing only to the folder of its output. */
  async function runScript({ script, gitFolder, mounts: gitMounts, out }: BorderScript): Promise<void> {
    const pipes = await pipeMaker.open();
    try {
      facts ??= findFacts();
      const privateMounts = facts.privateMounts.map((mount) =>
        mount.path === "/tmp" ? { ...mount, source: out } : mount,
      );
      const open = new Set([out, ...gitMounts.map(({ source }) => source)]);
      const mounts = planMounts({ ...facts, privateMounts, gitMounts, held }).map((mount): Mount =>
        mount.access === "writable" && !open.has(mount.source) ? { ...mount, access: "read-only" } : mount,
      );
      const command = `set -- /tmp ${quoteWord(gitFolder)}\n${script}`;
      const request = { command, workingDirectory: "/", input: undefined, isBackground: false, variables: {} };
      const child = spawnBubblewrap(request, mounts, { shared: undefined, pipes });
      let problem = "";
      pipes.follow(
        child,
        (_: string, chunk: Uint8Array) => (problem = (problem + Buffer.from(chunk).toString()).slice(-maxProblem)),
      );
      const followed = await followBubblewrap(child, {
        pipes,
        workingDirectory: "/",
        limits,
        takeNotes: () => [],
        mounts,
        tops,
      });
      const timer = setTimeout(() => followed.process.kill(), scriptPeriod);
      const { code } = await followed.process.ended.finally(() => clearTimeout(timer));
      await followed.release();
      followed.process.release();
      if (code !== 0) throw new Error(`git failed in it (${problem.trim().split("\n").at(-1) || "it took too long"})`);
    } finally {
      pipes.close();
    }
  }
  const spawnBubblewrap = (request: LaunchRequest, mounts: readonly Mount[], ways: SandboxWays): ChildProcess => {
    const { shared, pipes } = ways;
    blocked ??= blockInherited(lastStandard);
    const words = toBubblewrapArguments({
      mounts,
      workingDirectory: request.workingDirectory,
      descriptors: { ...descriptors, seccomp: filter && descriptors.seccomp },
      hasOwnNetwork: shared === undefined,
    });
    const owner = shared === undefined || foreignOwner?.canEnterNetwork ? foreignOwner : undefined;
    const entry = shared ? toNetworkWords(outside, descriptors, owner === undefined) : [];
    const ownerWords = owner ? toOwnerWords(descriptors) : [];
    const command = [...wrapperWords, shell.file, ...shell.args, request.command];
    const [program = file, ...args] = [...entry, file, ...words, ...ownerWords, "--", ...command];
    const child = spawn(program, args, {
      cwd: "/",
      env: {
        ...toCommandEnvironment(environment, reaper.createMarker(openFolder().path)),
        ...facts?.variables,
        ...request.variables,
        TMPDIR: "/tmp",
        // Otherwise "git status" writes the index, and Sheaf would read the whole state again.
        GIT_OPTIONAL_LOCKS: "0",
        ...shared?.variables,
      },
      detached: true,
      stdio: toStdio(request, pipes, shared?.descriptors ?? [], blocked.descriptors, owner !== undefined),
    });
    writeInput(child, request.input);
    if (owner) admitOwner(child, owner, descriptors);
    sendFilter(child, filter);
    return child;
  };

  return {
    file,
    permissions: listPermissions(options, writableMounts.length > 0),
    async start(request) {
      // With blocked descriptors, a failed start is not always reported.
      if (Buffer.byteLength(request.command) > maxCommandBytes) throw Object.assign(new Error(), { code: "E2BIG" });
      if (request.isBackground) network.share();
      const shared = await network.enter();
      const pipes = await pipeMaker.open();
      let { isBackground } = request;
      let endPlaces = (): readonly string[] => [];
      let passage: GitPassage | undefined;
      const end = async (): Promise<string[]> => [
        ...((await passage?.end()) ?? []),
        ...endPlaces(),
        ...(await git.remake(moved.splice(0))),
      ];
      try {
        const { isReadOnly = false } = request;
        held = places.begin(request);
        const endHeld = (): string[] => (isReadOnly ? [] : places.end({ isBackground }));
        endPlaces = endHeld;
        facts ??= findFacts();
        passage = git.begin(isReadOnly);
        const planned = planMounts({ ...facts, gitMounts: passage.mounts, held });
        const mounts = isReadOnly ? planned.map((mount) => closeTop(mount, tops)) : planned;
        const child = spawnBubblewrap(request, mounts, { shared, pipes });
        const { workingDirectory } = request;
        const endAll = (): string[] => [...left.splice(0), ...network.takeNotes(), ...endHeld()];
        endPlaces = running.watch(child, endAll);
        const followed = await followBubblewrap(child, {
          pipes,
          workingDirectory,
          limits,
          takeNotes: end,
          mounts,
          tops,
        });
        return { ...followed, moveToBackground: () => void (isBackground ||= isReadOnly || places.moveToBackground()) };
      } catch (error) {
        pipes.close();
        const notes = await end();
        if (error instanceof Error && notes.length > 0) error.message += `. ${notes.join(" ")}`;
        throw error;
      }
    },
    async close() {
      const notes = await git.close();
      reaper.dismiss();
      running.close();
      pipeMaker.close();
      await network.close();
      blocked?.close();
      folder?.remove();
      return notes.map((message): Notice => ({ code: "COMMITS_KEPT", message }));
    },
  };
}

/** A folder that commands write, for a command that only reads. */
function closeTop(mount: Mount, tops: readonly string[]): Mount {
  const isTop = mount.source === undefined && tops.some((top) => isBelow(mount.path, top));
  return isTop && mount.access === "writable" ? { ...mount, access: "read-only" } : mount;
}

interface FollowFacts {
  readonly pipes: CommandPipes;
  readonly workingDirectory: string;
  readonly limits: UseLimits;
  /** Called once, when all its processes have ended. */
  readonly takeNotes: () => readonly string[] | Promise<readonly string[]>;
  readonly mounts: readonly Mount[];
  /** Folders that commands write. */
  readonly tops: readonly string[];
}

/** Lets the command run. Rejects if its mounts are not as planned. */
async function followBubblewrap(
  child: ChildProcess,
  facts: FollowFacts,
): Promise<Omit<StartedCommand, "moveToBackground">> {
  const status = followStatus(child, descriptors);
  const bubblewrap = followChild(child);
  const excess: string[] = [];
  let stopWatch = (): void => undefined;
  try {
    const isRunning = (): boolean => child.pid !== undefined && bubblewrap.isRunning();
    await admitMounts({ ...facts, findFirst: status.findFirst, isRunning });
    stopWatch = await watchUse(status.findFirst, facts.limits, (sentence) => {
      excess.push(sentence);
      bubblewrap.kill();
    });
    openGate(child, facts.pipes);
  } catch (error) {
    stopWatch();
    bubblewrap.kill();
    // It does not end with bubblewrap yet.
    const first = status.findFirst();
    if (first) sendSignal(first.pid, "SIGKILL");
    await createSandboxTree(bubblewrap, status.findFirst).end();
    bubblewrap.release();
    throw error;
  }
  return {
    process: bubblewrap,
    pipes: facts.pipes,
    tree: child.pid === undefined ? undefined : createSandboxTree(bubblewrap, status.findFirst),
    toSignal: status.toSignal,
    findStartError: (stderr) =>
      status.findExitCode() === undefined ? toStartError(stderr, facts.workingDirectory) : "",
    async release() {
      stopWatch();
      return [...excess, ...(await facts.takeNotes())];
    },
  };
}

/** Standard input and output, the launcher's pipes, the network, and nothing that Sheaf itself inherited. */
function toStdio(
  { input }: LaunchRequest,
  output: CommandPipes,
  network: readonly number[],
  blocked: BlockedDescriptors["descriptors"],
  hasOwner: boolean,
): StdioOptions {
  const pipes = ["pipe", "pipe", "pipe"] as const;
  const entry = hasOwner && network.length === 0 ? (["ignore", "ignore"] as const) : network;
  const admission = hasOwner ? (["pipe", "pipe"] as const) : [];
  const further = [...pipes, output.gate, ...entry, ...admission];
  return [toInputStdio(input), ...output.stdio, ...further, ...blocked.slice(further.length)];
}

/** Files in such a folder get its group, and folders in it inherit the bit. */
function isTeamFolder(folder: string): boolean {
  const setGroupId = 0o2000;
  return ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & setGroupId) !== 0;
}

function sendFilter(child: ChildProcess, filter: Uint8Array | undefined): void {
  const pipe = child.stdio[descriptors.seccomp] as Writable | null;
  // It closes early when bubblewrap fails, which the status reports.
  pipe?.on("error", () => undefined);
  pipe?.end(filter);
}

/** Bubblewrap waits for it after it has made all mounts. It takes the end of a pipe as a start, too. */
function openGate(child: ChildProcess, { gate }: CommandPipes): void {
  if (gate !== "pipe") return void writeSync(gate, "x");
  const pipe = child.stdio.at(descriptors.block) as Writable | null | undefined;
  pipe?.on("error", () => undefined);
  pipe?.end("x");
}

/** Bubblewrap says on stderr why it did not start the command. */
function toStartError(stderr: string, workingDirectory: string): string {
  const reason = stderr.replaceAll(/\s+/g, " ").trim().slice(0, 500);
  return toFolderError(workingDirectory) || `the sandbox could not start (${reason})`;
}
