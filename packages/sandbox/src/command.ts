/** The port through which tools run commands. */
import type { Readable } from "node:stream";
import type { CommandPermission, Notice } from "@sheaf/protocol";
import type { ProcessUse } from "./follow/processes.ts";

export interface CommandRequest {
  readonly command: string;
  /** Absolute. */
  readonly workingDirectory: string;
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
  /** Its standard input; undefined: none. */
  readonly input?: string | Readable | undefined;
  /** Besides those of all commands. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** It runs next to other commands. */
  readonly isBackground?: boolean;
  /** Its folders are read-only, so nothing in them is searched before and after it. */
  readonly isReadOnly?: boolean | undefined;
  /** Gets the whole output: UTF-8 that ends with a whole character; valid during the call only. */
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined;
  /**
   * Called at the time limit with what came until then. True: the command goes on, in the background. Without it,
   * or on false, it is ended.
   */
  readonly onTimeLimit?: (soFar: CommandOutcome) => boolean;
  /** Called once it has started. `look` returns the use of its processes, where the system shows it. */
  readonly onStart?: ((look: () => ProcessUse | undefined) => void) | undefined;
  readonly signal: AbortSignal;
  /** Called with decoded output as it arrives, up to a limit, until the command is in the background. */
  readonly onOutput: (stream: "stdout" | "stderr", text: string) => void;
  /** Called with the output in the background: UTF-8 that ends with a whole character; valid during the call only. */
  readonly onBackgroundOutput?: (bytes: Uint8Array, stream: "stdout" | "stderr") => void;
}

export interface CommandOutcome {
  /** N37: 128 + n for a signal, 124 on a timeout, -1 if it never started. */
  readonly exitCode: number;
  /** Name such as SIGTERM, or "". */
  readonly signal: string;
  readonly timedOut: boolean;
  /** The command was ended because the run was cancelled. */
  readonly cancelled: boolean;
  /** Bounded: the middle is cut out above the limit. */
  readonly stdout: string;
  readonly stderr: string;
  /** Both in order of arrival, bounded likewise. */
  readonly output: string;
  readonly truncated: boolean;
  /** Total number of output bytes. */
  readonly bytes: number;
  /** The reason why it never started, or "". */
  readonly startError: string;
  /** The reason why no sandbox could hold it (S-31, S-79), or "". */
  readonly refusal: string;
  /** One sentence for each thing that the sandbox prevented, and why; for the model and the user. */
  readonly refusals: readonly string[];
  /** What it was allowed beyond the default sandbox (N38). */
  readonly permissions: readonly CommandPermission[];
}

/** Runs commands; the only way from a tool to a process. */
export interface CommandRunner {
  /** What every command is allowed beyond the default sandbox (N38, S-33). */
  readonly permissions: readonly CommandPermission[];
  run(request: CommandRequest): Promise<CommandOutcome>;
  /** After the last command: resolves when all have ended without a trace, perhaps with notices. */
  end(): Promise<readonly Notice[] | void>;
}
