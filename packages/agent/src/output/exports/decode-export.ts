/** Reads and checks the JSON of an export, which anybody may have written (S-71). */
import { isAbsolute } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { createAssembler, toWellFormed } from "@sheaf/documents";
import type { RunEvent, RunEventBody, StreamEvent } from "@sheaf/protocol";
import { isJsonObject, type JsonObject } from "@sheaf/protocol/check-value";
import { verify } from "@sheaf/protocol/verify";
import { SheafError } from "@sheaf/base/errors";
import { toAttachment, toMessageFile } from "@sheaf/base/files/attachment";
import { toOwnEvent } from "../agent-names.ts";
import { exportVersion, type ConversationExport, type ExportedResponse } from "./conversation-export.ts";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const conversationPattern = new RegExp(`^conv_${uuid}$`);
const responsePattern = new RegExp(`^chat_${uuid}$`);

/** The problem of an export, to follow "is not an export of Sheaf". */
class ExportFault extends Error {}

/**
 * Returns a conversation with logs that produce valid documents (N44, N48), marked as imported.
 * @throws SheafError USAGE with the file and its first problem.
 */
export function decodeExport(text: string, file: string): ConversationExport {
  try {
    return toExport(toWellFormed(JSON.parse(text) as unknown));
  } catch (error) {
    const problem = error instanceof ExportFault ? error.message : "it cannot be read";
    throw new SheafError("USAGE", `${file} is not an export of Sheaf (${problem}): write one with sheaf export`, {
      cause: error,
    });
  }
}

function toExport(value: unknown): ConversationExport {
  const { sheafExport, conversation, responses } = toFields(value, "the file");
  if (sheafExport !== exportVersion) {
    throw new ExportFault(
      `its version is ${JSON.stringify(sheafExport) ?? "missing"}, this Sheaf reads ${exportVersion}`,
    );
  }
  const { id, workspace, title, createdAt } = toFields(conversation, '"conversation"');
  check(isMatch(id, conversationPattern), '"conversation.id" is not a conv_UUID');
  check(typeof workspace === "string" && typeof title === "string", '"conversation" lacks its workspace or title');
  check(isTime(createdAt), '"conversation.createdAt" is not a time');
  check(Array.isArray(responses) && responses.length > 0, '"responses" is empty');
  const head = { id, workspace, title, createdAt } as ConversationExport["conversation"];
  const all = (responses as unknown[]).map((response, index) => toExportedResponse(response, head.id, index + 1));
  check(new Set(all.map((response) => response.id)).size === all.length, "two responses have one id");
  return { sheafExport: exportVersion, conversation: head, responses: all };
}

function toExportedResponse(value: unknown, conversationId: string, number: number): ExportedResponse {
  const name = `response ${number}`;
  const { id, createdAt, events } = toFields(value, name);
  check(isMatch(id, responsePattern), `the id of ${name} is not a chat_UUID`);
  check(isTime(createdAt), `"createdAt" of ${name} is not a time`);
  check(Array.isArray(events) && events.length > 0, `${name} has no events`);
  const log = events as RunEvent[];
  const isNumbered = log.every((event, index) => toFields(event, `an event of ${name}`).seq === index + 1);
  check(isNumbered, `the events of ${name} are not numbered from 1 without a gap`);
  check(
    log.every(({ time }) => isTime(time)),
    `an event of ${name} has no time`,
  );
  const [first] = log;
  check(
    first?.type === "run_start" && first.responseId === id && first.conversationId === conversationId,
    `${name} does not start with its run_start`,
  );
  check(log.at(-1)?.type === "run_end", `${name} does not end with run_end`);
  const imported = toImportedLog(log);
  checkDocuments(imported, name);
  for (const logged of imported) {
    const event = logged.type === "agent_event" ? toOwnEvent(logged) : logged;
    checkWords(event, name);
    checkPlaces(event, name);
    checkAttachments(event, name);
  }
  return { id: id as string, createdAt: createdAt as number, events: imported };
}

/** Returns a log as an import stores it, without approvals, which do not apply here (S-06, S-16, S-91). */
export function toImportedLog(log: readonly RunEvent[]): RunEvent[] {
  const isApproval = ({ type }: RunEventBody): boolean => type === "approval_request" || type === "approval_resolved";
  const kept = log.filter((event) => !isApproval(event.type === "agent_event" ? event.event : event));
  return kept.map((event, index) => {
    const numbered = { ...event, seq: index + 1 };
    return numbered.type === "run_start" ? { ...numbered, imported: true } : numbered;
  });
}

function checkDocuments(events: readonly RunEvent[], name: string): void {
  let stream: StreamEvent[];
  try {
    const assembler = createAssembler();
    stream = events.flatMap((event) => assembler.push(event));
  } catch (error) {
    throw new ExportFault(`the events of ${name} make no documents`, { cause: error });
  }
  const violation = verify(stream);
  if (violation) throw new ExportFault(`the documents of ${name} break ${violation.clause}: ${violation.message}`);
}

/** Checks the user's messages, which go to a provider. */
function checkWords(event: RunEvent, name: string): void {
  const words: unknown = event.type === "run_start" ? event.prompt : event.type === "user_message" ? event.message : "";
  check(typeof words === "string", `a message of ${name} isn't a text`);
}

/** Checks paths that no document shows, and that a revert uses. */
function checkPlaces(event: RunEvent, name: string): void {
  if (event.type === "run_start") {
    const { workspace, addedFolders = [] } = event;
    const isFolders = Array.isArray(addedFolders) && [workspace, ...addedFolders].every(isAbsolutePath);
    check(isFolders, `the folders of ${name} are not absolute paths`);
  }
  if (event.type !== "tool_result" || event.effect?.kind !== "file_edit") return;
  for (const { path } of event.effect.changes) {
    check(isAbsolutePath(path), `${name} changed a file without an absolute path`);
  }
}

/** Checks attachments, which go to a provider: each must be the file that it claims to be (S-102). */
function checkAttachments(event: RunEvent, name: string): void {
  if (!("attachments" in event) || event.attachments === undefined) return;
  check(Array.isArray(event.attachments), `the attachments of ${name} are not a list`);
  for (const attachment of event.attachments) {
    const { name: file, data } = toFields(attachment, `an attachment of ${name}`);
    const isNamed = typeof file === "string" && typeof data === "string";
    const toFile = event.type === "tool_result" ? toAttachment : toMessageFile;
    const made = isNamed ? toFile(Buffer.from(data, "base64"), file) : undefined;
    const isSame = made?.ok === true && isDeepStrictEqual({ ...made.value }, { ...attachment });
    check(isSame, `an attachment of ${name} differs from its description`);
  }
}

function isAbsolutePath(value: unknown): boolean {
  return typeof value === "string" && isAbsolute(value);
}

function toFields(value: unknown, name: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new ExportFault(`${name} is not a JSON object`);
}

function check(holds: boolean, problem: string): void {
  if (!holds) throw new ExportFault(problem);
}

function isMatch(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
