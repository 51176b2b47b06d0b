/** Explains failures that the sandbox likely caused: programs do not know about the sandbox (S-100). */
import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { FileRule } from "@sheaf/base/files/glob";
import type { CommandOutcome } from "../command.ts";
import { explainProgramPlaces, type ProgramScope } from "../hold/program-places.ts";
import { listSecretPlaces } from "../hold/secret-places.ts";
import { isBelow } from "@sheaf/base/files/workspace";

/** The way a command ended. */
interface FailedCommand extends Pick<CommandOutcome, "exitCode" | "timedOut" | "output" | "permissions"> {
  readonly command: string;
  /** Absolute path. */
  readonly workspace: string;
  /** Absolute path. Default: the workspace. */
  readonly workingDirectory?: string | undefined;
  /** The user's rules that deny files to commands. */
  readonly denials?: readonly FileRule[] | undefined;
  /** The places of Sheaf itself, for a sentence about them. */
  readonly program?: ProgramScope | undefined;
}

const noNetwork =
  /network is unreachable|could not resolve|couldn't resolve|temporary failure in name resolution|name or service not known|failed to lookup address|getaddrinfo|\b(?:ENETUNREACH|EAI_AGAIN|ENOTFOUND|ETIMEDOUT)\b|no address associated|no such host/i;
/** Matches a line of a program that may have been waiting for a host. */
const download = /\b(?:download|fetch|connect|resolv|retry|index|registry)|https?:\/\//i;
const readOnly = /read-only file system|\bEROFS\b|not writable/i;
const hidden = /no such file|permission denied|operation not permitted|\b(?:ENOENT|EACCES|EPERM)\b/i;
const busy = /device or resource busy|\bEBUSY\b/i;
/** Node's error for a folder that it creates with its parents on a read-only disk. */
const noFolder = /\bENOENT\b[^\n]*\bmkdir '(\/[^'\n]+)'/g;
const localServer = /\bECONNREFUSED\b|connection refused/i;
const unixSocket =
  /\bunix:\/\/|\bdial unix\b|socket\(\)? ?failed: operation not permitted|\b(?:listen|connect) EPERM\b|user data directory for headless|headless user data directory|no usable sandbox/i;

/** Matches an error of npm, pnpm, yarn, pip, Maven or Gradle, but not one of a project's test. */
const unauthorized =
  /\bE401\b|ERR_PNPM_FETCH_401|YN0041|\b401 Error, Credentials not correct|User for \S+:|transfer artifact [^\n]*\b401\b|Received status code 401|Failed to replace env in config/;

/** Characters searched, from the end of the output. */
const maxLength = 64 * 1024;

const writable =
  "In the sandbox a command can write the workspace and /tmp, except protected places in the workspace, and caches in ~/.cache. Install packages into the workspace (node_modules, a virtual environment), not for the user or the machine; the user opens another folder with --add-dir DIR.";

const foreignGit = /\.git\/.*(?:read-only file system|operation not permitted)/i;
const gitAdvice =
  'In the sandbox git changes only the repository of the workspace: not its hooks, submodules, worktrees and LFS files, and no nested repository. The user runs "git worktree add", "git submodule update" and "git lfs" outside of Sheaf, or starts Sheaf in the other repository with --workspace DIR.';

/** Returns a sentence for each restriction that the output mentions; an empty list for a command that succeeded. */
export function explainFailure(failed: FailedCommand): string[] {
  const { exitCode, output, permissions } = failed;
  if (permissions.includes("unsandboxed")) return [];
  const text = output.slice(-maxLength);
  // A pipe to `tail` hides the exit code, but not the error line.
  const own =
    (failed.program && explainProgramPlaces(text.split("\n").filter(isHeld), failed.program)) ??
    explainDenied(text, failed);
  const sentences = own === undefined ? [] : [own];
  const secret = findSecretPlace(text, failed);
  if (secret !== undefined) {
    sentences.push(
      `The sandbox hides ${secret}, so this does not show whether it is there; the user shows it to commands with --sandbox disabled.`,
    );
  }
  if (exitCode === 0) return [...sentences, ...explainHiddenFailure(failed)];
  if (foreignGit.test(text)) {
    sentences.push(gitAdvice);
  } else if (own === undefined && (readOnly.test(text) || isFolderOutside(text, failed.workspace))) {
    sentences.push(writable);
  } else if (own === undefined && busy.test(text)) {
    sentences.push("In the sandbox protected places in the workspace, such as .vscode, cannot be replaced or moved.");
  }
  if (unixSocket.test(text)) {
    sentences.push(
      "The sandbox has no unix sockets, which Docker and browsers need: try a headless shell of Chromium, or the user passes --sandbox disabled.",
    );
  }
  return [...sentences, ...explainNetwork(failed, text)];
}

