/**
 * The cassette: one NDJSON file with everything that came into a run from outside. docs/guide/record-and-replay.md
 * describes it (X11). It never holds keys, headers or the environment.
 */
import { createHash } from "node:crypto";
import type { ModelStreamFormat } from "@sheaf/documents/model-streams";
import type {
  HookEventName,
  HookResult,
  ModelEvent,
  OwnEventBody,
  RunEventBody,
  RunEventType,
  RunStart,
} from "@sheaf/protocol";
import { SheafError, isErrorCode, type ErrorSource } from "@sheaf/base/errors";
import type { ToolAccess } from "@sheaf/permissions/decision";
import type { ModelMessage } from "@sheaf/models/provider";
import type { BudgetLimits } from "../run/budget.ts";
import type { CheckedAnswer } from "../run/final-answer.ts";
import type { HookMoments } from "../run/run-hooks.ts";
import type { ApprovalDecision, ApprovalQuestion } from "../tools/approval.ts";
import type { ToolOutcome } from "../tools/tool.ts";

/** Version of the format; raised when an old reader would go wrong. */
export const cassetteVersion = 1;

/** First line: the settings of the run. */
export interface CassetteHeader {
  readonly cassette: typeof cassetteVersion;
  readonly sheafVersion: string;
  readonly start: Omit<RunStart, "type">;
  readonly system: string;
  /** Messages of the earlier responses, if any. A summary of the conversation is made from them. */
  readonly history?: readonly ModelMessage[];
  readonly limits: BudgetLimits;
  readonly stopsOnDenied: boolean;
  /** Whether the answer had to match a schema. */
  readonly checksAnswer: boolean;
  /** How long an approval may take; missing if nobody could be asked (X8). Milliseconds. */
  readonly approvalExpiryMs?: number;
  /** What the run was of its session; missing if the user had no hooks. */
  readonly hooks?: HookMoments;
  /** The tools that the model was offered at the start; missing in older cassettes. */
  readonly toolNames?: readonly string[];
  /** Missing if the run waited for no background command. */
  readonly backgroundWaitMs?: number;
  /** Made by `--redact`: digests are left out. */
  readonly redacted?: true;
}

/** An error of the closed table, as data. */
export interface RecordedError {
  readonly code: string;
  readonly message: string;
  readonly source: ErrorSource;
  readonly details: string;
  readonly resetsAt?: string;
}

/** What the run asked for or did. A replay must do the same. */
export type AskedRecord =
  /** The run read the clock. Milliseconds since 1970. */
  | { readonly type: "clock"; readonly time: number }
  /** A model request; one digest for each message that is new since the last request. */
  | {
      readonly type: "model_request";
      readonly turn: number;
      readonly system?: string;
      readonly messages?: readonly string[];
    }
  /** What a tool does to the world; once for each name, and for each call of a subagent. */
  | { readonly type: "tool_access"; readonly toolName: string; readonly access: ToolAccess }
  | {
      readonly type: "tool_call";
      readonly callId: string;
      readonly toolName: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly rawArguments?: string;
    }
  /** The question that a person must answer before a call, if any. */
  | { readonly type: "tool_review"; readonly callId: string; readonly question?: ApprovalQuestion }
  /** The run made the id of an approval. */
  | { readonly type: "approval_id"; readonly id: string }
  /** Hooks ran, and what they did; those after a call are in its outcome. */
  | { readonly type: "hook_run"; readonly event: HookEventName; readonly results: readonly HookResult[] }
  /** The result of checking an answer against the schema. */
  | { readonly type: "answer_check"; readonly checked: CheckedAnswer }
  /** The recording was closed. Nothing follows. */
  | { readonly type: "end" };

/** The raw answer of a provider, before it is decoded. */
export type BodyRecord =
  /** An answer begins; the one before it is void. */
  | { readonly type: "provider_response"; readonly format: ModelStreamFormat; readonly origin: string }
  /** One read of the socket, secrets hidden; base64 if it is not valid text, as when a character is cut. */
  | { readonly type: "provider_bytes"; readonly text: string; readonly encoding?: "base64" };

