/** What one response uses, put together from its order: the same for every door. */
import { randomUUID } from "node:crypto";
import { readRepositoryInstructions, readUserInstructions } from "../run/prompts/instructions.ts";
import type { ServerChoice } from "../config/workspace-servers.ts";
import { toSystemPrompt } from "../run/prompts/system-prompt.ts";
import { openConversation } from "../run/conversations/open-conversation.ts";
import type { CutLog } from "../run/conversations/resume-response.ts";
import type { RespondPorts } from "../run/conversations/respond.ts";
import { SheafError } from "../base/errors.ts";
import { prepareNotes } from "./prepare-notes.ts";
import { preparePolicy, toCommandOptions } from "./prepare-policy.ts";
import { prepareServerPrompt } from "./prepare-server-prompt.ts";
import { prepareSkills } from "./prepare-skills.ts";
import type { Skill } from "../config/skills.ts";
import { checkAttachmentTypes } from "../model/attachments.ts";
import type { Model } from "../model/provider.ts";
import type { AnswerCheck } from "../run/final-answer.ts";
import type { HookMoments } from "../run/run-hooks.ts";
import type { RunSettings } from "../run/run.ts";
import { isOffered } from "../guard/permissions/permissions.ts";
import { parseRule } from "../guard/permissions/rule.ts";
import { createCommandRunner } from "../guard/sandbox/launch/command-runner.ts";
import { toCacheFolder } from "../guard/sandbox/hold/tool-caches.ts";
import { removeOldCaches } from "../guard/sandbox/hold/old-caches.ts";
import { findFault } from "../guard/sandbox/sandbox.ts";
import { createSearchProgram } from "../guard/sandbox/launch/search-program.ts";
import { toRunPrefix } from "../guard/sandbox/hold/mounts.ts";
import type { Store } from "../store/store.ts";
import { type Approver, createExpiringApprover } from "../tools/approval.ts";
import type { EditorFiles } from "../tools/editor-files.ts";
import type { Hooks } from "../tools/hooks/hooks.ts";
import { createToolBox } from "../tools/tool-box.ts";
import { runTerminalCmdTool } from "../tools/run-terminal-cmd.ts";
import { type CallableTool, isChosen, type ToolChoice } from "../tools/registry.ts";
import type { ToolBox } from "../tools/tool.ts";
import { createCheckpoints } from "../workspace/checkpoints.ts";
import { createKeptResults } from "../workspace/kept-results.ts";
import { toRunStart, type PermissionSettings, type RunOrder } from "./run-order.ts";
import { chooseServers, createToolServers, type Sessions, type ToolServers } from "./wire-servers.ts";
import { createCodeSearch, createPageFetcher, openAgents, openHooks } from "./wire.ts";
import { runSetup } from "./run-setup.ts";
import { findRepository } from "../workspace/repository.ts";
import { createQuoteFinder } from "./find-quote.ts";
import { createToldFacts } from "../run/prompts/environment-note.ts";

/** What the caller brings. */
export interface ResponsePorts {
  readonly store: Store;
  readonly model: Model;
  /** Milliseconds since 1970; never falling. */
  readonly now: () => number;
  /** Aborts the run. */
  readonly abort: (reason: SheafError) => void;
  /** Who may be asked (X8); undefined: nobody, so what needs a person is refused. */
  readonly approver?: Approver | undefined;
  readonly checkAnswer?: AnswerCheck | undefined;
  /** The response goes on here, in place of beginning. */
  readonly resumed?: CutLog | undefined;
  /** Keeps tool servers for the next response (C51); undefined: they end with this one. */
  readonly toolServers?: ToolServers | undefined;
  /** The editor that the user works in (C57); undefined: none. */
  readonly editor?: EditorFiles | undefined;
  /** Of a program that uses Sheaf. */
  readonly customTools?: readonly CallableTool[] | undefined;
}

/** Ready for `respond`. */
export interface PreparedResponse {
  readonly settings: RunSettings;
  readonly ports: RespondPorts;
  readonly tools: ToolBox;
}

/**
 * Reads the conversation and makes the tools of its next response.
 * @throws SheafError USAGE for a rule that cannot be read, or an attachment or a search that the model does not have; STORAGE_…
 */
