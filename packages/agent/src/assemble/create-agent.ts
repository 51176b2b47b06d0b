/// <reference lib="esnext.disposable" preserve="true" />
/** The door for programs: an agent in one call. */
import { randomUUID } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { ClarificationAnswer, Effort, Mode, RunStart } from "@sheaf/protocol";
import { formatProblem, listProblems, placeWithin } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import { findNearest } from "@sheaf/base/nearest-names";
import { toUserFiles } from "@sheaf/base/paths";
import { isEffort, modes } from "../config/config.ts";
import { withVerify } from "../config/hook-settings.ts";
import { afterEditCommands, efforts, verifyCommands } from "../config/user-config.ts";
import type { McpServers } from "../config/mcp-settings.ts";
import { parseAskRule } from "@sheaf/permissions/permissions";
import { parseRule } from "@sheaf/permissions/rule";
import { chooseSandbox, type SandboxChoice, sandboxChoices } from "@sheaf/sandbox/find/choose-sandbox";
import { createSchemaCheck, findSchemaProblem, toAnswerCheck } from "../run/answer-schema.ts";
import type { BudgetLimits } from "../run/budget.ts";
import { createSchemaThread } from "../run/schema-thread.ts";
import { memoryFile, type SharedStore, type Store } from "@sheaf/store/store";
import type { AfterEditCommand } from "../tools/after-edit.ts";
import type { Approver } from "../tools/approval.ts";
import { startAgentRun, type AgentRun } from "./agent-run.ts";
import { chooseTools, type ChosenTools, type ToolOptions } from "./agent-tools.ts";
import { createUsageError, toCallableTool, toSchemaName, type CustomTool } from "./custom-tool.ts";
import { toMessageAttachments } from "@sheaf/base/files/attachment";
import { createLoggedRun, type OpenedRun } from "./logged-run.ts";
import { defaultEnvironment, type ModelOptions, toAgentModels, toModelOpener } from "./program-model.ts";
import type { PermissionSettings, RunRequest, RunSetup } from "./run-request.ts";
import { createStore } from "./wire-stores.ts";
import { now } from "./wire.ts";

/** Options of an agent. Only `workspace` and `model` are required. */
export interface AgentOptions extends ToolOptions, ModelOptions {
  /** The folder that the agent works on; absolute, or relative to the current folder. */
  readonly workspace: string;
  /** Default: `agent`. */
  readonly mode?: Mode;
  /** The amount of the model's thinking. Default: the model's own. */
  readonly effort?: Effort;
  /** The model's provider may search the web for it. Default: false. */
  readonly webSearch?: boolean;
  /** The model may give tasks to subagents (C96). Default: false. */
  readonly agents?: boolean;
  /** Servers of the Model Context Protocol, by name. */
  readonly mcpServers?: McpServers;
  /** Rules such as `Shell(npm test)`. Default: none, so Sheaf asks the approver or refuses the call. */
  readonly permissions?: Partial<PermissionSettings>;
  /** Decides on calls that need permission. Default: Sheaf refuses such calls. */
  readonly approver?: Approver;
  /**
   * The way commands are held. Default: `enabled`. If the sandbox cannot start, no command runs. `container` means that
   * this machine is a container that you throw away.
   */
  readonly sandbox?: SandboxChoice;
  /** True if the workspace's AGENTS.md instructs the model and its denials apply. Starts no server. Default: false. */
  readonly trusted?: boolean;
  /** More folders that the agent may work on. */
  readonly addedFolders?: readonly string[];
  /** Replaces Sheaf's own instructions; the workspace and the instructions of AGENTS.md stay (C46). */
  readonly systemPrompt?: string;
  /** The end of the system prompt. */
  readonly appendSystemPrompt?: string;
  /** Commands that run after a file was edited; `{file}` is its path (S-96). Default: none. */
  readonly afterEdit?: readonly AfterEditCommand[];
  /** Commands that must pass before a run succeeds (C168). They run in the sandbox. Default: none. */
  readonly verify?: readonly string[];
  /** Size of one request to the model, at least 1000. Default: the model's own window, if it is known. Tokens. */
  readonly contextTokens?: number;
  /** Limits of a run. */
  readonly limits?: BudgetLimits & { /** Milliseconds. */ readonly timeoutMs?: number };
  /** JSON Schema (draft 2020-12) that the final answer must fit. */
  readonly outputSchema?: object;
  /** The store of conversations, or the path of its SQLite file. Default: in memory. */
  readonly store?: Store | string;
  /** Folder for copies of changed files (for revert). Default: Sheaf writes no copies. */
  readonly dataFolder?: string;
  /** The documents bring the model's reasoning. Default: false. */
  readonly includeReasoning?: boolean;
}

