/** The user's and the repository's commands and skills, for a user at a terminal or in an editor (C93). */
import { toUserFiles } from "@sheaf/base/paths";
import { findSkills } from "@sheaf/agent/config/skills";
import type { ToolServers } from "@sheaf/agent/assemble/wire-servers";
import { toConversationId } from "./session-id.ts";
import type { CommandIo } from "./io.ts";
import type { RunConfig } from "./run-config.ts";

/** A command that the user can type after a slash. */
export interface OwnCommand {
  readonly name: string;
  readonly description: string;
  /** Arguments that can follow; "" if unknown. */
  readonly hint: string;
}

/** Lists the present commands; a repository's only with trust. */
export function listOwnCommands(
  { workspace, findTrust }: Pick<RunConfig, "workspace" | "findTrust">,
  { environment }: Pick<CommandIo, "environment">,
): OwnCommand[] {
  const { skillFolders } = toUserFiles(environment);
  const { skills } = findSkills({ skillFolders, workspace, trusted: findTrust() });
  return skills.map(({ name, description, argumentHint }) => ({ name, description, hint: argumentHint }));
}

/** Lists prompts of the tool servers that run for a session (C111). */
export async function listServerCommands(toolServers: ToolServers, session: string): Promise<OwnCommand[]> {
  const prompts = await toolServers.listPrompts(toConversationId(session) ?? "");
  return prompts.map(({ command, description, arguments: args }) => {
    const words = args.map(({ name, isRequired }) => (isRequired ? name : `[${name}]`));
    return { name: command, description: description.split(/\r?\n/, 1)[0]!.slice(0, 1024), hint: words.join(" ") };
  });
}
