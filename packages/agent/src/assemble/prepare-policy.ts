/** The limits of one response's tools, for runs and for `sheaf permissions`: sandbox, rules and workspace. */
import type { Mode } from "@sheaf/protocol";
import type { Environment } from "@sheaf/base/paths";
import { readWorkspaceDenials } from "../config/workspace-rules.ts";
import type { CommandNetwork, CredentialName } from "@sheaf/base/command-network";
import type { FileRule } from "@sheaf/base/files/glob";
import { toGitHome } from "@sheaf/base/git/git-config";
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import { createPermissions, type Permissions } from "@sheaf/permissions/permissions";
import { createRuleParser, listCredentials } from "@sheaf/permissions/rule";
import { findSandbox } from "@sheaf/sandbox/find/find-sandbox";
import { toCredentialVariables } from "@sheaf/sandbox/hold/registry-credentials";
import { listHomes } from "@sheaf/sandbox/hold/secret-places";
import type { RunnerSettings } from "@sheaf/sandbox/create-sandbox";
import { toAddedFolders } from "@sheaf/sandbox/hold/writable-folders";
import type { ProbePlace } from "@sheaf/sandbox/find/probe-memory";
import { findFault, isExpendable, type Sandbox } from "@sheaf/sandbox/sandbox";
import type { RunRequest } from "./run-request.ts";
import { createWorkspace, type Workspace } from "@sheaf/base/files/workspace";
import { toUntrustedGitVariables, withoutInnerFolders } from "@sheaf/sandbox/environment";
import { createGitGuard } from "@sheaf/permissions/untrusted-git";
import { atExit } from "../config/at-exit.ts";
import { isListed } from "../config/trust.ts";
import { createRegistryFinder } from "./wire.ts";
import { createPlaceFinder } from "@sheaf/permissions/reading-place";

/** The part of a request that rules and sandbox depend on. */
export interface PolicyRequest extends Pick<
  RunRequest,
  | "workspace"
  | "mode"
  | "trusted"
  | "sandbox"
  | "permissions"
  | "addedFolders"
  | "environment"
  | "dataFolder"
  | "isUnsaved"
  | "hiddenPlaces"
> {
  /** The place of the note that the sandbox works; undefined: Sheaf tries the sandbox each time. */
  readonly sandboxMemory: ProbePlace | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface PreparedPolicy {
  readonly workspace: Workspace;
  readonly addedWorkspaces: readonly Workspace[];
  readonly sandbox: Sandbox;
  readonly permissions: Permissions;
  /** The permissions in another mode, for a subagent. */
  readonly permissionsFor: (mode: Mode) => Permissions;
  /** The hosts that commands may reach. */
  readonly network: CommandNetwork;
  /** Package managers whose tokens commands see. */
  readonly credentials: readonly CredentialName[];
  /** Files that no command may read or write, in the sandbox. */
  readonly fileDenials: readonly FileRule[];
  /** Absolute. */
  readonly hiddenPlaces: readonly string[];
  /** Folder for files of the run that commands do not see; undefined: a temporary one. */
  readonly stateFolder: string | undefined;
  readonly workspaceDenials: readonly string[];
  /** Environment of which commands may get a part (S-40). */
  readonly environment: Environment;
}

/**
 * @throws SheafError USAGE for a rule that cannot be read or a folder that cannot be added; CONFIG_INVALID for a broken
 * file of a trusted workspace.
 */
export async function preparePolicy(request: PolicyRequest): Promise<PreparedPolicy> {
  const { mode, trusted, sandboxMemory, now } = request;
  const { force, allow, ask, askUnlessAllowed, deny } = request.permissions;
  const git = { environment: request.environment, folders: [request.workspace, ...request.addedFolders] };
  const workspace = createWorkspace(request.workspace, { git });
  const addedWorkspaces = openAddedFolders(request, workspace);
  // A program of an untrusted workspace must not replace a program of the system (S-01).
  const environment = trusted ? request.environment : withoutInnerFolders(request.environment, workspace.root);
  const sandbox = await findSandbox({
    setting: request.sandbox,
    workspace: workspace.root,
    environment,
    memory: sandboxMemory,
    now,
  });
  const workspaceDenials = trusted ? readWorkspaceDenials(workspace.root) : [];
  const denials = [...deny, ...workspaceDenials];
  const folders: readonly [string, ...string[]] = [workspace.root, ...addedWorkspaces.map(({ root }) => root)];
  const home = toGitHome(environment);
  const policy = {
    trusted,
    home,
    force,
    allow,
    ask,
    askUnlessAllowed,
    deny: denials,
    sandbox: sandbox.state,
    sandboxFault: findFault(sandbox),
    root: workspace.root,
    findPlace: createPlaceFinder(workspace),
    findGitObstacle: createGitGuard({
      folders,
      trusted,
      isListed: (repository) => isListed(repository, request.dataFolder),
      environment,
    }),
  };
  const permissionsFor = (other: Mode): Permissions => createPermissions({ ...policy, mode: other });
  const findRegistryHosts = createRegistryFinder({ environment, folders, sandbox });
  const network = createCommandNetwork({ allow, deny: denials, findRegistryHosts });
  const fileDenials = denials.map(createRuleParser(home)).filter((rule) => "glob" in rule);
  return {
    workspace,
    addedWorkspaces,
    sandbox,
    permissions: permissionsFor(mode),
    permissionsFor,
    network,
    credentials: listCredentials(allow, denials),
    fileDenials,
    hiddenPlaces: request.hiddenPlaces ?? [],
    stateFolder: request.isUnsaved ? undefined : request.dataFolder,
    workspaceDenials,
    environment,
  };
}

/** Settings of every command of a run. Without a `cacheFolder`, caches of tools last as long as the run. */
export function toCommandOptions(
  policy: PreparedPolicy,
  trusted: boolean,
  cacheFolder: string | undefined,
): RunnerSettings {
  const { workspace, addedWorkspaces, environment, sandbox, network, credentials, fileDenials } = policy;
  const { hiddenPlaces, stateFolder } = policy;
  const writable = [workspace.root, ...addedWorkspaces.map(({ root }) => root)] as const;
  return {
    environment,
    writable,
    sandbox,
    denials: fileDenials,
    hidden: hiddenPlaces,
    stateFolder,
    atExit,
    variables: {
      ...toCredentialVariables(credentials, listHomes(environment), writable, environment),
      ...(trusted ? {} : toUntrustedGitVariables(isExpendable(sandbox))),
    },
    network,
    credentials,
    cacheFolder,
  };
}

function openAddedFolders({ addedFolders, environment }: PolicyRequest, { root, git }: Workspace): Workspace[] {
  if (addedFolders.length === 0) return [];
  return toAddedFolders({ folders: addedFolders, workspace: root, environment }).map((folder) =>
    createWorkspace(folder, { isAdded: true, git }),
  );
}