/** One prompt. */
export interface AgentRunOptions {
  /** Ends the run within a moment; `metadata.finishReason` of its response is `cancelled`. */
  readonly signal?: AbortSignal;
  /** Id of the conversation that the prompt continues. Default: a new one. */
  readonly conversation?: string;
  /** Answers to the questions of the response before. */
  readonly answers?: readonly ClarificationAnswer[];
  /** Images, PDF files and texts that the model sees with the prompt (N65, N126). */
  readonly attachments?: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  /** Default: the agent's mode. */
  readonly mode?: Mode;
}

/** An agent: one setting for any number of runs, which may overlap in different conversations. */
export interface Agent extends AsyncDisposable {
  /** Starts to answer a prompt. @throws SheafError USAGE for a wrong option. */
  run(prompt: string, options?: AgentRunOptions): AgentRun;
  /** Waits for all runs to end, and closes the store if `createAgent` opened it. */
  close(): Promise<void>;
}

/**
 * Creates an agent. It opens its parts only with its first run.
 * @throws SheafError USAGE for a wrong option, AUTH_REQUIRED for a model whose key is missing, MODEL_NOT_FOUND,
 * CONFIG_INVALID. A later fault ends a run, and is in its response, such as a schema that cannot be used.
 */
export function createAgent(options: AgentOptions): Agent {
  checkOptions(options);
  const chosen = chooseTools(options);
  const setup = toSetup(options, chosen);
  const openModel = createOnce(toModelOpener(options));
  const openSchemas = createSchemaOpener(options, chosen.custom);
  const { store = memoryFile, approver } = options;
  let ownStore: SharedStore | undefined;
  const openStore = createOnce(async () => (typeof store === "string" ? (ownStore = await createStore(store)) : store));
  const running = new Set<Promise<unknown>>();

  const close = async (): Promise<void> => {
    await Promise.allSettled(running);
    await ownStore?.close();
  };

  return {
    run(prompt, runOptions = {}) {
      const request = toRequest(setup, prompt, runOptions);
      const controller = new AbortController();
      const { signal } = controller;
      const stopListening = listen(runOptions.signal, controller);
      const run = createLoggedRun({
        request,
        async open(complete, onClose) {
          onClose(stopListening);
          const { model, price, windowTokens } = await openModel();
          complete({ model, price, windowTokens: options.contextTokens ?? windowTokens });
          return { approver, ...(await openSchemas(signal, onClose)), model, store: await openStore() };
        },
        signal,
        abort: (reason) => controller.abort(reason),
        timeLimit: { timeoutMs: options.limits?.timeoutMs, advice: "raise limits.timeoutMs" },
        now,
      });
      const { responseId, conversationId: conversation } = request;
      const { includeReasoning = false } = options;
      const started = startAgentRun(run, { responseId, conversation }, { includeReasoning });
      const ended: Promise<unknown> = Promise.allSettled([started.result]).then(() => running.delete(ended));
      running.add(ended);
      return started;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The program's tools, and the check of its answers, for each run. Checks their schemas before the first request. */
function createSchemaOpener({ outputSchema, webSearch }: AgentOptions, tools: readonly CustomTool[]) {
  if (webSearch && tools.some(({ name }) => name === "web_search")) {
    throw createUsageError(
      'the provider\'s own tool has the name "web_search": give yours another name, or leave webSearch out',
    );
  }
  const schemas = [
    ...tools.map((tool) => [toSchemaName(tool), tool.parameters] as const),
    ...(outputSchema ? [["outputSchema", outputSchema] as const] : []),
  ];
  let areChecked = false;
  /** @throws SheafError USAGE for a schema that cannot be used; the reason of the signal. */
  return async (
    signal: AbortSignal,
    onClose: (close: () => void) => void,
  ): Promise<Pick<OpenedRun, "customTools" | "checkAnswer">> => {
    const thread = createSchemaThread(signal);
    onClose(() => thread.close());
    for (const [name, schema] of areChecked ? [] : schemas) {
      const problem = await findSchemaProblem(schema, thread);
      signal.throwIfAborted();
      if (problem !== undefined) throw createUsageError(`${name} ${problem}`);
    }
    areChecked = true;
    return {
      customTools: tools.map((tool) => toCallableTool(tool, createSchemaCheck(tool.parameters, thread))),
      checkAnswer: outputSchema && toAnswerCheck("outputSchema", createSchemaCheck(outputSchema, thread)),
    };
  };
}

const optionNames: Readonly<Record<keyof AgentOptions, true>> = {
  workspace: true,
  model: true,
  apiKey: true,
  baseUrl: true,
  fallbackModels: true,
  mode: true,
  effort: true,
  webSearch: true,
  agents: true,
  tools: true,
  excludeTools: true,
  allowedTools: true,
  mcpServers: true,
  permissions: true,
  approver: true,
  sandbox: true,
  trusted: true,
  addedFolders: true,
  systemPrompt: true,
  appendSystemPrompt: true,
  afterEdit: true,
  verify: true,
  contextTokens: true,
  limits: true,
  outputSchema: true,
  store: true,
  dataFolder: true,
  includeReasoning: true,
  environment: true,
};

/** Checks the options, because a program may have no types. */
function checkOptions(options: AgentOptions): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(optionNames, name)) continue;
    const nearest = findNearest(name, Object.keys(optionNames)).map((known) => JSON.stringify(known));
    const known = `use one of ${Object.keys(optionNames).join(", ")}`;
    const advice = nearest.length === 0 ? known : `did you mean ${nearest.join(" or ")}?`;
    throw createUsageError(`the option "${name}" is unknown: ${advice}`);
  }
  checkMode(options.mode);
  const { effort } = options;
  if (effort !== undefined && !isEffort(effort)) {
    throw createUsageError(`effort is ${JSON.stringify(effort)}: use one of ${efforts.join(", ")}`);
  }
  const { allow = [], ask = [], deny = [] } = options.permissions ?? {};
  for (const rule of [...allow, ...deny]) parseRule(rule);
  for (const rule of ask) parseAskRule(rule);
  const { sandbox = "enabled", limits = {} } = options;
  if (!sandboxChoices.includes(sandbox)) {
    throw createUsageError(`sandbox is ${JSON.stringify(sandbox)}: use one of ${sandboxChoices.join(", ")}`);
  }
  const { systemPrompt, afterEdit = [], verify = [], contextTokens = 1000 } = options;
  if (systemPrompt?.trim() === "")
    throw createUsageError("systemPrompt is empty: write the instructions, or leave it out");
  const [problem] = [
    ...placeWithin(["afterEdit"], listProblems(afterEditCommands, afterEdit)),
    ...placeWithin(["verify"], listProblems(verifyCommands, verify)),
  ];
  if (problem) throw createUsageError(formatProblem(problem, true));
  if (!(Number.isInteger(contextTokens) && contextTokens >= 1000)) {
    throw createUsageError(`contextTokens is ${JSON.stringify(contextTokens)}: use a whole number of at least 1000`);
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (limit !== undefined && !(typeof limit === "number" && limit > 0)) {
      throw createUsageError(`limits.${name} is ${JSON.stringify(limit)}: use a number above 0`);
    }
  }
}

