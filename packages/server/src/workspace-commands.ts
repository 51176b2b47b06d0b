/** Slash commands of a workspace, for clients that complete them (X88). */
import type { WorkspaceCommandList } from "@sheaf/protocol";
import { toUserFiles } from "@sheaf/base/paths";
import { findSkills, type Skill } from "@sheaf/agent/config/skills";
import { rankPaths } from "@sheaf/agent/workspace/rank-paths";
import type { ServerSettings } from "./server-context.ts";
import { findWorkspaceRoot } from "./workspace-files.ts";

/** Lifetime of a list, since each typed letter asks for it again. Milliseconds. */
const LIST_MS = 5000;

export interface WorkspaceCommands {
  /** Finds commands for a message in this workspace, best matches first. @throws HttpError NOT_FOUND. */
  search(name: string, query: string, limit: number): WorkspaceCommandList;
}

/** Finds the same commands as a run: the operator's, and those in a trusted workspace (S-146). */
export function createWorkspaceCommands(settings: ServerSettings, now: () => number): WorkspaceCommands {
  const lists = new Map<string, { readonly skills: ReadonlyMap<string, Skill>; readonly until: number }>();
  const list = (workspace: string): ReadonlyMap<string, Skill> => {
    const trusted = settings.isTrusted(workspace);
    const key = JSON.stringify([workspace, trusted]);
    const known = lists.get(key);
    if (known && known.until > now()) return known.skills;
    const { skillFolders } = toUserFiles(settings.environment);
    const { skills } = findSkills({ skillFolders, workspace, trusted });
    const byName = new Map(skills.map((skill) => [skill.name, skill]));
    lists.set(key, { skills: byName, until: now() + LIST_MS });
    return byName;
  };
  return {
    search(name, query, limit) {
      const skills = list(findWorkspaceRoot(settings, name));
      const ranked = rankPaths(query, [...skills.keys()].toSorted(), limit + 1);
      const commands = ranked.slice(0, limit).map((found) => {
        const { kind, description, argumentHint } = skills.get(found)!;
        return { name: found, kind, description, argumentHint };
      });
      return { commands, truncated: ranked.length > limit };
    },
  };
}
