/** Skills and commands of one response (C90, C91). */
import type { RunStart } from "@sheaf/protocol";
import { fillCommand, findSkills, parseTypedCommand, type Skill } from "../config/skills.ts";
import { createSkillTool, toInstructions } from "../tools/read-skill.ts";
import { isChosen, type CallableTool } from "../tools/registry.ts";
import type { RunRequest } from "./run-request.ts";

/** What skills add to a response; nothing if there are none. */
export interface PreparedSkills {
  /** Those that the model may choose. */
  readonly offered: readonly Skill[];
  readonly tools: readonly CallableTool[];
  /** Folders of skills that commands may read. Absolute, links resolved. */
  readonly folders: readonly string[];
  readonly start: Pick<RunStart, "commandNote" | "notices">;
}

export function prepareSkills(request: RunRequest): PreparedSkills {
  const { userFiles, workspace, trusted, toolChoice } = request;
  const { skills } = findSkills({ skillFolders: userFiles?.skillFolders, workspace, trusted });
  const tool = skills.some(({ kind }) => kind === "skill") ? [createSkillTool(skills)] : [];
  const tools = tool.filter(({ name }) => isChosen(name, toolChoice));
  return {
    tools,
    folders: skills.flatMap(({ kind, folder }) => (kind === "skill" ? [folder] : [])),
    offered: tools.length > 0 ? skills.filter(({ isOffered }) => isOffered) : [],
    start: toStart(request, skills),
  };
}

/** A command that nobody knows goes to the model as it is: many a message begins with a slash. */
function toStart(
  { message, typed: words = message.prompt }: RunRequest,
  skills: readonly Skill[],
): PreparedSkills["start"] {
  const { notices = [] } = message;
  const typed = skills.length > 0 ? parseTypedCommand(words) : undefined;
  if (!typed) return {};
  const skill = skills.find(({ name }) => name === typed.name);
  if (!skill) {
    if (typed.name.startsWith("mcp__")) return {};
    const notice = `no command is named /${typed.name} (sheaf skills lists them): the message went to the model as it is`;
    return { notices: [...notices, notice] };
  }
  const text = skill.kind === "skill" ? toInstructions(skill) : fillCommand(skill, typed.arguments);
  return { commandNote: `The user typed /${skill.name}. The instructions of this command:\n\n${text}` };
}
