/**
 * The ten document types, each described once: the schema gives the type, the guards and the published JSON Schema.
 * Clauses: docs/formats/documents.md. "Ext" marks fields that a base client does not know; it ignores them (N1, N54).
 */
import {
  documentId,
  type DocumentType,
  milliseconds,
  toolCallResult,
  type ToolCallResult,
  usage,
  type Usage,
} from "./response-parts.ts";
import * as s from "./schema.ts";

const count = s.integer({ minimum: 0 });
const lineNumber = s.integer({ minimum: 1 });
const strings = s.list(s.string());

const agentOrigin = s.object({
  /** The `toolCallId` of the call that runs the subagent. */
  id: s.string(),
  /** Its kind: `search`, `plan`, `review`, or the name of a definition. */
  name: s.string(),
});

/** Ext on every document that a subagent made (N74). */
export interface AgentOrigin extends s.ValueOf<typeof agentOrigin> {}

const toolOrigin = s.object({
  /** Ext: the subagent whose call it is (N74). */
  agent: s.optional<AgentOrigin>(agentOrigin),
  /** Ext: name of the tool (N28). */
  toolName: s.optional(s.string()),
  /** Ext: id of the call, made by Sheaf, unique in the conversation (N29). */
  toolCallId: s.optional(s.string()),
  /** Ext: id that the provider gave, if any (N29). */
  providerToolCallId: s.optional(s.string()),
});

/** Ext on every document that a tool made (N28, N29). */
export interface ToolOrigin extends s.ValueOf<typeof toolOrigin> {}

const nestedCodeBlock = s.object({
  /** First UTF-16 unit of the fence in `content`. */
  offset: count,
  /** UTF-16 units. */
  length: count,
  /** First word of the info string, or "". */
  language: s.string(),
});

/** A fence that stays inside a text document (N17). */
export interface NestedCodeBlock extends s.ValueOf<typeof nestedCodeBlock> {}

const textMetadata = s.object({
  format: s.choice(["markdown", "plain"]),
  /** Ext: fences in list items, quotes or HTML blocks (N17). */
  codeBlocks: s.optional(s.list<NestedCodeBlock>(nestedCodeBlock)),
});

/** R4. */
export interface TextMetadata extends s.ValueOf<typeof textMetadata> {}

const codeReferenceMetadata = s.object({
  /** Relative to the workspace, with `/`, if inside it, else as written (N21). */
  filePath: s.string(),
  /** 1-based, inclusive (N19). */
  startLine: lineNumber,
  /** 1-based, inclusive (N19). */
  endLine: lineNumber,
  /** From the file name; "" if unknown (N20). */
  language: s.string(),
  /** Ext: the path as the model wrote it, if it differs (N21). */
  rawPath: s.optional(s.string()),
  /** Ext: whether the lines of the file equal `content` at that moment (N22). */
  verified: s.optional(s.boolean()),
  /** Ext: the lines as the model wrote them, if they were wrong and have been corrected (N61). */
  writtenLines: s.optional(s.object({ startLine: lineNumber, endLine: lineNumber })),
  /** Ext: false when the fence was not closed (N18). */
  closed: s.optional(s.literal(false)),
});

/** R5. */
export interface CodeReferenceMetadata extends s.ValueOf<typeof codeReferenceMetadata> {}

const codePurpose = s.choice(["new_code", "example", "suggestion"]);

/** What a code block is for (R6, N23). */
export type CodePurpose = s.ValueOf<typeof codePurpose>;

const codeBlockMetadata = s.object({
  /** First word of the info string; "" if none (N19). */
  language: s.string(),
  purpose: codePurpose,
  /** Ext: the whole info string if it has more than the language (N19). */
  info: s.optional(s.string()),
  /** Ext: false when the fence was not closed (N18). */
  closed: s.optional(s.literal(false)),
});

/** R6. */
export interface CodeBlockMetadata extends s.ValueOf<typeof codeBlockMetadata> {}

