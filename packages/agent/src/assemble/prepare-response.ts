/** Prepares the parts of one response from its request, in the same way for every door. */
import { randomUUID } from "node:crypto";
import type { Notice, RunStart } from "@sheaf/protocol";
import { isOffered } from "@sheaf/permissions/permissions";
import { findFault, type Sandbox } from "@sheaf/sandbox/sandbox";
import type { RespondPorts } from "../run/conversations/respond.ts";
import type { OpenConversation } from "../run/conversations/open-conversation.ts";
import type { CutLog } from "../run/conversations/cut-log.ts";
import type { PreparedRun } from "../run/conversations/response-runner.ts";
import type { RunSettings } from "../run/run.ts";
import { createExpiringApprover } from "../tools/approval.ts";
import type { EditorFiles } from "../tools/editor-files.ts";
import { type CallableTool, isChosen } from "../tools/registry.ts";
import { runTerminalCmdTool } from "../tools/run-terminal-cmd.ts";
import type { ToolBox } from "../tools/tool.ts";
import type { CommandRunner } from "@sheaf/sandbox/command";
import { toLine } from "@sheaf/base/files/read-folder";
import { createQuoteFinder } from "./find-quote.ts";
import { prepareHooks } from "./prepare-hooks.ts";
import { prepareNotes } from "./prepare-notes.ts";
import { choosePossibleServers, prepareServers } from "./prepare-servers.ts";
import { createSystemPrompt, openResponseBase, type ResponseBase } from "./response-base.ts";
import { createResponseTools } from "./response-tools.ts";
import { writeFileTool } from "../tools/write-file.ts";
import type { RunUndo } from "../workspace/undo/run-undo.ts";
import type { Restrictions } from "@sheaf/store/store";
import { toRunStart, type RunRequest, type TreeSetup } from "./run-request.ts";
import { listUntrustedNotices } from "./untrusted-notices.ts";
import { openAgents } from "./wire.ts";
import { createToolServers, type ToolServers } from "./wire-servers.ts";

export interface ResponsePorts extends Pick<
  RespondPorts,
  "store" | "model" | "now" | "abort" | "approver" | "checkAnswer" | "takeMessage"
> {
  /** The conversation, if the caller has read it already. */
  readonly conversation?: OpenConversation | undefined;
  /** The response that continues here, if it is not a new one (R-40). */
  readonly cut?: CutLog | undefined;
  /** Keeps tool servers for the next response (C51); undefined: they end with this one. */
  readonly toolServers?: ToolServers | undefined;
  /** The editor that the user works in (C57); undefined: none. */
  readonly editor?: EditorFiles | undefined;
  /** Tools of a program that uses Sheaf. */
  readonly customTools?: readonly CallableTool[] | undefined;
}

/**
 * Reads the conversation and makes the tools of its next response. Skills, hooks, set-up, subagents and tool servers
 * each add tools, words for the log's start, notices, and functions that close them.
 * @throws SheafError USAGE for a rule that cannot be read, or an attachment or search that the model lacks; STORAGE_…
 */
