/** The structure of documents and responses (R2 to R13). */
import type { DocumentType } from "./documents.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { mode, responseMetadata, toolCallResult, usage } from "./response-part-patterns.ts";
import { either, list, only, type Rule, type Rules, type Shape, toShape } from "./shape.ts";

const integer = only("an integer", Number.isSafeInteger);
const nothing = only("null", (value) => value === null);
const texts = list("text");

const todoStatus = ["pending", "in_progress", "completed", "cancelled"];
const toolOrigin: Rules = { "toolName?": "text", "toolCallId?": "text", "providerToolCallId?": "text" };
const diff: Rules = { oldString: "text", newString: "text", startLine: integer, endLine: integer };

const metadataRules: Readonly<Record<DocumentType, Rules>> = {
  text: { format: ["markdown", "plain"], "codeBlocks?": [{ offset: "count", length: "count", language: "text" }] },
  code_reference: {
    filePath: "text",
    startLine: integer,
    endLine: integer,
    language: "text",
    "rawPath?": "text",
    "verified?": "flag",
    "closed?": "flag",
  },
  code_block: {
    language: "text",
    purpose: ["new_code", "example", "suggestion"],
    "info?": "text",
    "closed?": "flag",
  },
  file_edit: {
    filePath: "text",
    operation: ["create", "edit", "delete", "rename"],
    language: "text",
    ...toolOrigin,
    "diff?": either(diff, nothing),
    "newFilePath?": "text",
    "patch?": "text",
    "linesAdded?": "count",
    "linesRemoved?": "count",
    "state?": ["proposed", "applied", "rejected", "failed"],
    "binary?": "flag",
    "bytes?": "count",
    "truncated?": "flag",
  },
  tool_call: {
    toolName: "text",
    toolCallId: "text",
    arguments: "object",
    result: toolCallResult,
    duration_ms: "amount",
    "rawArguments?": "text",
    "providerToolCallId?": "text",
    "draftOutput?": "text",
  },
  terminal_command: {
    command: "text",
    exitCode: integer,
    output: "text",
    duration_ms: "amount",
    permissions: texts,
    ...toolOrigin,
    "workingDirectory?": "text",
    "signal?": "text",
    "timedOut?": "flag",
    "truncated?": "flag",
    "background?": "flag",
    "terminalId?": "text",
    "refusals?": texts,
  },
  plan: {
    title: "text",
    overview: "text",
    todos: [{ id: "text", content: "text", status: todoStatus, dependencies: texts }],
    format: ["markdown"],
    ...toolOrigin,
    "planId?": "text",
    "revision?": integer,
  },
  clarification: {
    questions: [
      {
        id: "text",
        text: "text",
        options: [{ id: "text", label: "text" }],
        "allowMultiple?": "flag",
        "allowText?": "flag",
      },
    ],
    ...toolOrigin,
  },
  error: { errorCode: "text", source: "text", details: "text", "relatedDocumentId?": "text", "recoverable?": "flag" },
  todo_update: {
    todos: [{ id: "text", status: todoStatus, "content?": "text", "dependencies?": texts, "position?": "count" }],
    ...toolOrigin,
  },
};

/** N11. */
const contents: Readonly<Record<DocumentType, Rule>> = {
  text: "text",
  code_reference: "text",
  code_block: "text",
  file_edit: either("text", nothing),
  tool_call: nothing,
  terminal_command: nothing,
  plan: "text",
  clarification: "text",
  error: "text",
  todo_update: nothing,
};

const contentShapes: ReadonlyMap<unknown, Shape> = new Map(
  Object.entries(contents).map(([type, content]) => [type, toShape({ content })]),
);

const baseShape = toShape({
  id: "text",
  type: "text",
  sequence: "place",
  content: either("text", nothing),
  metadata: "object",
  "status?": ["in_progress"],
});

/** N31: an edit has its diff, unless the file is too large for one or binary (N34). */
function editShape({ type, metadata }: JsonObject): string | undefined {
  if (type !== "file_edit" || !isJsonObject(metadata) || metadata["operation"] !== "edit") return undefined;
  if (isJsonObject(metadata["diff"])) return undefined;
  const excused = ["truncated", "patchUrl", "binary"].some((name) => Object.hasOwn(metadata, name));
  return excused ? undefined : ".metadata.diff: is missing";
}

const completeShapes = toMetadataShapes((metadata) => metadata);
/** What is not known yet may be missing (N3). */
const openShapes = toMetadataShapes((metadata) =>
  Object.fromEntries(Object.entries(metadata).map(([name, rule]) => [name.endsWith("?") ? name : `${name}?`, rule])),
);

function toMetadataShapes(toRules: (metadata: Rules) => Rules): ReadonlyMap<unknown, Shape> {
  return new Map(Object.entries(metadataRules).map(([type, rules]) => [type, toShape({ metadata: toRules(rules) })]));
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

const responseShape = toShape({
  id: "text",
  conversationId: "text",
  model: "text",
  mode,
  created: "instant",
  status: ["completed", "streaming", "error"],
  documents: list(document),
  usage,
  metadata: responseMetadata,
  "approvals?": [{ approvalId: "text", documentId: "text" }],
});

/** R2; the position of a document is its sequence (N10). */
export const chatResponse: Shape = (value) =>
  responseShape(value) ??
  explainOrder(isJsonObject(value) && Array.isArray(value["documents"]) ? value["documents"] : []);

function explainOrder(documents: readonly unknown[]): string | undefined {
  const index = documents.findIndex((entry, place) => !isJsonObject(entry) || entry["sequence"] !== place + 1);
  return index < 0 ? undefined : `.documents[${index}].sequence: expected ${index + 1}`;
}