const fileOperation = s.choice(["create", "edit", "delete", "rename"]);

/** R7. */
export type FileOperation = s.ValueOf<typeof fileOperation>;

const fileDiff = s.object({
  /** Exact text replaced; "" for an insertion. */
  oldString: s.string(),
  /** Exact text that replaces it. */
  newString: s.string(),
  /** 1-based first line that `oldString` covers before the edit. */
  startLine: count,
  /** 1-based last line that `oldString` covers; `startLine - 1` for an insertion. */
  endLine: count,
});

/** One exact replacement (R7, N31). */
export interface FileDiff extends s.ValueOf<typeof fileDiff> {}

const fileEditMetadata = s.extend(toolOrigin, {
  /** Relative to the workspace with `/`; the old path of a rename (N21, N32). */
  filePath: s.string(),
  operation: fileOperation,
  /** From the file name; of the new name for a rename (N20, N32). */
  language: s.string(),
  /** Required for edit; absent for create and delete (N31). Clients treat null as absent. */
  diff: s.optional(s.nullable<FileDiff>(fileDiff)),
  /** Ext: destination of a rename, required for it (N32). */
  newFilePath: s.optional(s.string()),
  /** Ext: git patch text (N31). */
  patch: s.optional(s.string()),
  /** Ext (N31). */
  linesAdded: s.optional(count),
  /** Ext (N31). */
  linesRemoved: s.optional(count),
  /** Ext: absent means applied (N35). */
  state: s.optional(s.choice(["proposed", "applied", "rejected", "failed"])),
  /** Ext: content is null because the file is binary (N34). */
  binary: s.optional(s.literal(true)),
  /** Ext: bytes of the new file (N34). */
  bytes: s.optional(count),
  /** Ext: content was cut at the limit (N34). */
  truncated: s.optional(s.literal(true)),
});

/** R7. */
export interface FileEditMetadata extends s.ValueOf<typeof fileEditMetadata> {}

const subagentTotals = s.object({
  /** Display name of its model, if that is not the one of the response (C129 of `cli.md`). */
  model: s.optional(s.string()),
  /** Its model requests. */
  turnCount: count,
  /** Executions of its tools. */
  actionCount: count,
  usage: s.named<Usage>(usage),
});

/** Ext: what a subagent used (N107). */
export interface SubagentTotals extends s.ValueOf<typeof subagentTotals> {}

const toolCallMetadata = s.object({
  toolName: s.string(),
  /** Made by Sheaf, unique in the conversation (N29). */
  toolCallId: s.string(),
  /** `{}` if they did not parse (N30). */
  arguments: s.record(s.anything()),
  /** Required once the document is complete (N36). */
  result: s.named<ToolCallResult>(toolCallResult),
  duration_ms: milliseconds,
  /** Ext: what the model wrote, if it did not parse (N30). */
  rawArguments: s.optional(s.string()),
  /** Ext (N29). */
  providerToolCallId: s.optional(s.string()),
  /** Ext: the subagent whose call it is (N74). */
  agent: s.optional<AgentOrigin>(agentOrigin),
  /** Ext: of the subagent that the call ran (N107). */
  subagent: s.optional<SubagentTotals>(subagentTotals),
  /** Ext: live output of an open document (section 3 of the contract). */
  draftOutput: s.optional(s.string()),
});

/** R8. */
export interface ToolCallMetadata extends s.ValueOf<typeof toolCallMetadata> {}

const commandPermission = s.growingChoice(["network", "write_outside_workspace", "credentials", "unsandboxed"]);

/** What a command was allowed to do beyond the default sandbox; closed list (N38). */
export type CommandPermission = s.ValueOf<typeof commandPermission>;

