/** The port between tools and processes. */
import type { CommandPermission } from "@sheaf/protocol";

/** One shell command to run. */
export interface CommandRequest {
  readonly command: string;
  /** Absolute. */
  readonly workingDirectory: string;
  readonly timeoutMs: number;
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
  /** What it was allowed beyond the default sandbox (N38). */
  readonly permissions: readonly CommandPermission[];
}

/** Runs commands; the only way from a tool to a process. */
export interface CommandRunner {
  run(request: CommandRequest): Promise<CommandOutcome>;
}