export async function prepareResponse(
  order: RunOrder,
  {
    store,
    model: found,
    now,
    abort,
    approver,
    checkAnswer,
    editor,
    resumed,
    customTools = [],
    ...ports
  }: ResponsePorts,
  signal: AbortSignal,
): Promise<PreparedResponse> {
  const { toolServers = createToolServers(order.environment) } = ports;
  const { limits, stopsOnDenied, isUnsaved = false } = order;
  const model = found.forRun?.() ?? found;
  checkAttachmentTypes(order.message.attachments ?? [], model);
  const webSearch = order.webSearch === "if_possible" ? model.hasWebSearch : order.webSearch;
  if (webSearch && !model.hasWebSearch) throw createSearchError(model);
  const dataFolder = isUnsaved ? undefined : order.dataFolder;
  const { servers, leftOut, own }: ServerChoice = mayCallServers(order)
    ? await chooseServers(order)
    : { servers: {}, leftOut: [], own: new Set() };
  const policy = await preparePolicy({
    ...order,
    permissions: withServers(order, order.permissions.force ? Object.keys(servers) : [...own]),
    sandboxMemory: order.dataFolder === undefined ? undefined : { folder: order.dataFolder, isReadOnly: isUnsaved },
    now,
  });
  const { workspace, addedWorkspaces, sandbox, permissions } = policy;
  const addedFolders = addedWorkspaces.map(({ root }) => root);
  const conversation = await openConversation(store, order.conversationId, now, resumed?.start.responseId);
  const { progress } = conversation;
  const cacheFolder =
    dataFolder === undefined ? undefined : toCacheFolder(dataFolder, order.cacheOwner ?? workspace.root);
  if (cacheFolder !== undefined) void removeOldCaches(cacheFolder, now());
  const skills = prepareSkills(order);
  const commandOptions = { ...toCommandOptions(policy, order.trusted, cacheFolder), readFolders: skills.folders };
  const commands = createCommandRunner(commandOptions);
  const { hooks, notices: hookNotices } = await openHooks({
    sources: order.hooks,
    trustedWorkspace: order.runsWorkspaceHooks && order.trusted ? order : undefined,
    session: { conversationId: order.conversationId, permissionMode: toRunStart(order).permissionMode, workspace },
    commands,
    commandOptions,
    isServer: toolServers.sessions === "conversations",
    now,
  });
  const setupFailure = order.setup && (await runSetup(order.setup, commands, workspace.root, signal));
  const agents = await openAgents(order);
  // Once in a conversation.
  const agentNotices = conversation.messages.length === 0 ? (agents?.notices ?? []) : [];
  const fault = mayRunCommands(order) ? findFault(sandbox) : undefined;
  const notices = [
    ...(fault === undefined ? [] : [fault]),
    ...hookNotices,
    ...agentNotices,
    ...(setupFailure === undefined ? [] : [setupFailure]),
  ];
  const notes = await prepareNotes(
    { order, policy, commands, told: conversation.told, isAttended: approver !== undefined, now: now() },
    signal,
  );
  const rules = [...order.permissions.allow, ...conversation.state.answers.allow];
  const canFetchPages = approver !== undefined || rules.some((rule) => parseRule(rule).kind === "WebFetch");
  const system = createSystemPrompt(order, addedFolders, skills.offered);
  // Nothing after it fails but what releases it: the tools do so later.
  const mcp = mayCallServers(order)
    ? await toolServers.lease(
        { conversationId: order.conversationId, servers },
        { workspace: workspace.root, addedFolders },
        signal,
      )
    : undefined;
  const mcpServers = [...(mcp?.servers ?? []), ...leftOut];
  const serverPrompt =
    resumed || skills.start.commandNote !== undefined
      ? {}
      : await prepareServerPrompt(order, { prompts: mcp?.prompts, permissions, model }, signal).catch(
          async (error: unknown) => {
            await mcp?.release();
            throw error;
          },
        );
  const ordered = toRunStart({ ...order, webSearch });
  const start = {
    ...ordered,
    sandbox: sandbox.state,
    ...(addedFolders.length > 0 && { addedFolders }),
    ...(Object.values(progress).some((items) => items.length > 0) && { progress }),
    ...(ordered.context && { context: { ...ordered.context, usedTokens: conversation.tokens } }),
    ...(mcpServers.length > 0 && { mcpServers }),
    ...notes,
    ...skills.start,
    ...serverPrompt,
    ...(notices.length > 0 && { notices: [...(skills.start.notices ?? ordered.notices ?? []), ...notices] }),
    ...(setupFailure !== undefined && {
      environment: `${notes.environment ?? "Changed in the environment:"}\n- Setup: ${setupFailure}`,
    }),
  };
  const boxPorts = {
    workspace,
    addedWorkspaces,
    commands,
    search: createSearchProgram(commandOptions),
    permissions,
    state: conversation.state,
    codebase: createCodeSearch(dataFolder),
    editor,
    web: createPageFetcher(order.environment),
    checkpoints: dataFolder === undefined ? undefined : createCheckpoints(dataFolder, start.conversationId),
    results: createKeptResults(
      dataFolder === undefined
        ? { temporaryPrefix: () => toRunPrefix([workspace.root, ...addedFolders]) }
        : { dataFolder, conversationId: start.conversationId },
    ),
    afterEdit: order.afterEdit,
    mode: order.mode,
    offer: {
      choice: order.toolChoice,
      canRunCommands: sandbox.state !== "unavailable",
      canFetchPages,
    },
    furtherTools: [...customTools, ...skills.tools],
    openServerTools: mcp && ((choice?: ToolChoice) => mcp.openTools({ choice, messages: conversation.messages })),
  };
  const runPorts = {
    model,
    now,
    newCallId: () => `call_${randomUUID()}`,
    newApprovalId: () => `appr_${randomUUID()}`,
    findQuote: createQuoteFinder(workspace, permissions, signal),
    approver: approver && createExpiringApprover(approver),
  };
  const agentTool = agents?.createTool({
    mode: order.mode,
    limits,
    start: resumed?.start ?? start,
    run: { ...runPorts, model: found, hooks },
    stopsOnDenied,
    toolBox: boxPorts,
    permissionsFor: policy.permissionsFor,
    toSystemPrompt: (instructions) => createSystemPrompt({ ...order, basePrompt: instructions }, addedFolders, []),
    describeEnvironment: (mode, agentSignal) =>
      prepareNotes(
        {
          order: { ...order, mode },
          policy: { ...policy, permissions: policy.permissionsFor(mode) },
          commands,
          told: createToldFacts(),
          isAttended: false,
          now: now(),
        },
        agentSignal,
      ),
  });
  const toolBox = createToolBox({
    ...boxPorts,
    furtherTools: [...boxPorts.furtherTools, ...(agentTool ? [agentTool] : [])],
  });
  const settle = async (): Promise<void> => {
    await toolBox.settle();
    if (hooks) await keepHooks(hooks, order.conversationId, toolServers.sessions);
    await mcp?.release();
  };
  const tools: ToolBox = mcp || hooks ? { ...toolBox, settle } : toolBox;
  return {
    settings: {
      start: resumed?.start ?? start,
      resumed,
      history: conversation.messages,
      system,
      limits,
      stopsOnDenied,
      moments: hooks && findMoments(order.conversationId, conversation.messages.length === 0, toolServers.sessions),
    },
    ports: {
      ...runPorts,
      tools,
      store,
      abort,
      checkAnswer,
      hooks,
      choices: { mode: order.mode, model: order.modelName, effort: order.effort },
    },
    tools,
  };
}