const terminalCommandMetadata = s.extend(toolOrigin, {
  command: s.string(),
  /** Absolute; always sent by Sheaf (N38). */
  workingDirectory: s.optional(s.string()),
  /** 128 + n for signal n, 124 on a timeout, -1 if it never started (N37). */
  exitCode: s.integer(),
  /** stdout and stderr in order of arrival (N37). */
  output: s.string(),
  duration_ms: milliseconds,
  permissions: s.list<CommandPermission>(commandPermission),
  /** Ext: name of the signal that ended it (N37). */
  signal: s.optional(s.string()),
  /** Ext (N37). */
  timedOut: s.optional(s.literal(true)),
  /** Ext: the middle of `output` was cut out (N37). */
  truncated: s.optional(s.literal(true)),
  /** Ext: still running when this was reported (N37). */
  background: s.optional(s.literal(true)),
  /** Ext: the id for the tool `read_terminal`, if it runs in the background. */
  terminalId: s.optional(s.string()),
  /** Ext: what the sandbox prevented, and why; one sentence each. */
  refusals: s.optional(strings),
});

/** R9. */
export interface TerminalCommandMetadata extends s.ValueOf<typeof terminalCommandMetadata> {}

const todoStatus = s.choice(["pending", "in_progress", "completed", "cancelled"]);

/** R10, N41. */
export type TodoStatus = s.ValueOf<typeof todoStatus>;

const planTodo = s.object({
  /** Unique within the conversation (N40). */
  id: s.string(),
  content: s.string(),
  status: todoStatus,
  /** Ids of todos of the same plan, without a cycle (N40). */
  dependencies: strings,
});

/** R10. */
export interface PlanTodo extends s.ValueOf<typeof planTodo> {}

/** The todos of a plan. */
export const planTodos = s.list<PlanTodo>(planTodo);

const planMetadata = s.extend(toolOrigin, {
  title: s.string(),
  overview: s.string(),
  todos: planTodos,
  format: s.literal("markdown"),
  /** Ext (N40). */
  planId: s.optional(s.string()),
  /** Ext: from 1; a newer plan replaces the older one (N40). */
  revision: s.optional(lineNumber),
});

/** R10. */
export interface PlanMetadata extends s.ValueOf<typeof planMetadata> {}

const clarificationOption = s.object({ id: s.string(), label: s.string() });

/** R11. */
export interface ClarificationOption extends s.ValueOf<typeof clarificationOption> {}

const clarificationQuestion = s.object({
  id: s.string(),
  text: s.string(),
  /** Empty for a free-text question (N42). */
  options: s.list<ClarificationOption>(clarificationOption),
  /** Ext (N42). */
  allowMultiple: s.optional(s.boolean()),
  /** Ext (N42). */
  allowText: s.optional(s.boolean()),
});

/** R11. */
export interface ClarificationQuestion extends s.ValueOf<typeof clarificationQuestion> {}

const clarificationMetadata = s.extend(toolOrigin, {
  questions: s.list<ClarificationQuestion>(clarificationQuestion),
});

/** R11. */
export interface ClarificationMetadata extends s.ValueOf<typeof clarificationMetadata> {}

const errorMetadata = s.object({
  /** Ext: the subagent whose call failed (N74). */
  agent: s.optional<AgentOrigin>(agentOrigin),
  /** Upper snake case from the published list (N39). */
  errorCode: s.string({ pattern: "^[A-Z0-9_]+$" }),
  /** Tool name, or `provider`, `agent`, `sandbox`, `user`, `server`, `storage` (N39). */
  source: s.string(),
  /** "" if none (N12). */
  details: s.string(),
  /** Ext: document of the tool call that failed (N39). */
  relatedDocumentId: s.optional(s.string()),
  /** Ext: the run went on (N39). */
  recoverable: s.optional(s.boolean()),
});

/** R12. */
export interface ErrorMetadata extends s.ValueOf<typeof errorMetadata> {}

const todoChange = s.object({
  id: s.string(),
  status: todoStatus,
  /** Ext: required for a new id (N41). */
  content: s.optional(s.string()),
  /** Ext (N41). */
  dependencies: s.optional(strings),
  /** Ext: 0-based position in the list (N41). */
  position: s.optional(count),
});