/** What came from outside. A replay delivers it in the same order. */
export type GivenRecord =
  | BodyRecord
  /** One read of the model; if its bytes are kept, the events decoded from them. */
  | { readonly type: "model_events"; readonly events: readonly ModelEvent[] }
  /** The model's stream is over. */
  | { readonly type: "model_end" }
  | { readonly type: "model_error"; readonly error: RecordedError }
  | {
      readonly type: "tool_output";
      readonly callId: string;
      readonly stream: "stdout" | "stderr";
      readonly delta: string;
    }
  /** Events of the subagent that a call runs. */
  | { readonly type: "agent_events"; readonly callId: string; readonly events: readonly OwnEventBody[] }
  /** A call asked the person while it ran (X59); `index`: which of its questions, from 0. */
  | {
      readonly type: "tool_question";
      readonly callId: string;
      readonly index: number;
      readonly question: ApprovalQuestion;
    }
  /** It no longer needs that answer. */
  | { readonly type: "tool_question_end"; readonly callId: string; readonly index: number }
  | { readonly type: "tool_outcome"; readonly callId: string; readonly outcome: ToolOutcome }
  /** A tool threw an unexpected error. */
  | { readonly type: "tool_error"; readonly callId: string; readonly message: string }
  | {
      readonly type: "quote_check";
      readonly filePath: string;
      readonly startLine: number;
      readonly endLine: number;
      readonly verified: boolean;
      /** Where the quote is, if not there. */
      readonly found?: { readonly startLine: number; readonly endLine: number };
    }
  /** A person answered. */
  | { readonly type: "approval_answer"; readonly approvalId: string; readonly answer: ApprovalDecision }
  | { readonly type: "store_error"; readonly error: RecordedError }
  | { readonly type: "abort"; readonly error: RecordedError };

/** Events that were stored in one step: their time, their types, and a digest of each. */
export interface EventsRecord {
  readonly type: "events";
  readonly time: number;
  readonly types: readonly RunEventType[];
  readonly digests?: readonly string[];
}

export type CassetteRecord = AskedRecord | GivenRecord | EventsRecord;

/** A decoded cassette. `records[0]` is line 2 of the file. */
export interface Cassette {
  /** Name of the file, for messages. */
  readonly file: string;
  readonly header: CassetteHeader;
  readonly records: readonly CassetteRecord[];
}

/** Number of a record's line. */
export function toLineNumber(index: number): number {
  return index + 2;
}

/** An error as data. */
export function toRecordedError(error: SheafError): RecordedError {
  const { code, message, source, details, resetsAt } = error;
  return { code, message, source, details, ...(resetsAt !== undefined && { resetsAt }) };
}

/** The recorded error. A code that this version does not know becomes INTERNAL. */
export function fromRecordedError({ code, message, source, details, resetsAt }: RecordedError): SheafError {
  const known = isErrorCode(code) ? code : "INTERNAL";
  return new SheafError(known, message, { source, details, ...(resetsAt !== undefined && { resetsAt }) });
}

type BytesRecord = Extract<BodyRecord, { type: "provider_bytes" }>;

/** As text if that preserves the bytes, so that a cassette can be read and searched. */
export function toBytesRecord(bytes: Uint8Array): BytesRecord {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString();
  if (Buffer.from(text).equals(buffer)) return { type: "provider_bytes", text };
  return { type: "provider_bytes", text: buffer.toString("base64"), encoding: "base64" };
}

export function toBytes({ text, encoding }: BytesRecord): Uint8Array {
  return Buffer.from(text, encoding ?? "utf8");
}

/** 16 hex digits: enough to tell two runs apart, but no protection against forgery. */
export function toDigest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

/** Digest of each event, without its number and time. */
export function toEventDigests(events: readonly (RunEventBody & { seq?: number; time?: number })[]): string[] {
  return events.map(({ seq: _seq, time: _time, ...body }) => toDigest(body));
}
