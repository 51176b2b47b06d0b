/** A server's workspaces from git. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import type { Remote } from "../workspace/trees/mirror.ts";
import type { RemoteAccess } from "@sheaf/base/git/run-git";
import type { GitWorkspaceSettings } from "./git-workspace-settings.ts";

export interface GitWorkspace {
  readonly name: string;
  /** The branch with which conversations start; undefined: the branch of the repository's `HEAD`. */
  readonly branch: string | undefined;
  readonly remote: Remote;
  /** Undefined: states stay here. */
  readonly stateRemote: Remote | undefined;
  /** The folder of the mirror and the trees. Absolute. */
  readonly folder: string;
  readonly setup: { readonly command: string; readonly timeoutMs: number } | undefined;
  readonly keepTreeMs: number;
}

/** True for the address of a repository in `--workspace`. */
export function isGitAddress(word: string): boolean {
  return word.startsWith("git+");
}

/** The name, address and settings of a git workspace. */
interface GitWorkspaceOptions {
  readonly name: string;
  /** `git+https://host/repo.git#branch`. */
  readonly word: string;
  readonly settings: GitWorkspaceSettings;
  /** The folder of all git workspaces. */
  readonly folder: string;
  readonly environment: Environment;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** @throws SheafError USAGE for an address that cannot be used, CONFIG_INVALID for a key that is not there. */
export function createGitWorkspace({ name, word, settings, folder, environment }: GitWorkspaceOptions): GitWorkspace {
  const [address = "", branch] = word.slice("git+".length).split("#", 2);
  if (branch !== undefined && !isBranchName(branch)) {
    throw new SheafError("USAGE", `--workspace ${name}: ${JSON.stringify(branch)} is not the name of a branch`);
  }
  const token = readToken(name, settings, environment);
  const own = { ...settings, token };
  const remote = toRemote(name, address, own);
  const { stateRemote, setup, setupSeconds = 600, keepTreeDays = 7 } = settings;
  const key = hash("sha256", `${address}#${branch ?? ""}`, "hex").slice(0, 16);
  return {
    name,
    branch,
    remote,
    stateRemote:
      stateRemote === "none" ? undefined : stateRemote === undefined ? remote : toRemote(name, stateRemote, own),
    folder: join(folder, key),
    setup: setup === undefined ? undefined : { command: setup, timeoutMs: setupSeconds * 1000 },
    keepTreeMs: keepTreeDays * DAY_MS,
  };
}

/** Stricter than git: a name that passes cannot be an option, or a ref of another kind. */
export function isBranchName(name: string): boolean {
  return (
    /^[A-Za-z0-9_][A-Za-z0-9_./+@-]{0,99}$/.test(name) &&
    !/\.\.|\/\/|\/\.|@\{|\.$|\/$|\.lock(?:\/|$)/.test(name) &&
    name !== "HEAD" &&
    !name.startsWith("refs/")
  );
}

function readToken(name: string, { tokenEnv, tokenFile }: GitWorkspaceSettings, environment: Environment) {
  if (tokenEnv !== undefined) {
    const token = environment[tokenEnv]?.trim();
    if (token) return token;
    throw new SheafError("CONFIG_INVALID", `the workspace ${name} has no token: set ${tokenEnv}`);
  }
  if (tokenFile === undefined) return undefined;
  try {
    const token = readFileSync(tokenFile, "utf8").trim();
    if (token !== "" && token.length < 10_000) return token;
  } catch {
    // The error below covers this case.
  }
  throw new SheafError(
    "CONFIG_INVALID",
    `the workspace ${name} has no token: ${tokenFile} cannot be read, or is empty`,
  );
}

interface RemoteSettings extends GitWorkspaceSettings {
  readonly token: string | undefined;
}

function toRemote(name: string, address: string, settings: RemoteSettings): Remote {
  const url = URL.parse(address);
  const protocol = url?.protocol.slice(0, -1);
  const problem = findAddressProblem(url, address);
  if (!url || problem !== undefined) {
    const form = "git+https://HOST/PATH, git+ssh://USER@HOST/PATH or git+file:///PATH";
    throw new SheafError("USAGE", `the address of the repository of --workspace ${name} ${problem}: write ${form}`);
  }
  return { address, access: toAccess(protocol as RemoteAccess["protocol"], url, settings) };
}

/** The address itself is not repeated: it may have a password. */
function findAddressProblem(url: URL | null, address: string): string | undefined {
  if (!url || !/^[\x21-\x7e]+$/.test(address)) return "cannot be read";
  if (!["https:", "http:", "ssh:", "file:"].includes(url.protocol)) return "has an unknown protocol";
  if (url.password !== "" || (url.username !== "" && url.protocol !== "ssh:")) {
    return "has credentials in it, which others see (gitWorkspaces of the configuration is their place)";
  }
  if (url.hostname.startsWith("-") || url.username.startsWith("-")) return "has a name with a dash at its start";
  if (url.protocol === "file:" && url.hostname !== "") return "names another machine";
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  return url.protocol === "http:" && !isLocal ? "is not encrypted (http)" : undefined;
}

/** Answers git's question for a password: only this program's environment has the token (S-126). */
const helper =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$SHEAF_GIT_USER" "$SHEAF_GIT_TOKEN"; }; f';

function toAccess(
  protocol: RemoteAccess["protocol"],
  url: URL,
  { token, username = "git", sshKeyFile }: RemoteSettings,
): RemoteAccess {
  if (protocol === "ssh" && sshKeyFile !== undefined) {
    const key = `'${sshKeyFile.replaceAll("'", String.raw`'\''`)}'`;
    return { protocol, settings: { "core.sshCommand": `ssh -o BatchMode=yes -o IdentitiesOnly=yes -i ${key}` } };
  }
  if (token === undefined || !protocol.startsWith("http")) return { protocol };
  return {
    protocol,
    // Valid for this host alone, wherever it redirects to.
    settings: { [`credential.${url.origin}.helper`]: helper },
    variables: { SHEAF_GIT_USER: username, SHEAF_GIT_TOKEN: token },
  };
}
