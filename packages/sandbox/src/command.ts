/** The port through which tools run commands. */
import type { Readable } from "node:stream";
import type { CommandPermission, Notice } from "@sheaf/protocol";
import type { ProcessUse } from "./follow/processes.ts";

export interface CommandRequest {
  readonly command: string;
  /** Absolute path. */
  readonly workingDirectory: string;
  /** Time limit; undefined: no limit. */
  readonly timeoutMs: number | undefined;
  /** Text or stream for its standard input. Default: none. */
  readonly input?: string | Readable | undefined;
  /** Variables for this command alone. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** True if it runs next to other commands. */
  readonly isBackground?: boolean;
  /** True if its folders are read-only, so that Sheaf need not search them before and after the command. */
  readonly isReadOnly?: boolean | undefined;
  /** Receives the whole output: UTF-8 that ends with a whole character. It is valid during the call only. */
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined;
  /** Receives the outcome at the time limit. On true, the command continues in the background, else it ends. */
  readonly onTimeLimit?: (soFar: CommandOutcome) => boolean;
  /** Called once the command has started. `look` returns the use of its processes, if the system shows it. */
  readonly onStart?: ((look: () => ProcessUse | undefined) => void) | undefined;
  readonly signal: AbortSignal;
  /** Receives decoded output as it arrives, up to a limit, until the command is in the background. */
  readonly onOutput: (stream: "stdout" | "stderr", text: string) => void;
  /**
   * Receives the output in the background: UTF-8 that ends with a whole character. It is valid during the call only.
   */
  readonly onBackgroundOutput?: (bytes: Uint8Array, stream: "stdout" | "stderr") => void;
}

export interface CommandOutcome {
  /** N37: 128 + n for a signal, 124 on a timeout, -1 if it never started. */
  readonly exitCode: number;
  /** Name such as SIGTERM, or "". */
  readonly signal: string;
  readonly timedOut: boolean;
  /** True if Sheaf ended the command because the run was cancelled. */
  readonly cancelled: boolean;
  /** Bounded output: above the limit, its middle is missing. */
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams in order of arrival, with the same bound. */
  readonly output: string;
  readonly truncated: boolean;
  /** Total number of output bytes. */
  readonly bytes: number;
  /** The reason why it never started, or "". */
  readonly startError: string;
  /** The reason why no sandbox could hold it (S-31, S-79), or "". */
  readonly refusal: string;
  /** One sentence for each action that the sandbox prevented, with the reason; for the model and the user. */
  readonly refusals: readonly string[];
  /** Permissions of the command beyond the default sandbox (N38). */
  readonly permissions: readonly CommandPermission[];
}

/** Runs commands; the only way from a tool to a process. */
export interface CommandRunner {
  /** Permissions of every command beyond the default sandbox (N38, S-33). */
  readonly permissions: readonly CommandPermission[];
  run(request: CommandRequest): Promise<CommandOutcome>;
  /** Ends the runner. Resolves when all commands have ended without a trace, perhaps with notices. */
  end(): Promise<readonly Notice[] | void>;
}
