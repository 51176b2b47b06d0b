/** The port between tools and processes. */
import type { CommandPermission } from "@sheaf/protocol";

/** One shell command to run. */
export interface CommandRequest {
  readonly command: string;
  /** Absolute. */
  readonly workingDirectory: string;
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
  /** Others run beside it; its live output is not limited. */
  readonly isBackground?: boolean;
  readonly signal: AbortSignal;
  /** Decoded output, as it comes. */
  readonly onOutput: (stream: "stdout" | "stderr", text: string) => void;
}

/** How a command ended. */
export interface CommandOutcome {
  /** N37: 128 + n for a signal, 124 on a timeout, -1 if it never started. */
  readonly exitCode: number;
  /** Name such as SIGTERM, or "". */
  readonly signal: string;
  readonly timedOut: boolean;
  /** The run was cancelled and the command ended by it. */
  readonly cancelled: boolean;
  /** Bounded: the middle is cut out above the limit. */
  readonly stdout: string;
  readonly stderr: string;
  /** Both in order of arrival, bounded likewise. */
  readonly output: string;
  readonly truncated: boolean;
  /** Bytes that came in all. */
  readonly bytes: number;
  /** Why it never started, else "". */
  readonly startError: string;
  /** Why it was not even tried (S-31), else "". */
  readonly refusal: string;
  /** What the sandbox kept it from, and why; a sentence each, for the model and the user. */
  readonly refusals: readonly string[];
  /** What it was allowed beyond the default sandbox (N38). */
  readonly permissions: readonly CommandPermission[];
}

/** Runs commands; the only way from a tool to a process. */
export interface CommandRunner {
  /** What every command is allowed beyond the default sandbox (N38, S-33). */
  readonly permissions: readonly CommandPermission[];
  run(request: CommandRequest): Promise<CommandOutcome>;
  /** No more commands come: resolves when none runs any more and nothing of them is left. */
  end(): Promise<void>;
}
