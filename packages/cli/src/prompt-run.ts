/** Turns one prompt on this machine, with flags and configuration, into a run. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { Mode, RunStart } from "@sheaf/protocol";
import { createLoggedRun, type LoggedRun, type OpenedRun, type LoggedRunParts } from "@sheaf/agent/assemble/logged-run";
import type { RunRequest } from "@sheaf/agent/assemble/run-request";
import { createAnswerCheck, now, openTelemetry } from "@sheaf/agent/assemble/wire";
import { createModels, recordBodies } from "@sheaf/agent/assemble/wire-models";
import { createStore } from "@sheaf/agent/assemble/wire-stores";
import type { ToolServers } from "@sheaf/agent/assemble/wire-servers";
import { SheafError } from "@sheaf/base/errors";
import { toUserFiles } from "@sheaf/base/paths";
import { createDayBudget, type DayBudget } from "./day-budget.ts";
import type { FlagValues } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import { checkOutputFile } from "./output-file.ts";
import { toConversationId } from "./session-id.ts";
import { findConversation } from "./session-words.ts";
import type { RunControl } from "./signals.ts";
import type { RunConfig } from "./run-config.ts";
import type { Model } from "@sheaf/models/provider";
import { longestBackgroundWait } from "@sheaf/agent/config/config";
import type { McpServers } from "@sheaf/agent/config/mcp-settings";
import { readConversationSettings } from "@sheaf/agent/run/conversations/conversation-settings";
import { memoryFile, type SharedStore, type Store } from "@sheaf/store/store";
import type { Approver } from "@sheaf/agent/tools/approval";
import type { EditorFiles } from "@sheaf/agent/tools/editor-files";

/** Everything that determines a prompt's run. */
export interface PromptOrder {
  readonly message: Pick<RunStart, "prompt" | "shortens" | "attachments" | "answers" | "stdin">;
  readonly config: RunConfig;
  readonly flags: FlagValues;
  readonly io: Pick<CommandIo, "environment" | "cwd">;
  readonly control: Pick<RunControl, "signal" | "abort">;
  /** Milliseconds of the time budget that are used up already; default 0. */
  readonly spentMs?: number | undefined;
  /** Servers of the Model Context Protocol from the caller, in addition to the configuration's. */
  readonly mcpServers?: McpServers | undefined;
  /** Asks the user about calls (X8); undefined without a user. */
  readonly approver?: Approver | undefined;
  /** Takes messages for the run while it works (C240). */
  readonly takeMessage?: OpenedRun["takeMessage"];
  /** Tool servers that stay open for the next prompt (C51). */
  readonly toolServers?: ToolServers | undefined;
  /** Files of the editor that sent the prompt (C57). */
  readonly editor?: EditorFiles | undefined;
  readonly wrapModel?: ((model: Model) => Model) | undefined;
}

/** Creates the run, which opens its ports later. */
export function createPromptRun(prompt: PromptOrder): LoggedRun {
  const { config, control, spentMs = 0 } = prompt;
  const request = toRunRequest(prompt);
  let dayBudget: DayBudget | undefined;
  const run = createLoggedRun({
    request,
    open: async (complete, onClose) => {
      const opened = await openPorts({ ...prompt, responseId: request.responseId }, complete, onClose);
      const { labels, maxCostUsdPerDay: maxCostUsd } = config;
      if (prompt.flags["no-save"]) return opened;
      dayBudget = createDayBudget({ store: opened.store, labels, maxCostUsd, now });
      return { ...opened, model: dayBudget.limit(opened.model) };
    },
    openTelemetry: () => openTelemetry(prompt.io.environment, { hasParent: true }),
    signal: control.signal,
    abort: (reason) => control.abort(reason),
    timeLimit: { timeoutMs: config.timeoutMs, spentMs, advice: "raise --timeout" },
    now,
  });
  return {
    ...run,
    async *events() {
      for await (const events of run.events()) {
        await dayBudget?.note(events);
        yield events;
      }
    },
  };
}

