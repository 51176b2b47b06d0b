/** Records a run of fakes, and replays it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import { respond } from "../../src/run/conversations/respond.ts";
import type { SheafError } from "@sheaf/base/errors";
import type { Model } from "@sheaf/models/provider";
import { decodeCassette } from "../../src/recording/decode-cassette.ts";
import { createRecording } from "../../src/recording/recording.ts";
import { replayRun } from "../../src/recording/replay.ts";
import type { AnswerCheck } from "../../src/run/final-answer.ts";
import type { Quote } from "../../src/run/model-turn.ts";
import type { RunSettings } from "../../src/run/run.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { Store } from "@sheaf/store/store";
import type { Approver } from "../../src/tools/approval.ts";
import type { ToolBox } from "../../src/tools/tool.ts";
import { createFakeTools, start } from "../run/fake-ports.ts";

interface RecordOptions {
  readonly tools?: ToolBox;
  readonly settings?: Partial<RunSettings>;
  readonly store?: Store;
  readonly checkAnswer?: AnswerCheck;
  readonly approver?: Approver;
  /** Called with each event; may abort, and may take its time as a slow reader does. */
  readonly onEvent?: (event: RunEvent, abort: (reason?: SheafError) => void) => Promise<void> | void;
}

/** A run and its cassette. */
export interface RecordedRun {
  readonly events: readonly RunEvent[];
  /** Text of the cassette's file. */
  readonly cassette: string;
}

/** Runs a model with `--record`. The clock goes by the wall, so that no two runs are alike. */
export async function recordRun(model: Model, options: RecordOptions = {}): Promise<RecordedRun> {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-recording-"));
  const file = join(folder, "run.ndjson");
  const controller = new AbortController();
  const abort = (reason?: SheafError): void => controller.abort(reason);
  let approvals = 0;
  const settings = { start, history: [], system: "s", limits: {}, stopsOnDenied: false, ...options.settings };
  const ports = {
    model,
    tools: options.tools ?? createFakeTools({}),
    store: options.store ?? createSqliteStore(":memory:"),
    now: () => Math.round(performance.timeOrigin + performance.now()),
    newCallId: () => "call_x",
    newApprovalId: () => `appr_${(approvals += 1)}`,
    approver: options.approver,
    findQuote: async ({ content, startLine, endLine }: Quote) =>
      content === "right" ? { startLine, endLine } : undefined,
    checkAnswer: options.checkAnswer,
    abort,
  };
  try {
    const recording = createRecording(file);
    const events: RunEvent[] = [];
    const wrapped = recording.wrap(settings, ports, controller.signal);
    for await (const group of respond(settings, wrapped, controller.signal)) {
      for (const event of group) {
        events.push(event);
        await options.onEvent?.(event, abort);
      }
    }
    recording.close();
    return { events, cassette: readFileSync(file, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Replays the text of a cassette. */
export async function replayText(text: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const group of replayRun(decodeCassette(text, "run.ndjson"), createSqliteStore(":memory:")))
    events.push(...group);
  return events;
}

/** The lines of a cassette, without line ends. */
export function toRecords(text: string): string[] {
  return text.trimEnd().split("\n");
}