/** One entry of a todo update, a delta by id (R13, N41). */
export interface TodoChange extends s.ValueOf<typeof todoChange> {}

const todoUpdateMetadata = s.extend(toolOrigin, { todos: s.list<TodoChange>(todoChange) });

/** R13. */
export interface TodoUpdateMetadata extends s.ValueOf<typeof todoUpdateMetadata> {}

/** One type of document: the fields of R3, by type. */
function document<const Type extends DocumentType, Content extends string | null, Metadata>(
  type: Type,
  content: s.Schema<Content>,
  metadata: s.Schema<Metadata>,
) {
  return s.object({
    /** `doc_` and the sequence number, at least three digits; unique within the response (N9). */
    id: documentId,
    /** R3. */
    type: s.literal(type),
    /** Position in `documents`, from 1, without gaps (N10). */
    sequence: lineNumber,
    /** By type (N11). */
    content,
    /** By type (R4 to R13). */
    metadata,
    /** Ext: present while the document is open, absent once it is complete (N3). */
    status: s.optional(s.literal("in_progress")),
  });
}

/** Complete documents by type (R3 to R13). */
export const documentSchemas = {
  text: document<"text", string, TextMetadata>("text", s.string(), textMetadata),
  code_reference: document<"code_reference", string, CodeReferenceMetadata>(
    "code_reference",
    s.string(),
    codeReferenceMetadata,
  ),
  code_block: document<"code_block", string, CodeBlockMetadata>("code_block", s.string(), codeBlockMetadata),
  file_edit: document<"file_edit", string | null, FileEditMetadata>(
    "file_edit",
    s.nullable(s.string()),
    fileEditMetadata,
  ),
  tool_call: document<"tool_call", null, ToolCallMetadata>("tool_call", s.nothing(), toolCallMetadata),
  terminal_command: document<"terminal_command", null, TerminalCommandMetadata>(
    "terminal_command",
    s.nothing(),
    terminalCommandMetadata,
  ),
  plan: document<"plan", string, PlanMetadata>("plan", s.string(), planMetadata),
  clarification: document<"clarification", string, ClarificationMetadata>(
    "clarification",
    s.string(),
    clarificationMetadata,
  ),
  error: document<"error", string, ErrorMetadata>("error", s.string(), errorMetadata),
  todo_update: document<"todo_update", null, TodoUpdateMetadata>("todo_update", s.nothing(), todoUpdateMetadata),
} as const satisfies Readonly<Record<DocumentType, s.Schema>>;

type Schemas = typeof documentSchemas;

export interface TextDocument extends s.ValueOf<Schemas["text"]> {}
export interface CodeReferenceDocument extends s.ValueOf<Schemas["code_reference"]> {}
export interface CodeBlockDocument extends s.ValueOf<Schemas["code_block"]> {}
export interface FileEditDocument extends s.ValueOf<Schemas["file_edit"]> {}
export interface ToolCallDocument extends s.ValueOf<Schemas["tool_call"]> {}
export interface TerminalCommandDocument extends s.ValueOf<Schemas["terminal_command"]> {}
export interface PlanDocument extends s.ValueOf<Schemas["plan"]> {}
export interface ClarificationDocument extends s.ValueOf<Schemas["clarification"]> {}
export interface ErrorDocument extends s.ValueOf<Schemas["error"]> {}
export interface TodoUpdateDocument extends s.ValueOf<Schemas["todo_update"]> {}

/** One part of an answer, usable on its own (R1). */
export type Document =
  | TextDocument
  | CodeReferenceDocument
  | CodeBlockDocument
  | FileEditDocument
  | ToolCallDocument
  | TerminalCommandDocument
  | PlanDocument
  | ClarificationDocument
  | ErrorDocument
  | TodoUpdateDocument;

/** Metadata by document type. */
export type MetadataOf<Type extends DocumentType> = Extract<Document, { type: Type }>["metadata"];
