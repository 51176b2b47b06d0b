/** Hides the secrets of a server from the commands of its clients (S-241). */
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Environment } from "@sheaf/base/paths";
import { toConfigFolder } from "@sheaf/base/paths";
import { type GitWorkspaceSettings, listCredentialFiles } from "@sheaf/agent/config/git-workspace-settings";
import type { GitWorkspace } from "@sheaf/agent/config/git-workspaces";
import { listSecretFolders, type ServerSecret } from "@sheaf/sandbox/hold/server-secrets";
import { findRepository, toRealPlace } from "@sheaf/base/files/repository";
import type { Remote } from "@sheaf/agent/workspace/trees/mirror";

export interface SecretFacts {
  /** Folders of the workspaces outside git, by name. Absolute, links resolved. */
  readonly folders: ReadonlyMap<string, string>;
  /** Absolute folders from `--add-dir`. */
  readonly addedFolders: readonly string[];
  /** Absolute path from `--token-file`. Undefined: the data folder contains the token. */
  readonly tokenFile: string | undefined;
  readonly dataFolder: string;
  /** Absolute folder that contains the trees of git workspaces. */
  readonly trees: string;
  readonly gitWorkspaces: readonly GitWorkspace[];
  readonly gitSettings: Readonly<Record<string, GitWorkspaceSettings>>;
  readonly environment: Environment;
}

/** Absolute paths of the folders to hide. @throws SheafError USAGE for a secret that Sheaf cannot hide (S-242). */
export function hideServerSecrets(facts: SecretFacts): string[] {
  const { environment } = facts;
  return listSecretFolders(listServerSecrets(facts), { writable: listWritable(facts), environment });
}

function listServerSecrets(facts: SecretFacts): ServerSecret[] {
  const { tokenFile, dataFolder, trees, gitWorkspaces, gitSettings, environment } = facts;
  const files = listCredentialFiles(gitSettings);
  if (tokenFile !== undefined) files.push({ name: "--token-file", path: tokenFile });
  return [
    { name: "the data folder", path: dataFolder, kind: "own" },
    { name: "the folder of the configuration", path: toConfigFolder(environment), kind: "own" },
    ...files.map((file) => ({ ...file, kind: "file" as const })),
    ...(gitWorkspaces.length > 0 ? [{ name: "--trees", path: trees, kind: "folder" as const }] : []),
    ...gitWorkspaces.flatMap(listRepositories),
  ];
}

/** Repositories on this machine contain the states of all conversations. */
function listRepositories({ name, remote, stateRemote }: GitWorkspace): ServerSecret[] {
  const toSecret = (subject: string, { address, access }: Remote): ServerSecret[] =>
    access.protocol === "file" ? [{ name: subject, path: findGitFolder(fileURLToPath(address)), kind: "folder" }] : [];
  const states =
    stateRemote && stateRemote !== remote ? toSecret(`gitWorkspaces.${name}.stateRemote`, stateRemote) : [];
  return [...toSecret(`the repository of the workspace ${name}`, remote), ...states];
}

/** Like git, tries the path with `.git` at its end if the folder doesn't exist. */
function findGitFolder(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  const place = toRealPlace(isFolder ? path : `${path}.git`);
  return findRepository(place).commonFolder || place;
}

function listWritable({ folders, addedFolders }: SecretFacts): Map<string, string> {
  const writable = new Map<string, string>();
  for (const [name, folder] of folders) writable.set(folder, `the workspace ${name} (${folder})`);
  for (const folder of addedFolders.map(toRealPlace)) writable.set(folder, `--add-dir ${folder}`);
  return writable;
}