export async function prepareResponse(
  asked: RunRequest,
  given: ResponsePorts,
  signal: AbortSignal,
): Promise<PreparedRun> {
  const kept = await keepRestrictions(asked, given.store);
  const request = { ...kept, windowTokens: kept.windowTokens ?? (await given.model.findWindow?.(signal)) };
  const { now, approver, cut, customTools = [] } = given;
  const { toolServers = createToolServers(request.environment) } = given;
  const choice = await choosePossibleServers(request);
  const base = await openResponseBase(request, given, choice);
  const { conversation, commands, policy, skills, model } = base;
  const hooks = await prepareHooks(base, toolServers.sessions, now);
  const setupFailure = request.setup && (await runSetup(request.setup, commands, policy.workspace.root, signal));
  const agents = await openAgents(request);
  const isAttended = approver !== undefined;
  const notes = await prepareNotes(
    { request, policy, commands, known: conversation.known, isAttended, now: now() },
    signal,
  );
  const fillsPrompt = !cut && skills.start.commandNote === undefined;
  const servers = await prepareServers(base, choice, toolServers, fillsPrompt, signal);
  const system = createSystemPrompt(base, servers);
  // Once in a conversation.
  const agentNotices = conversation.messages.length === 0 ? (agents?.notices ?? []) : [];
  const added = { ...servers.start, ...notes, ...skills.start };
  const start = cut?.start ?? toStart(base, added, [...hooks.notices, ...agentNotices], setupFailure);
  const { undo } = base;
  // The first effect need not wait for it then. Files of an untrusted workspace are not read before (S-01).
  if (request.trusted && isOffered(request.mode, writeFileTool)) undo?.beginSoon();
  const keepState = undo && toStateKeeper(undo, signal);
  const run = {
    ...toOwnPorts({ ...given, model }),
    findQuote: createQuoteFinder(policy.workspace, policy.permissions, signal),
    hooks: hooks.hooks,
  };
  const toolBox = createResponseTools(base, {
    start,
    run: { ...run, model: given.model },
    servers,
    agents,
    editor: given.editor,
    customTools,
    isAttended,
    now,
  });
  const tools = closeWith(toolBox, [hooks.close, servers.close]);
  const { limits, stopsOnDenied, mode, modelName, effort, backgroundWaitMs } = request;
  const history = conversation.messages;
  return {
    settings: { start, cut, history, system, limits, stopsOnDenied, moments: hooks.moments, backgroundWaitMs },
    ports: {
      ...run,
      tools,
      keepState,
      choices: { mode, model: modelName, effort, ...request.restrictions },
    },
    tools,
  };
}

/** The ports that do not depend on the files of the workspace. */
export function toOwnPorts({ store, model, now, abort, approver, checkAnswer, takeMessage }: ResponsePorts) {
  return {
    store,
    model,
    now,
    abort,
    checkAnswer,
    takeMessage,
    newCallId: () => `call_${randomUUID()}`,
    newApprovalId: () => `appr_${randomUUID()}`,
    approver: approver && createExpiringApprover(approver),
  };
}

/** Milliseconds in which a model may answer before Sheaf records. */
const RECORD_MS = 250;

/** Records while the model answers and before the response ends. A response that was aborted ends its tools first. */
function toStateKeeper(undo: RunUndo, signal: AbortSignal): NonNullable<RespondPorts["keepState"]> {
  let timer: NodeJS.Timeout | undefined;
  return async (moment) => {
    clearTimeout(timer);
    // The next effect of a fast model need not wait for git.
    if (moment === "turn") timer = setTimeout(() => undo.record(), RECORD_MS).unref();
    else if (!signal.aborted) await undo.end();
  };
}

/** The first event of the log. `further` are the notices of the response's parts. */
function toStart(
  { request, webSearch, policy, addedFolders, conversation, undoNotice, instructions }: ResponseBase,
  parts: Partial<RunStart>,
  further: readonly Notice[],
  setupFailure: string | undefined,
): RunSettings["start"] {
  const { type: _type, ...added } = parts;
  const ordered = toRunStart({ ...request, webSearch });
  const hasCommands = mayRunCommands(request);
  const sandbox = hasCommands ? policy.sandbox.state : undefined;
  const notices: readonly Notice[] = [
    ...(mayRunCommands(request) ? listSandboxNotices(policy.sandbox) : []),
    ...(undoNotice ? [undoNotice] : []),
    ...(request.trusted ? [] : listUntrustedNotices({ ...request, instructions, sandbox })),
    ...further,
    ...(setupFailure === undefined ? [] : [{ code: "SETUP_FAILED", message: setupFailure } as const]),
  ];
  const { progress } = conversation;
  return {
    ...ordered,
    sandbox: policy.sandbox.state,
    ...(addedFolders.length > 0 && { addedFolders }),
    ...(Object.values(progress).some((items) => items.length > 0) && { progress }),
    ...(ordered.context && { context: { ...ordered.context, usedTokens: conversation.tokens } }),
    ...added,
    ...(notices.length > 0 && { notices: [...(added.notices ?? ordered.notices ?? []), ...notices] }),
    ...(setupFailure !== undefined && {
      environment: `${added.environment ?? "Changed in the environment:"}\n- Setup: ${setupFailure}`,
    }),
  };
}

