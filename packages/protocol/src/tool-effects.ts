/** What a tool did, as the run log has it in the result of the call. */
import type {
  ClarificationQuestion,
  CommandPermission,
  FileDiff,
  FileOperation,
  PlanTodo,
  TodoChange,
  TodoStatus,
} from "./documents.ts";

/** What a tool did, by kind; the projections make C9's shapes and the documents from it. */
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

/** read_file. `output` is the content that was read. */
export interface ReadEffect {
  readonly kind: "read";
  /** Absolute. */
  readonly path: string;
  readonly isEmpty: boolean;
  /** The file is larger than what was read. */
  readonly exceededLimit: boolean;
  /** Of the whole file, including the empty tail: "a\nb\n" has 3 (C9). */
  readonly totalLines: number;
  /** UTF-16 units of the whole file. */
  readonly totalChars: number;
  /** Bytes. */
  readonly fileSize: number;
  /** 1-based, inclusive; 0 for an empty file. */
  readonly startLine: number;
  readonly endLine: number;
  /** SHA-256 of the whole file, hex. */
  readonly hash?: string;
}

/** One file that a tool changed. */
export interface FileChange {
  readonly operation: FileOperation;
  /** As in the documents: relative to the workspace, with `/` (N21). */
  readonly filePath: string;
  /** Absolute. */
  readonly path: string;
  /** Destination of a rename, relative (N32). */
  readonly newFilePath?: string;
  /** New content of the whole file (create), or the new string (edit); null for delete, rename and binary. */
  readonly content: string | null;
  /** Edit only (N31). */
  readonly diff?: FileDiff;
  /** Unified diff. */
  readonly patch?: string;
  /** Edit only: the whole file afterwards, unless it exceeds the limit. */
  readonly after?: string;
  readonly linesAdded: number;
  readonly linesRemoved: number;
  /** Bytes of the file after the change, or of the deleted file. */
  readonly bytes: number;
  readonly binary?: true;
  readonly truncated?: true;
  /** SHA-256, hex, before and after; absent where no file existed. */
  readonly hashBefore?: string;
  readonly hashAfter?: string;
}

/** write_file, edit_file, delete_file, rename_file. */
export interface FileEditEffect {
  readonly kind: "file_edit";
  readonly changes: readonly FileChange[];
  /** Edit only: which matching rule found each place, for instance `exact`. */
  readonly matched?: readonly string[];
}

/** run_terminal_cmd. `output` is stdout and stderr in order of arrival. */
export interface CommandEffect {
  readonly kind: "command";
  readonly command: string;
  /** Absolute. */
  readonly workingDirectory: string;
  /** N37. */
  readonly exitCode: number;
  /** Name such as SIGTERM, or "". */
  readonly signal: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** It runs on during later calls; the other fields are as of this report (N37). */
  readonly background: boolean;
  /** Of a command in the background: the id for `read_terminal`. */
  readonly terminalId?: string;
  readonly permissions: readonly CommandPermission[];
  /** What the sandbox prevented, and why; one sentence each. Absent: nothing known. */
  readonly refusals?: readonly string[];
}

/** read_terminal. `output` is what came since the last call. */
export interface TerminalEffect {
  readonly kind: "terminal";
  readonly terminalId: string;
  readonly command: string;
  readonly isRunning: boolean;
  /** N37; null while it runs. */
  readonly exitCode: number | null;
  /** The reason why the call ended the command. Absent: the command ended by itself, or still runs. */
  readonly ended?: "asked" | "listens" | "silent" | "time";
}

/** grep_search. */
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

/** glob_search. */
export interface GlobEffect {
  readonly kind: "glob";
  readonly files: readonly string[];
  readonly totalFiles: number;
  readonly truncated: boolean;
}

/** list_dir, and read_file of a folder. `output` is the tree. */
export interface ListEffect {
  readonly kind: "list";
  /** Of the folder that read_file read; absolute. */
  readonly path?: string;
}

/** todo_write. */
export interface TodoEffect {
  readonly kind: "todo";
  /** What changed (N41). */
  readonly changes: readonly TodoChange[];
  /** The whole list afterwards. */
  readonly todos: readonly {
    readonly id: string;
    readonly content: string;
    readonly status: TodoStatus;
    readonly dependencies: readonly string[];
  }[];
}

/** create_plan. */
export interface PlanEffect {
  readonly kind: "plan";
  readonly title: string;
  readonly overview: string;
  readonly plan: string;
  readonly todos: readonly PlanTodo[];
  readonly planId: string;
  readonly revision: number;
}

/** ask_question. Ends the response (N42). */
export interface QuestionEffect {
  readonly kind: "question";
  readonly title: string;
  readonly questions: readonly ClarificationQuestion[];
}

/** A tool of a server of the Model Context Protocol. `output` is the text of the content. */
export interface McpEffect {
  readonly kind: "mcp";
  /** As the user named it. */
  readonly server: string;
  /** As the server named it. */
  readonly tool: string;
  /** In the order of the server. */
  readonly content: readonly McpContent[];
  /** The tool reported a failure. */
  readonly isError: boolean;
}

/** One part of what a server's tool returned. */
export interface McpContent {
  readonly type: "text" | "image";
  /** Of an image: the line that names it. */
  readonly text: string;
  /** Of an image: that of its attachment. */
  readonly sha256?: string;
}

/** web_fetch. `output` is the text of the page. */
export interface WebEffect {
  readonly kind: "web";
  /** Address of the page, after redirects. */
  readonly url: string;
}

/** read_skill. `output` is what was read. */
export interface SkillEffect {
  readonly kind: "skill";
  readonly name: string;
  /** Another file of the skill than its instructions. */
  readonly file?: string;
}

/** run_agent. `output` is what the subagent reported. */
export interface AgentEffect {
  readonly kind: "agent";
  /** The kind of subagent: `search`, `plan`, `review`, or the name of a definition. */
  readonly name: string;
  /** Its model requests. */
  readonly turns: number;
}
