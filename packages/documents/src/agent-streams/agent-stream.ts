/** Makes run logs, and so documents, from the output of other agents. */
import type { RunEvent } from "@sheaf/protocol";
import { createBodyDecoder } from "../model-streams/body-decoder.ts";
import { isJsonObject, parseJson, readCount, readString, type JsonObject } from "../model-streams/read-json.ts";
import { AgentRun, cutEnd } from "./agent-run.ts";
import { createClaudeReader } from "./claude-stream.ts";
import { createCodexReader } from "./codex-stream.ts";
import { createCursorReader } from "./cursor-stream.ts";
import { createGeminiCliReader } from "./gemini-cli-stream.ts";
import { createOpencodeReader } from "./opencode-stream.ts";

/** Formats of agents' streams. `claude-session` is a session stored by Claude Code; the others are printed output. */
export const agentStreamFormats = [
  "cursor-stream-json",
  "claude-stream-json",
  "claude-session",
  "codex-exec-json",
  "gemini-cli-stream-json",
  "opencode-json",
] as const;

export type AgentStreamFormat = (typeof agentStreamFormats)[number];

export interface AgentStreamOptions {
  /** Absolute folder of the run, for a stream without one. Default "". */
  readonly workspace?: string;
  /** Returns a new UUID, for ids that are missing in the stream. */
  readonly newId: () => string;
}

/** The content of a stream that became no event. No line is lost: each is an event or is here. */
export interface AgentStreamReport {
  /** Number of JSON objects. */
  readonly lines: number;
  /** Number of skipped texts that are not a JSON object. */
  readonly unparsable: number;
  /** Lines that became no event: questions to a person, lines of subagents, unknown kinds. */
  readonly others: readonly JsonObject[];
  /** Number of texts that differ from their deltas. */
  readonly differences: number;
  /** The last line that ended a run. */
  readonly result: JsonObject | undefined;
  /** Number of runs that ended. */
  readonly runs: number;
}

/** Makes run logs. Never throws, with any stream. */
export interface AgentStreamDecoder {
  /** Takes a chunk. The total events do not depend on the cuts. Each run of a stream has a `run_start`. */
  push(chunk: Uint8Array | string): RunEvent[];
  /** Ends the stream. Open calls get their result, and the last event is `run_end`. */
  end(): RunEvent[];
  readonly report: AgentStreamReport;
}

/** The part of the report that readers write. */
export interface AgentStreamNotes {
  differences: number;
}

export interface AgentReader {
  /** Returns false if the line became no event. */
  read(line: JsonObject): boolean;
  /** Ends a run in its middle, because the stream has ended. Default: `cutEnd`. */
  end?(): void;
}

type CreateAgentReader = (run: AgentRun, notes: AgentStreamNotes) => AgentReader;

const readers: Readonly<Record<AgentStreamFormat, CreateAgentReader>> = {
  "cursor-stream-json": createCursorReader,
  "claude-stream-json": createClaudeReader,
  "claude-session": createClaudeReader,
  "codex-exec-json": createCodexReader,
  "gemini-cli-stream-json": createGeminiCliReader,
  "opencode-json": createOpencodeReader,
};

export function createAgentStreamDecoder(format: AgentStreamFormat, options: AgentStreamOptions): AgentStreamDecoder {
  const body = createBodyDecoder();
  const run = new AgentRun(options);
  const others: JsonObject[] = [];
  const report = {
    lines: 0,
    unparsable: 0,
    others,
    differences: 0,
    get result() {
      return run.result;
    },
    get runs() {
      return run.runs;
    },
  };
  const reader = readers[format](run, report);

  function readText(text: string): void {
    const line = parseJson(text);
    if (!isJsonObject(line)) {
      report.unparsable += 1;
      return;
    }
    report.lines += 1;
    run.setTime(readTime(line));
    if (!reader.read(line)) others.push(line);
  }

  return {
    push(chunk) {
      for (const { data } of body.push(chunk)) readText(data);
      return run.takeEvents();
    },
    end() {
      for (const { data } of body.end()) readText(data);
      if (reader.end) reader.end();
      // A stream without any run is incomplete as well.
      if (run.isStarted || report.runs === 0) run.end(cutEnd);
      return run.takeEvents();
    },
    report,
  };
}

/** Returns milliseconds since 1970, from such a number or a date. */
function readTime({ timestamp_ms: milliseconds, timestamp }: JsonObject): number {
  return readCount(milliseconds, timestamp) ?? Date.parse(readString(timestamp));
}
