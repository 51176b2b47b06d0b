/** The structure of documents and responses (R2 to R13). */
import type { DocumentType } from "./documents.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { instant, mode, responseMetadata, toolCallResult, usage } from "./response-part-shapes.ts";
import {
  amount,
  both,
  count,
  either,
  fields,
  flag,
  integer,
  list,
  nothing,
  object,
  oneOf,
  only,
  text,
} from "./shape.ts";
import type { Shape } from "./shape.ts";

interface MetadataShape {
  readonly required: Readonly<Record<string, Shape>>;
  readonly optional: Readonly<Record<string, Shape>>;
}

const todoStatus = oneOf("pending", "in_progress", "completed", "cancelled");
const toolOrigin = { toolName: text, toolCallId: text, providerToolCallId: text };
const nestedCodeBlock = fields({ offset: count, length: count, language: text });
const diff = fields({ oldString: text, newString: text, startLine: integer, endLine: integer });
const question = fields(
  { id: text, text, options: list(fields({ id: text, label: text })) },
  { allowMultiple: flag, allowText: flag },
);

const metadataShapes: Readonly<Record<DocumentType, MetadataShape>> = {
  text: { required: { format: oneOf("markdown", "plain") }, optional: { codeBlocks: list(nestedCodeBlock) } },
  code_reference: {
    required: { filePath: text, startLine: integer, endLine: integer, language: text },
    optional: { rawPath: text, verified: flag, closed: flag },
  },
  code_block: {
    required: { language: text, purpose: oneOf("new_code", "example", "suggestion") },
    optional: { info: text, closed: flag },
  },
  file_edit: {
    required: { filePath: text, operation: oneOf("create", "edit", "delete", "rename"), language: text },
    optional: {
      ...toolOrigin,
      diff: either(diff, nothing),
      newFilePath: text,
      patch: text,
      linesAdded: count,
      linesRemoved: count,
      state: oneOf("proposed", "applied", "rejected", "failed"),
      binary: flag,
      bytes: count,
      truncated: flag,
    },
  },
  tool_call: {
    required: { toolName: text, toolCallId: text, arguments: object, result: toolCallResult, duration_ms: amount },
    optional: { rawArguments: text, providerToolCallId: text, draftOutput: text },
  },
  terminal_command: {
    required: { command: text, exitCode: integer, output: text, duration_ms: amount, permissions: list(text) },
    optional: {
      ...toolOrigin,
      workingDirectory: text,
      signal: text,
      timedOut: flag,
      truncated: flag,
      background: flag,
      terminalId: text,
      refusals: list(text),
    },
  },
  plan: {
    required: {
      title: text,
      overview: text,
      todos: list(fields({ id: text, content: text, status: todoStatus, dependencies: list(text) })),
      format: oneOf("markdown"),
    },
    optional: { ...toolOrigin, planId: text, revision: integer },
  },
  clarification: { required: { questions: list(question) }, optional: toolOrigin },
  error: {
    required: { errorCode: text, source: text, details: text },
    optional: { relatedDocumentId: text, recoverable: flag },
  },
  todo_update: {
    required: {
      todos: list(
        fields({ id: text, status: todoStatus }, { content: text, dependencies: list(text), position: count }),
      ),
    },
    optional: toolOrigin,
  },
};

/** N11. */
const contents: Readonly<Record<DocumentType, Shape>> = {
  text,
  code_reference: text,
  code_block: text,
  file_edit: either(text, nothing),
  tool_call: nothing,
  terminal_command: nothing,
  plan: text,
  clarification: text,
  error: text,
  todo_update: nothing,
};

const contentShapes: ReadonlyMap<unknown, Shape> = new Map(
  Object.entries(contents).map(([type, content]) => [type, fields({ content })]),
);

const baseShape = fields(
  {
    id: text,
    type: text,
    sequence: only("an integer of at least 1", (value) => Number.isSafeInteger(value) && Number(value) >= 1),
    content: either(text, nothing),
    metadata: object,
  },
  { status: oneOf("in_progress") },
);

/** N31: an edit has its diff, unless the file is too large for one or binary (N34). */
function editShape({ type, metadata }: JsonObject): string | undefined {
  if (type !== "file_edit" || !isJsonObject(metadata) || metadata["operation"] !== "edit") return undefined;
  if (isJsonObject(metadata["diff"])) return undefined;
  const excused = ["truncated", "patchUrl", "binary"].some((name) => Object.hasOwn(metadata, name));
  return excused ? undefined : ".metadata.diff: is missing";
}

const completeShapes = toShapes(({ required, optional }) => fields(required, optional));
const openShapes = toShapes(({ required, optional }) => fields({}, { ...required, ...optional }));

function toShapes(toShape: (metadata: MetadataShape) => Shape): ReadonlyMap<unknown, Shape> {
  return new Map(Object.entries(metadataShapes).map(([type, shape]) => [type, fields({ metadata: toShape(shape) })]));
}

/** R3, and R4 to R13 by type. */
export const document: Shape = (value) => {
  const problem = baseShape(value);
  if (problem !== undefined || !isJsonObject(value)) return problem;
  const open = value["status"] === "in_progress";
  return (
    contentShapes.get(value["type"])?.(value) ??
    (open ? openShapes : completeShapes).get(value["type"])?.(value) ??
    (open ? undefined : editShape(value))
  );
};

/** R2; the position of a document is its sequence (N10). */
export const chatResponse: Shape = both(
  fields(
    {
      id: text,
      conversationId: text,
      model: text,
      mode,
      created: instant,
      status: oneOf("completed", "streaming", "error"),
      documents: list(document),
      usage,
      metadata: responseMetadata,
    },
    { approvals: list(fields({ approvalId: text, documentId: text })) },
  ),
  (value) => explainOrder(isJsonObject(value) && Array.isArray(value["documents"]) ? value["documents"] : []),
);

function explainOrder(documents: readonly unknown[]): string | undefined {
  const index = documents.findIndex((entry, place) => !isJsonObject(entry) || entry["sequence"] !== place + 1);
  return index < 0 ? undefined : `.documents[${index}].sequence: expected ${index + 1}`;
}