function checkMode(mode: Mode = "agent"): void {
  if (!modes.includes(mode)) {
    throw createUsageError(`mode is ${JSON.stringify(mode)}: use one of ${modes.join(", ")}`);
  }
}

/** Everything but the mode of a run and the facts about its model. */
function toSetup(options: AgentOptions, { choice, allow }: ChosenTools): RunSetup {
  const { mode = "agent", environment, permissions = {}, limits = {}, addedFolders = [], dataFolder } = options;
  const { timeoutMs: _, ...budget } = limits;
  return {
    workspace: toFolder(options.workspace),
    mode,
    effort: options.effort,
    webSearch: options.webSearch,
    hasAgents: options.agents,
    agentModels: toAgentModels(options),
    includesReasoning: options.includeReasoning,
    sandbox: chooseSandbox(options.sandbox ?? "enabled"),
    limits: budget,
    stopsOnDenied: false,
    permissions: { force: false, deny: [], ...permissions, allow: [...(permissions.allow ?? []), ...allow] },
    addedFolders: addedFolders.map((folder) => resolve(folder)),
    mcpServers: options.mcpServers ?? {},
    dataFolder: dataFolder === undefined ? undefined : resolve(dataFolder),
    trusted: options.trusted ?? false,
    environment: environment ?? defaultEnvironment,
    userFiles: environment && toUserFiles(environment),
    basePrompt: options.systemPrompt,
    systemPrompt: options.appendSystemPrompt,
    toolChoice: choice,
    afterEdit: options.afterEdit,
    hooks: options.verify && { own: withVerify({}, options.verify), isSandboxed: true },
  };
}