function toRunRequest({ message, config, flags, io: { environment }, ...prompt }: PromptOrder): RunRequest {
  // The id of a run that fails at its start; a malformed one doesn't appear in its lines (C5).
  const named = findNamedSession(flags) ?? "";
  const name = config.model ?? "";
  const mcpServers = { ...config.mcpServers, ...prompt.mcpServers };
  return {
    ...config,
    responseId: `chat_${randomUUID()}`,
    conversationId: toConversationId(named) ?? `conv_${randomUUID()}`,
    message: {
      ...message,
      ...(flags["output-schema"] !== undefined && { hasSchema: true }),
      ...(config.labels && { labels: config.labels }),
      ...(config.notices.length > 0 && { notices: config.notices }),
    },
    model: { id: name, name, apiKeySource: "none" },
    modelName: config.model,
    includesReasoning: flags["include-thinking"],
    trusted: false,
    mcpServers,
    runsWorkspaceHooks: true,
    approvesServers: flags["approve-mcps"],
    isUnsaved: flags["no-save"],
    restrictions: {
      deny: flags.deny,
      tools: config.toolChoice.only,
      excludedTools: config.toolChoice.excluded,
    },
    environment,
    userFiles: toUserFiles(environment),
    // In a conversation, the user ends background commands or waits for them.
    backgroundWaitMs: prompt.toolServers ? 0 : (config.backgroundWaitMs ?? longestBackgroundWait * 1000),
  };
}

interface OpenOrder extends PromptOrder {
  readonly responseId: string;
}

async function openPorts(
  { config: given, flags, io: { environment, cwd }, control, responseId, ...ports }: OpenOrder,
  complete: Parameters<LoggedRunParts["open"]>[0],
  onClose: Parameters<LoggedRunParts["open"]>[1],
): Promise<OpenedRun & { readonly store: SharedStore }> {
  const { signal } = control;
  complete({ trusted: given.findTrust() });
  const lastMessage = flags["output-last-message"];
  if (lastMessage !== undefined) checkOutputFile(resolve(cwd, lastMessage));
  // A new session without the flag has no tree.
  const { worktree, resume, continue: isContinued, "session-id": sessionId } = flags;
  const mayHaveTree = [worktree, resume, isContinued, sessionId].some((flag) => flag !== undefined);
  const trees = mayHaveTree ? await import("./run-tree.ts") : undefined;
  const folders = trees?.listSessionFolders(given, flags) ?? [given.workspace];
  const config = await withStoredModel(given, flags, folders);
  const [choice, fallbacks, prices] = [config.chooseModel(), config.chooseFallbacks(), await config.findPrices(now())];
  const model = await recordBodies(await createModels(choice, fallbacks, prices, signal), choice, {
    file: flags["record-body"] && resolve(cwd, flags["record-body"]),
    abort: control.abort,
  });
  const { model: modelName, windowTokens } = config;
  complete({ model, modelName, windowTokens, price: prices.get(modelName ?? "") });
  const store = await createStore(flags["no-save"] ? memoryFile : config.storeFile);
  onClose(() => store.close());
  const conversationId = await chooseConversation(flags, store, folders);
  complete({ conversationId, mode: await chooseMode(config, flags, store, conversationId) });
  const tree = await trees?.openRunTree({ config, flags, environment, conversationId, responseId }, store);
  if (tree) {
    onClose(() => tree.close());
    complete({ workspace: tree.workspace, trusted: tree.trusted });
  }
  const checkAnswer = await createAnswerCheck(flags["output-schema"], cwd, signal, onClose);
  return {
    store,
    model: ports.wrapModel?.(model) ?? model,
    approver: ports.approver,
    takeMessage: ports.takeMessage,
    toolServers: ports.toolServers,
    editor: ports.editor,
    checkAnswer,
    onToolsEnd: tree && (() => tree.end()),
  };
}

