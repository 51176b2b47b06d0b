/** The arguments of bubblewrap (S-30). */
import type { Environment } from "@sheaf/base/paths";
import { dirname } from "node:path";
import { objectsPlace } from "../git/git-copy.ts";
import type { Mount } from "../hold/mounts.ts";
import { findProgram } from "../programs.ts";

/** The view and the descriptors of one command. */
export interface BubblewrapPlan {
  /** The mounts, in mount order. */
  readonly mounts: readonly Mount[];
  /** Absolute path in the sandbox. */
  readonly workingDirectory: string;
  /** True for a new, empty network namespace; otherwise the command stays in the network of bubblewrap. */
  readonly hasOwnNetwork: boolean;
  /** Descriptors that bubblewrap inherits. */
  readonly descriptors: { readonly seccomp: number | undefined; readonly status: number; readonly block: number };
}

/**
 * Settings of the whole machine. The kernel lets user 0 write them even without capabilities, and bubblewrap covers
 * only the places that it considers writable.
 */
const kernelPlaces = [
  "/proc/sys",
  "/proc/sysrq-trigger",
  "/proc/fs",
  "/proc/scsi",
  "/proc/acpi",
  "/proc/mtrr",
] as const;

/** Returns the words before the program: `bwrap <these> -- program arguments`. */
export function toBubblewrapArguments({
  mounts,
  workingDirectory,
  descriptors,
  hasOwnNetwork,
}: BubblewrapPlan): string[] {
  return [
    // Control groups stay shared: Java reads their paths, and fails if these do not match the mounts.
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
    ...(hasOwnNetwork ? ["--unshare-net"] : []),
    "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox",
    "--ro-bind", "/", "/",
    "--dev", "/dev", ...mounts.flatMap(toObjectsFolder), "--remount-ro", "/dev",
    "--proc", "/proc", ...kernelPlaces.flatMap((path) => ["--ro-bind-try", path, path]),
    ...mounts.flatMap(toMountArguments),
    // Hidden folders become read-only last, since the workspace may be inside one.
    ...mounts.flatMap(({ path, access }) => (access === "hidden-folder" ? ["--remount-ro", path] : [])),
    ...(descriptors.seccomp === undefined ? [] : ["--seccomp", String(descriptors.seccomp)]),
    "--json-status-fd", String(descriptors.status),
    "--block-fd", String(descriptors.block),
    "--chdir", workingDirectory,
  ]; // prettier-ignore
}

/** Makes the folder for new objects, which exists only in the sandbox. */
function toObjectsFolder({ path }: Mount): string[] {
  return dirname(path) === objectsPlace ? ["--dir", path] : [];
}

export function toMountArguments({ path, access, source = path }: Mount): string[] {
  switch (access) {
    case "writable":
      return ["--bind", source, path];
    case "read-only":
      return ["--ro-bind-try", source, path];
    case "hidden-folder":
      return ["--tmpfs", path];
    case "hidden-file":
      return ["--ro-bind", "/dev/null", path];
  }
}

/**
 * Returns the words before bubblewrap that enter the network namespace of a run. If `entersUser` is true, they enter
 * its user namespace as well, without which only root with CAP_SYS_ADMIN can enter. @throws Error if `nsenter` is
 * missing.
 */
export function toNetworkWords(
  environment: Environment,
  descriptors: { readonly user: number; readonly network: number },
  entersUser: boolean,
): string[] {
  const program = findProgram("nsenter", environment);
  if (program === undefined)
    throw new Error("nsenter, which gives commands a network, is not installed: install util-linux");
  const toPath = (descriptor: number): string => `/proc/self/fd/${descriptor}`;
  return [
    program,
    ...(entersUser ? [`--user=${toPath(descriptors.user)}`] : []),
    `--net=${toPath(descriptors.network)}`,
    ...(entersUser ? ["--preserve-credentials"] : []),
  ];
}
