/** One response as its log: opened, run, and closed again. Command line, editors and programs use it for prompts. */
import type { RunEvent } from "@sheaf/protocol";
import type { SheafError } from "@sheaf/base/errors";
import type { Model } from "@sheaf/models/provider";
import { startDeadline, type TimeLimit } from "../run/budget.ts";
import { createFailedRun } from "../run/run-failure.ts";
import { type EndNotice, respond, waitForTools, type RespondPorts } from "../run/conversations/respond.ts";
import type { Store } from "@sheaf/store/store";
import type { Telemetry } from "./telemetry.ts";
import { prepareResponse, type ResponsePorts } from "./prepare-response.ts";
import { toRunStart, type RunRequest } from "./run-request.ts";

/** The parts that a run opens before it starts. */
export interface OpenedRun extends Pick<
  ResponsePorts,
  "approver" | "checkAnswer" | "takeMessage" | "customTools" | "toolServers" | "editor"
> {
  readonly store: Store;
  readonly model: Model;
  /** Called after the tools' end, before the run's end is stored. Returns notices for it (C71). Never rejects. */
  readonly onToolsEnd?: (() => Promise<readonly EndNotice[]>) | undefined;
}

/** A prompt to answer, and the parts that its run needs. */
export interface LoggedRunParts {
  /** Facts that are known before anything opens: a run that cannot start needs them for its log (C22). */
  readonly request: RunRequest;
  /**
   * Opens the parts of the run. `complete` adds facts to the request that are known from then on. `onClose` takes a
   * function to call when the run is over, even if a later part could not be opened.
   */
  readonly open: (
    complete: (known: Partial<RunRequest>) => void,
    onClose: (close: () => Promise<void> | void) => void,
  ) => Promise<OpenedRun>;
  /** Opens the collector of facts about the run (C67). */
  readonly openTelemetry?: (() => Promise<Telemetry | undefined>) | undefined;
  readonly signal: AbortSignal;
  /** Aborts `signal`. */
  readonly abort: (reason: SheafError) => void;
  /** The limit includes the time in which the run reads files before it starts. */
  readonly timeLimit: TimeLimit;
  /** Milliseconds since 1970; never falling. */
  readonly now: () => number;
}

/** A run that has no reader yet. */
export interface LoggedRun {
  /** The log as it grows, in the groups in which it is stored; the last event is `run_end`, whatever happens. */
  events(): AsyncGenerator<readonly RunEvent[]>;
  /** Waits for everything that tools left running, and closes the opened parts. Call it after the last event. */
  close(): Promise<void>;
}

/** Opens the parts only once a reader asks for the events. */
export function createLoggedRun(parts: LoggedRunParts): LoggedRun {
  const { signal, abort, now } = parts;
  const closing: (() => Promise<void> | void)[] = [];
  return {
    async *events() {
      let { request } = parts;
      let hasBegun = false;
      closing.push(startDeadline(parts.timeLimit, abort));
      const telemetry = await parts.openTelemetry?.();
      if (telemetry) closing.push(() => telemetry.flush());
      const observe = telemetry?.startRun();
      try {
        const opened = await parts.open(
          (known) => (request = { ...request, ...known }),
          (close) => closing.unshift(close),
        );
        const prepared = await prepareResponse(request, { ...opened, now, abort }, signal);
        closing.unshift(async () => void (await waitForTools(prepared.tools)));
        const { settings } = prepared;
        const { onToolsEnd } = opened;
        const keepState: RespondPorts["keepState"] = async (moment) => {
          if (moment !== "end") return (await prepared.ports.keepState?.(moment)) ?? [];
          const ended = [...(await waitForTools(prepared.tools)), ...((await onToolsEnd?.()) ?? [])];
          return [...ended, ...(telemetry?.takeLosses() ?? [])];
        };
        const ports = { ...prepared.ports, keepState };
        for await (const events of respond(settings, ports, signal)) {
          hasBegun = true;
          observe?.(events);
          yield events;
        }
      } catch (error) {
        // After the first event, the log has the end of the run; anything thrown then is a defect.
        if (hasBegun) throw error;
        const sandbox = request.sandbox === "disabled" ? "disabled" : "untried";
        const events = createFailedRun({ ...toRunStart(request), sandbox }, error, now());
        observe?.(events);
        yield events;
      }
    },
    async close() {
      for (const close of closing.splice(0)) await close();
    },
  };
}
