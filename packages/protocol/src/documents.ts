/**
 * The ten document types. Clauses: docs/formats/documents.md.
 * "Ext" marks fields that a base client does not know; it ignores them (N1, N54).
 */

/** Closed list of document types (R3, N13). */
export type DocumentType =
  | "text"
  | "code_reference"
  | "code_block"
  | "file_edit"
  | "tool_call"
  | "terminal_command"
  | "plan"
  | "clarification"
  | "error"
  | "todo_update";

/** Fields that every document has (R3). */
export interface DocumentBase<Type extends DocumentType, Content extends string | null, Metadata> {
  /** `doc_` and the sequence number, at least three digits; unique within the response (N9). */
  readonly id: string;
  /** R3. */
  readonly type: Type;
  /** Position in `documents`, from 1, without gaps (N10). */
  readonly sequence: number;
  /** By type (N11). */
  readonly content: Content;
  /** By type (R4 to R13). */
  readonly metadata: Metadata;
  /** Ext: present while the document is open, absent once it is complete (N3). */
  readonly status?: "in_progress";
}

/** Ext on every document that a tool made (N28, N29). */
export interface ToolOrigin {
  /** Ext: name of the tool (N28). */
  readonly toolName?: string;
  /** Ext: id of the call, made by Sheaf, unique in the conversation (N29). */
  readonly toolCallId?: string;
  /** Ext: id that the provider gave, if any (N29). */
  readonly providerToolCallId?: string;
}

/** A fence that stays inside a text document (N17). */
export interface NestedCodeBlock {
  /** First UTF-16 unit of the fence in `content`. */
  readonly offset: number;
  /** UTF-16 units. */
  readonly length: number;
  /** First word of the info string, or "". */
  readonly language: string;
}

/** R4. */
export interface TextMetadata {
  readonly format: "markdown" | "plain";
  /** Ext: fences in list items, quotes or HTML blocks (N17). */
  readonly codeBlocks?: readonly NestedCodeBlock[];
}

/** R5. */
export interface CodeReferenceMetadata {
  /** Relative to the workspace, with `/`, if inside it, else as written (N21). */
  readonly filePath: string;
  /** 1-based, inclusive (N19). */
  readonly startLine: number;
  /** 1-based, inclusive (N19). */
  readonly endLine: number;
  /** From the file name; "" if unknown (N20). */
  readonly language: string;
  /** Ext: the path as the model wrote it, if it differs (N21). */
  readonly rawPath?: string;
  /** Ext: whether the lines of the file equal `content` at that moment (N22). */
  readonly verified?: boolean;
  /** Ext: false when the fence was not closed (N18). */
  readonly closed?: false;
}

/** What a code block is for (R6, N23). */
export type CodePurpose = "new_code" | "example" | "suggestion";

/** R6. */
export interface CodeBlockMetadata {
  /** First word of the info string; "" if none (N19). */
  readonly language: string;
  readonly purpose: CodePurpose;
  /** Ext: the whole info string if it holds more than the language (N19). */
  readonly info?: string;
  /** Ext: false when the fence was not closed (N18). */
  readonly closed?: false;
}

/** R7. */
export type FileOperation = "create" | "edit" | "delete" | "rename";

/** One exact replacement (R7, N31). */
export interface FileDiff {
  /** Exact text replaced; "" for an insertion. */
  readonly oldString: string;
  /** Exact text that replaces it. */
  readonly newString: string;
  /** 1-based first line that `oldString` covers before the edit. */
  readonly startLine: number;
  /** 1-based last line that `oldString` covers; `startLine - 1` for an insertion. */
  readonly endLine: number;
}

/** R7. */
export interface FileEditMetadata extends ToolOrigin {
  /** Relative to the workspace with `/`; the old path of a rename (N21, N32). */
  readonly filePath: string;
  readonly operation: FileOperation;
  /** From the file name; of the new name for a rename (N20, N32). */
  readonly language: string;
  /** Required for edit; absent for create and delete (N31). Clients treat null as absent. */
  readonly diff?: FileDiff | null;
  /** Ext: destination of a rename, required for it (N32). */
  readonly newFilePath?: string;
  /** Ext: git patch text (N31). */
  readonly patch?: string;
  /** Ext (N31). */
  readonly linesAdded?: number;
  /** Ext (N31). */
  readonly linesRemoved?: number;
  /** Ext: absent means applied (N35). */
  readonly state?: "proposed" | "applied" | "rejected" | "failed";
  /** Ext: content is null because the file is binary (N34). */
  readonly binary?: true;
  /** Ext: bytes of the new file (N34). */
  readonly bytes?: number;
  /** Ext: content was cut at the limit (N34). */
  readonly truncated?: true;
}

/** The result of a tool (R8, N36). */
export interface ToolCallResult {
  readonly status: "success" | "error";
  /** The output of the tool; for errors `{errorCode, message}`. */
  readonly data: unknown;
  /** Ext: `data` is a prefix (N36). */
  readonly truncated?: true;
  /** Ext: bytes of the whole output (N36). */
  readonly bytes?: number;
}

