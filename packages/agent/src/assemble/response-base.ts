/** The base of every part of a response: its request, model, conversation, rules and commands. */
import type { Notice, RunStart } from "@sheaf/protocol";
import type { CommandRunner } from "@sheaf/sandbox/command";
import { SheafError } from "@sheaf/base/errors";
import type { ServerChoice } from "../config/workspace-servers.ts";
import { removeOldCaches } from "@sheaf/sandbox/hold/old-caches";
import { toCacheFolder } from "@sheaf/sandbox/hold/tool-caches";
import { type RunnerSettings, createSandbox } from "@sheaf/sandbox/create-sandbox";
import { checkAttachmentTypes } from "@sheaf/models/attachments";
import type { Model } from "@sheaf/models/provider";
import { type OpenConversation, openConversation } from "../run/conversations/open-conversation.ts";
import { type Instructions, readRepositoryInstructions, readUserInstructions } from "../run/prompts/instructions.ts";
import { toSystemPrompt } from "../run/prompts/system-prompt.ts";
import { findRepository } from "@sheaf/base/files/repository";
import { fillCommand, findSkills, parseTypedCommand, type Skill } from "../config/skills.ts";
import { createSkillTool, toInstructions } from "../tools/read-skill.ts";
import { isChosen, type CallableTool } from "../tools/registry.ts";
import type { RunUndo } from "../workspace/undo/run-undo.ts";
import { type PreparedPolicy, preparePolicy, toCommandOptions } from "./prepare-policy.ts";
import type { ResponsePorts } from "./prepare-response.ts";
import { allowServers, type PreparedServers } from "./prepare-servers.ts";
import { prepareUndo, recordCommands } from "./prepare-undo.ts";
import type { RunRequest } from "./run-request.ts";

export interface ResponseBase {
  readonly request: RunRequest;
  /** The model, made for this run. */
  readonly model: Model;
  readonly webSearch: boolean | undefined;
  readonly policy: PreparedPolicy;
  readonly conversation: OpenConversation;
  readonly skills: PreparedSkills;
  /** Instructions of the repository, whether trusted or not. */
  readonly instructions: readonly Instructions[];
  readonly commands: CommandRunner;
  /** Undefined if the run cannot be undone. */
  readonly undo: RunUndo | undefined;
  readonly undoNotice: Notice | undefined;
  readonly commandOptions: RunnerSettings;
  /** Absolute, links resolved. */
  readonly addedFolders: readonly string[];
  /** The place where the run may write; undefined: nowhere. */
  readonly dataFolder: string | undefined;
}

/** @throws SheafError USAGE for a rule that cannot be read, or a missing attachment type or search; STORAGE_… */
export async function openResponseBase(
  request: RunRequest,
  { store, model: found, now, cut, conversation: read }: Omit<ResponsePorts, "abort">,
  servers: ServerChoice,
): Promise<ResponseBase> {
  const model = found.forRun?.() ?? found;
  checkAttachmentTypes(request.message.attachments ?? [], model);
  const webSearch = request.webSearch === "if_possible" ? model.hasWebSearch : request.webSearch;
  if (webSearch && !model.hasWebSearch) throw createSearchError(model);
  const { isUnsaved = false } = request;
  const policy = await preparePolicy({
    ...request,
    permissions: allowServers(request, servers),
    sandboxMemory: request.dataFolder === undefined ? undefined : { folder: request.dataFolder, isReadOnly: isUnsaved },
    now,
  });
  const conversation = read ?? (await openConversation(store, request.conversationId, now, cut?.start.responseId));
  const dataFolder = isUnsaved ? undefined : request.dataFolder;
  const cacheFolder = dataFolder && toCacheFolder(dataFolder, request.cacheOwner ?? policy.workspace.root);
  if (cacheFolder !== undefined) void removeOldCaches(cacheFolder, now());
  const skills = prepareSkills(request);
  const commandOptions = { ...toCommandOptions(policy, request.trusted, cacheFolder), readOnly: skills.folders };
  const addedFolders = policy.addedWorkspaces.map(({ root }) => root);
  const { undo, notice: undoNotice } = prepareUndo(request, [policy.workspace.root, ...addedFolders], dataFolder);
  return {
    request,
    model,
    webSearch,
    policy,
    conversation,
    skills,
    instructions: readRepositoryInstructions(findRepository(request.workspace), request.workspace),
    commands: recordCommands(createSandbox(commandOptions), undo, {
      conversationId: request.conversationId,
      permissions: policy.permissions,
    }),
    undo,
    undoNotice,
    commandOptions,
    addedFolders,
    dataFolder,
  };
}

/**
 * The system prompt. Sheaf reads only the files of instructions of a workspace for it (S-01). A subagent has a
 * `basePrompt`, and gets no skills.
 */
export function createSystemPrompt(
  { request, addedFolders, skills, instructions }: ResponseBase,
  servers: Pick<PreparedServers, "instructions">,
  basePrompt?: string,
): string {
  const { workspace, trusted, userFiles, systemPrompt } = request;
  return toSystemPrompt({
    workspace,
    addedFolders,
    trusted,
    basePrompt: basePrompt ?? request.basePrompt,
    userInstructions: userFiles && readUserInstructions(userFiles.instructions),
    repositoryInstructions: instructions,
    serverInstructions: servers.instructions,
    skills: basePrompt === undefined ? skills.offered : [],
    programInstructions: systemPrompt,
  });
}

function createSearchError({ name }: Model): SheafError {
  const message = `the model ${name} has no web search that Sheaf can use`;
  const advice = `leave out --web-search (webSearch), or use Anthropic, OpenAI with Responses, or Gemini 3 or newer, for fallbacks too`;
  return new SheafError("USAGE", `${message}: ${advice}`);
}

/** The parts of a response from skills, if it has any. */
interface PreparedSkills {
  /** Skills that the model may choose. */
  readonly offered: readonly Skill[];
  readonly tools: readonly CallableTool[];
  /** Folders of skills that commands may read. Absolute, links resolved. */
  readonly folders: readonly string[];
  readonly start: Pick<RunStart, "commandNote" | "notices">;
}

function prepareSkills(request: RunRequest): PreparedSkills {
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

/** Leaves an unknown command to the model as it is, because many a message starts with a slash. */
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
    const text = `the command /${typed.name} does not exist (sheaf skills lists them): the message went to the model as it is`;
    return { notices: [...notices, { code: "COMMAND_UNKNOWN", message: text }] };
  }
  const text = skill.kind === "skill" ? toInstructions(skill) : fillCommand(skill, typed.arguments);
  return { commandNote: `The user typed /${skill.name}. The instructions of this command:\n\n${text}` };
}