function listSandboxNotices(sandbox: Sandbox): readonly Notice[] {
  const fault = findFault(sandbox);
  if (fault !== undefined) return [{ code: "SANDBOX_UNAVAILABLE", message: fault }];
  const message = "commands are not contained: --sandbox container lets them run with Sheaf's rights on this machine";
  return sandbox.state === "container" ? [{ code: "NOT_CONTAINED", message }] : [];
}

/** The request with the restrictions that its conversation has, unless the caller gives new ones (C69). */
async function keepRestrictions(request: RunRequest, store: ResponsePorts["store"]): Promise<RunRequest> {
  const { permissions, toolChoice = {}, message } = request;
  const { settings = {} } = (await store.getConversation(request.conversationId)) ?? {};
  const given = Object.entries(request.restrictions ?? {}).filter(([, list]) => list !== undefined);
  const { deny, tools, excludedTools }: Restrictions = { ...settings, ...Object.fromEntries(given) };
  const only = toolChoice.only ?? tools;
  const excluded = toolChoice.excluded ?? excludedTools;
  const kept = [
    ["--deny", deny, permissions.deny],
    ["--tools", tools, toolChoice.only],
    ["--exclude-tools", excludedTools, toolChoice.excluded],
  ] as const;
  const words = kept.flatMap(([flag, old, now]) =>
    old?.some((word) => !now?.includes(word)) ? [`${flag} ${old.join(" ")}`] : [],
  );
  const text = `the session keeps ${words.join(", ")}: use the same flags to change it`;
  const notices = [...(message.notices ?? []), { code: "RESTRICTIONS_KEPT" as const, message: text }];
  return {
    ...request,
    restrictions: { deny, tools, excludedTools },
    permissions: { ...permissions, deny: [...new Set([...permissions.deny, ...(deny ?? [])])] },
    toolChoice: { ...(only && { only }), ...(excluded && { excluded }) },
    ...(words.length > 0 && { message: { ...message, notices } }),
  };
}

/** Returns true if the mode and the caller let the run have commands. */
function mayRunCommands({ mode, toolChoice }: RunRequest): boolean {
  return isOffered(mode, runTerminalCmdTool) && isChosen(runTerminalCmdTool.name, toolChoice);
}

/** Closes the parts of the response after its tools. */
function closeWith(tools: ToolBox, closing: readonly ((() => Promise<void>) | undefined)[]): ToolBox {
  if (closing.every((close) => close === undefined)) return tools;
  return {
    ...tools,
    async settle() {
      const notices = await tools.settle();
      for (const close of closing) await close?.();
      return notices;
    },
  };
}

/** Longest part of a failed command's output in the message. Characters. */
const MAX_SETUP_OUTPUT = 300;

/** Prepares a new tree in the sandbox, with the rules for commands. Returns the reason of a failure (S-127). */
async function runSetup(
  { command, timeoutMs }: TreeSetup,
  commands: CommandRunner,
  workingDirectory: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const outcome = await commands.run({ command, workingDirectory, timeoutMs, signal, onOutput: () => undefined });
  const { exitCode, refusal, startError, timedOut, stderr } = outcome;
  if (exitCode === 0 && refusal === "" && startError === "") return undefined;
  const reason = refusal || startError || (timedOut ? "it took too long" : `exit code ${exitCode}`);
  const output = toLine(stderr.trim().slice(-MAX_SETUP_OUTPUT));
  return `the setup of the working tree failed (${reason})${output === "" ? "" : `: ${output}`}`;
}