/** Explains the first existing place in an error line that a rule denies. Its content must not change the result. */
function explainDenied(text: string, { workspace, workingDirectory = workspace, denials = [] }: FailedCommand) {
  const globs = denials.map((rule) => ({ ...rule, glob: rule.glob.in(workspace) }));
  for (const line of denials.length === 0 ? [] : text.split("\n")) {
    const rules = globs.filter(({ kind }) => (kind === "Read" ? hidden : readOnly).test(line));
    for (const word of rules.length === 0 ? [] : line.split(/[\s:'"`‘’(),]+/).filter(Boolean)) {
      const path = resolve(workingDirectory, word);
      const names = (isBelow(path, workspace) ? relative(workspace, path) : path).split("/");
      const places = names.map((_, index) => names.slice(0, index + 1).join("/")).filter(Boolean);
      const place = places.find((name) => rules.some(({ glob }) => glob.isCovering(name)));
      const rule = place && rules.find(({ glob }) => glob.isCovering(place));
      if (rule && existsSync(resolve(workspace, place))) return `The rule ${rule.text} denies ${place} to commands.`;
    }
  }
  return undefined;
}

/** Returns a secret place that an error line reports as missing or closed. */
function findSecretPlace(text: string, { program }: FailedCommand): string | undefined {
  const lines = text.split("\n").filter((line) => hidden.test(line));
  if (!program || lines.length === 0) return undefined;
  return listSecretPlaces(program.environment).find((place) => lines.some((line) => line.includes(place)));
}

/**
 * Matches programs that reach hosts, and a way to hide their exit code: a pipe to `head`, another command, `|| true`.
 */
const hiddenFetch =
  /\b(?:curl|wget|npm|npx|pnpm|yarn|pip3?|uv|cargo|apt(?:-get)?|go|gem|git\s+(?:clone|fetch|pull|push|ls-remote))\s[^]*[|;&\n]/;
/** Matches a fetch that then fails silently: `curl -s URL | head`. */
const silentFetch = /\b(?:curl|wget)\s[^|;&\n]*\bhttps?:\/\/(?!localhost|127\.|\[::1)[^]*[|;&\n]/;

/** Explains a command that succeeded, though a program in it may have failed. */
function explainHiddenFailure({ command, output, permissions }: FailedCommand): string[] {
  const isOpen = permissions.includes("network");
  const isSeen = hiddenFetch.test(command) && noNetwork.test(output.slice(-maxLength));
  return isSeen || (!isOpen && silentFetch.test(command)) ? [toNetworkAdvice(isOpen)] : [];
}

function toNetworkAdvice(isOpen: boolean): string {
  return isOpen
    ? "In the sandbox hosts can be reached only through the proxy in HTTPS_PROXY, which also resolves their names."
    : 'The sandbox has no network; the user allows a host with --allow "Network(HOST)", registries with Network(@npm), @python, @go, @rust, @ruby or @java.';
}

function explainNetwork({ timedOut, permissions }: FailedCommand, text: string): string[] {
  const isOpen = permissions.includes("network");
  if (isOpen && !permissions.includes("credentials") && unauthorized.test(text)) {
    return [
      'If this registry wants a token: commands do not see those in ~/.npmrc, pip.conf or Maven\'s settings.xml; the user shows them with --allow "Credentials(@npm)", @python or @java.',
    ];
  }
  if (noNetwork.test(text) || (timedOut && !isOpen && download.test(text))) {
    return [toNetworkAdvice(isOpen)];
  }
  if (!localServer.test(text)) return [];
  return [
    "In the sandbox 127.0.0.1 is the sandbox itself: servers of this machine, such as a database, cannot be reached. Start one with is_background, or the user passes --sandbox disabled.",
  ];
}

/** Returns true for an error line about a read-only or busy place. */
function isHeld(line: string): boolean {
  return readOnly.test(line) || busy.test(line) || line.search(noFolder) >= 0;
}

function isFolderOutside(text: string, workspace: string): boolean {
  return [...text.matchAll(noFolder)].some(([, path = ""]) => !isBelow(path, workspace) && !isBelow(path, "/tmp"));
}
