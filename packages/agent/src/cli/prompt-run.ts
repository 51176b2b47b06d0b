/** One prompt of a person or a program at this machine: what it opens, its log, what it closes again. */
import { randomUUID } from "node:crypto";
import type { RunEvent, RunStart } from "@sheaf/protocol";
import type { Config } from "../config/config.ts";
import type { Environment } from "../base/paths.ts";
import { createFailedRun } from "../run/conversations/failed-run.ts";
import { respond } from "../run/conversations/respond.ts";
import { SheafError } from "../base/errors.ts";
import { prepareResponse } from "../assemble/prepare-response.ts";
import type { McpServers } from "../config/mcp-server-settings.ts";
import type { Model } from "../model/provider.ts";
import { createRecording, type Recording } from "../recording/recording.ts";
import { memoryFile, type Store } from "../store/store.ts";
import type { Approver } from "../tools/approval.ts";
import type { ToolBox } from "../tools/tool.ts";
import { sheafVersion } from "../base/version.ts";
import { createAnswerCheck, createModel, createStore } from "../assemble/wire.ts";
import { isUuid } from "./arguments.ts";
import type { FlagValues } from "./flags.ts";
import { chooseConversation, findNamedSession } from "./session-choice.ts";
import type { RunControl } from "./signals.ts";

/** How long the processes of cancelled tools may take to end before Sheaf exits all the same (C23). Milliseconds. */
const SETTLE_MS = 5000;

/** Wall clock that a change of the system's time does not move. Milliseconds since 1970. */
export const now = (): number => Math.round(performance.timeOrigin + performance.now());

/** What is asked for, and how. */
export interface PromptOrder {
  readonly message: Pick<RunStart, "prompt" | "answers">;
  readonly config: Config;
  readonly flags: FlagValues;
  readonly environment: Environment;
  readonly control: Pick<RunControl, "signal" | "abort">;
  /** How much of the time budget was spent before. Milliseconds; default 0. */
  readonly spentMs?: number | undefined;
  /** Servers of the Model Context Protocol that the caller brings, beside those of the configuration. */
  readonly mcpServers?: McpServers | undefined;
  /** Who may be asked (X8); undefined: nobody. */
  readonly approver?: Approver | undefined;
}

export interface PromptRun {
  /** The log as it grows; a run that cannot begin is a log too, with its reason (C22). */
  events(): AsyncGenerator<readonly RunEvent[]>;
  /** Waits for what tools left running, and lets the store go. Call it behind the last event. */
  close(): Promise<void>;
}

/** Opens nothing yet. */
export function createPromptRun(order: PromptOrder): PromptRun {
  return new OpenPromptRun(order);
}

class OpenPromptRun implements PromptRun {
  readonly #order: PromptOrder;
  readonly #config: Config;
  readonly #flags: FlagValues;
  readonly #responseId = `chat_${randomUUID()}`;
  #trusted = false;
  #recording: Recording | undefined;
  #store: Store | undefined;
  #tools: ToolBox | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(order: PromptOrder) {
    this.#order = order;
    this.#config = order.config;
    this.#flags = order.flags;
  }

  async *events(): AsyncGenerator<readonly RunEvent[]> {
    let model: Model | undefined;
    // The id of a run that cannot begin; a malformed one is not repeated in its lines (C5).
    const named = findNamedSession(this.#flags) ?? "";
    let conversationId = `conv_${isUuid(named) ? named.toLowerCase() : randomUUID()}`;
    let begun = false;
    this.#startTimer();
    try {
      const { record } = this.#flags;
      if (record !== undefined) this.#recording = createRecording(record);
      this.#trusted = this.#config.findTrust();
      model = await createModel(this.#config.chooseModel(), this.#order.control.signal);
      this.#store = await createStore(this.#flags["no-save"] ? memoryFile : this.#config.storeFile);
      conversationId = await chooseConversation(this.#flags, this.#store, this.#config.workspace);
      for await (const events of this.#respond(model, this.#store, conversationId)) {
        begun = true;
        yield events;
      }
    } catch (error) {
      // Behind the first event the log itself tells how it ended; anything thrown there is a defect.
      if (begun) throw error;
      // No command ran, and none could have run unheld.
      const sandbox = this.#config.sandbox === "disabled" ? "disabled" : "unavailable";
      yield createFailedRun({ ...this.#toStart(model, conversationId), sandbox }, error, now());
    }
  }

  /** What a run reads before it begins takes its time too: a pipe as a schema may never end. */
  #startTimer(): void {
    const { timeoutMs } = this.#config;
    if (timeoutMs === undefined) return;
    const leftMs = Math.max(0, timeoutMs - (this.#order.spentMs ?? 0));
    const message = `the run took longer than ${timeoutMs / 1000} s: raise --timeout`;
    this.#timer = setTimeout(() => this.#order.control.abort(new SheafError("BUDGET_TIME", message)), leftMs);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#tools) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, SETTLE_MS);
      await Promise.race([this.#tools.settle(), promise]);
      clearTimeout(timer);
    }
    this.#recording?.close();
    await this.#store?.close();
  }

  async *#respond(model: Model, store: Store, conversationId: string): AsyncGenerator<readonly RunEvent[]> {
    const { limits, stopsOnDenied } = this.#config;
    const { control, approver, environment } = this.#order;
    const abort = (reason: SheafError): void => control.abort(reason);
    const { signal } = control;
    const start = this.#toStart(model, conversationId);
    const { dataFolder, sandbox, addedFolders, permissions: rules } = this.#config;
    const mcpServers = { ...this.#config.mcpServers, ...this.#order.mcpServers };
    const approved = this.#flags["approve-mcps"] ? Object.keys(mcpServers).map((name) => `Mcp(${name}:*)`) : [];
    const permissions = { ...rules, allow: [...rules.allow, ...approved] };
    const order = {
      start,
      sandbox,
      limits,
      stopsOnDenied,
      permissions,
      addedFolders,
      mcpServers,
      dataFolder,
      isUnsaved: this.#flags["no-save"],
      environment,
    };
    const checkAnswer = await createAnswerCheck(this.#flags["output-schema"], signal);
    const prepared = await prepareResponse(order, { store, model, now, abort, checkAnswer, approver }, signal);
    const { settings, ports, tools } = prepared;
    this.#tools = tools;
    yield* respond(settings, this.#recording?.wrap(settings, ports, signal) ?? ports, signal);
  }

  #toStart(model: Model | undefined, conversationId: string): Omit<RunStart, "type" | "sandbox"> {
    const { mode, workspace, price, windowTokens } = this.#config;
    const name = this.#config.model ?? "";
    return {
      responseId: this.#responseId,
      conversationId,
      mode,
      model: model?.id ?? name,
      modelName: model?.name ?? name,
      apiKeySource: model?.apiKeySource ?? "none",
      workspace,
      permissionMode: toPermissionMode(mode, this.#flags.force ?? false),
      trusted: this.#trusted,
      sheafVersion,
      ...(price && { price }),
      ...(windowTokens !== undefined && { context: { windowTokens, usedTokens: 0 } }),
      ...this.#order.message,
    };
  }
}

function toPermissionMode(mode: Config["mode"], force: boolean): RunStart["permissionMode"] {
  if (mode === "plan" || mode === "ask") return mode;
  return force ? "force" : "default";
}
