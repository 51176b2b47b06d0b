/** Finds the sandbox that works on this machine, before a run starts (S-31). */
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { closedNetwork } from "@sheaf/base/command-network";
import { createSandbox } from "../create-sandbox.ts";
import { withoutInnerFolders } from "../environment.ts";
import { isExecutable } from "@sheaf/base/is-executable";
import { findProgram } from "../programs.ts";
import type { Sandbox, SandboxSetting } from "../sandbox.ts";
import { adviseOnContainer } from "./choose-sandbox.ts";
import { openProbeMemory, type ProbePlace, readProbeFile } from "./probe-memory.ts";

export interface SandboxSearch {
  readonly setting: SandboxSetting;
  /** Absolute path, links resolved. */
  readonly workspace: string;
  readonly environment: Environment;
  /** The place that stores a successful try. Undefined: Sheaf tries the sandbox. */
  readonly memory: ProbePlace | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The system. Default: this machine's. */
  readonly platform?: NodeJS.Platform;
}

const wayOut = `or ${adviseOnContainer()}, or --sandbox disabled and a rule or --force`;

/** A part of macOS. */
const seatbeltFile = "/usr/bin/sandbox-exec";

/** Finds the sandbox, and runs one command in it: a machine may have the program, but forbid its system calls. */
export async function findSandbox({
  setting,
  workspace,
  environment,
  memory: place,
  now,
  platform = process.platform,
}: SandboxSearch): Promise<Sandbox> {
  if (setting === "disabled" || setting === "container") return { state: setting };
  if (workspace === sep) return toUnavailable("the workspace is the whole file system", "start Sheaf in a folder");
  const found = findMechanism(platform, workspace, environment);
  if (found.state !== "enabled") return found;
  const memory = openProbeMemory(place, found.file, now());
  if (memory.isKnown) return found;
  const fault = await tryCommand(found, workspace, environment);
  if (fault === "") {
    memory.keep();
    return found;
  }
  const advice = found.kind === "bubblewrap" ? adviseOnNamespaces(fault) : "start Sheaf outside of another sandbox";
  return toUnavailable(fault, advice);
}

/** The sandbox program of this system. */
function findMechanism(platform: NodeJS.Platform, workspace: string, environment: Environment): Sandbox {
  switch (platform) {
    case "linux": {
      const file = findBubblewrap(workspace, environment);
      if (file !== undefined) return { state: "enabled", kind: "bubblewrap", file };
      const advice = "install the package bubblewrap (Debian, Ubuntu: sudo apt-get install bubblewrap)";
      return toUnavailable("bubblewrap (bwrap) is not installed", advice);
    }
    case "darwin":
      if (isExecutable(seatbeltFile)) return { state: "enabled", kind: "seatbelt", file: seatbeltFile };
      return toUnavailable(`${seatbeltFile} is missing`, "repair macOS, which includes it");
    default:
      return toUnavailable(`there is none for ${platform} yet`, "use Linux or macOS; on Windows, WSL");
  }
}

function toUnavailable(problem: string, advice: string): Sandbox {
  return {
    state: "unavailable",
    problem,
    advice,
    reason: `commands are refused because no sandbox works here (${problem}): ${advice}, ${wayOut}`,
  };
}

/** Finds bubblewrap outside the workspace, by both its path and its target (S-05). */
function findBubblewrap(workspace: string, environment: Environment): string | undefined {
  return findProgram(
    "bwrap",
    withoutInnerFolders(environment, workspace),
    (file) => !`${realpathSync(file)}${sep}`.startsWith(workspace + sep),
  );
}

/** Runs an empty command. Returns the reason why it fails; "" if it succeeds. */
async function tryCommand(sandbox: Sandbox, workspace: string, environment: Environment): Promise<string> {
  const runner = createSandbox({
    sandbox,
    writable: [workspace],
    environment,
    network: closedNetwork,
    isProbe: true,
  });
  const { startError, exitCode, timedOut } = await runner.run({
    command: ":",
    workingDirectory: workspace,
    timeoutMs: 5000,
    signal: new AbortController().signal,
    onOutput: () => undefined,
  });
  await runner.end();
  if (startError !== "") return startError;
  if (timedOut) return "its test did not end within 5 s";
  return exitCode === 0 ? "" : `its test ended with exit code ${exitCode}`;
}

/** The text of a system file; undefined if it does not exist. */
export type ReadSystemFile = (path: string) => string | undefined;

/** Settings that can forbid namespaces to users, with the values that allow them. */
const settings = [
  { name: "kernel.apparmor_restrict_unprivileged_userns", forbids: (value: number) => value > 0, allowing: 0 },
  { name: "kernel.unprivileged_userns_clone", forbids: (value: number) => value === 0, allowing: 1 },
  // A limit of one allows a namespace, but none inside it.
  { name: "user.max_user_namespaces", forbids: (value: number) => value < 2, allowing: 15_000 },
] as const;

/** Confinements that can forbid the sandbox, and the words of Docker and Kubernetes that lift them. */
const confinements = [
  { file: "/proc/self/status", pattern: /^Seccomp:\s*2$/m, flag: "seccomp", field: "seccompProfile Unconfined" },
  { file: "/proc/self/attr/current", pattern: /\((?:enforce|kill)\)/, flag: "apparmor", field: "appArmorProfile Unconfined" },
  { file: "/proc/self/mountinfo", pattern: / \/proc\/(?!sys\/fs\/binfmt_misc )\S+ /, flag: "systempaths", field: "procMount Unmasked (with hostUsers false)" },
] as const; // prettier-ignore

/** Every engine mounts these files into its containers. */
const containerMount = / (\S+) \/etc\/(?:hosts|hostname|resolv\.conf) /;

/** Returns advice, as one line without a full stop. `problem` is the sandbox's error message. */
export function adviseOnNamespaces(problem: string, read: ReadSystemFile = readProbeFile): string {
  // Inside another sandbox the file shows that sandbox's limit, while the limit around it is used up.
  const isUsedUp = problem.includes("ENOSPC");
  const found = settings.find(({ name, forbids }) => {
    const text = read(`/proc/sys/${name.replaceAll(".", "/")}`);
    if (isUsedUp && name === "user.max_user_namespaces") return true;
    return text !== undefined && /^\d+\s*$/.test(text) && forbids(Number(text));
  });
  const [, source] = containerMount.exec(read("/proc/self/mountinfo") ?? "") ?? [];
  if (found) {
    const command = `sudo sysctl ${found.name}=${found.allowing}`;
    return source === undefined
      ? `let users make namespaces: ${command}`
      : `run ${command} on the machine of this container`;
  }
  const confined = confinements.filter(({ file, pattern }) => pattern.test(read(file) ?? ""));
  if (source === undefined || confined.length === 0)
    return "let this user make user namespaces (see sheaf help doctor)";
  if (source.includes("/pods/")) {
    return `give this pod ${confined.map(({ field }) => field).join(", ")}`;
  }
  const flags = confined.map(({ flag }) => `--security-opt ${flag}=unconfined`).join(" ");
  return `start this container with ${flags} (in a devcontainer, add them to runArgs)`;
}