/** R8. */
export interface ToolCallMetadata {
  readonly toolName: string;
  /** Made by Sheaf, unique in the conversation (N29). */
  readonly toolCallId: string;
  /** `{}` if they did not parse (N30). */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Required once the document is complete (N36). */
  readonly result: ToolCallResult;
  readonly duration_ms: number;
  /** Ext: what the model wrote, if it did not parse (N30). */
  readonly rawArguments?: string;
  /** Ext (N29). */
  readonly providerToolCallId?: string;
  /** Ext: live output of an open document (section 3 of the contract). */
  readonly draftOutput?: string;
}

/** What a command was allowed to do beyond the default sandbox; closed list (N38). */
export type CommandPermission = "network" | "write_outside_workspace" | "unsandboxed";

/** R9. */
export interface TerminalCommandMetadata extends ToolOrigin {
  readonly command: string;
  /** Absolute; always sent by Sheaf (N38). */
  readonly workingDirectory?: string;
  /** 128 + n for signal n, 124 on a timeout, -1 if it never started (N37). */
  readonly exitCode: number;
  /** stdout and stderr in order of arrival (N37). */
  readonly output: string;
  readonly duration_ms: number;
  readonly permissions: readonly CommandPermission[];
  /** Ext: name of the signal that ended it (N37). */
  readonly signal?: string;
  /** Ext (N37). */
  readonly timedOut?: true;
  /** Ext: the middle of `output` was cut out (N37). */
  readonly truncated?: true;
  /** Ext: still running when this was reported (N37). */
  readonly background?: true;
  /** Ext: the id for the tool `read_terminal`, if it runs in the background. */
  readonly terminalId?: string;
  /** Ext: what the sandbox prevented, and why; one sentence each. */
  readonly refusals?: readonly string[];
}

/** R10, N41. */
export type TodoStatus = "pending" | "in_progress" | "completed" | "cancelled";

/** R10. */
export interface PlanTodo {
  /** Unique within the conversation (N40). */
  readonly id: string;
  readonly content: string;
  readonly status: TodoStatus;
  /** Ids of todos of the same plan, without a cycle (N40). */
  readonly dependencies: readonly string[];
}

/** R10. */
export interface PlanMetadata extends ToolOrigin {
  readonly title: string;
  readonly overview: string;
  readonly todos: readonly PlanTodo[];
  readonly format: "markdown";
  /** Ext (N40). */
  readonly planId?: string;
  /** Ext: from 1; a newer plan replaces the older one (N40). */
  readonly revision?: number;
}

/** R11. */
export interface ClarificationOption {
  readonly id: string;
  readonly label: string;
}

/** R11. */
export interface ClarificationQuestion {
  readonly id: string;
  readonly text: string;
  /** Empty for a free-text question (N42). */
  readonly options: readonly ClarificationOption[];
  /** Ext (N42). */
  readonly allowMultiple?: boolean;
  /** Ext (N42). */
  readonly allowText?: boolean;
}

/** R11. */
export interface ClarificationMetadata extends ToolOrigin {
  readonly questions: readonly ClarificationQuestion[];
}

/** R12. */
export interface ErrorMetadata {
  /** Upper snake case from the published list (N39). */
  readonly errorCode: string;
  /** Tool name, or `provider`, `agent`, `sandbox`, `user`, `server` (N39). */
  readonly source: string;
  /** "" if none (N12). */
  readonly details: string;
  /** Ext: document of the tool call that failed (N39). */
  readonly relatedDocumentId?: string;
  /** Ext: the run went on (N39). */
  readonly recoverable?: boolean;
}

/** One entry of a todo update, a delta by id (R13, N41). */
export interface TodoChange {
  readonly id: string;
  readonly status: TodoStatus;
  /** Ext: required for a new id (N41). */
  readonly content?: string;
  /** Ext (N41). */
  readonly dependencies?: readonly string[];
  /** Ext: 0-based position in the list (N41). */
  readonly position?: number;
}

/** R13. */
export interface TodoUpdateMetadata extends ToolOrigin {
  readonly todos: readonly TodoChange[];
}

export type TextDocument = DocumentBase<"text", string, TextMetadata>;
export type CodeReferenceDocument = DocumentBase<"code_reference", string, CodeReferenceMetadata>;
export type CodeBlockDocument = DocumentBase<"code_block", string, CodeBlockMetadata>;
export type FileEditDocument = DocumentBase<"file_edit", string | null, FileEditMetadata>;
export type ToolCallDocument = DocumentBase<"tool_call", null, ToolCallMetadata>;
export type TerminalCommandDocument = DocumentBase<"terminal_command", null, TerminalCommandMetadata>;
export type PlanDocument = DocumentBase<"plan", string, PlanMetadata>;
export type ClarificationDocument = DocumentBase<"clarification", string, ClarificationMetadata>;
export type ErrorDocument = DocumentBase<"error", string, ErrorMetadata>;
export type TodoUpdateDocument = DocumentBase<"todo_update", null, TodoUpdateMetadata>;

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
