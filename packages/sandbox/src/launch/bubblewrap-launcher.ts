/** Runs commands in bubblewrap: each in new namespaces, which end with all their processes (S-30, R-13). */
import type { Readable } from "node:stream";
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Writable } from "node:stream";
import type { Notice } from "@sheaf/protocol";
import { isBelow } from "@sheaf/base/files/workspace";
import { toCommandEnvironment, withoutInnerFolders } from "../environment.ts";
import { type CommandPipes, createPipeMaker } from "../follow/output-pipes.ts";
import { toInputStdio, writeInput } from "../follow/processes.ts";
import { createExitWatch } from "../follow/exit-watch.ts";
import { createReaper } from "../follow/reaper.ts";
import { defaultUseLimits } from "../follow/sandbox-status.ts";
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
import { findProgram, findShell, quoteWord } from "../programs.ts";
import { type AdmittedSandbox, admitSandbox } from "./admitted-sandbox.ts";
import { toBubblewrapArguments, toNetworkWords } from "./bubblewrap-arguments.ts";
import { type Launcher, type LaunchRequest, listPermissions, type SandboxOptions } from "./launcher.ts";
import { type BlockedDescriptors, blockInherited } from "./inherited-descriptors.ts";
import { createSharedNetwork, proxyPort, type RunNetwork } from "./run-network.ts";
import { createWaitingSandboxes } from "./waiting-sandboxes.ts";
import { admitOwner, findWorkspaceOwner, toOwnerWords } from "./workspace-owner.ts";

/**
 * Script that runs the command with signal handlers set, so that it waits for a command that ends gracefully. Then it
 * gives background processes a moment to print their last output: `/proc` lists all processes of the sandbox, two of
 * which are the wrapper's. Shells differ in the letter for the limit of processes, and in the stderr that they use
 * while a redirected command runs.
 */
const toWrapper = (input: string): string => `
ended=
ulimit -u 4096 2>/dev/null || ulimit -p 4096 2>/dev/null
trap 'ended=1' TERM INT HUP
exec 3>&2 2>&5 7>&- 8>&- 9>&-
${input}exec 5>&-
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

/** Script that reads a waiting sandbox's command. It exits if Sheaf was killed before sending all its lines. */
const commandReader = `
read -r count <&5 || exit 143
command=
while [ "$count" -gt 0 ]; do
  IFS= read -r line <&5 || exit 143
  count=$((count - 1))
  command=$command$line
  [ "$count" -eq 0 ] || command="$command
