/** Decodes and checks the text of a cassette. */
import { parseJson } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import type { ModelMessage } from "@sheaf/models/provider";
import { cassetteVersion, type Cassette, type CassetteHeader, type CassetteRecord } from "./cassette.ts";

type Fields = Readonly<Record<string, "string" | "number" | "boolean" | "array" | "object">>;

/** The fields that a replay cannot do without. */
const headerFields: Fields = {
  sheafVersion: "string",
  start: "object",
  system: "string",
  limits: "object",
  stopsOnDenied: "boolean",
  checksAnswer: "boolean",
};
const startFields: Fields = {
  responseId: "string",
  conversationId: "string",
  mode: "string",
  model: "string",
  modelName: "string",
  workspace: "string",
  sheafVersion: "string",
  prompt: "string",
};
const recordFields: Readonly<Record<CassetteRecord["type"], Fields>> = {
  clock: { time: "number" },
  model_request: { turn: "number" },
  tool_access: { toolName: "string", access: "string" },
  tool_call: { callId: "string", toolName: "string", arguments: "object" },
  tool_review: { callId: "string" },
  approval_id: { id: "string" },
  hook_run: { event: "string", results: "array" },
  answer_check: { checked: "object" },
  end: {},
  model_events: { events: "array" },
  model_end: {},
  model_error: { error: "object" },
  tool_output: { callId: "string", stream: "string", delta: "string" },
  agent_events: { callId: "string", events: "array" },
  tool_question: { callId: "string", index: "number", question: "object" },
  tool_question_end: { callId: "string", index: "number" },
  tool_outcome: { callId: "string", outcome: "object" },
  tool_error: { callId: "string", message: "string" },
  quote_check: { filePath: "string", startLine: "number", endLine: "number", verified: "boolean" },
  approval_answer: { approvalId: "string", answer: "object" },
  store_error: { error: "object" },
  abort: { error: "object" },
  events: { time: "number", types: "array" },
  provider_response: { format: "string", origin: "string" },
  provider_bytes: { text: "string" },
};

/**
 * Decodes the text of a cassette file. Ignores an incomplete last line, as a killed run leaves one.
 * @throws SheafError CONFIG_INVALID that names the file, the line and what is wrong with it.
 */
export function decodeCassette(text: string, file: string): Cassette {
  const lines = text.split("\n");
  // The text after the last line end is empty, or a line that was being written when the process was killed.
  if (lines.at(-1) === "" || parseJson(lines.at(-1)!) === undefined) lines.pop();
  const [first, ...rest] = lines;
  if (first === undefined) throw createFault(file, 1, "the header is missing, the recorded run never began");
  return {
    file,
    header: decodeHeader(first, file),
    records: rest.map((line, index) => decodeRecord(line, file, index + 2)),
  };
}

function decodeHeader(line: string, file: string): CassetteHeader {
  const value = decodeObject(line, file, 1);
  if (value.cassette === undefined) throw createFault(file, 1, 'the header {"cassette":1,…} is missing');
  if (value.cassette !== cassetteVersion) {
    throw createFault(file, 1, `its version is ${JSON.stringify(value.cassette)}, this Sheaf reads ${cassetteVersion}`);
  }
  checkFields(value, headerFields, file, 1);
  checkFields(value.start as object, startFields, file, 1);
  if (value.history !== undefined) checkHistory(value.history, file);
  return value as unknown as CassetteHeader;
}

/** The fields of a message, by its role. */
const messageFields: Readonly<Record<ModelMessage["role"], Fields>> = {
  user: { text: "string" },
  assistant: { content: "array" },
  tool: { callId: "string", toolName: "string", output: "string" },
};

function checkHistory(history: unknown, file: string): void {
  if (!Array.isArray(history)) throw createFault(file, 1, `"history" is ${toKind(history)}, expected array`);
  for (const message of history as readonly unknown[]) {
    const { role } = (message ?? {}) as { readonly role?: unknown };
    if (typeof role !== "string" || !Object.hasOwn(messageFields, role)) {
      throw createFault(file, 1, `"history" has a message with an unknown role`);
    }
    checkFields(message as object, messageFields[role as ModelMessage["role"]], file, 1);
  }
}

function decodeRecord(line: string, file: string, lineNumber: number): CassetteRecord {
  const value = decodeObject(line, file, lineNumber);
  const { type } = value;
  if (typeof type !== "string" || !Object.hasOwn(recordFields, type)) {
    throw createFault(file, lineNumber, `the type ${JSON.stringify(type) ?? "undefined"} is unknown`);
  }
  checkFields(value, recordFields[type as CassetteRecord["type"]], file, lineNumber);
  return value as unknown as CassetteRecord;
}

function decodeObject(line: string, file: string, lineNumber: number): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw createFault(file, lineNumber, "it is not JSON", error);
  }
  if (toKind(value) !== "object") throw createFault(file, lineNumber, "it is not a JSON object");
  return value as Record<string, unknown>;
}

function checkFields(value: object, fields: Fields, file: string, lineNumber: number): void {
  for (const [name, kind] of Object.entries(fields)) {
    const found = toKind(Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined);
    if (found !== kind) throw createFault(file, lineNumber, `"${name}" is ${found}, expected ${kind}`);
  }
}

function toKind(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function createFault(file: string, lineNumber: number, problem: string, cause?: unknown): SheafError {
  return new SheafError(
    "CONFIG_INVALID",
    `the cassette ${file} cannot be used, line ${lineNumber}: ${problem}; record again with --record`,
    { cause },
  );
}
