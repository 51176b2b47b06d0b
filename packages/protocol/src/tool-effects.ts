/** Effects of tools, which the run log has in the results of calls. */
import type {
  ClarificationQuestion,
  CommandPermission,
  FileDiff,
  FileOperation,
  PlanTodo,
  TodoChange,
  TodoStatus,
} from "./documents.ts";

/** The effect of a tool, by kind. Projections make C9's shapes and the documents from it. */
export type ToolEffect =
  | ReadEffect
  | FileEditEffect
  | CommandEffect
  | TerminalEffect
  | SearchEffect
  | GlobEffect
  | ListEffect
  | TodoEffect
  | PlanEffect
  | QuestionEffect
  | McpEffect
  | WebEffect
  | SkillEffect
  | AgentEffect;

/** Effect of read_file. `output` is the content. */
export interface ReadEffect {
  readonly kind: "read";
  /** Absolute path. */
  readonly path: string;
  readonly isEmpty: boolean;
  /** True if the file is larger than `output`. */
  readonly exceededLimit: boolean;
  /** Lines of the whole file, including the empty tail: "a\nb\n" has 3 (C9). */
  readonly totalLines: number;
  /** Length of the whole file. UTF-16 units. */
  readonly totalChars: number;
  /** Size of the file. Bytes. */
  readonly fileSize: number;
  /** First line in `output`, from 1; `endLine` is inclusive. Both are 0 for an empty file. */
  readonly startLine: number;
  readonly endLine: number;
  /** SHA-256 of the whole file, hex. */
  readonly hash?: string;
}

/** One file that a tool changed. */
export interface FileChange {
  readonly operation: FileOperation;
  /** Path in the form of the documents: relative to the workspace, with `/` (N21). */
  readonly filePath: string;
  /** Absolute path. */
  readonly path: string;
  /** Destination of a rename, relative (N32). */
  readonly newFilePath?: string;
  /** New content of the whole file (create), or the new string (edit); null for delete, rename and binary. */
  readonly content: string | null;
  /** Changed lines, for edits (N31). */
  readonly diff?: FileDiff;
  /** The change as a unified diff. */
  readonly patch?: string;
  /** The whole file after an edit, unless it exceeds the limit. */
  readonly after?: string;
  readonly linesAdded: number;
  readonly linesRemoved: number;
  /** Bytes of the file after the change, or of the deleted file. */
  readonly bytes: number;
  readonly binary?: true;
  readonly truncated?: true;
  /** SHA-256, hex, before and after; absent if the file didn't exist. */
  readonly hashBefore?: string;
  readonly hashAfter?: string;
}

/** Effect of write_file, edit_file, delete_file and rename_file. */
export interface FileEditEffect {
  readonly kind: "file_edit";
  readonly changes: readonly FileChange[];
  /** The matching rule that found each place of an edit, for instance `exact`. */
  readonly matched?: readonly string[];
}

/** Effect of run_terminal_cmd. `output` is stdout and stderr in order of arrival. */
export interface CommandEffect {
  readonly kind: "command";
  readonly command: string;
  /** Absolute path. */
  readonly workingDirectory: string;
  /** Exit code of the command (N37). */
  readonly exitCode: number;
  /** Name of the signal, such as SIGTERM, or "". */
  readonly signal: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** True if the command continues during later calls; the other fields are as of this report (N37). */
  readonly background: boolean;
  /** Id of a background command for `read_terminal`. */
  readonly terminalId?: string;
  readonly permissions: readonly CommandPermission[];
  /** Actions that the sandbox prevented, and the reasons, one sentence each. Absent: Sheaf knows of no refusal. */
  readonly refusals?: readonly string[];
}

/** Effect of read_terminal. `output` is the new output since the last call. */
export interface TerminalEffect {
  readonly kind: "terminal";
  readonly terminalId: string;
  readonly command: string;
  readonly isRunning: boolean;
  /** Exit code (N37); null while the command runs. */
  readonly exitCode: number | null;
  /** The reason why the call ended the command. Absent: the command ended by itself, or still runs. */
  readonly ended?: "asked" | "listens" | "silent" | "time";
}

/** Effect of grep_search. */
export interface SearchEffect {
  readonly kind: "search";
  readonly matches: readonly {
    readonly path: string;
    readonly lines: readonly { readonly line: number; readonly text: string }[];
  }[];
  readonly totalFiles: number;
  readonly totalMatches: number;
  readonly truncated: boolean;
}

/** Effect of glob_search. */
export interface GlobEffect {
  readonly kind: "glob";
  readonly files: readonly string[];
  readonly totalFiles: number;
  readonly truncated: boolean;
}

/** Effect of list_dir, and of read_file for a folder. `output` is the tree. */
export interface ListEffect {
  readonly kind: "list";
  /** Absolute path of the folder that read_file read. */
  readonly path?: string;
}

/** Effect of todo_write. */
export interface TodoEffect {
  readonly kind: "todo";
  /** Changes of the list (N41). */
  readonly changes: readonly TodoChange[];
  /** The whole list after the changes. */
  readonly todos: readonly {
    readonly id: string;
    readonly content: string;
    readonly status: TodoStatus;
    readonly dependencies: readonly string[];
  }[];
}

/** Effect of create_plan. */
export interface PlanEffect {
  readonly kind: "plan";
  readonly title: string;
  readonly overview: string;
  readonly plan: string;
  readonly todos: readonly PlanTodo[];
  readonly planId: string;
  readonly revision: number;
}

/** Effect of ask_question, which ends the response (N42). */
export interface QuestionEffect {
  readonly kind: "question";
  readonly title: string;
  readonly questions: readonly ClarificationQuestion[];
}

/** Effect of an MCP tool. `output` is the text of the content. */
export interface McpEffect {
  readonly kind: "mcp";
  /** Name of the server in the user's configuration. */
  readonly server: string;
  /** Name of the tool at the server. */
  readonly tool: string;
  /** Content in the order of the server. */
  readonly content: readonly McpContent[];
  /** True if the tool reported a failure. */
  readonly isError: boolean;
}

/** One part of the content that an MCP tool returned. */
export interface McpContent {
  readonly type: "text" | "image";
  /** The text; for an image, the line that identifies it. */
  readonly text: string;
  /** SHA-256 of an image's attachment. */
  readonly sha256?: string;
}

/** Effect of web_fetch. `output` is the text of the page. */
export interface WebEffect {
  readonly kind: "web";
  /** Address of the page, after redirects. */
  readonly url: string;
}

/** Effect of read_skill. `output` is the text of the file. */
export interface SkillEffect {
  readonly kind: "skill";
  readonly name: string;
  /** A file of the skill other than its instructions. */
  readonly file?: string;
}

/** Effect of run_agent. `output` is the subagent's report. */
export interface AgentEffect {
  readonly kind: "agent";
  /** The kind of subagent: `search`, `plan`, `review`, or the name of a definition. */
  readonly name: string;
  /** Number of the subagent's model requests. */
  readonly turns: number;
}