"
done
set -- "$@" "$command"
`;
/** Characters. The wrapper reads longer commands more slowly than a new sandbox starts. */
const maxSentLength = 4096;

/** The kernel's limit for one argument. */
const maxCommandBytes = 128 * 1024 - 1;

/** Time limits of an export, and of its part before the pack: background commands may make pipes. Milliseconds. */
const scriptPeriod = 120_000;
const readPeriod = 10_000;
/** Longest error text of an export. Characters. */
const maxProblem = 2000;

/** Descriptors after the standard three. Bubblewrap or the wrapper (single digits only) closes them for the command. */
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

/** The settings of one sandbox. */
interface SandboxOrder extends Pick<LaunchRequest, "workingDirectory" | "variables"> {
  /** The command; undefined for a waiting sandbox. */
  readonly command: string | undefined;
  readonly input?: string | Readable | undefined;
  readonly mounts: readonly Mount[];
  readonly shared: RunNetwork | undefined;
}

/** The settings that all commands of a run share. */
interface RunFacts extends Omit<MountFacts, "held" | "gitMounts"> {
  readonly variables: ToolCaches["variables"];
}

/** Creates the launcher. The first command that needs its private folder or its network creates them. */
export function createBubblewrapLauncher(options: SandboxOptions): Launcher {
  const { file, writable: tops, environment, limits = defaultUseLimits } = options;
  const [workspace, ...addedFolders] = tops;
  const shell = findShell(environment);
  const filter = createSeccompFilter(process.arch, tops.some(isTeamFolder));
  const writableMounts = addedFolders.map((path) => ({ path, access: "writable" as const }));
  // Commands could replace a program that is found in these folders.
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
  const waiting = createWaitingSandboxes();
  const left = options.isProbe ? [] : finishKilledRuns(options);
  /** The held places of the last command. */
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
  /** Runs a script on a git folder. It is held like a command, but writes only to the folder of its output. */
  async function runScript({ script, gitFolder, mounts: gitMounts, out }: BorderScript): Promise<void> {
    facts ??= findFacts();
    const privateMounts = facts.privateMounts.map((mount) =>
      mount.path === "/tmp" ? { ...mount, source: out } : mount,
    );
    const open = new Set([out, ...gitMounts.map(({ source }) => source)]);
    const mounts = planMounts({ ...facts, privateMounts, gitMounts, held }).map((mount): Mount =>
      mount.access === "writable" && !open.has(mount.source) ? { ...mount, access: "read-only" } : mount,
    );
    const command = `set -- /tmp ${quoteWord(gitFolder)}\n${script}`;
    const sandbox = await makeSandbox({ command, workingDirectory: "/", variables: {}, mounts, shared: undefined });
    const { process: bubblewrap, pipes, release } = await sandbox.start(command, limits, () => []);
    let problem = "";
    pipes.follow(
      bubblewrap.child,
      (_: string, chunk: Uint8Array) => (problem = (problem + Buffer.from(chunk).toString()).slice(-maxProblem)),
    );
    const timer = setTimeout(() => bubblewrap.kill(), scriptPeriod);
    const isReading = (): boolean => !existsSync(join(out, "pack"));
    const reading = setTimeout(() => isReading() && bubblewrap.kill(), readPeriod);
    const { code } = await bubblewrap.ended.finally(() => {
      clearTimeout(timer);
      clearTimeout(reading);
      bubblewrap.release();
      pipes.close();
    });
    await release();
    if (code !== 0) throw new Error(`git failed in it (${problem.trim().split("\n").at(-1) || "it took too long"})`);
  }
  const makeSandbox = async (order: SandboxOrder): Promise<AdmittedSandbox> => {
    const pipes = await pipeMaker.open();
    try {
      return await admitSandbox(spawnBubblewrap(order, pipes), { ...order, pipes, tops, descriptors });
    } catch (error) {
      pipes.close();
      throw error;
    }
  };
  const spawnBubblewrap = (order: SandboxOrder, pipes: CommandPipes): ChildProcess => {
    const { command: text, mounts, shared, input } = order;
    blocked ??= blockInherited(lastStandard);
    const words = toBubblewrapArguments({
      mounts,
      workingDirectory: order.workingDirectory,
      descriptors: { ...descriptors, seccomp: filter && descriptors.seccomp },
      hasOwnNetwork: shared === undefined,
    });
    const owner = shared === undefined || foreignOwner?.canEnterNetwork ? foreignOwner : undefined;
    const entry = shared ? toNetworkWords(outside, descriptors, owner === undefined) : [];
    const ownerWords = owner ? toOwnerWords(descriptors) : [];
    // The system's plain shell usually starts in half the time of bash.
    const wrapper = ["/bin/sh", "-c", toWrapper(text === undefined ? commandReader : ""), "sheaf"];
    const command = [...wrapper, shell.file, ...shell.args, ...(text === undefined ? [] : [text])];
    const [program = file, ...args] = [...entry, file, ...words, ...ownerWords, "--", ...command];
    const child = spawn(program, args, {
      cwd: "/",
      env: {
        ...toCommandEnvironment(environment, reaper.createMarker(openFolder().path)),
        ...facts?.variables,
        ...order.variables,
        TMPDIR: "/tmp",
        // Otherwise "git status" writes the index, and Sheaf would read the whole state again.
        GIT_OPTIONAL_LOCKS: "0",
        ...shared?.variables,
      },
      detached: true,
      stdio: toStdio(input, pipes, shared?.descriptors ?? [], blocked.descriptors, owner !== undefined),
    });
    writeInput(child, input);
    if (owner) admitOwner(child, owner, descriptors);
    sendFilter(child, filter);
    return child;
  };

  return {
    file,
    permissions: listPermissions(options, writableMounts.length > 0),
    async start(request) {
      // `spawn` may not report a failed start if descriptors are blocked.
      if (Buffer.byteLength(request.command) > maxCommandBytes) throw Object.assign(new Error(), { code: "E2BIG" });
      if (request.isBackground) network.share();
      const shared = await network.enter();
      const { command, workingDirectory, variables, input, isReadOnly = false } = request;
      let { isBackground } = request;
      let endPlaces = (): readonly string[] => [];
      let passage: GitPassage | undefined;
      let sandbox: AdmittedSandbox | undefined;
      let prepareNext = (): void => undefined;
      const end = async (): Promise<string[]> => {
        const notes = [...((await passage?.end()) ?? []), ...endPlaces(), ...(await git.remake(moved.splice(0)))];
        prepareNext();
        return notes;
      };
      try {
        held = places.begin(request);
        const endHeld = (): string[] => (isReadOnly ? [] : places.end({ isBackground }));
        endPlaces = endHeld;
        facts ??= findFacts();
        passage = git.begin(isReadOnly);
        const planned = planMounts({ ...facts, gitMounts: passage.mounts, held });
        const mounts = isReadOnly ? planned.map((mount) => closeTop(mount, tops)) : planned;
        const order: SandboxOrder = { command, workingDirectory, variables, input, mounts, shared };
        const key = JSON.stringify([workingDirectory, variables, mounts, shared?.descriptors]);
        // The kernel's table of mounts shows if it is still the same folder.
        const isUsual = input === undefined && !isBackground && !options.isProbe && tops.includes(workingDirectory);
        const made = isUsual && command.length <= maxSentLength ? await waiting.take(key) : undefined;
        sandbox = made ?? (await makeSandbox(order));
        const endAll = (): string[] => [...left.splice(0), ...network.takeNotes(), ...endHeld()];
        endPlaces = running.watch(sandbox.child, endAll);
        const followed = await sandbox.start(command, limits, end);
        if (isUsual) prepareNext = () => waiting.prepare(key, () => makeSandbox({ ...order, command: undefined }));
        return { ...followed, moveToBackground: () => void (isBackground ||= isReadOnly || places.moveToBackground()) };
      } catch (error) {
        await sandbox?.end();
        const notes = await end();
        if (error instanceof Error && notes.length > 0) error.message += `. ${notes.join(" ")}`;
        throw error;
      }
    },
    async close() {
      const [notes] = await Promise.all([git.close(), waiting.end()]);
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

/** Makes a folder read-only that commands write, for a command that only reads. */
function closeTop(mount: Mount, tops: readonly string[]): Mount {
  const isTop = mount.source === undefined && tops.some((top) => isBelow(mount.path, top));
  return isTop && mount.access === "writable" ? { ...mount, access: "read-only" } : mount;
}

/** Passes standard input and output, the launcher's pipes, and the network, but no descriptor that Sheaf inherited. */
function toStdio(
  input: string | Readable | undefined,
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

/** True for a folder that gives its group to new files, and this bit to new folders. */
function isTeamFolder(folder: string): boolean {
  const setGroupId = 0o2000;
  return ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & setGroupId) !== 0;
}

function sendFilter(child: ChildProcess, filter: Uint8Array | undefined): void {
  const pipe = child.stdio[descriptors.seccomp] as Writable | null;
  // The pipe closes early when bubblewrap fails, which the status reports.
  pipe?.on("error", () => undefined);
  pipe?.end(filter);
}
