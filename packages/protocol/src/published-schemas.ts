/** The published JSON Schemas, by name (C13, X10). */
import * as api from "./api.ts";
import { conversationComparison } from "./comparison.ts";
import { type ChatResponse, completeResponse, errorBody, responseSnapshot } from "./chat.ts";
import { cliLine } from "./cli-events.ts";
import { type Document, documentSchemas } from "./documents.ts";
import { documentId, documentType, type DocumentType } from "./response-parts.ts";
import * as s from "./schema.ts";
import { payloadSchemas, snapshotData } from "./stream-events.ts";
import { userEvent } from "./user-events.ts";

export {
  approvalAnswer,
  changeRevert,
  chatAttachment,
  chatRequest,
  chatSettings,
  conversationChange,
  forkRequest,
  waitingOrder,
  publishRequest,
  revertRequest,
  sessionRequest,
} from "./api.ts";

const document: s.Schema<Document> = s.either(Object.values(documentSchemas));

/** Schema of an open document, which has only the fields known so far (N3). */
const openDocument = s.object({
  id: documentId,
  type: documentType,
  sequence: s.integer({ minimum: 1 }),
  content: s.nullable(s.string()),
  metadata: s.record(s.anything()),
  status: s.literal("in_progress"),
}) as s.Schema as s.Schema<Document>;

const snapshot: s.Schema<ChatResponse> = {
  ...responseSnapshot<Document>(s.either([document, openDocument])),
  title: "A response of Sheaf, complete or not",
};

/** One event, `{"id","event","data"}` (X15). */
const streamEvent = s.either(
  Object.entries({ ...payloadSchemas, snapshot: snapshotData(snapshot) }).map(([event, data]) =>
    s.object({ id: s.integer({ minimum: 1 }), event: s.literal(event), data }),
  ),
  { title: "One event of a response of Sheaf" },
);

export type SchemaName =
  | "stream-json"
  | "documents"
  | "events"
  | "snapshot"
  | "chat-request"
  | "error"
  | "conversation"
  | "conversation-summary"
  | "conversations"
  | "user-events"
  | "models"
  | "cancel-result"
  | "approval-answer"
  | "approval-result"
  | DocumentSchemaName
  | "conversation-change"
  | "conversation-changes"
  | "conversation-comparison"
  | "file-blame"
  | "change-revert"
  | "workspaces"
  | "workspace-files"
  | "workspace-commands"
  | "workspace-file"
  | "fork-request"
  | "waiting"
  | "waiting-order"
  | "publish-request"
  | "publish-result"
  | "revert-request"
  | "revert-result"
  | "session-request"
  | "attachment-upload"
  | "attachment"
  | "attachments";

/** Names of the ten document schemas, such as `file-edit-document` for `file_edit`. */
type DocumentSchemaName = {
  [Type in DocumentType]: `${Type extends `${infer Left}_${infer Right}` ? `${Left}-${Right}` : Type}-document`;
}[DocumentType];

/** Names of the document types' schemas, by schema. */
export const documentSchemaNames: ReadonlyMap<unknown, DocumentSchemaName> = new Map<unknown, DocumentSchemaName>(
  Object.entries(documentSchemas).map(
    ([type, schema]) => [schema, `${type.replace("_", "-")}-document` as DocumentSchemaName] as const,
  ),
);

const schemas: Readonly<Record<SchemaName, s.JsonSchema>> = {
  "stream-json": cliLine,
  documents: { ...completeResponse(document), title: "A response of Sheaf" },
  ...(Object.fromEntries([...documentSchemaNames].map(([schema, name]) => [name, schema])) as Record<
    DocumentSchemaName,
    s.JsonSchema
  >),
  events: streamEvent,
  snapshot,
  "chat-request": api.chatRequest,
  error: { ...errorBody, title: "An error of the Chat API of Sheaf" },
  conversation: api.conversation(snapshot),
  "conversation-summary": api.conversationSummary,
  conversations: api.conversationPage,
  "user-events": userEvent,
  models: api.modelList,
  "cancel-result": api.cancelResult,
  "approval-answer": api.approvalAnswer,
  "approval-result": api.approvalResult,
  "conversation-change": api.conversationChange,
  "conversation-changes": api.conversationChanges,
  "conversation-comparison": conversationComparison,
  "file-blame": api.fileBlame,
  "change-revert": api.changeRevert,
  workspaces: api.workspaceList,
  "workspace-files": api.workspaceFiles,
  "workspace-commands": api.workspaceCommands,
  "workspace-file": api.workspaceFile,
  "fork-request": api.forkRequest,
  waiting: api.waitingList,
  "waiting-order": api.waitingOrder,
  "publish-request": api.publishRequest,
  "publish-result": api.publishResult,
  "revert-request": api.revertRequest,
  "revert-result": api.revertResult,
  "session-request": api.sessionRequest,
  "attachment-upload": api.chatAttachment,
  attachment: api.attachmentInfo,
  attachments: api.attachmentList,
};

export const schemaNames = Object.keys(schemas) as readonly SchemaName[];

/**
 * Returns a JSON Schema, draft 2020-12. The published one is open, because later versions add fields (C13, N1).
 * With `closed: true` it forbids unknown fields, so that tests find a misspelt one.
 */
export function toJsonSchema(name: SchemaName, options: { readonly closed?: boolean } = {}): s.JsonSchema {
  const schema = schemas[name];
  return toDocument(options.closed ? toClosed(schema) : schema);
}

/** Adds the dialect, so that the schema is its own document. */
export function toDocument(schema: s.JsonSchema): s.JsonSchema {
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema };
}

function toClosed(schema: s.JsonSchema): s.JsonSchema {
  const { anyOf, items, properties, additionalProperties } = schema;
  return {
    ...schema,
    ...(anyOf && { anyOf: anyOf.map(toClosed) }),
    ...(items && { items: toClosed(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, toClosed(field)])),
      additionalProperties: additionalProperties ?? false,
    }),
  };
}