function createSearchError({ name }: Model): SheafError {
  const message = `the model ${name} has no web search of its own that Sheaf can use`;
  const advice = `leave out --web-search (webSearch), or use Anthropic, OpenAI with Responses, or Gemini 3 or newer, for fallbacks too`;
  return new SheafError("USAGE", `${message}: ${advice}`);
}

/** Returns true if the mode and the caller let the run have commands. */
function mayRunCommands({ mode, toolChoice }: RunOrder): boolean {
  const { name, access } = runTerminalCmdTool;
  return isOffered(mode, { name, access }) && isChosen(name, toolChoice);
}

/** Modes that may call no tool of a server start and reach none (S-88). */
function mayCallServers({ mode }: RunOrder): boolean {
  return isOffered(mode, { name: "", access: "mcp" });
}

/** `--force` is for the tools of all servers, `--approve-mcps` for those of the user's own; deny rules win as ever. */
function withServers({ permissions, approvesServers }: RunOrder, names: readonly string[]): PermissionSettings {
  if (!permissions.force && !approvesServers) return permissions;
  return { ...permissions, allow: [...permissions.allow, ...names.map((name) => `Mcp(${name}:*)`)] };
}

/** A workspace contributes its files of instructions; nothing else of it is read (S-01). */
function createSystemPrompt(order: RunOrder, addedFolders: readonly string[], skills: readonly Skill[]): string {
  const { workspace, trusted, userFiles, basePrompt, systemPrompt } = order;
  const repository = findRepository(workspace);
  return toSystemPrompt({
    workspace,
    addedFolders,
    trusted,
    basePrompt,
    userInstructions: userFiles && readUserInstructions(userFiles.instructions),
    repositoryInstructions: readRepositoryInstructions(repository, workspace),
    skills,
    programInstructions: systemPrompt,
  });
}

/** What the response is of its session (C87). One that goes on has begun. */
function findMoments(conversationId: string, isNew: boolean, sessions: Sessions): HookMoments {
  const source = isNew ? "startup" : "resume";
  if (sessions === "runs") return { begins: source, ends: true };
  if (sessions === "conversations") return isNew ? { begins: source } : {};
  return sessions.has(conversationId) ? {} : { begins: source };
}

/** Until the session ends. */
async function keepHooks(hooks: Hooks, conversationId: string, sessions: Sessions): Promise<void> {
  if (typeof sessions === "string") return hooks.end();
  hooks.leaveRun();
  const before = sessions.get(conversationId);
  sessions.set(conversationId, hooks);
  await before?.end();
}
