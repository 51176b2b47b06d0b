/**
 * The ten document types, each with one schema, which gives the type, the guards and the published JSON Schema.
 * Clauses: docs/formats/documents.md. "Ext" marks extension fields; a base client ignores them (N1, N54).
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
  /** Kind of the subagent: `search`, `plan`, `review`, or the name of a definition. */
  name: s.string(),
});

/** Ext: the subagent that made the document (N74). */
export interface AgentOrigin extends s.ValueOf<typeof agentOrigin> {}

const toolOrigin = s.object({
  /** Ext: the subagent that made the call (N74). */
  agent: s.optional<AgentOrigin>(agentOrigin),
  /** Ext: name of the tool (N28). */
  toolName: s.optional(s.string()),
  /** Ext: id of the call, made by Sheaf, unique in the conversation (N29). */
  toolCallId: s.optional(s.string()),
  /** Ext: id from the provider, if it sent one (N29). */
  providerToolCallId: s.optional(s.string()),
});

/** Ext: the call that made the document (N28, N29). */
export interface ToolOrigin extends s.ValueOf<typeof toolOrigin> {}

const nestedCodeBlock = s.object({
  /** Place of the fence in `content`. UTF-16 units. */
  offset: count,
  /** Length of the fence. UTF-16 units. */
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

/** Metadata of a text (R4). */
export interface TextMetadata extends s.ValueOf<typeof textMetadata> {}

const codeReferenceMetadata = s.object({
  /** Path relative to the workspace, with `/`; outside the workspace, the path that the model wrote (N21). */
  filePath: s.string(),
  /** First line, from 1 (N19). */
  startLine: lineNumber,
  /** Last line, from 1, inclusive (N19). */
  endLine: lineNumber,
  /** Language by the file name; "" if unknown (N20). */
  language: s.string(),
  /** Ext: the path that the model wrote, if it differs (N21). */
  rawPath: s.optional(s.string()),
  /** Ext: true if the lines of the file equaled `content` at that moment (N22). */
  verified: s.optional(s.boolean()),
  /** Ext: the lines that the model wrote, if Sheaf corrected them (N61). */
  writtenLines: s.optional(s.object({ startLine: lineNumber, endLine: lineNumber })),
  /** Ext: false if the model didn't close the fence (N18). */
  closed: s.optional(s.literal(false)),
});

/** Metadata of a code reference (R5). */
export interface CodeReferenceMetadata extends s.ValueOf<typeof codeReferenceMetadata> {}

const codePurpose = s.choice(["new_code", "example", "suggestion"]);

/** Purpose of a code block (R6, N23). */
export type CodePurpose = s.ValueOf<typeof codePurpose>;

const codeBlockMetadata = s.object({
  /** First word of the info string; "" if there's none (N19). */
  language: s.string(),
  purpose: codePurpose,
  /** Ext: the whole info string if it has more than the language (N19). */
  info: s.optional(s.string()),
  /** Ext: false if the model didn't close the fence (N18). */
  closed: s.optional(s.literal(false)),
});

/** Metadata of a code block (R6). */
export interface CodeBlockMetadata extends s.ValueOf<typeof codeBlockMetadata> {}

const fileOperation = s.choice(["create", "edit", "delete", "rename"]);

/** Operation of a file edit (R7). */
export type FileOperation = s.ValueOf<typeof fileOperation>;

const fileDiff = s.object({
  /** The replaced text, exactly; "" for an insertion. */
  oldString: s.string(),
  /** The new text, exactly. */
  newString: s.string(),
  /** First line of `oldString` before the edit, from 1. */
  startLine: count,
  /** Last line of `oldString`, from 1; `startLine - 1` for an insertion. */
  endLine: count,
});

/** One exact replacement (R7, N31). */
export interface FileDiff extends s.ValueOf<typeof fileDiff> {}

const fileEditMetadata = s.extend(toolOrigin, {
  /** Path relative to the workspace with `/`; the old path of a rename (N21, N32). */
  filePath: s.string(),
  operation: fileOperation,
  /** Language by the file name; by the new name for a rename (N20, N32). */
  language: s.string(),
  /** Diff of an edit, which requires it; absent for create and delete (N31). Clients treat null as absent. */
  diff: s.optional(s.nullable<FileDiff>(fileDiff)),
  /** Ext: destination of a rename, which requires it (N32). */
  newFilePath: s.optional(s.string()),
  /** Ext: git patch text (N31). */
  patch: s.optional(s.string()),
  /** Ext: number of lines that the edit added (N31). */
  linesAdded: s.optional(count),
  /** Ext: number of lines that the edit removed (N31). */
  linesRemoved: s.optional(count),
  /** Ext: state of the edit; absent means applied (N35). */
  state: s.optional(s.choice(["proposed", "applied", "rejected", "failed"])),
  /** Ext: true if `content` is null because the file is binary (N34). */
  binary: s.optional(s.literal(true)),
  /** Ext: bytes of the new file (N34). */
  bytes: s.optional(count),
  /** Ext: true if Sheaf cut `content` at the limit (N34). */
  truncated: s.optional(s.literal(true)),
});

/** Metadata of a file edit (R7). */
export interface FileEditMetadata extends s.ValueOf<typeof fileEditMetadata> {}

const subagentTotals = s.object({
  /** Display name of the subagent's model, if it differs from the response's (C129 of `cli.md`). */
  model: s.optional(s.string()),
  /** Number of the subagent's model requests. */
  turnCount: count,
  /** Number of the subagent's tool executions. */
  actionCount: count,
  usage: s.named<Usage>(usage),
});

/** Ext: usage of a subagent (N107). */
export interface SubagentTotals extends s.ValueOf<typeof subagentTotals> {}

const toolCallMetadata = s.object({
  toolName: s.string(),
  /** Id of the call, made by Sheaf, unique in the conversation (N29). */
  toolCallId: s.string(),
  /** The parsed arguments; `{}` if they didn't parse (N30). */
  arguments: s.record(s.anything()),
  /** Result of the call; required in a complete document (N36). */
  result: s.named<ToolCallResult>(toolCallResult),
  duration_ms: milliseconds,
  /** Ext: the model's text, if it didn't parse (N30). */
  rawArguments: s.optional(s.string()),
  /** Ext: id from the provider, if it sent one (N29). */
  providerToolCallId: s.optional(s.string()),
  /** Ext: the subagent that made the call (N74). */
  agent: s.optional<AgentOrigin>(agentOrigin),
  /** Ext: usage of the subagent that the call ran (N107). */
  subagent: s.optional<SubagentTotals>(subagentTotals),
  /** Ext: live output of an open document (section 3 of the contract). */
  draftOutput: s.optional(s.string()),
});

/** Metadata of a tool call (R8). */
export interface ToolCallMetadata extends s.ValueOf<typeof toolCallMetadata> {}

const commandPermission = s.growingChoice(["network", "write_outside_workspace", "credentials", "unsandboxed"]);

/** Permission of a command beyond the default sandbox; closed list (N38). */
export type CommandPermission = s.ValueOf<typeof commandPermission>;

const terminalCommandMetadata = s.extend(toolOrigin, {
  command: s.string(),
  /** Absolute path; Sheaf always sends it (N38). */
  workingDirectory: s.optional(s.string()),
  /** Exit code: 128 + n for signal n, 124 after a timeout, -1 if the command never started (N37). */
  exitCode: s.integer(),
  /** stdout and stderr in order of arrival (N37). */
  output: s.string(),
  duration_ms: milliseconds,
  permissions: s.list<CommandPermission>(commandPermission),
  /** Ext: name of the signal that ended the command (N37). */
  signal: s.optional(s.string()),
  /** Ext: true if the command exceeded its time (N37). */
  timedOut: s.optional(s.literal(true)),
  /** Ext: true if Sheaf cut out the middle of `output` (N37). */
  truncated: s.optional(s.literal(true)),
  /** Ext: true if the command still ran at the time of this report (N37). */
  background: s.optional(s.literal(true)),
  /** Ext: id of a background command for the tool `read_terminal`. */
  terminalId: s.optional(s.string()),
  /** Ext: actions that the sandbox prevented, and the reasons, one sentence each. */
  refusals: s.optional(strings),
});

/** Metadata of a terminal command (R9). */
export interface TerminalCommandMetadata extends s.ValueOf<typeof terminalCommandMetadata> {}

const todoStatus = s.choice(["pending", "in_progress", "completed", "cancelled"]);

/** Status of a todo (R10, N41). */
export type TodoStatus = s.ValueOf<typeof todoStatus>;

const planTodo = s.object({
  /** Id of the todo, unique in the conversation (N40). */
  id: s.string(),
  content: s.string(),
  status: todoStatus,
  /** Ids of todos of the same plan, without a cycle (N40). */
  dependencies: strings,
});

/** A todo of a plan (R10). */
export interface PlanTodo extends s.ValueOf<typeof planTodo> {}

export const planTodos = s.list<PlanTodo>(planTodo);

const planMetadata = s.extend(toolOrigin, {
  title: s.string(),
  overview: s.string(),
  todos: planTodos,
  format: s.literal("markdown"),
  /** Ext: id of the plan (N40). */
  planId: s.optional(s.string()),
  /** Ext: number of the revision, from 1; a newer plan replaces the older one (N40). */
  revision: s.optional(lineNumber),
});

/** Metadata of a plan (R10). */
export interface PlanMetadata extends s.ValueOf<typeof planMetadata> {}

const clarificationOption = s.object({ id: s.string(), label: s.string() });

/** An answer that the user can choose (R11). */
export interface ClarificationOption extends s.ValueOf<typeof clarificationOption> {}

const clarificationQuestion = s.object({
  id: s.string(),
  text: s.string(),
  /** Choices of the user; empty for a free-text question (N42). */
  options: s.list<ClarificationOption>(clarificationOption),
  /** Ext: true if the user may choose several options (N42). */
  allowMultiple: s.optional(s.boolean()),
  /** Ext: true if the user may write an answer (N42). */
  allowText: s.optional(s.boolean()),
});

/** A question to the user (R11). */
export interface ClarificationQuestion extends s.ValueOf<typeof clarificationQuestion> {}

const clarificationMetadata = s.extend(toolOrigin, {
  questions: s.list<ClarificationQuestion>(clarificationQuestion),
});

/** Metadata of a clarification (R11). */
export interface ClarificationMetadata extends s.ValueOf<typeof clarificationMetadata> {}

const errorMetadata = s.object({
  /** Ext: the subagent that made the failed call (N74). */
  agent: s.optional<AgentOrigin>(agentOrigin),
  /** Upper snake case from the published list (N39). */
  errorCode: s.string({ pattern: "^[A-Z0-9_]+$" }),
  /** Tool name, or `provider`, `agent`, `sandbox`, `user`, `server`, `storage` (N39). */
  source: s.string(),
  /** Additional text, or "" (N12). */
  details: s.string(),
  /** Ext: document of the failed tool call (N39). */
  relatedDocumentId: s.optional(s.string()),
  /** Ext: true if the run continued (N39). */
  recoverable: s.optional(s.boolean()),
});

/** Metadata of an error (R12). */
export interface ErrorMetadata extends s.ValueOf<typeof errorMetadata> {}

const todoChange = s.object({
  id: s.string(),
  status: todoStatus,
  /** Ext: text of the todo, required for a new id (N41). */
  content: s.optional(s.string()),
  /** Ext: ids of the todos that it depends on (N41). */
  dependencies: s.optional(strings),
  /** Ext: position in the list, from 0 (N41). */
  position: s.optional(count),
});

/** One entry of a todo update, a delta by id (R13, N41). */
export interface TodoChange extends s.ValueOf<typeof todoChange> {}

const todoUpdateMetadata = s.extend(toolOrigin, { todos: s.list<TodoChange>(todoChange) });

/** Metadata of a todo update (R13). */
export interface TodoUpdateMetadata extends s.ValueOf<typeof todoUpdateMetadata> {}

/** Makes the schema of one type of document with the fields of R3. */
function document<const Type extends DocumentType, Content extends string | null, Metadata>(
  type: Type,
  content: s.Schema<Content>,
  metadata: s.Schema<Metadata>,
) {
  return s.object({
    /** Id of the document: `doc_` and the sequence number, at least three digits; unique in the response (N9). */
    id: documentId,
    /** Type of the document (R3). */
    type: s.literal(type),
    /** Position in `documents`, from 1, without gaps (N10). */
    sequence: lineNumber,
    /** Content, whose form depends on the type (N11). */
    content,
    /** Metadata, whose fields depend on the type (R4 to R13). */
    metadata,
    /** Ext: present while the document is open, absent once it's complete (N3). */
    status: s.optional(s.literal("in_progress")),
  });
}

/** Schemas of complete documents by type (R3 to R13). */
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

export type MetadataOf<Type extends DocumentType> = Extract<Document, { type: Type }>["metadata"];