/**
 * Returns the conversation's id, `conv_<uuid>`: from the flags, the newest of these folders, or a new one. A whole id
 * without a stored conversation becomes a new one's id (C14).
 * @throws SheafError USAGE for a word that isn't an id, or without a session to continue.
 */
export async function chooseConversation(flags: FlagValues, store: Store, folders: readonly string[]): Promise<string> {
  const { resume } = flags;
  if (flags["no-save"] && flags.worktree !== undefined) {
    throw new SheafError("USAGE", "--worktree needs a stored session: leave --no-save out");
  }
  if (flags["no-save"] && flags["max-cost-usd-per-day"] !== undefined) {
    throw new SheafError("USAGE", "--max-cost-usd-per-day needs stored costs: leave --no-save out");
  }
  if (flags["no-save"] && (resume !== undefined || flags.continue)) {
    throw new SheafError("USAGE", "a run with --no-save cannot continue a session: leave --no-save out");
  }
  const named = findNamedSession(flags);
  if (named !== undefined && flags["session-id"] === undefined) {
    return findConversation(store, named, { isResumed: true });
  }
  if (named !== undefined) {
    const id = toConversationId(named);
    if (id !== undefined) return id;
    throw new SheafError("USAGE", `--session-id "${named}" is not a UUID: sheaf create-chat makes one`);
  }
  if (resume === undefined && !flags.continue) return `conv_${randomUUID()}`;
  const found = await Promise.all(folders.map((workspace) => store.listConversations({ limit: 1, workspace })));
  const [newest] = found.flat().toSorted((one, other) => other.updatedAt - one.updatedAt);
  if (newest) return newest.id;
  const place = folders[0] ?? (flags.worktree ? `the working tree ${flags.worktree}` : "any working tree");
  throw new SheafError("USAGE", `${place} has no session to continue: leave --continue or --resume out`);
}

/** Returns a continued session's settings: its model, unless a flag or a setting has another (C69). */
async function withStoredModel(config: RunConfig, flags: FlagValues, folders: readonly string[]): Promise<RunConfig> {
  const isContinued = flags.continue || findNamedSession(flags) !== undefined || flags.resume !== undefined;
  if (config.model !== undefined || flags["no-save"] || !isContinued) return config;
  const store = await createStore(config.storeFile);
  try {
    const conversation = await store.getConversation(await chooseConversation(flags, store, folders));
    const name = conversation?.settings.model;
    return name === undefined ? config : { ...config, ...config.withModel(name), notices: config.notices };
  } finally {
    await store.close();
  }
}

/** Returns the flag's or the conversation's mode (C69). @throws SheafError USAGE if `--verify` needs another (C168). */
async function chooseMode({ mode }: RunConfig, flags: FlagValues, store: Store, id: string): Promise<Mode> {
  const conversation = flags.mode === undefined && !flags.plan ? await store.getConversation(id) : undefined;
  const chosen = (conversation && (await readConversationSettings(store, conversation)).mode) ?? mode;
  if (flags.verify && (chosen === "ask" || chosen === "plan")) {
    const message = `--verify is for runs that change files, and ${chosen} mode changes none`;
    throw new SheafError("USAGE", `${message}: leave it out, or choose --mode agent`);
  }
  return chosen;
}

/** Returns the session in the flags, in its given form. @throws SheafError USAGE for two different ones. */
export function findNamedSession(flags: FlagValues): string | undefined {
  const { resume, "session-id": sessionId } = flags;
  const named = sessionId ?? (resume || undefined);
  const toId = (word: string): string => toConversationId(word) ?? word;
  const isOther = resume !== undefined && sessionId !== undefined && toId(resume) !== toId(sessionId);
  if (sessionId !== undefined && (isOther || flags.continue)) {
    throw new SheafError(
      "USAGE",
      `--session-id ${sessionId} and --resume or --continue name two sessions: leave --session-id out`,
    );
  }
  return named;
}
