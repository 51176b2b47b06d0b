/** `sheaf -p PROMPT`: one response, printed (sections 1 and 2 of docs/formats/cli.md). */
import { randomUUID } from "node:crypto";
import type { RunEvent, RunStart } from "@sheaf/protocol";
import type { Config } from "../../config/config.ts";
import { toSystemPrompt } from "../../context/system-prompt.ts";
import { createFailedRun } from "../../conversations/failed-run.ts";
import { openConversation } from "../../conversations/open-conversation.ts";
import { respond } from "../../conversations/respond.ts";
import { SheafError } from "../../errors.ts";
import { createPermissions } from "../../permissions/permissions.ts";
import type { Model } from "../../providers/provider.ts";
import { createRecording, type Recording } from "../../recording/recording.ts";
import type { QuoteCheck } from "../../run/reference-checker.ts";
import { createCommandRunner } from "../../sandbox/command-runner.ts";
import type { Store } from "../../storage/store.ts";
import { createToolBox } from "../../tools/tool-box.ts";
import type { ToolBox } from "../../tools/tool.ts";
import { sheafVersion } from "../../version.ts";
import { createAnswerCheck, createModel, createStore } from "../../wire.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { isQuotedExactly } from "../../workspace/quote-check.ts";
import { isUuid, type ParsedArguments } from "../arguments.ts";
import { deliverEvents } from "../deliver.ts";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { createChosenProjection, isPrintMode, toOutputFormat } from "../output-choice.ts";
import { readPrompt } from "../prompt-text.ts";
import { reportEnd } from "../report-end.ts";
import { toConfig } from "../run-config.ts";
import { chooseConversation } from "../session-choice.ts";
import type { RunControl } from "../signals.ts";
import { toInputKind } from "../standard-input.ts";
import { createLineOutput } from "../standard-output.ts";

/** How long the processes of cancelled tools may take to end before Sheaf exits all the same (C23). Milliseconds. */
const SETTLE_MS = 5000;

/** Wall clock that a change of the system's time does not move. Milliseconds since 1970. */
const now = (): number => Math.round(performance.timeOrigin + performance.now());

/** Runs one prompt; gives the exit code (C20). */
export async function runPrompt(
  { flags, positionals }: ParsedArguments,
  io: CommandIo,
  control: RunControl,
): Promise<number> {
  if (!isPrintMode(flags, io)) {
    const needless = flags["output-format"] === undefined ? "" : "--output-format works in print mode only: ";
    throw new SheafError("USAGE", `${needless}write sheaf -p "your prompt" (see sheaf --help)`);
  }
  if (flags.format !== undefined) {
    throw new SheafError("USAGE", "--format goes with status and models: use --output-format");
  }
  // A wrong format or setting is told before anything is read from stdin.
  toOutputFormat(flags);
  const config = toConfig(flags, io);
  const prompt = await readPrompt(positionals, toInputKind(io.isInputTerminal), control.signal);
  return answerPrompt({ prompt }, config, flags, io, control);
}

/** Runs one response to its end and prints it; gives the exit code. */
export async function answerPrompt(
  message: Pick<RunStart, "prompt" | "answers">,
  config: Config,
  flags: FlagValues,
  io: CommandIo,
  control: RunControl,
): Promise<number> {
  const format = toOutputFormat(flags);
  const run = new PromptRun(config, flags, message, control);
  const delivery = await deliverEvents(run.events(io), {
    projection: createChosenProjection(format, flags, io),
    output: createLineOutput(1),
    onOutputError: (error) =>
      control.abort(
        new SheafError("CANCELLED", `stdout was closed (${error.code ?? error.message})`, { cause: error }),
      ),
    heartbeat: config.heartbeatMs === undefined ? undefined : { everyMs: config.heartbeatMs, now },
  });
  await run.close();
  return reportEnd(delivery, control.exitCode, flags.verbose ?? false);
}

