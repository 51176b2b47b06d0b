/** What to do on Linux when the sandbox cannot start: which setting of this machine stands against it. */
import { readFileSync } from "node:fs";

/** The text of a file of the system; undefined if it is not there. */
export type ReadSystemFile = (path: string) => string | undefined;

/** Settings that forbid namespaces to users, with what allows them. */
const settings = [
  { name: "kernel.apparmor_restrict_unprivileged_userns", forbids: (value: number) => value > 0, allowing: 0 },
  { name: "kernel.unprivileged_userns_clone", forbids: (value: number) => value === 0, allowing: 1 },
  // Of one namespace nothing can be made within it.
  { name: "user.max_user_namespaces", forbids: (value: number) => value < 2, allowing: 15_000 },
] as const;

/** Files that container engines leave. */
const containerFiles = ["/.dockerenv", "/run/.containerenv"] as const;

const containerFlags = "--security-opt seccomp=unconfined --security-opt systempaths=unconfined";

/** One line without a full stop. `problem`: what the sandbox said. */
export function adviseOnNamespaces(problem: string, read: ReadSystemFile = readSystemFile): string {
  // Within another sandbox the file shows the limit of its own, while the one around it is used up.
  const isUsedUp = problem.includes("ENOSPC");
  const found = settings.find(({ name, forbids }) => {
    const text = read(`/proc/sys/${name.replaceAll(".", "/")}`);
    if (isUsedUp && name === "user.max_user_namespaces") return true;
    return text !== undefined && /^\d+\s*$/.test(text) && forbids(Number(text));
  });
  const isContainer = containerFiles.some((file) => read(file) !== undefined);
  if (found) {
    const command = `sudo sysctl ${found.name}=${found.allowing}`;
    return isContainer ? `run ${command} on the machine of this container` : `let users make namespaces: ${command}`;
  }
  if (isContainer) return `start this container with ${containerFlags}`;
  return "let this user make namespaces (see docs/guide/sandbox.md)";
}

function readSystemFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