function toFolder(workspace: string): string {
  if (typeof workspace !== "string" || workspace === "") {
    throw createUsageError(`workspace is ${JSON.stringify(workspace)}: name a folder`);
  }
  try {
    const real = realpathSync(resolve(workspace));
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw createUsageError(`the workspace ${workspace} cannot be opened (${code}): name a folder that exists`);
  }
  throw createUsageError(`the workspace ${workspace} is not a folder: name a folder`);
}

function toRequest(setup: RunSetup, prompt: string, options: AgentRunOptions): RunRequest {
  const { conversation = `conv_${randomUUID()}`, answers, attachments, mode = setup.mode } = options;
  if (typeof prompt !== "string" || prompt.trim() === "") {
    throw createUsageError(`the prompt is ${JSON.stringify(prompt)}: write a task for the agent`);
  }
  if (!/^conv_[\w-]{1,100}$/.test(conversation)) {
    const advice = 'give the "conversation" of another run, or "conv_" and a UUID';
    throw createUsageError(`conversation is ${JSON.stringify(conversation)}: ${advice}`);
  }
  checkMode(mode);
  return {
    ...setup,
    responseId: `chat_${randomUUID()}`,
    conversationId: conversation,
    message: { prompt, ...toFiles(attachments), ...(answers && answers.length > 0 && { answers }) },
    model: { id: "", name: "", apiKeySource: "none" },
    mode,
  };
}

/** @throws SheafError USAGE with the name of the file. */
function toFiles(files: AgentRunOptions["attachments"] = []): Pick<RunStart, "attachments"> {
  const wrong = files.find(({ name, bytes }) => typeof name !== "string" || !(bytes instanceof Uint8Array));
  if (wrong) throw createUsageError(`an attachment is not {name, bytes}: give the bytes of its file as a Uint8Array`);
  return files.length === 0 ? {} : { attachments: toMessageAttachments(files) };
}

/** Ends the run with the program's signal; call the result to listen no more. */
function listen(signal: AbortSignal | undefined, controller: AbortController): () => void {
  if (!signal) return () => undefined;
  const abort = (): void => {
    const cause: unknown = signal.reason;
    const error = new SheafError("CANCELLED", "cancelled by the program", { source: "user", cause });
    controller.abort(cause instanceof SheafError ? cause : error);
  };
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
}

/** Opens something at the first call; a call after a failure tries again. */
function createOnce<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let opened: Promise<Value> | undefined;
  return () => {
    opened ??= make().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}