/** What one prompt opens and closes again. */
class PromptRun {
  readonly #config: Config;
  readonly #flags: FlagValues;
  readonly #message: Pick<RunStart, "prompt" | "answers">;
  readonly #control: RunControl;
  readonly #responseId = `chat_${randomUUID()}`;
  #recording: Recording | undefined;
  #store: Store | undefined;
  #tools: ToolBox | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(config: Config, flags: FlagValues, message: Pick<RunStart, "prompt" | "answers">, control: RunControl) {
    this.#config = config;
    this.#flags = flags;
    this.#message = message;
    this.#control = control;
  }

  /** The log as it grows; a run that cannot begin is a log too, with its reason (C22). */
  async *events(io: CommandIo): AsyncGenerator<readonly RunEvent[]> {
    let model: Model | undefined;
    // The id of a run that cannot begin; a malformed one is not repeated in its lines (C5).
    const { "session-id": named = "" } = this.#flags;
    let conversationId = `conv_${isUuid(named) ? named.toLowerCase() : randomUUID()}`;
    let begun = false;
    try {
      const { record } = this.#flags;
      if (record !== undefined) this.#recording = createRecording(record);
      model = await createModel(this.#config.chooseModel());
      this.#store = await createStore(this.#flags["no-save"] ? undefined : this.#config.storeFile);
      conversationId = await chooseConversation(this.#flags, this.#store, this.#config.workspace);
      for await (const events of this.#respond(model, this.#store, conversationId, io)) {
        begun = true;
        yield events;
      }
    } catch (error) {
      // Behind the first event the log itself tells how it ended; anything thrown there is a defect.
      if (begun) throw error;
      yield createFailedRun(this.#toStart(model, conversationId), error, now());
    }
  }

  /** Waits for what tools left running, and lets the store go. */
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

  async *#respond(
    model: Model,
    store: Store,
    conversationId: string,
    io: CommandIo,
  ): AsyncGenerator<readonly RunEvent[]> {
    const { mode, workspace, limits, timeoutMs, stopsOnDenied } = this.#config;
    const { force = false, allow = [], deny = [] } = this.#flags;
    const conversation = await openConversation(store, conversationId);
    const files = createWorkspace(workspace);
    const tools = createToolBox({
      workspace: files,
      commands: createCommandRunner({ environment: io.environment }),
      permissions: createPermissions({ mode, force, allow, deny }),
      state: conversation.state,
      mode,
    });
    this.#tools = tools;
    const abort = (reason: SheafError): void => this.#control.abort(reason);
    if (timeoutMs !== undefined) {
      const message = `the run took longer than ${timeoutMs / 1000} s: raise --timeout`;
      this.#timer = setTimeout(() => abort(new SheafError("BUDGET_TIME", message)), timeoutMs);
    }
    const settings = {
      start: this.#toStart(model, conversationId),
      history: conversation.messages,
      system: toSystemPrompt(mode, workspace),
      limits,
      stopsOnDenied,
    };
    const { signal } = this.#control;
    const isInFile: QuoteCheck = (quote) => isQuotedExactly(files, quote, signal);
    const checkAnswer = await createAnswerCheck(this.#flags["output-schema"]);
    const newCallId = (): string => `call_${randomUUID()}`;
    const ports = { model, tools, store, now, newCallId, isInFile, checkAnswer, abort };
    yield* respond(settings, this.#recording?.wrap(settings, ports, signal) ?? ports, signal);
  }

  #toStart(model: Model | undefined, conversationId: string): Omit<RunStart, "type"> {
    const { mode, workspace, price } = this.#config;
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
      sandbox: "disabled",
      trusted: this.#flags.trust ?? false,
      sheafVersion,
      ...(price && { price }),
      ...this.#message,
    };
  }
}

function toPermissionMode(mode: Config["mode"], force: boolean): RunStart["permissionMode"] {
  if (mode === "plan" || mode === "ask") return mode;
  return force ? "force" : "default";
}
