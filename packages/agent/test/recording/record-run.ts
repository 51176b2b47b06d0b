/** Records a run of fakes, and replays it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import type { Model } from "@sheaf/models/provider";
import { decodeCassette } from "../../src/recording/decode-cassette.ts";
import { createRecording } from "../../src/recording/recording.ts";
import { replayRun } from "../../src/recording/replay.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";
import { runModel, type RunOptions } from "../run/fake-ports.ts";

/** A run and its cassette. */
export interface RecordedRun {
  readonly events: readonly RunEvent[];
  /** Text of the cassette's file. */
  readonly cassette: string;
}

/** Runs a model with `--record`. */
export async function recordRun(model: Model, options: RunOptions = {}): Promise<RecordedRun> {
  const file = join(createTemporaryFolder(), "run.ndjson");
  const recording = createRecording(file);
  const groups = await runModel(model, { ...options, settings: { system: "s", ...options.settings } }, recording);
  recording.close();
  return { events: groups.flat(), cassette: readFileSync(file, "utf8") };
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
